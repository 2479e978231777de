"""What the programs in Python share: the prompts on standard input, and the tool."""  # noqa: INP001 - a folder of programs, no package

from __future__ import annotations

import json
import sys
import traceback
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {"query": {"type": "string"}},
    "required": ["query"],
    "additionalProperties": False,
}
FUNCTION: dict[str, Any] = {"name": "look_up", "description": "Look something up.", "parameters": PARAMETERS}
MODEL = "gpt-4.1"


def look_up(query: str) -> str:
    """Look something up."""
    return f"found {len(query)} characters"


def run(name: str, arguments: str) -> str:
    """The result of a call, as the guides of tools show it: an error is a result, too."""
    if name != FUNCTION["name"]:
        return f"error: there is no tool {name}"
    try:
        return look_up(**json.loads(arguments))
    except (ValueError, TypeError) as error:
        return f"error: {error}"


def talk(ask: Callable[[str], str]) -> None:
    """Ask each line of standard input; what fails is printed, and the conversation goes on."""
    for line in sys.stdin:
        try:
            print(ask(line.rstrip("\n")), flush=True)  # noqa: T201 - a program
        except Exception as error:  # noqa: BLE001 - whatever the library raises
            traceback.print_exception(error, limit=1)
