"""Scripts that fail, before and after outputs: the model's service reports an error, or the backend dies."""

from __future__ import annotations

from wireproof_scripts.library.written import part
from wireproof_scripts.steps import Call, Crash, ErrorNotice, Fail, Finish, Hang, Raw, Say, Script

# In fragments, which are of the dialect `story`: Codex itself never sends half a call.
HALF_A_CALL = Call(
    id="call_half",
    name="localSearch",
    arguments='{"query": "never complete"}',
    shape="delta-tool-calls",
    pieces=('{"query": ', '"never', ' complete"}'),
    unfinished=True,
)

FAILURES: tuple[Script, ...] = (
    # chat.stream.error-before-output: a real HTTP error, as no byte of a stream was sent.
    part("fail/first", "The turn fails before any output.", Fail("http-500")),
    part("fail/rate", "The turn fails: too many requests.", Fail("http-429")),
    part("fail/context", "The turn fails: the conversation is too long.", Fail("context-window")),
    # chat.stream.error-after-text: one error frame, no finish.
    part("fail/after-text", "The turn fails after some text.", Say(("Half an", " answer")), Fail("cut")),
    # chat.stream.error-after-call: the client has its call, so the answer ends as if all were well.
    part(
        "fail/after-call",
        "The turn fails together with a complete call.",
        Call(id="call_failed", name="localSearch", arguments='{"query": "before the failure"}'),
        Fail("cut"),
    ),
    part("fail/crash-first", "The backend process dies before any output.", Crash()),
    part(
        "fail/crash-thread",
        "The backend process dies when a thread is started, if its developer text asks for this script.",
        Crash(),
    ),
    part("fail/crash-text", "The backend process dies after some text.", Say(("Last", " words")), Crash()),
    # chat.stream.error-after-call, its other half: a call that is not complete must not be finished.
    part(
        "fail/mid-arguments",
        "The turn fails in the middle of a call's arguments.",
        HALF_A_CALL,
        Fail("cut"),
        notifications="story",
    ),
    # A proxy that waits for turn/completed waits without end.
    part("fail/notice", "A fatal error is reported, and the turn never ends.", ErrorNotice("http-500")),
    part("fail/silent", "The backend never sends anything.", Hang()),
    part(
        "fail/garbled",
        "Bytes that are no UTF-8 in the middle of the text.",
        Say(("Half an",)),
        # The bytes FF FE, which UTF-8 never has.
        Raw('{"method":"item/agentMessage/delta","params":{"delta":"\udcff\udcfe"}}'),
        Say((" answer",)),
    ),
    # As fail/after-call: the client has its call, and the death of a backend is a failure like others.
    part(
        "fail/crash-call",
        "The backend process dies together with a complete call.",
        Call(id="call_crash", name="localSearch", arguments='{"query": "before the crash"}'),
        Crash(),
    ),
    part(
        "fail/crash-arguments",
        "The backend process dies in the middle of a call's arguments.",
        HALF_A_CALL,
        Crash(),
        notifications="story",
    ),
    # chat.stream.nothing-after-finish, also where what comes is a failure or a death.
    part("fail/after-finish", "The turn fails after its end.", Say(("All", " said.")), Finish(), Fail("cut")),
    part(
        "fail/crash-finish",
        "The backend process dies after the end of the turn.",
        Say(("All", " said.")),
        Finish(),
        Crash(),
    ),
)
