"""What the Python client programs share: they read what to play on stdin, and write what became of it on stdout."""  # noqa: INP001 - a folder of programs, no package

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

TOOL: dict[str, Any] = {
    "name": "get_weather",
    "description": "The weather in a city.",
    "inputSchema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string", "enum": ["Zürich"]}},
    "required": ["city"],
    "additionalProperties": False,
}
RESULT: dict[str, Any] = {"contentItems": [{"type": "inputText", "text": "24 °C"}], "success": True}


@dataclass
class Turn:
    """A turn as the client tells it; `ran`: the arguments of the calls that it was asked to run, or the commands."""

    text: str | None = None
    pieces: list[str] = field(default_factory=list)
    end: str = ""
    error: str | None = None
    usage: list[int] | None = None
    ran: list[Any] = field(default_factory=list)


@dataclass(frozen=True)
class Asked:
    """What is to be played: with which `codex`, the user's text, whether to declare a tool, and to stop it midway.

    `structured`: the answer is to match `SCHEMA`.
    """

    codex: str
    prompt: str
    tool: bool
    interrupt: bool
    structured: bool


Play = Callable[[Asked], Coroutine[Any, Any, Turn]]


def main(play: Play) -> None:
    """Play everything that was asked for, one after the other."""
    asked: Mapping[str, Mapping[str, Any]] = json.load(sys.stdin)
    json.dump({name: asdict(asyncio.run(play(Asked(**one)))) for name, one in asked.items()}, sys.stdout)
