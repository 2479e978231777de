"""Obsidian Copilot: before it used native tools, as it is now, and as the text obsidian-copilot wants it served.

Versions 3.0 to 3.1.5 describe their tools in the prompt, read `<use_tool>` blocks from the text, take values as they
stand, and send results back as a text of the user. From 3.2 on it declares tools. That text has it listen for
`function_call`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof_mocks.personas.canned import Canned, function
from wireproof_mocks.personas.persona import Persona
from wireproof_mocks.personas.ways import Blocks, FunctionCall, ToolCalls

if TYPE_CHECKING:
    from collections.abc import Callable

    from wireproof_mocks.personas.answer import Json
    from wireproof_mocks.personas.line import Print
    from wireproof_mocks.personas.persona import Wishes

LOCAL_SEARCH = function(
    "localSearch", "Search the notes of the vault.", "query", "salientTerms", query="string", salientTerms="array"
)
READ_NOTE = function("readNote", "Read a note of the vault.", "notePath", notePath="string", chunkIndex="integer")
SEARCH_VAULT = function("searchVault", "Search the vault.", "query", query="string")
_FOUND = '[{"path": "R&D/Costs.md", "title": "Costs", "score": 0.93}]'
_RUNS = {
    "localSearch": lambda arguments: f"Found for {arguments['query']}: {_FOUND}",
    "readNote": lambda arguments: f"# {arguments['notePath']}\n\nCosts < 10 % of R&D — ✓",
    "searchVault": lambda arguments: f"Two notes about {arguments['query']}: A.md, B.md",
}

_BY_BLOCKS = """You are an assistant in a vault of notes. To use a tool, write one block and stop:

<use_tool>
<name>tool</name>
<parameter>value</parameter>
</use_tool>

Values stand as they are, without escapes; lists are JSON. The tools:
- localSearch: query (text), salientTerms (list of words): searches the notes
- readNote: notePath (text): reads a note
"""


def _toolbox(*tools: Json) -> Callable[[Wishes, Print], Canned]:
    return lambda *_: Canned(tools=tools, runs=_RUNS)


OBSIDIAN_COPILOT = (
    Persona(
        name="obsidian-copilot-xml",
        title="Obsidian Copilot 3.0 to 3.1.5",
        does="reads <use_tool> blocks from the text, values raw, and sends the results as a text of the user",
        way=Blocks(),
        mode="obsidian-xml",
        script="persona/obsidian-copilot-xml",
        system=_BY_BLOCKS,
        prompt="What do my notes say about the costs of R&D?",
        toolbox=_toolbox(LOCAL_SEARCH, READ_NOTE),
    ),
    Persona(
        name="obsidian-copilot",
        title="Obsidian Copilot from 3.2 on",
        does="declares tools, reads tool_calls, and drops calls before which no role came",
        way=ToolCalls(needs_role=True),
        script="persona/obsidian-copilot",
        prompt="What do my notes say about the costs of R&D?",
        toolbox=_toolbox(LOCAL_SEARCH, READ_NOTE),
    ),
    Persona(
        name="obsidian-copilot-functions",
        title="Obsidian Copilot, as the text obsidian-copilot has it",
        does="declares functions, reads function_call, and sends the result under the role function",
        way=FunctionCall(),
        script="persona/obsidian-copilot-functions",
        prompt="Find notes about X in my vault.",
        toolbox=_toolbox(SEARCH_VAULT),
    ),
)
