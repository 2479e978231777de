"""Blocks: how calls are written into the content, calls in the backend's text, and the choice of the output mode."""

from wireproof.model.dialect import CHATS, MODE_HEADER, Dialect
from wireproof.model.scenario import ConversationScenario, JsonObject, Mode, Need, PlainScenario, Request, Turn
from wireproof.scenarios.http import ENVELOPE, HELLO
from wireproof.scenarios.plain import plain
from wireproof.scenarios.tools import (
    CONVERT_TIME,
    GET_FILE_TREE,
    GET_TAG_LIST,
    LOCAL_SEARCH,
    READ_NOTE,
    REPLACE_IN_FILE,
    WEB_SEARCH,
    WRITE_TO_FILE,
)

XML = (Dialect.OBSIDIAN_XML,)


def _block(
    name: str,
    title: str,
    say: str,
    *exercises: str,
    tools: tuple[JsonObject, ...] = (LOCAL_SEARCH,),
    body: JsonObject | None = None,
) -> ConversationScenario:
    return ConversationScenario(
        name=name,
        title=title,
        script=name.replace("-", "/", 1),
        turns=(Turn(say=say),),
        tools=tools,
        dialects=XML,
        body=body or {},
        exercises=(*exercises, "chat.stream.parity"),
    )


BLOCKS: tuple[ConversationScenario, ...] = (
    _block(
        "xml-values",
        "Values of every JSON type, and characters that XML escapes",
        "Search for everything.",
        "xml.values",
        "xml.escape",
        "xml.round-trip",
    ),
    _block(
        "xml-order",
        "Keys out of their canonical order, and one that the tool does not know",
        "Write a note.",
        "xml.order",
        "xml.shape",
        tools=(WRITE_TO_FILE,),
    ),
    # The order of each tool is data of its own, so one that is wrong shows in no other.
    _block(
        "xml-orders",
        "Each tool of several parameters, its keys against their canonical order",
        "Do everything.",
        "xml.order",
        "chat.stream.burst-all",
        tools=(LOCAL_SEARCH, WEB_SEARCH, CONVERT_TIME, READ_NOTE, GET_TAG_LIST, REPLACE_IN_FILE),
        body={"parallel_tool_calls": True},
    ),
    # Such arguments have no keys to make elements of; they stand whole in <args>, so that nothing is lost.
    _block("xml-no-object", "Arguments that are JSON but no object", "Search by a list.", "xml.values"),
    _block("xml-broken", "Arguments that are no JSON: a block is written all the same", "Break off.", "xml.values"),
    _block(
        "xml-no-arguments",
        "A call without arguments",
        "What notes are there?",
        "xml.no-arguments",
        tools=(GET_FILE_TREE,),
    ),
    # `two words` and `2nd` cannot name an element.
    _block("xml-odd-key", "A key that is no XML name", "Search oddly.", "xml.values"),
    ConversationScenario(
        name="mode-header",
        title="The header asks for obsidian-xml, and the response says so",
        script="call/one",
        turns=(Turn(say="Search the notes."),),
        tools=(LOCAL_SEARCH, READ_NOTE),
        dialects=XML,
        exercises=("mode.header",),
    ),
)


def _textual(
    name: str,
    row: str,
    title: str,
    say: str,
    *,
    modes: tuple[Mode, ...] = tuple(Mode),
    body: JsonObject | None = None,
) -> ConversationScenario:
    return ConversationScenario(
        name=name,
        title=title,
        script=name.replace("-", "/", 1),
        turns=(Turn(say=say),),
        tools=(LOCAL_SEARCH,),
        dialects=CHATS,
        modes=modes,
        body=body or {},
        exercises=(row,),
        attribute_to=row,
    )


TEXTUAL: tuple[ConversationScenario, ...] = (
    _textual("textual-verbatim", "textual.verbatim", "A block in the backend's text, oddly spaced", "Call in text."),
    _textual("textual-any-cut", "textual.any-cut", "The same block, one character a delta", "Call in single letters."),
    # Whole answers with calls drop the text before them.
    _textual(
        "textual-prefix",
        "textual.prefix-kept",
        "Text before a block",
        "Say what you do, then call in text.",
        modes=(Mode.STREAM,),
    ),
    _textual("textual-tail", "textual.tail-dropped", "Text after a block", "Call in text, and keep talking."),
    _textual(
        "textual-false-start",
        "textual.false-start",
        "Text that looks like the beginning of a block, but is not",
        "Compare a and b.",
    ),
    _textual("textual-unterminated", "textual.unterminated", "A block that never closes", "Begin a call."),
    # `parallel_tool_calls`, as else a proxy that sends the call twice would be stopped after the first, and look
    # right.
    _textual(
        "textual-structured-wins",
        "textual.structured-wins",
        "A call sent twice: structured and in text",
        "Call once, tell it twice.",
        body={"parallel_tool_calls": True},
    ),
)

MODES: tuple[PlainScenario, ...] = (
    # codex-story, criterion 5 wants obsidian-xml, most clients OpenAI's: which default is right depends on the
    # clients that a proxy serves, so it is declared.
    plain(
        "mode-default",
        "A request that names no output mode",
        ("mode.default",),
        Request(
            json={
                "model": "{model}",
                "messages": [{"role": "user", "content": "[[wireproof:call/one#mode-default]] Search the notes."}],
                "tools": [LOCAL_SEARCH, READ_NOTE],
            },
        ),
        needs=(Need.DEFAULT_MODE,),
    ),
    plain(
        "mode-invalid",
        "An output mode that does not exist",
        ("mode.invalid", *ENVELOPE),
        Request(json=HELLO, headers={MODE_HEADER: "obsidian-xml"}, requires_echo=MODE_HEADER),
        Request(json=HELLO, headers={MODE_HEADER: "yaml"}, expect=400, param=MODE_HEADER),
    ),
)
