"""The dialogues that clients play with the scripted backend, word for word.

The scripts stand in `../scripts.yaml` for a backend with native tools and, under the same names, in
`../scripts_text_only.yaml` for one that writes its calls into its text: clients are told the same of both.
"""

from __future__ import annotations

import secrets
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

Usage = tuple[int, int]


@dataclass(frozen=True)
class Tool:
    """A tool as it is declared, and what it always answers."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    result: str


def _object(**properties: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: {"type": type_} for name, type_ in properties.items()},
        "required": list(properties)[:1],
    }


SEARCH = Tool(
    "localSearch",
    "Search the notes.",
    _object(query="string", limit="number", tags="array", Z="object"),
    'Found: "Grüße" — 日本 😀\n1. notes/release.md',
)
READ = Tool("readNote", "Read a note.", _object(notePath="string"), "# Release\n\n- done ✔")
TOOLS = (SEARCH, READ)


@dataclass(frozen=True, kw_only=True)
class Call:
    """A call of the model, its arguments spelled as the model spells them."""

    id: str
    name: str
    raw: str


FOUND = Call(id="call_search", name="localSearch", raw='{"query": "release notes"}')
NOTE = Call(id="call_read", name="readNote", raw='{"notePath": "notes/release.md"}')
ODD = Call(
    id="call_odd",
    name="localSearch",
    raw=r'{ "query" :  "caf\u00e9 und café 😀 a\/b \\ \"q\"" , "limit":1.50, "tags":[ ],"Z" : {"k" :null}}',
)
PIECES = Call(id="call_pieces", name="localSearch", raw='{"query": "same bytes é😀", "limit": 11}')
SAME = tuple(Call(id=f"call_same_{number}", name="localSearch", raw='{"query": "twice"}') for number in (1, 2))


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What the model answers in one turn."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    usage: Usage = (11, 7)


@dataclass(frozen=True, kw_only=True)
class Dialogue:
    """A question that asks for a script, and the turns that it takes; `streamed`: those of streams, if they differ.

    `schema`: what the text is to match, for clients that parse.
    """

    script: str
    answers: tuple[Answer, ...]
    streamed: tuple[Answer, ...] = ()
    tools: tuple[Tool, ...] = TOOLS
    parallel: bool | None = None
    schema: Mapping[str, Any] | None = None

    def asked(self, url: str) -> dict[str, Any]:
        """What the client programs are told of it, to be played at the base URL `url`."""
        return {
            "url": url,
            "prompt": f"Please: [[wireproof:{self.script}#{secrets.token_hex(8)}]]",
            "tools": [asdict(tool) for tool in self.tools],
            "parallel": self.parallel,
            "schema": self.schema,
        }


UTF8 = "Grüße — 日本語 😀👩\u200d👧 e\u0301\u2028שלום\r\ndata: [DONE]\n\nend"  # noqa: RUF001 - Hebrew on purpose
LOOK = "Let me look.\n"
BOTH = (Answer(text=LOOK, calls=(FOUND, NOTE)), Answer(text="Both were found."))
DIALOGUES = {
    "a text": Dialogue(script="text/hello", answers=(Answer(text="Hello, world!"),), tools=()),
    "a text where tools are declared": Dialogue(script="text/hello", answers=(Answer(text="Hello, world!"),)),
    "a silence": Dialogue(
        script="clients/silence", answers=(Answer(text="After the silence.", usage=(1234, 56)),), tools=()
    ),
    "a call": Dialogue(script="clients/call", answers=(Answer(calls=(FOUND,)), Answer(text="All clear."))),
    "an oddly spelled call": Dialogue(script="clients/odd", answers=(Answer(calls=(ODD,)), Answer(text=UTF8))),
    "a call in fragments": Dialogue(
        script="clients/fragments",
        answers=(Answer(text=LOOK, calls=(PIECES,)), Answer(text="Pieced together.")),
    ),
    "two calls at once": Dialogue(script="clients/two", answers=BOTH, parallel=True),
    "two equal calls at once": Dialogue(
        script="clients/twice", answers=(Answer(calls=SAME), Answer(text="Twice the same.")), parallel=True
    ),
    "two calls where one is wanted": Dialogue(
        script="clients/two",
        answers=BOTH,
        streamed=(Answer(text=LOOK, calls=(FOUND,)), BOTH[1]),
        parallel=False,
    ),
    "two steps": Dialogue(
        script="clients/steps",
        answers=(Answer(calls=(FOUND,)), Answer(calls=(NOTE,)), Answer(text="Both steps done.")),
    ),
    "two steps with text between": Dialogue(
        script="clients/steps-and-text",
        answers=(
            Answer(calls=(FOUND,)),
            Answer(text="One more look.\n", calls=(NOTE,)),
            Answer(text="After two steps."),
        ),
    ),
}
RESULTS = Dialogue(script="clients/results", answers=(BOTH[0], Answer()), parallel=True)
PLACE = Dialogue(
    script="clients/place",
    answers=(Answer(text='{"name": "Zugspitze 😀", "height": 2962.5}'),),
    tools=(),
    schema={"name": "string", "height": "number"},
)
