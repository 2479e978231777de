r"""Calls as text: the blocks that a model without native tools writes, and how text is cut into deltas.

    <tool_call>{"id":"call_1","name":"localSearch","arguments":"{\"query\": 1}"}</tool_call>

    <use_tool>
      <name>localSearch</name>
      <query>1</query>
    </use_tool>

A `<use_tool>` block has one element per argument, in the order of the arguments: a string as it is, null as nothing,
everything else as compact JSON with the numbers spelled as in the arguments; &, < and > are escaped. Arguments whose
keys are no XML names are put into `<args>`, together as an object; arguments that are no object are put there whole.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from wireproof_scripts.json_text import parse_json
from wireproof_scripts.steps import Call

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from wireproof_scripts.steps import Step

_XML_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9._-]*")
_OWN_NAMES = frozenset({"name", "args", "use_tool"})  # an argument of such a name would read as the block's own element


class _Number(str):
    """The spelling of a number. Parsed, 1.50 would be written as 1.5."""

    __slots__ = ()


def sentinel_block(call: Call) -> str:
    """The call as a `<tool_call>` block; an empty id is left out."""
    content = {"id": call.id, "name": call.name, "arguments": call.arguments}
    # The arguments as text within the JSON, so that they stay as the model wrote them (responses.sentinel.arguments).
    text = json.dumps({key: value for key, value in content.items() if value or key != "id"}, ensure_ascii=False)
    return f"<tool_call>{text}</tool_call>"


def use_tool_block(call: Call) -> str:
    """The call as a `<use_tool>` block."""
    lines = ["<use_tool>", f"  <name>{_escaped(call.name)}</name>"]
    lines += [f"  <{key}>{_escaped(value)}</{key}>" for key, value in _children(call.arguments)]
    return "\n".join([*lines, "</use_tool>"])


BLOCKS: Mapping[str, Callable[[Call], str]] = {"sentinel": sentinel_block, "use-tool": use_tool_block}
"""How each textual shape writes a call."""


def is_structured_call(step: Step) -> bool:
    """Whether it is a call in at least one shape that is not text."""
    return isinstance(step, Call) and not BLOCKS.keys() >= set(step.shapes)


def cut(text: str, pieces: tuple[str, ...]) -> tuple[str, ...]:
    """`text` in these pieces, or in one if they are none or do not join to it.

    A call may be sent in two shapes with different texts; its pieces are those of one of them.
    """
    return pieces if pieces and "".join(pieces) == text else (text,)


def _children(arguments: str) -> Iterator[tuple[str, str]]:
    try:
        given = parse_json(arguments, parse_float=_Number, parse_int=_Number)
    # xml.values: a block is always written, and nothing is lost.
    except ValueError:
        given = None
    if not isinstance(given, dict):
        yield "args", arguments
        return
    # xml.values: what is no element's name goes into `<args>`, with its value.
    odd = {key: value for key, value in given.items() if key in _OWN_NAMES or not _XML_NAME.fullmatch(key)}
    yield from ((key, _value(value)) for key, value in given.items() if key not in odd)
    if odd:
        yield "args", _compact(odd)


def _value(value: object) -> str:
    if value is None:
        return ""
    return str(value) if isinstance(value, str) else _compact(value)


def _compact(value: object) -> str:
    match value:
        # By hand, as `json.dumps` would write a `_Number` as the text that it is.
        case _Number():
            return str(value)
        case dict():
            return "{" + ",".join(f"{_compact(key)}:{_compact(inner)}" for key, inner in value.items()) + "}"
        case list():
            return "[" + ",".join(_compact(inner) for inner in value) + "]"
        case _:
            return json.dumps(value, ensure_ascii=False)


def _escaped(text: str) -> str:
    # & first, or the others' escapes would be escaped. xml.escape: quotes stay, as Obsidian Copilot 3.0 to 3.1.5 reads
    # values raw: escaped quotes would break every array in them.
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
