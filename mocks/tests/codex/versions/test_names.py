"""What shows each mark of `names`: recordings of both sides of it, of which one has the name and the other has not.

A mark is the version in which a change was first seen. Recordings show the change if a recorded version from there on
has the name at its place, and a recorded version before it has the place without the name (the other way round for a
name that went). The marks that no two recordings show so are listed: they were seen of the binaries alone.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
from wireproof_fidelity.recording import read_recording
from wireproof_fidelity.table import RECORDINGS

from wireproof_codex.versions.changes import RECORDED
from wireproof_codex.versions.marks import known, minor
from wireproof_codex.versions.names import FIELDS, METHODS, NOTIFICATIONS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

NUMBERS = RECORDED
_LISTED = re.compile(r"unknown variant `[^`]*`, expected one of (`initialize`.*)")
_MARK = re.compile(r"([^+]+?)(?:\+0\.(\d+))?(?:-0\.(\d+))?")


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What was recorded of one version."""

    methods: frozenset[str]
    """The requests that it listed when it was asked for another; empty where that was not recorded."""
    notifications: frozenset[str]
    """The methods of its notifications."""
    fields: Mapping[str, frozenset[str]]
    """By place, the fields that objects there had."""


@cache
def seen(number: str) -> Seen:
    """What all recordings of a version show."""
    fields: dict[str, set[str]] = defaultdict(set)
    methods: set[str] = set()
    notifications: set[str] = set()
    for path in sorted((RECORDINGS / number).glob("*.jsonl*")):
        asked: dict[Any, str] = {}
        for line in read_recording(path):
            message = line.message or {}
            if line.sent:
                asked[message.get("id")] = message.get("method", "")
                continue
            listed = _LISTED.search(json.dumps(message.get("error")))
            methods |= set(re.findall(r"`([^`]+)`", listed[1])) if listed else set()
            method = message.get("method")
            if method:
                notifications.add(method)
            place = method or asked.get(message.get("id"), "")
            for at, name in _fields(place, message.get("params") if method else message.get("result")):
                fields[at].add(name)
    found = {place: frozenset(names) for place, names in fields.items()}
    return Seen(methods=frozenset(methods), notifications=frozenset(notifications), fields=found)


def _fields(place: str, value: object) -> Iterator[tuple[str, str]]:
    """Every field of a message with its places, as `FIELDS` names them."""
    match value:
        case list():
            for one in value:
                yield from _fields(place, one)
        case dict():
            places = _raw(value) if place == "raw" else (place, f"{place}/{value.get('type')}")
            raw = place == "rawResponseItem/completed"
            for name, inner in value.items():
                yield from ((at, name) for at in places)
                yield from _fields("raw" if raw and name == "item" else f".{name}", inner)


def _raw(item: dict[str, Any]) -> tuple[str, ...]:
    """The places of a raw item: a message is of a role, anything else of a type."""
    return (f"raw {item['role']}",) if "role" in item else ("raw", f"raw/{item.get('type')}")


def marks(table: str) -> Iterator[tuple[str, int, bool]]:
    """Each mark: the name, the version, and whether the name came (or went)."""
    for entry in table.split():
        found = _MARK.fullmatch(entry)
        assert found, entry
        name, first, gone = found.groups()
        yield from ((name, int(end), came) for end, came in ((first, True), (gone, False)) if end)


Looked = list[tuple[int, bool]]
"""By recorded version where it can be seen: its number, and whether it has the name."""


def is_shown(looked: Looked, end: int, *, came: bool) -> bool:
    """Whether recorded versions on both sides of a mark differ as it says."""
    after = {has for number, has in looked if number >= end}
    before = {has for number, has in looked if number < end}
    return came in after and (not came) in before


def look(kind: str, name: str) -> Looked:
    """Where the recordings show whether a version has the name."""
    shown = [(minor(number), seen(number)) for number in NUMBERS]
    match kind:
        case "method":
            return [(number, name in one.methods) for number, one in shown if one.methods]
        case "notification":
            return [(number, name in one.notifications) for number, one in shown]
    return [(number, name in one.fields[kind]) for number, one in shown if kind in one.fields]


ALL = [
    *(("method", *mark) for mark in marks(METHODS)),
    *(("notification", *mark) for mark in marks(NOTIFICATIONS)),
    *((place, *mark) for place, table in FIELDS.items() for mark in marks(table)),
]
_ONE_SIDE = "recorded of versions from there on alone"
_NOT_RECORDED = "no recording has such an object"
_NEVER_SET = "no recorded session made the server send it"
UNRECORDED: Mapping[tuple[str, str, int], str] = {
    ("notification", "thread/compacted", 121): _NEVER_SET,
    ("modelProvider/capabilities/read", "namespaceTools", 169): "the answer was recorded of 0.169 alone, without it",
    ("configRequirements/read", "supportsIndependentSpeedModes", 169): _NOT_RECORDED,
    (".sandboxPolicy/readOnly", "access", 128): "as `.sandbox/readOnly`, of which it is shown",
    (".sandboxPolicy/readOnly", "access", 100): "as `.sandbox/readOnly`, of which it is shown",
    (".sandboxPolicy/readOnly", "networkAccess", 110): "as `.sandbox/readOnly`, of which it is shown",
    (".items/commandExecution", "pluginId", 150): "as `.item/commandExecution`, of which it is shown",
    (".items/commandExecution", "scriptPath", 150): "as `.item/commandExecution`, of which it is shown",
    (".items/commandExecution", "source", 118): "as `.item/commandExecution`, of which it is shown",
    (".items/dynamicToolCall", "namespace", 125): "as `.item/dynamicToolCall`, of which it is shown",
    **{
        (f".items/{kind}", name, end): f"as `.item/{kind}`, of which it is shown"
        for kind in ("mcpToolCall", "webSearch")
        for name, end, _ in marks(FIELDS[f".items/{kind}"])
    },
    (".item/AgentMessage", "phase", 105): "left out where it is null, as it was in every recorded session",
}
"""The marks that no two recordings show, and why: these changes were seen of the binaries alone."""


@pytest.mark.each(
    ("kind", "name", "end", "came"), ALL, ids=[f"{kind} {name}{'-+'[came]}0.{end}" for kind, name, end, came in ALL]
)
def test_a_mark_is_shown_by_recordings_or_says_why_not(kind: str, name: str, end: int, *, came: bool) -> None:
    assert is_shown(look(kind, name), end, came=came) is ((kind, name, end) not in UNRECORDED)


def test_no_reason_is_left_of_a_mark_that_is_gone() -> None:
    assert UNRECORDED.keys() <= {(kind, name, end) for kind, name, end, _ in ALL}


def test_a_version_takes_exactly_the_requests_that_it_listed() -> None:
    listed = [number for number in NUMBERS if seen(number).methods]
    assert listed
    assert [number for number in listed if frozenset(known(METHODS, number)) != seen(number).methods] == []


def test_a_version_has_every_marked_name_that_was_recorded_of_it() -> None:
    assert NUMBERS
    for number in NUMBERS:
        there = seen(number)
        recorded = {"notification": there.notifications, **there.fields}
        for kind, table in {"notification": NOTIFICATIONS, **FIELDS}.items():
            marked = frozenset(name for name, _, _ in marks(table))
            assert recorded.get(kind, frozenset()) & marked <= frozenset(known(table, number)), (number, kind)


def test_a_name_must_be_missing_on_the_other_side() -> None:
    assert is_shown([(1, False), (3, True)], 2, came=True)
    assert not is_shown([(3, True)], 2, came=True)
    assert not is_shown([(1, True), (3, True)], 2, came=True)
    assert is_shown([(1, True), (3, False)], 2, came=False)
