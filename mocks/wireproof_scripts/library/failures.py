"""Scripts that fail, before and after outputs: the model's service reports an error, or the backend dies."""

from __future__ import annotations

from wireproof_scripts.steps import Call, Crash, ErrorNotice, Fail, Finish, Hang, Raw, Say, Script

# In fragments, which are of the dialect `story`: Codex itself never sends half a call.
_HALF_A_CALL = Call(
    id="call_half",
    name="localSearch",
    arguments='{"query": "never complete"}',
    shape="delta-tool-calls",
    pieces=('{"query": ', '"never', ' complete"}'),
    unfinished=True,
)

FAILURES: tuple[Script, ...] = (
    # chat.stream.error-before-output: a real HTTP error, as no byte of a stream was sent.
    Script(name="fail/first", title="The turn fails before any output.", parts=((Fail("http-500"),),)),
    Script(name="fail/rate", title="The turn fails: too many requests.", parts=((Fail("http-429"),),)),
    Script(
        name="fail/context", title="The turn fails: the conversation is too long.", parts=((Fail("context-window"),),)
    ),
    Script(
        # chat.stream.error-after-text: one error frame, no finish.
        name="fail/after-text",
        title="The turn fails after some text.",
        parts=((Say(("Half an", " answer")), Fail("cut")),),
    ),
    Script(
        # chat.stream.error-after-call: the client has its call, so the answer ends as if all were well.
        name="fail/after-call",
        title="The turn fails together with a complete call.",
        parts=((Call(id="call_failed", name="localSearch", arguments='{"query": "before the failure"}'), Fail("cut")),),
    ),
    Script(name="fail/crash-first", title="The backend process dies before any output.", parts=((Crash(),),)),
    Script(
        name="fail/crash-thread",
        title="The backend process dies when a thread is started, if its developer text asks for this script.",
        parts=((Crash(),),),
    ),
    Script(
        name="fail/crash-text",
        title="The backend process dies after some text.",
        parts=((Say(("Last", " words")), Crash()),),
    ),
    Script(
        # chat.stream.error-after-call, its other half: a call that is not complete must not be finished.
        name="fail/mid-arguments",
        title="The turn fails in the middle of a call's arguments.",
        parts=((_HALF_A_CALL, Fail("cut")),),
        notifications="story",
    ),
    Script(
        # A proxy that waits for turn/completed waits without end.
        name="fail/notice",
        title="A fatal error is reported, and the turn never ends.",
        parts=((ErrorNotice("http-500"),),),
    ),
    Script(name="fail/silent", title="The backend never sends anything.", parts=((Hang(),),)),
    Script(
        name="fail/garbled",
        title="Bytes that are no UTF-8 in the middle of the text.",
        parts=(
            (
                Say(("Half an",)),
                # The bytes FF FE, which UTF-8 never has.
                Raw('{"method":"item/agentMessage/delta","params":{"delta":"\udcff\udcfe"}}'),
                Say((" answer",)),
            ),
        ),
    ),
    Script(
        # As fail/after-call: the client has its call, and the death of a backend is a failure like others.
        name="fail/crash-call",
        title="The backend process dies together with a complete call.",
        parts=((Call(id="call_crash", name="localSearch", arguments='{"query": "before the crash"}'), Crash()),),
    ),
    Script(
        name="fail/crash-arguments",
        title="The backend process dies in the middle of a call's arguments.",
        parts=((_HALF_A_CALL, Crash()),),
        notifications="story",
    ),
    Script(
        # chat.stream.nothing-after-finish, also where what comes is a failure or a death.
        name="fail/after-finish",
        title="The turn fails after its end.",
        parts=((Say(("All", " said.")), Finish(), Fail("cut")),),
    ),
    Script(
        name="fail/crash-finish",
        title="The backend process dies after the end of the turn.",
        parts=((Say(("All", " said.")), Finish(), Crash()),),
    ),
)
