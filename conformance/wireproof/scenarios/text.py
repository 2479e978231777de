"""Answers of text: what the backend said reaches the client, all of it, at once, and nothing else does."""

from wireproof.model.dialect import CHATS, OPENAIS, Dialect
from wireproof.model.scenario import Act, ConversationScenario, Mode, Turn
from wireproof.model.target import Backend
from wireproof.scenarios.exercised import FINISH_REASON, MESSAGE_ARRIVES, MODES_AGREE, RESPONSE_ENDS, TEXT_ARRIVES


def _said(
    name: str, title: str, say: str, *exercises: str, script: str = "", usage: bool = False
) -> ConversationScenario:
    return ConversationScenario(
        name=name,
        title=title,
        script=script or name.replace("-", "/", 1),
        turns=(Turn(say=say),),
        usage=usage,
        exercises=(*exercises, *MODES_AGREE),
    )


TEXT: tuple[ConversationScenario, ...] = (
    _said(
        "text-hello",
        "A short answer in four deltas",
        "Say hello.",
        *TEXT_ARRIVES,
        *FINISH_REASON,
        "chat.stream.usage",
        "http.one-framing",
    ),
    _said(
        "text-empty",
        "The backend finishes without a word: the content is an empty string",
        "Say nothing.",
        "chat.whole.text",
        *MESSAGE_ARRIVES,
        "chat.stream.text",
    ),
    _said(
        "text-utf8",
        "Characters of every kind, in pieces that a careless re-encoding breaks",
        "Say something in many scripts.",
        "chat.stream.utf8",
        *TEXT_ARRIVES,
    ),
    # Against proxies that drop doubled notifications by comparing their text (shapes.double-telling).
    _said("text-repeats", "The model says the same delta twice, and means it", "Laugh.", *TEXT_ARRIVES),
    # Frames, tags and escapes in the text itself must not be taken for the proxy's or the backend's own.
    _said(
        "text-markup",
        "Text that looks like the wire: SSE, JSON, tags, control characters",
        "Quote the wire.",
        *TEXT_ARRIVES,
    ),
    _said("text-open-end", "Text that ends in the first character of a tag", "Compare a and b.", *TEXT_ARRIVES),
    # More than a pipe holds on Linux.
    _said("text-long", "Six hundred and forty deltas, more than 64 KiB", "Go on and on.", *TEXT_ARRIVES),
    # Raw reasoning in the content would be shown to the user as the answer.
    _said(
        "text-thinking",
        "Reasoning goes before the answer and stays out of it",
        "Think first.",
        *TEXT_ARRIVES,
        "messages.stream.thinking",
    ),
    # Of chat the schema is OpenAI's, which has no reasoning; and a whole answer of chat does not say where it stood.
    ConversationScenario(
        name="text-thinking-in-chat",
        title="Reasoning before and within the answer, which an upstream shows in chat, too",
        script="text/thinking-in-chat",
        turns=(Turn(say="Think, and think again."),),
        dialects=(Dialect.RESPONSES, Dialect.MESSAGES),
        exercises=(
            "messages.stream.thinking",
            "messages.stream.text",
            "messages.whole.text",
            "responses.stream.sums",
            "responses.whole.message",
        ),
        backend=Backend.ENDPOINT,
    ),
    # Other scenarios of text ask for none, and a stream must then have none (chat.stream.usage).
    _said(
        "usage-asked",
        "The stream is asked for usage: one chunk, after the finish, with the backend's own counts",
        "Count the tokens.",
        "chat.stream.usage",
        "chat.stream.usage-details",
        *RESPONSE_ENDS,
        "chat.whole.usage",
        "messages.stream.usage",
        "messages.whole.usage",
        script="text/usage",
        usage=True,
    ),
    ConversationScenario(
        name="logprobs",
        title="The probabilities of the tokens are asked for, whole and in a stream",
        script="text/hello",
        turns=(Turn(say="Say hello, and how sure you are."),),
        body={"logprobs": True},
        # Most agents have none to give: a proxy may say so.
        refusable="logprobs",
        dialects=CHATS,
        exercises=("chat.stream.text", "chat.whole.text", "chat.stream.logprobs", "chat.stream.parity"),
    ),
    ConversationScenario(
        name="cut-bytes",
        title="Characters that the backend's pipe brings in pieces",
        script="text/cut-bytes",
        turns=(Turn(say="Speak in pieces."),),
        # The backend's pipe itself is cut, within characters, which would tear what others are sent at the same time.
        alone=True,
        exercises=("chat.stream.utf8", *TEXT_ARRIVES, *MODES_AGREE),
        behind_upstreams=True,
    ),
    # JSON may escape a character beyond the BMP as two halves, and a backend may put them in two deltas: neither
    # half alone can be written as UTF-8.
    _said(
        "surrogates",
        "Characters that the backend sends as two escaped halves, together and apart",
        "Speak in halves.",
        "chat.stream.utf8",
        *TEXT_ARRIVES,
        script="text/surrogates",
    ),
    _said(
        "finish-length", "The model ran out of tokens", "Be long.", *FINISH_REASON, *RESPONSE_ENDS, script="text/length"
    ),
    _said(
        "finish-filter",
        "A content filter ended the answer",
        "Be bad.",
        *FINISH_REASON,
        *RESPONSE_ENDS,
        script="text/filter",
    ),
    # codex-story, criterion 10: text behind the finish chunk is appended by every client that was tried.
    _said(
        "late-text",
        "The backend goes on talking after the turn is over",
        "Stop in time.",
        "chat.stream.nothing-after-finish",
        *TEXT_ARRIVES,
        script="text/late",
    ),
    ConversationScenario(
        # Not by a clock: the backend stays silent until the client says that it has the first words.
        name="flush",
        title="The backend waits until the client has its first words; a proxy that buffers keeps both waiting",
        script="text/gate",
        turns=(Turn(say="Wait for me.", act=Act.OPEN_AT_TEXT),),
        # Only a stream can be flushed early.
        modes=(Mode.STREAM,),
        exercises=(
            "chat.stream.flushed",
            "chat.stream.text",
            "responses.stream.flushed",
            "responses.stream.sums",
            "messages.stream.flushed",
            "messages.stream.text",
        ),
    ),
    ConversationScenario(
        name="silence",
        title="The backend is silent for longer than the keep-alive interval",
        script="text/silent",
        # Where the interval is not known, the silence is as long as a client is patient.
        turns=(Turn(say="Take your time.", act=Act.OPEN_AT_COMMENT),),
        modes=(Mode.STREAM,),
        exercises=(
            "chat.stream.keepalive",
            "chat.stream.keepalive-is-comment",
            "chat.stream.text",
            "responses.stream.keepalive",
            "responses.stream.sums",
            "messages.stream.keepalive",
            "messages.stream.text",
        ),
    ),
    ConversationScenario(
        # By the target's own interval: with the usual 15 s it is the silence of more than a minute, and no longer than
        # it has to be with less.
        name="silence-long",
        title="The backend is silent for longer than five keep-alive intervals",
        script="text/silent-long",
        turns=(Turn(say="Take all the time that you need.", act=Act.OPEN_AT_COMMENTS),),
        modes=(Mode.STREAM,),
        dialects=OPENAIS,
        exercises=(
            "chat.stream.keepalive-goes-on",
            "chat.stream.keepalive-is-comment",
            "chat.stream.text",
            "responses.stream.keepalive-goes-on",
            "responses.stream.sums",
        ),
    ),
)
