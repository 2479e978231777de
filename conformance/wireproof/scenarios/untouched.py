"""Conversations whose texts, results and tools are easily changed on their way to the backend, which says them back."""

from wireproof.model.dialect import WITH_TOOLS, Dialect
from wireproof.model.scenario import ConversationScenario, Turn
from wireproof.model.target import Backend
from wireproof.scenarios.tools import GET_FILE_TREE, GET_TIME, LOCAL_SEARCH, READ_NOTE, WRITE_TO_FILE, called, tool
from wireproof.scenarios.turns import received

# What editors, parsers and well-meaning code change: blanks at the ends of the text and of its lines, tabs, line ends
# of two systems, empty lines, a letter with a combining mark (normalised, it is another one), a blank that does not
# break, characters that look like markup, an escape, and a character beyond the first plane.
ODD_TEXT = (
    "  \tTwo blanks and a tab come before this,  \nblanks end this line,   \r\n\r\n\n"
    "cafe\u0301 and caf\u00e9 are spelt in two ways,\u00a0\u2003<b>&amp; this</b> is no markup, \\n is no line end, "
    "```\n    indented  twice\n``` and the last line ends in blanks \U0001f9ac \n \n"
)
ODD_RESULT = '{ "notes" : [ "caf\\u00e9",\t1.50, 1e3 ] ,\r\n  "count":2 }  \n\n'
LINES = "".join(
    f"{number:05} The ferryman's log of that day; the wind came from the west.  \n" for number in range(700)
)
"""About 45 KiB: more than one read of a pipe or socket, and than what careless code cuts a text to."""


BOOK_TABLE = tool(
    "book_table-2",
    "Books a table.\n\n  * indented  twice, blanks at the end   \n  * \u201equoted\u201c, 5 < 7\n",
    {
        "zone": {"type": "string", "enum": ["window", "garden", "bar"], "description": "Where  to sit"},
        "guests": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "properties": {
                    "name": {"type": "string", "pattern": "^\\S+$"},
                    "age": {"type": ["integer", "null"], "minimum": 0},
                },
                "required": ["name"],
                "additionalProperties": False,
            },
        },
        "at": {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]},
    },
    ("zone", "guests"),
    additionalProperties=False,
)

UNTOUCHED: tuple[ConversationScenario, ...] = (
    received(
        "untouched-text",
        "Texts of the user with blanks, line ends and characters that are easily tidied up",
        "turn.input-untouched",
        {"role": "user", "content": ODD_TEXT},
        {"role": "assistant", "content": "I have read it."},
        say="What have you received?\r\n\tAll  of it, e\u0301 and \u00e9 as well:  \n\n \t ",
    ),
    received(
        "untouched-repeats",
        "The user says the same twice: it is sent twice, and nothing else is",
        "turn.input-untouched",
        {"role": "user", "content": "Once more, please: what does the grebe eat?"},
        {"role": "assistant", "content": "Small fish."},
        {"role": "user", "content": "Once more, please: what does the grebe eat?"},
        {"role": "assistant", "content": "Small fish, as before."},
        say="What have you received, and how often?",
    ),
    # With other requests beside it: all forms of a scenario are driven at the same time.
    received(
        "untouched-large",
        "A long text reaches the backend whole, and no text of another request beside it",
        "turn.input-untouched",
        say=f"What have you received? {LINES}The log ends here.",
    ),
    received(
        "untouched-results",
        "Results of tools: one of odd JSON, one empty, one long",
        "turn.input-untouched",
        {"role": "user", "content": "Search, look at the clock, and read."},
        called(
            None,
            *((f"call_{name}", name, '{"query": "ferry"}') for name in ("localSearch", "getCurrentTime", "readNote")),
        ),
        {"role": "tool", "tool_call_id": "call_localSearch", "content": ODD_RESULT},
        {"role": "tool", "tool_call_id": "call_getCurrentTime", "content": ""},
        {"role": "tool", "tool_call_id": "call_readNote", "content": f"{LINES}The note ends here.  \n"},
        tools=(LOCAL_SEARCH, READ_NOTE, GET_TIME),
        dialects=WITH_TOOLS,
    ),
    received(
        "untouched-tools",
        "Six tools, with all that their descriptions and schemas say",
        "turn.input-untouched",
        say="What tools have you got?",
        tools=(LOCAL_SEARCH, WRITE_TO_FILE, GET_FILE_TREE, GET_TIME, READ_NOTE, BOOK_TABLE),
    ),
    ConversationScenario(
        name="settings-passed-on",
        title="A temperature, a stop sequence and a limit of tokens",
        script="reflect/received",
        turns=(Turn(say="What have you received?"),),
        # No text with an empty line stands in the report, so nothing of it is cut off. A temperature of 0 is one that a
        # gateway loses which leaves out what is falsy.
        body={"temperature": 0, "stop": ["\n\nFerryman:"]},
        # No limit that a gateway would have of its own.
        cap=3977,
        dialects=(Dialect.OPENAI_JSON, Dialect.MESSAGES),
        exercises=("turn.settings-reach-backend",),
        backend=Backend.ENDPOINT,
    ),
    ConversationScenario(
        name="settings-of-responses",
        title="A temperature and a limit of tokens of a response, which has no stop sequences",
        script="reflect/received",
        turns=(Turn(say="What have you received?"),),
        body={"temperature": 0},
        cap=3977,
        dialects=(Dialect.RESPONSES,),
        exercises=("turn.settings-reach-backend",),
        backend=Backend.ENDPOINT,
    ),
)
