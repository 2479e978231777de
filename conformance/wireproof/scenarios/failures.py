"""Answers that end too soon: a backend fails, or dies, or a client goes away.

Each before the first byte, in mid-text, inside a call, after one; a backend also after the end.
"""

from functools import partial

from wireproof.model.dialect import CHATS_WITH_TOOLS, ONE_OF_EACH, WITH_TOOLS, Dialect
from wireproof.model.scenario import Act, ConversationScenario, Mode, Need, Turn
from wireproof.scenarios.exercised import (
    BACKEND_FAILS,
    FAILS_FIRST,
    MESSAGES_FAIL,
    MODES_AGREE,
    RESPONSE_ENDS,
    TEXT_ARRIVES,
)
from wireproof.scenarios.tools import LOCAL_SEARCH

# A 503 in the meantime is right: the backend is being started again, and clients repeat a request on 5xx.
AGAIN = Turn(say="Are you there again?", script="text/hello", retry_on_503=True)
"""The next request, which is to be served."""
# Of a death or what is as bad nothing else may suffer that runs at the same time.
_killed = partial(ConversationScenario, dialects=ONE_OF_EACH, alone=True, behind_upstreams=True)

FAILURES: tuple[ConversationScenario, ...] = (
    ConversationScenario(
        name="fail-first",
        title="The backend fails before it has said anything: a real HTTP error",
        script="fail/first",
        turns=(Turn(say="Fail at once."),),
        exercises=FAILS_FIRST,
    ),
    ConversationScenario(
        name="fail-rate",
        title="The backend is rate limited",
        # A 429 of the model's service is the backend's failure, and no 429 for slots of the proxy's own: see
        # `slots-taken`.
        script="fail/rate",
        turns=(Turn(say="Be too many."),),
        exercises=(*FAILS_FIRST, "http.error.rate-limit"),
    ),
    ConversationScenario(
        name="fail-after-text",
        title="The backend fails in mid-text: an error frame, and no finish",
        script="fail/after-text",
        turns=(Turn(say="Begin, and fail."),),
        exercises=("chat.stream.error-after-text", *BACKEND_FAILS),
    ),
    ConversationScenario(
        name="fail-after-call",
        # codex-story, criterion 14: the client has what it needs to go on, so in a stream the failure is dropped. A
        # whole answer is an HTTP error.
        title="The backend fails after a complete call: the stream ends as if all were well",
        script="fail/after-call",
        turns=(Turn(say="Search, and fail."),),
        tools=(LOCAL_SEARCH,),
        exercises=(
            "chat.stream.error-after-call",
            *RESPONSE_ENDS,
            "chat.whole.backend-error",
            *MESSAGES_FAIL,
        ),
    ),
    _killed(
        # In one dialect of each surface: each death costs a restart, and nothing else may run at the same time.
        name="crash-in-text",
        title="The backend process dies in mid-text; the next request is served",
        script="fail/crash-text",
        turns=(Turn(say="Begin, and die."), AGAIN),
        # What a proxy does of a death does not depend on how it writes calls.
        exercises=("chat.stream.error-after-text", *BACKEND_FAILS),
    ),
    ConversationScenario(
        name="fail-notice",
        title="The backend reports a fatal error, and never the end of the turn",
        # Codex sends `error` before turn/completed; a proxy that waits for the second alone would wait for ever here.
        script="fail/notice",
        turns=(Turn(say="Fail without an end."),),
        exercises=FAILS_FIRST,
    ),
    ConversationScenario(
        name="fail-context",
        title="The conversation is too long for the model",
        script="fail/context",
        turns=(Turn(say="Be too long."),),
        exercises=FAILS_FIRST,
    ),
    ConversationScenario(
        name="fail-in-arguments",
        # The other half of codex-story, criterion 14: an incomplete call forwarded as complete would be run, with half
        # its arguments.
        title="The backend fails in the middle of a call's arguments: the client gets no call",
        script="fail/mid-arguments",
        turns=(Turn(say="Begin to search, and fail."),),
        tools=(LOCAL_SEARCH,),
        exercises=("chat.stream.error-after-call", *BACKEND_FAILS),
    ),
    ConversationScenario(
        name="fail-after-finish",
        title="The backend fails after the turn is over: the answer is complete",
        script="fail/after-finish",
        turns=(Turn(say="End, and fail."),),
        exercises=("chat.stream.nothing-after-finish", *TEXT_ARRIVES, *MODES_AGREE),
    ),
    ConversationScenario(
        name="silent-backend",
        # By either, because keep-alives may have sent the status line long before.
        title="The backend never says anything: an error in the end, by status or by frame",
        script="fail/silent",
        turns=(Turn(say="Say nothing."),),
        dialects=ONE_OF_EACH,
        needs=(Need.IDLE_TIMEOUT,),
        exercises=("chat.stream.error-before-output", "messages.stream.error-before-output", *BACKEND_FAILS),
    ),
    _killed(
        name="garbled",
        # What such bytes belong to cannot be known, so the turn must fail: text with replacement characters would pass
        # for the model's.
        title="Bytes that are no UTF-8 come from the backend in mid-text; the next request is served",
        script="fail/garbled",
        turns=(Turn(say="Garble your words."), AGAIN),
        exercises=("chat.stream.error-after-text", *BACKEND_FAILS),
    ),
    _killed(
        name="crash-at-thread",
        title="The backend process dies when the session is started; the next request is served",
        script="fail/crash-first",
        # In the system text, which a backend gets with the start of its thread, before there is a turn. One that gets
        # it later dies of the turn's own script.
        history=({"role": "system", "content": "[[wireproof:fail/crash-thread#thread]] Die young."},),
        turns=(Turn(say="Die, at the latest now."), AGAIN),
        dialects=(Dialect.OPENAI_JSON,),
        exercises=("chat.stream.error-before-output", "chat.whole.backend-error", "http.error.no-internals"),
    ),
    _killed(
        name="crash-first",
        title="The backend process dies before any output; the next request is served",
        script="fail/crash-first",
        turns=(Turn(say="Die at once."), AGAIN),
        dialects=(Dialect.OPENAI_JSON,),
        exercises=("chat.stream.error-before-output", "chat.whole.backend-error", "http.error.no-internals"),
    ),
    _killed(
        name="crash-in-arguments",
        title="The backend process dies in the middle of a call's arguments; the next request is served",
        script="fail/crash-arguments",
        turns=(Turn(say="Begin to search, and die."), AGAIN),
        tools=(LOCAL_SEARCH,),
        # In a whole answer it is the same as `crash-in-text`: an error by status, whatever came before.
        modes=(Mode.STREAM,),
        dialects=CHATS_WITH_TOOLS,
        exercises=("chat.stream.error-after-call", "http.error.no-internals"),
    ),
    _killed(
        name="crash-after-call",
        title="The backend process dies after a complete call: the stream ends as if all were well",
        script="fail/crash-call",
        turns=(Turn(say="Search, and die."), AGAIN),
        tools=(LOCAL_SEARCH,),
        exercises=(
            "chat.stream.error-after-call",
            *RESPONSE_ENDS,
            "chat.whole.backend-error",
            *MESSAGES_FAIL,
        ),
    ),
    _killed(
        name="crash-after-finish",
        title="The backend process dies after the turn is over: the answer is complete, and the next request is served",
        script="fail/crash-finish",
        turns=(Turn(say="End, and die."), AGAIN),
        dialects=(Dialect.OPENAI_JSON,),
        exercises=("chat.stream.nothing-after-finish", "chat.stream.text", "chat.whole.text", "chat.stream.parity"),
    ),
)

# The backend says how the turn that the client left ended. Under the same nonce; it is answered when the other turn is
# over, or says that it still runs.
HOW = Turn(say="How did the other turn end?", script="reflect/turns")
ENDS = ("chat.stream.disconnect", "responses.stream.disconnect", "messages.stream.disconnect")
_left = partial(ConversationScenario, modes=(Mode.STREAM,), exercises=ENDS)

LEAVING: tuple[ConversationScenario, ...] = (
    _left(
        name="disconnect",
        title="The client goes away while the backend still has the word",
        script="text/hang",
        turns=(Turn(say="Keep talking.", act=Act.LEAVE_AT_TEXT), HOW),
    ),
    _left(
        name="disconnect-first",
        title="The client goes away before the backend has said anything",
        script="leave/first",
        # There is no text to leave at: a second request waits at the backend's gate, and its answer is the sign to
        # leave.
        turns=(Turn(say="Say nothing.", act=Act.LEAVE_WHEN_SENT), HOW),
    ),
    _left(
        name="disconnect-in-arguments",
        title="The client goes away in the middle of a call's arguments",
        script="leave/arguments",
        turns=(Turn(say="Begin to search.", act=Act.LEAVE_WHEN_SENT), HOW),
        tools=(LOCAL_SEARCH,),
    ),
    _left(
        name="disconnect-after-call",
        title="The client goes away after a call, while there may be more of them",
        script="leave/call",
        turns=(Turn(say="Search.", act=Act.LEAVE_WHEN_SENT), HOW),
        tools=(LOCAL_SEARCH,),
        # A proxy that sends the first call alone would have ended the answer itself, and no client could leave it.
        body={"parallel_tool_calls": True},
        dialects=WITH_TOOLS,
    ),
)
