"""The `<use_tool>` block: a call as Obsidian Copilot reads it from text. Pure.

    <use_tool>
      <name>NAME</name>
      <key>value</key>
    </use_tool>

Keys stand in the tool's canonical order, then in order of appearance. A string stands as it is, a number or boolean
as JSON spells it, null is empty, objects and arrays are compact JSON. `&`, `<` and `>` are escaped; quotes are not,
since Copilot reads values raw and an escaped quote would break every array. Arguments that are no JSON object stand
whole in `<args>`, and so do, as an object, the keys that no element can have: a block is always written and nothing is
lost. The reader takes a value for JSON when it is a number, true, false, null, an object or an array; what else a
string said is lost with its quotes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wireproof_surfaces.tools import spelled_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

OPEN, CLOSE = "<use_tool>", "</use_tool>"

CANONICAL: Mapping[str, tuple[str, ...]] = {
    "localSearch": ("query", "salientTerms", "timeRange"),
    "webSearch": ("query", "chatHistory"),
    "getCurrentTime": ("timezoneOffset",),
    "convertTimeBetweenTimezones": ("time", "fromOffset", "toOffset"),
    "getTimeRangeMs": ("timeExpression",),
    "getTimeInfoByEpoch": ("epoch",),
    "readNote": ("notePath", "chunkIndex"),
    "getTagList": ("includeInline", "maxEntries"),
    "writeToFile": ("path", "content"),
    "replaceInFile": ("path", "diff"),
    "updateMemory": ("statement",),
}
"""Tool → its parameters in the order in which Copilot documents them; a tool without any needs no row."""

_KEY = re.compile(r"[A-Za-z_][\w.-]*")
_TAG = re.compile(r"<([A-Za-z_][\w.-]*)>")
_RESERVED = frozenset({"name", "args", "use_tool"})
# `&` first, or the entities of the other two would be escaped again.
_ESCAPED = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
# Quotes are read as entities too, though `write` leaves them as they are.
_ENTITIES = {**{entity: sign for sign, entity in _ESCAPED.items()}, "&quot;": '"', "&apos;": "'"}
_ENTITY = re.compile("|".join(_ENTITIES))


@dataclass(frozen=True, kw_only=True, slots=True)
class TextCall:
    """A call that was found in text."""

    name: str
    arguments: str
    id: str = ""
    """Empty where the text has none."""
    block: str | None = None
    """The block as it was written; None for a sentinel, which no client reads."""


def write(name: str, arguments: str, *, escape: bool = True) -> str:
    """The block of a call."""
    children = [("name", name), *_children(name, arguments)]
    lines = [f"  <{key}>{_escaped(value) if escape else value}</{key}>" for key, value in children]
    return "\n".join([OPEN, *lines, CLOSE])


def _children(name: str, arguments: str) -> Iterator[tuple[str, str]]:
    try:
        values = spelled_json.loads(arguments)
    except ValueError:
        values = None
    if not isinstance(values, dict):
        yield "args", arguments
        return
    keys = [key for key in CANONICAL.get(name, ()) if key in values]
    keys += [key for key in values if key not in keys]
    # No element can be named by these, so they stand in `<args>` (contract §6).
    odd = {key: values[key] for key in keys if key in _RESERVED or not _KEY.fullmatch(key)}
    yield from ((key, _value(values[key])) for key in keys if key not in odd)
    if odd:
        yield "args", spelled_json.compact(odd)


def _value(value: object) -> str:
    match value:
        case None:
            return ""
        case str():
            return str(value)
        case _:
            return spelled_json.compact(value)


def _escaped(text: str) -> str:
    for sign, entity in _ESCAPED.items():
        text = text.replace(sign, entity)
    return text


def read(block: str) -> TextCall | None:
    """The call in a block; None when it names no tool."""
    values: dict[str, str] = {}
    for key, value in _elements(block.removeprefix(OPEN).removesuffix(CLOSE)):
        values.setdefault(key, value)
    name = values.pop("name", "").strip()
    if not name:
        return None
    return TextCall(name=name, arguments=_arguments(values), block=block)


def _elements(text: str) -> Iterator[tuple[str, str]]:
    """Every element and its text, one after the other; elements inside of one are its text."""
    at, never_closed = 0, set[str]()
    while opening := _TAG.search(text, at):
        at = opening.end()
        key = opening[1]
        # Searched for once: a block full of openings would else take quadratic time.
        end = -1 if key in never_closed else text.find(f"</{key}>", at)
        if end < 0:
            never_closed.add(key)
            continue
        yield key, _ENTITY.sub(lambda entity: _ENTITIES[entity[0]], text[at:end])
        at = end + len(key) + 3


def _arguments(values: dict[str, str]) -> str:
    rest = values.pop("args", None)
    if rest is not None and not values:
        return rest
    members = [f"{spelled_json.compact(key)}:{_json(value)}" for key, value in values.items()]
    if rest is not None:
        members.append(_inside(rest))
    return "{" + ",".join(members) + "}"


def _json(value: str) -> str:
    """A value as JSON: itself if it is some other than a string, else a string."""
    text = value.strip()
    # `write` puts no quotes around a string, so those that stand here are part of it.
    if text[:1] != '"':
        try:
            return spelled_json.compact(spelled_json.loads(text))
        except (ValueError, RecursionError):
            pass
    return spelled_json.compact(value)


def _inside(rest: str) -> str:
    """The members of the object in `<args>` beside other elements; anything else is a member `args`."""
    try:
        members = spelled_json.loads(rest)
    except ValueError:
        members = None
    if isinstance(members, dict) and members:
        return spelled_json.compact(members)[1:-1]
    return f'"args":{_json(rest)}'
