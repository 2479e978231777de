"""Calls that a backend writes into its text: what a sentinel block is, and what only looks like one."""

from wireproof.model.scenario import ConversationScenario, JsonObject, Turn
from wireproof.scenarios.responses import RE
from wireproof.scenarios.tools import LOCAL_SEARCH, READ_NOTE


def _block(
    name: str, row: str, title: str, say: str, *, tools: tuple[JsonObject, ...] = (LOCAL_SEARCH,)
) -> ConversationScenario:
    return ConversationScenario(
        name=name,
        title=title,
        script=name.replace("-", "/", 1),
        turns=(Turn(say=say),),
        tools=tools,
        dialects=RE,
        exercises=(row, "responses.parity"),
        # The same request without the block is fine elsewhere, so whatever is wrong here is wrong with the block.
        attribute_to=row,
        behind_upstreams=True,
    )


SENTINEL: tuple[ConversationScenario, ...] = (
    _block(
        "sentinel-plain",
        "responses.sentinel.any-cut",
        "Text, a block on its own line, and text after it",
        "Call in text.",
    ),
    _block(
        "sentinel-any-cut", "responses.sentinel.any-cut", "The same, one character a delta", "Call in single letters."
    ),
    # Apart from the one with single characters: a reader may hold back one piece and look at two at a time.
    _block("sentinel-halves", "responses.sentinel.any-cut", "A block whose tags are cut in halves", "Call in halves."),
    _block(
        "sentinel-false-start",
        "responses.sentinel.own-line",
        "Lines that begin like a block, and never are one",
        "Begin, and begin again.",
    ),
    _block(
        "sentinel-within-line",
        "responses.sentinel.own-line",
        "A block in the midst of a line, and JSON without a sentinel",
        "Quote a call.",
    ),
    # Models explain how they call; what they quote must not be run (S0:56).
    _block(
        "sentinel-fenced",
        "responses.sentinel.own-line",
        "A block in a code fence, and one after it",
        "Explain how you call, then call.",
    ),
    _block(
        "sentinel-fences", "responses.sentinel.own-line", "Blocks in code fences of every kind", "Explain how you call."
    ),
    _block(
        "sentinel-indented",
        "responses.sentinel.own-line",
        "A block behind blanks, which are no start of a line",
        "Indent a call.",
    ),
    _block(
        "sentinel-nested-fence",
        "responses.sentinel.own-line",
        "A block in a code fence of four, which a fence of three does not close",
        "Explain how you explain.",
    ),
    # S0:178: it stays in the text as a whole; dropped, what the model wrote would be lost.
    _block("sentinel-no-json", "responses.sentinel.invalid", "A block that holds no JSON", "Call, and misspell it."),
    _block("sentinel-no-id", "responses.sentinel.invalid", "A block without an id", "Call without an id."),
    _block("sentinel-no-name", "responses.sentinel.invalid", "A block without a name", "Call without a name."),
    _block("sentinel-unterminated", "responses.sentinel.invalid", "A block that never closes", "Begin a call."),
    # The model asked for it; that there is no such tool is for the client to answer.
    _block(
        "sentinel-undeclared",
        "responses.sentinel.invalid",
        "A block that names a tool which is not declared: a call all the same",
        "Call what you like.",
    ),
    # A search for the next closing tag ends within the string.
    _block(
        "sentinel-tagged",
        "responses.sentinel.arguments",
        "A block with tags within a string of its JSON, one character a delta",
        "Search for the tag itself.",
    ),
    # A string is passed on as it is, an object becomes compact JSON (S0:46); models write either.
    _block(
        "sentinel-several",
        "responses.sentinel.arguments",
        "Two blocks: arguments as a string and as an object, id and call_id",
        "Search, then read.",
        tools=(LOCAL_SEARCH, READ_NOTE),
    ),
    ConversationScenario(
        name="sentinel-loop",
        title="A call written in text, its result, and the final text",
        script="sentinel/then-text",
        turns=(Turn(say="Search, then tell me."), Turn(results={"localSearch": "Three notes found."})),
        tools=(LOCAL_SEARCH,),
        dialects=RE,
        exercises=("responses.sentinel.any-cut", "responses.parity"),
        attribute_to="responses.sentinel.any-cut",
        behind_upstreams=True,
    ),
)
