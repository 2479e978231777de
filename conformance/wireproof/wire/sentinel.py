r"""Calls that the model writes as `<tool_call>` sentinels, found in a text that is known as a whole (contract §9).

    <tool_call>{"id": "call_1", "name": "localSearch", "arguments": "{\"query\": \"x\"}"}</tool_call>

A sentinel counts at the start of a line, outside code fences. Between its tags there must be a JSON object with a name
and an id (`id` or `call_id`); otherwise all of it is text. Arguments that are a string stay as they are, an object
becomes compact JSON. Text after the first call is not part of the answer; further sentinels are.

The JSON is decoded before the closing tag is looked for. Searching for the tag first would be wrong: inside a JSON
string (RFC 8259, section 7) a `</tool_call>` is part of the string. Code fences are those of CommonMark, section 4.5.
"""

from __future__ import annotations

import json
import re

from wireproof.wire.events import ToolCall
from wireproof.wire.fields import object_of

OPEN, CLOSE = "<tool_call>", "</tool_call>"
_JSON = json.JSONDecoder()
# JSON's own whitespace (RFC 8259, section 2). `\s` would also skip characters that are no whitespace in JSON.
_NO_SPACE = re.compile(r"[^ \t\n\r]")
_END = re.compile(rf"[ \t\n\r]*{CLOSE}")
# Up to three spaces: four make an indented code block (CommonMark, section 4.4), and no fence.
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")


def split(text: str) -> tuple[str, tuple[ToolCall, ...]]:
    """The text before the first call, and all calls in order."""
    calls: list[ToolCall] = []
    kept = ""
    position, fence = 0, ""
    while position < len(text):
        opens = not fence and _at_line_start(text, position) and text.startswith(OPEN, position)
        found = read(text, position) if opens else None
        if found is not None:
            call, position = found
            calls.append(call)
            continue
        # What is no valid sentinel stays in the text whole (S0:178), so it is read on like any line.
        line_end = text.find("\n", position) + 1 or len(text)
        line = text[position:line_end]
        # The rest of a line behind a sentinel does not start a line, so it opens and closes no fence.
        fence = _fence_after(line, fence) if _at_line_start(text, position) else fence
        kept += "" if calls else line
        position = line_end
    return kept, tuple(calls)


def _fence_after(line: str, fence: str) -> str:
    """The marks of the code fence that is open after a line, "" for none."""
    found = _FENCE.match(line)
    if found is None:
        return fence
    marks, rest = found.groups()
    if not fence:
        # A backtick after an opening fence of backticks makes the line inline code.
        return "" if "`" in marks and "`" in rest else marks
    # As many marks close a fence, or more; a line with words after its marks does not.
    return "" if marks.startswith(fence) and not rest.strip() else fence


def _at_line_start(text: str, position: int) -> bool:
    return position == 0 or text[position - 1] == "\n"


def read(text: str, position: int = 0) -> tuple[ToolCall, int] | None:
    """The call of the sentinel that opens at a position, and where the sentinel ends; None when it is none."""
    # `raw_decode` does not skip whitespace.
    first = _NO_SPACE.search(text, position + len(OPEN))
    try:
        value, end = _JSON.raw_decode(text, first.start() if first else len(text))
    except ValueError:
        return None
    closed = _END.match(text, end)
    call = _call(value)
    return (call, closed.end()) if closed and call else None


def _call(value: object) -> ToolCall | None:
    call = object_of(value)
    match call:
        # The contract takes either word for the id; `id` wins.
        case {"name": str(name), "id": str(id_)} | {"name": str(name), "call_id": str(id_)} if name and id_:
            arguments = call.get("arguments", {})
            text = (
                arguments
                if isinstance(arguments, str)
                # compact (S0:46)
                else json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))
            )
            return ToolCall(id=id_, name=name, arguments=text)
        case _:
            return None
