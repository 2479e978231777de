"""Tool calls told in text: `<use_tool>` blocks and `<tool_call>` sentinels, as the contract (§6, §9) spells them.

    <use_tool>
      <name>NAME</name>
      <key>value</key>
    </use_tool>

Lines joined by newlines, none at the end. Keys in the tool's canonical order, then in order of appearance. A string
stands as it is, numbers and booleans in JSON spelling, null is empty, objects and arrays are compact JSON; &, < and >
are escaped, quotes are not. Arguments that are no JSON object stand whole in `<args>`, and so do keys that are no XML
names, with their values, as an object.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

OPEN, CLOSE = "<use_tool>", "</use_tool>"
SENTINEL = re.compile(r"^<tool_call>(.*?)</tool_call>", re.MULTILINE | re.DOTALL)
_CHILD = re.compile(r"<([A-Za-z_][\w.-]*)>(.*?)</\1>", re.DOTALL)
_KEY = re.compile(r"[A-Za-z_][\w.-]*")
_RESERVED = frozenset({"name", "args", "use_tool"})
_ESCAPES = (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"))

CANONICAL: Mapping[str, tuple[str, ...]] = {
    "localSearch": ("query", "salientTerms", "timeRange"),
    "webSearch": ("query", "chatHistory"),
    "getCurrentTime": ("timezoneOffset",),
    "convertTimeBetweenTimezones": ("time", "fromOffset", "toOffset"),
    "getTimeRangeMs": ("timeExpression",),
    "getTimeInfoByEpoch": ("epoch",),
    "readNote": ("notePath", "chunkIndex"),
    "getFileTree": (),
    "getTagList": ("includeInline", "maxEntries"),
    "writeToFile": ("path", "content"),
    "replaceInFile": ("path", "diff"),
    "updateMemory": ("statement",),
    "youtubeTranscription": (),
}
"""Tool → its parameters in their canonical order."""


def write_block(name: str, arguments: str) -> str:
    """The block of a call; always one, whatever the arguments are."""
    lines = [f"  <name>{_escaped(name)}</name>", *_children(name, arguments)]
    return "\n".join([OPEN, *lines, CLOSE])


def _children(name: str, arguments: str) -> Iterator[str]:
    try:
        told = json.loads(arguments, parse_float=_Spelled, parse_int=_Spelled)
    except ValueError:
        told = None
    if not isinstance(told, dict):
        yield f"  <args>{_escaped(arguments)}</args>"
        return
    order = [key for key in CANONICAL.get(name, ()) if key in told]
    order += [key for key in told if key not in order]
    odd = {key: told[key] for key in order if not _KEY.fullmatch(key) or key in _RESERVED}
    yield from (f"  <{key}>{_escaped(_value(told[key]))}</{key}>" for key in order if key not in odd)
    if odd:
        yield f"  <args>{_escaped(_compact(odd))}</args>"


@dataclass(frozen=True, slots=True)
class _Spelled:
    """A number, as it was spelled."""

    spelling: str


def _value(value: Any) -> str:  # noqa: ANN401 (JSON)
    if value is None:
        return ""
    return value if isinstance(value, str) else _compact(value)


def _compact(value: Any) -> str:  # noqa: ANN401 (JSON)
    match value:
        case _Spelled():
            return value.spelling
        case dict():
            return "{" + ",".join(f"{_compact(key)}:{_compact(inner)}" for key, inner in value.items()) + "}"
        case list():
            return "[" + ",".join(_compact(inner) for inner in value) + "]"
        case _:
            return json.dumps(value, ensure_ascii=False)


def _escaped(text: str) -> str:
    for character, entity in _ESCAPES:
        text = text.replace(character, entity)
    return text


def _unescaped(text: str) -> str:
    for character, entity in reversed(_ESCAPES):
        text = text.replace(entity, character)
    return text


@dataclass(frozen=True, slots=True)
class Told:
    """A call found in text: the block as it stands there, the tool's name, and its arguments by key."""

    block: str
    name: str
    arguments: Mapping[str, str]


def read_block(block: str) -> Told | None:
    """The call that a block tells; None when it has no name."""
    inner = block.strip().removeprefix(OPEN).removesuffix(CLOSE)
    children = [(key, _unescaped(value)) for key, value in _CHILD.findall(inner)]
    names = [value for key, value in children if key == "name"]
    if not names:
        return None
    rest = {key: value for key, value in children if key != "name"}
    return Told(block=block, name=names[0].strip(), arguments=rest)


def split(text: str) -> tuple[str, str, str] | None:
    """A text around its first complete block: before, block, after; None when it has none."""
    start = text.find(OPEN)
    end = text.find(CLOSE, start)
    if start < 0 or end < 0:
        return None
    end += len(CLOSE)
    return text[:start], text[start:end], text[end:]
