"""ChatGPT MD: as its specification has it, as it is today, and with a user who declines.

The seed has the results sent back as messages for tools; the plugin as it was released sends a text of the user and no
tools. In both it asks its user before a tool sees the vault.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from wireproof_mocks.personas.approval.asking import never
from wireproof_mocks.personas.executor import Executor, PersonaTool
from wireproof_mocks.personas.persona import Persona, Wishes
from wireproof_mocks.personas.vault.tools import LIMIT, PREFIX, VaultTools
from wireproof_mocks.personas.vault.vault import Vault
from wireproof_mocks.personas.ways import ResponsesWay, ToolCalls, results_as_text, said

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from wireproof_mocks.personas.answer import CallResult, Json, UnderstoodAnswer
    from wireproof_mocks.personas.line import Print

SEARCH_DESCRIPTION = (
    "Search the Obsidian vault for files by name or content. Returns file paths, names, and content previews. Use this"
    " to find relevant notes before reading them."
)
QUERY_DESCRIPTION = (
    "The search query to find files. Can be keywords, topics, or phrases to search for in file names and content."
)
LIMIT_DESCRIPTION = "Maximum number of search results to return. Default is 10, maximum is 50."
READ_DESCRIPTION = (
    "Read the full contents of specific files from the vault. User will be asked to approve which files to share. Use"
    " this after searching to get complete file contents."
)
PATHS_DESCRIPTION = "Array of file paths to read. Use the paths returned from vault_search."

SEARCH_PARAMETERS: Json = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "description": QUERY_DESCRIPTION},
        "limit": {"type": "number", "default": LIMIT, "description": LIMIT_DESCRIPTION},
    },
    "required": ["query"],
    "additionalProperties": False,
}
READ_PARAMETERS: Json = {
    "type": "object",
    "properties": {"filePaths": {"type": "array", "items": {"type": "string"}, "description": PATHS_DESCRIPTION}},
    "required": ["filePaths"],
    "additionalProperties": False,
}


def both(tools: VaultTools) -> tuple[PersonaTool, PersonaTool]:
    """Both tools."""
    return (
        PersonaTool(
            name="vault_search", description=SEARCH_DESCRIPTION, parameters=SEARCH_PARAMETERS,
            title="Vault Search", purpose="Searches the names and contents of your notes.",
            execute=lambda arguments: tools.search(**arguments),
        ),
        PersonaTool(
            name="file_read", description=READ_DESCRIPTION, parameters=READ_PARAMETERS,
            title="File Read", purpose="Reads the full contents of the files that you select.",
            execute=lambda arguments: tools.read(arguments["filePaths"]), files="filePaths",
        ),
    )  # fmt: skip


def _toolbox(wishes: Wishes, print_: Print) -> Executor:
    tools = VaultTools(vault=Vault(folder=wishes.vault), print=print_)
    return Executor(tools=both(tools), enabled=wishes.tools, ask=wishes.ask, print=print_)


def _declining(wishes: Wishes, print_: Print) -> Executor:
    return _toolbox(replace(wishes, ask=never), print_)


def _unanswered(answer: UnderstoodAnswer, results: Sequence[CallResult]) -> list[Json]:
    """What follows a call that was declined: no result ever comes, the user just goes on."""
    del results
    return [*said(answer), {"role": "user", "content": "No. Answer without my notes."}]


SAMPLE = {
    "Projects/Release plan.md": "# Release plan\n\nThe changelog is missing; all else is done — ✓\n",
    "Programming/TypeScript Basics.md": "TypeScript is a typed superset of JavaScript.\n",
    "Daily/2026-11-20.md": "Asked about the release. It waits for the changelog.\n",
    "Inbox.md": "Buy tea.\n",
}
"""The notes of the vault that is used when the user names none."""


def write_sample(folder: Path) -> Path:
    """Write the sample notes into a folder."""
    for path, text in SAMPLE.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return folder


_SYSTEM = "You are an assistant within a vault of notes. Use the tools to find and read notes when you need them."


_LOGGING = {"logs_failure": f"{PREFIX} Stream error:"}


def _persona(name: str, **how: Any) -> Persona:  # noqa: ANN401 (the fields of Persona)
    given = {"system": _SYSTEM, "toolbox": _toolbox, "script": f"persona/{name}", "vault": True, **_LOGGING, **how}
    return Persona(name=name, **given)


CHATGPT_MD = (
    _persona(
        "chatgpt-md",
        title="ChatGPT MD, as its specification has it",
        does="searches and reads a vault with the user's approval, several calls in order, and sends the results back",
        way=ToolCalls(),
        prompt="Search my vault for the release plan, read what you find, and say what is missing.",
        without_tools="persona/chatgpt-md-without-tools",
    ),
    _persona(
        "chatgpt-md-today",
        title="ChatGPT MD 3.1, as it is today",
        does="speaks Responses, and sends the results as a text of the user, without tools",
        way=ResponsesWay(),
        prompt="Search my vault for the release plan, and say what is missing.",
        goes_on=results_as_text,
        tools_later=False,
    ),
    _persona(
        "chatgpt-md-declined",
        title="ChatGPT MD, its user declines",
        does="never answers a call, and goes on with the user's next message",
        way=ToolCalls(),
        prompt="Search my vault for the release plan.",
        toolbox=_declining,
        goes_on=_unanswered,
    ),
)
