r"""Calls told as `<tool_call>` sentinels, found in a text that is known as a whole.

    <tool_call>{"id": "call_1", "name": "localSearch", "arguments": "{\"query\": \"x\"}"}</tool_call>

A block counts at the start of a line, outside code fences. What stands in it must be a JSON object with a name and an
id (`id` or `call_id`), and the closing tag behind that; else it is text, whole. A closing tag within a string is part
of the string. Arguments that are a string stay as they are; an object is told as compact JSON. Text after the first
call is not part of the answer, other blocks are.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

OPEN, CLOSE = "<tool_call>", "</tool_call>"
_JSON = json.JSONDecoder()
_INK = re.compile(r"[^ \t\n\r]")
_END = re.compile(rf"[ \t\n\r]*{CLOSE}")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")


@dataclass(frozen=True, kw_only=True, slots=True)
class Told:
    """A call as a block tells it."""

    id: str
    name: str
    arguments: str


def split(text: str) -> tuple[str, tuple[Told, ...]]:
    """The text before the first call, and all calls in order."""
    calls: list[Told] = []
    kept = ""
    position, fence = 0, ""
    while position < len(text):
        block = read(text, position) if _opens(text, position, fence) else None
        if block is not None:
            told, position = block
            calls.append(told)
            continue
        line_end = text.find("\n", position) + 1 or len(text)
        line = text[position:line_end]
        fence = _fence_after(line, fence) if _at_line_start(text, position) else fence
        kept += "" if calls else line
        position = line_end
    return kept, tuple(calls)


def _fence_after(line: str, fence: str) -> str:
    """The marks of the code fence that is open after a line, "" for none; as many marks close it, or more."""
    found = _FENCE.match(line)
    if found is None:
        return fence
    marks, rest = found.groups()
    if not fence:
        return "" if "`" in marks and "`" in rest else marks
    return "" if marks.startswith(fence) and not rest.strip() else fence


def _opens(text: str, position: int, fence: str) -> bool:
    return not fence and _at_line_start(text, position) and text.startswith(OPEN, position)


def _at_line_start(text: str, position: int) -> bool:
    return position == 0 or text[position - 1] == "\n"


def read(text: str, position: int = 0) -> tuple[Told, int] | None:
    """The call of the block that opens here, and where the block ends; None when it is none."""
    start = position + len(OPEN)
    try:
        told, end = _JSON.raw_decode(text, _begin(text, start))
    except ValueError:
        return None
    closed = _END.match(text, end)
    call = _told(told)
    return (call, closed.end()) if closed and call else None


def _begin(text: str, start: int) -> int:
    """Where the first character stands that is no blank."""
    found = _INK.search(text, start)
    return found.start() if found else len(text)


def _told(told: Any) -> Told | None:  # noqa: ANN401 - whatever JSON there is
    match told:
        case {"name": str(name), "id": str(id_)} | {"name": str(name), "call_id": str(id_)} if name and id_:
            arguments = told.get("arguments", {})
            text = (
                arguments
                if isinstance(arguments, str)
                else json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))
            )
            return Told(id=id_, name=name, arguments=text)
        case _:
            return None
