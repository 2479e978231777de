"""Tool calls: opened once, complete, verbatim, in order, and nothing after them."""

from functools import partial

from wireproof.model.dialect import CHATS_WITH_TOOLS, ONE_OF_EACH, OPENAIS, STOP_HEADER
from wireproof.model.scenario import ConversationScenario, Mode, Turn
from wireproof.model.target import Backend
from wireproof.scenarios.exercised import ARGUMENTS_VERBATIM, CALLS_ARRIVE, FINISH_REASON, MODES_AGREE
from wireproof.scenarios.tools import GET_FILE_TREE, LOCAL_SEARCH, READ_NOTE, WRITE_TO_FILE

# Said in each scenario of several calls: the default of this field differs between proxies (codex-story, criterion 9:
# the first call alone).
BURST = {"parallel_tool_calls": True}
FIRST = {"parallel_tool_calls": False}
STREAMED = CHATS_WITH_TOOLS
"""The dialects whose streams have room for several calls."""
_two = partial(
    ConversationScenario,
    script="call/two",
    turns=(Turn(say="Search and read."),),
    tools=(LOCAL_SEARCH, READ_NOTE),
)

CALLS: tuple[ConversationScenario, ...] = (
    ConversationScenario(
        name="call-one",
        title="One call, whose arguments have the model's own spacing, key order, numbers and escapes",
        script="call/one",
        turns=(Turn(say="Search the notes."),),
        tools=(LOCAL_SEARCH, READ_NOTE),
        usage=True,
        exercises=(
            *ARGUMENTS_VERBATIM,
            *CALLS_ARRIVE,
            *FINISH_REASON,
            "chat.stream.call-opening",
            "chat.stream.call-delta-on-change",
            "chat.stream.arguments-incremental",
            "chat.whole.content-null",
            "chat.whole.calls-all-in-order",
            "chat.stream.usage",
            "chat.whole.usage",
            *MODES_AGREE,
        ),
    ),
    ConversationScenario(
        name="call-empty-arguments",
        title="A call of a tool without parameters",
        script="call/empty-arguments",
        turns=(Turn(say="What notes are there?"),),
        tools=(GET_FILE_TREE,),
        exercises=(*ARGUMENTS_VERBATIM, *CALLS_ARRIVE, *MODES_AGREE),
    ),
    ConversationScenario(
        name="call-bare",
        title="A call whose arguments are no characters at all",
        # Codex itself parses arguments, so these come in a shape of the story's dialect. `""` is no JSON, and still
        # what the model wrote (chat.whole.arguments-verbatim): no `{}` may be made of it.
        script="call/bare",
        turns=(Turn(say="What notes are there?"),),
        tools=(GET_FILE_TREE,),
        exercises=(*ARGUMENTS_VERBATIM, *CALLS_ARRIVE, *MODES_AGREE),
    ),
    ConversationScenario(
        name="call-large",
        # More than a pipe holds on Linux, so the backend's line comes in several reads.
        title="Arguments of more than 64 KiB, with characters of several bytes",
        script="call/large",
        turns=(Turn(say="Write a long note."),),
        tools=(WRITE_TO_FILE,),
        exercises=(*ARGUMENTS_VERBATIM, *CALLS_ARRIVE, "chat.stream.arguments-incremental", *MODES_AGREE),
    ),
    ConversationScenario(
        name="call-megabyte",
        # Twice the size at which many a buffer, queue or line limit ends; in two dialects, since each copy takes time.
        title="Arguments of a mebibyte",
        script="call/megabyte",
        turns=(Turn(say="Write a very long note."),),
        tools=(WRITE_TO_FILE,),
        dialects=ONE_OF_EACH,
        exercises=(*ARGUMENTS_VERBATIM, *CALLS_ARRIVE, "chat.stream.arguments-incremental"),
    ),
    ConversationScenario(
        name="call-broken",
        title="Arguments that are no JSON come as the model wrote them: nothing is repaired",
        script="call/broken",
        turns=(Turn(say="Break off."),),
        tools=(LOCAL_SEARCH,),
        # Messages carry an object, and have no place for what is none.
        dialects=OPENAIS,
        exercises=(
            *ARGUMENTS_VERBATIM,
            "responses.stream.sums",
            "responses.whole.call-items",
            "chat.stream.parity",
            "responses.parity",
        ),
    ),
    _two(
        name="calls-burst",
        title="Two calls, and the client takes several at once",
        body=BURST,
        exercises=("chat.stream.burst-all", *CALLS_ARRIVE, "chat.whole.calls-all-in-order", *MODES_AGREE),
    ),
    ConversationScenario(
        # A proxy with a flag "second call" instead of a count is right with two.
        name="calls-three",
        title="Three calls: what is counted, is counted on beyond the second",
        script="call/three",
        turns=(Turn(say="Search, read, and list."),),
        tools=(LOCAL_SEARCH, READ_NOTE, GET_FILE_TREE),
        body=BURST,
        exercises=(
            "chat.stream.burst-all",
            *CALLS_ARRIVE,
            "chat.stream.call-opening",
            "chat.stream.arguments-verbatim",
            "chat.whole.calls-all-in-order",
            "responses.stream.indexes",
            "messages.stream.indexes",
            *MODES_AGREE,
        ),
    ),
    _two(
        name="call-beside-name",
        title="The first of the arguments of each call come beside its name, as many servers send them",
        script="call/beside-name",
        body=BURST,
        exercises=(*ARGUMENTS_VERBATIM, *CALLS_ARRIVE, *MODES_AGREE),
        # A backend that is no server of chat has no such delta.
        backend=Backend.ENDPOINT,
    ),
    _two(
        name="calls-first",
        title="Two calls, and the client takes one at a time",
        body=FIRST,
        exercises=("chat.stream.stop-after-first", *CALLS_ARRIVE, "chat.whole.calls-all-in-order", *MODES_AGREE),
    ),
    _two(
        name="calls-header-burst",
        title="The header asks for all calls, and counts before what the body says",
        headers={STOP_HEADER: "burst"},
        requires_echo=STOP_HEADER,
        body=FIRST,
        # The header is about streams: whole answers have all calls in any case (codex-story, criterion 18), and a
        # stream of function_call has room for one.
        dialects=STREAMED,
        modes=(Mode.STREAM,),
        exercises=("chat.stream.burst-all",),
    ),
    _two(
        name="calls-header-first",
        title="The header asks for the first call alone, and counts before what the body says",
        headers={STOP_HEADER: "first"},
        requires_echo=STOP_HEADER,
        body=BURST,
        dialects=STREAMED,
        modes=(Mode.STREAM,),
        exercises=("chat.stream.stop-after-first",),
    ),
    ConversationScenario(
        # Against proxies that drop repetitions by name and arguments instead of by id.
        name="calls-same-twice",
        title="The same call twice, under two ids: both are meant",
        script="call/same-twice",
        turns=(Turn(say="Search twice."),),
        tools=(LOCAL_SEARCH,),
        body=BURST,
        exercises=("chat.stream.burst-all", *CALLS_ARRIVE, "chat.whole.calls-all-in-order", *MODES_AGREE),
    ),
    ConversationScenario(
        name="call-after-text",
        title="Text, then a call: streams pass the text on, whole answers drop it",
        script="call/after-text",
        turns=(Turn(say="Say what you do, then do it."),),
        tools=(LOCAL_SEARCH,),
        exercises=(
            "chat.whole.content-null",
            *CALLS_ARRIVE,
            "chat.whole.content-xml",
            "chat.stream.text",
            "chat.stream.no-mixed-frame",
            *MODES_AGREE,
        ),
    ),
    ConversationScenario(
        name="call-tail",
        title="The backend goes on with text after its call",
        script="call/tail",
        turns=(Turn(say="Search, and keep talking."),),
        tools=(LOCAL_SEARCH,),
        body=BURST,
        exercises=(
            "chat.stream.tail-suppressed",
            *CALLS_ARRIVE,
            "chat.whole.content-null",
            "chat.whole.content-xml",
            *MODES_AGREE,
        ),
    ),
    ConversationScenario(
        name="call-late",
        title="Another call comes after the end of the turn",
        script="call/late",
        turns=(Turn(say="Search once."),),
        tools=(LOCAL_SEARCH, READ_NOTE),
        body=BURST,
        exercises=("chat.stream.nothing-after-finish", *CALLS_ARRIVE, "chat.whole.calls-all-in-order", *MODES_AGREE),
    ),
    ConversationScenario(
        name="call-beats-length",
        title="A call in an answer that ran out of tokens: the finish reason is the call",
        script="text/length-call",
        turns=(Turn(say="Search before you run out."),),
        tools=(LOCAL_SEARCH,),
        exercises=(*FINISH_REASON, *CALLS_ARRIVE, *MODES_AGREE),
    ),
)
