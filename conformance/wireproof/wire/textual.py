"""Tool calls written in text as `<use_tool>` blocks, in the spelling of the contract (§6).

    <use_tool>
      <name>NAME</name>
      <key>value</key>
    </use_tool>

Lines are joined by newlines, with none at the end. Keys come in the tool's canonical order, then in order of
appearance. A string is written as it is, numbers and booleans as in JSON, null as nothing, objects and arrays as
compact JSON; &, < and > are escaped, quotes are not. Arguments that are no JSON object are written whole into `<args>`;
so are, as an object, the members whose keys are no XML names.

A regular expression reads the children, not an XML parser: the model may write a block too, and what it writes is often
no XML (a bare &, an angle bracket in a value).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wireproof.wire.fields import parse_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

OPEN, CLOSE = "<use_tool>", "</use_tool>"
_CHILD = re.compile(r"<([A-Za-z_][\w.-]*)>(.*?)</\1>", re.DOTALL)
_KEY = re.compile(r"[A-Za-z_][\w.-]*")
# As elements these would be taken for the tool's name, the rest of the arguments, or the end of the block.
_RESERVED = frozenset({"name", "args", "use_tool"})
# The ampersand first, so that those of the other entities are not escaped again; unescaping goes the other way.
# Quotes stay: Copilot reads values raw, and escaped quotes would break every array.
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
    """The block of a call, for any arguments, JSON or not."""
    lines = [f"  <name>{_escaped(name)}</name>", *_children(name, arguments)]
    return "\n".join([OPEN, *lines, CLOSE])


def block_of(name: str, arguments: Mapping[str, str]) -> str:
    """The block of a call whose values are texts already, in canonical order, then in theirs."""
    order = [key for key in CANONICAL.get(name, ()) if key in arguments]
    order += [key for key in arguments if key not in order]
    lines = [f"  <{key}>{_escaped(arguments[key])}</{key}>" for key in order]
    return "\n".join([OPEN, f"  <name>{_escaped(name)}</name>", *lines, CLOSE])


def _children(name: str, arguments: str) -> Iterator[str]:
    try:
        # Numbers keep their spelling: 1.0 read as a float and written again may look different (1e400 cannot be read).
        members = parse_json(arguments, parse_float=_Spelled, parse_int=_Spelled)
    except ValueError:
        members = None
    # A block is always written, so that no call is lost.
    if not isinstance(members, dict):
        yield f"  <args>{_escaped(arguments)}</args>"
        return
    order = [key for key in CANONICAL.get(name, ()) if key in members]
    order += [key for key in members if key not in order]
    odd = {key: members[key] for key in order if not _KEY.fullmatch(key) or key in _RESERVED}
    yield from (f"  <{key}>{_escaped(_value(members[key]))}</{key}>" for key in order if key not in odd)
    if odd:
        yield f"  <args>{_escaped(_compact(odd))}</args>"


@dataclass(frozen=True, slots=True)
class _Spelled:
    """A number as it is written in the arguments."""

    spelling: str


def _value(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else _compact(value)


def _compact(value: object) -> str:
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
class TextualCall:
    """A call found in text."""

    block: str
    """The text of the block, tags included."""
    name: str
    """The tool's name."""
    written: Mapping[str, str]
    """The texts of its other children by their names, as they are written."""

    @property
    def arguments(self) -> Mapping[str, str]:
        """Those texts, unescaped."""
        return {key: _unescaped(text) for key, text in self.written.items()}


def read_block(block: str) -> TextualCall | None:
    """The call of a block; None when it has no name."""
    inner = block.strip().removeprefix(OPEN).removesuffix(CLOSE)
    children: list[tuple[str, str]] = _CHILD.findall(inner)
    names = [text for key, text in children if key == "name"]
    if not names:
        return None
    written: dict[str, str] = {}
    for key, text in children:
        # Of one that comes twice the last counts, where it stands.
        written.pop(key, None)
        written[key] = text
    del written["name"]
    return TextualCall(block=block, name=_unescaped(names[0]).strip(), written=written)


def split(text: str) -> tuple[str, str, str] | None:
    """A text around its first complete block: before, block, after; None when it has no complete block."""
    start = text.find(OPEN)
    end = text.find(CLOSE, start)
    if start < 0 or end < 0:
        return None
    end += len(CLOSE)
    return text[:start], text[start:end], text[end:]
