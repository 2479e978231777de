"""Responses against each other: a stream against the whole answer, and either against what chat says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.judging.checks.places import reading_of
from assay.reading.exchange import Exchange, violation

if TYPE_CHECKING:
    from collections.abc import Iterable

    from assay.wire.calls import Choice
    from assay.wire.violation import Violation

PARITY = "responses.parity"
PASSING = frozenset({"id", "created_at", "completed_at"})
"""Members that are never the same twice."""


def parity(stream: Exchange, whole: Exchange) -> Iterable[Violation]:
    """The terminal response is the whole answer, but for ids and times; under policy first, up to its first call."""
    if not reading_of(stream).payloads or not reading_of(whole).payloads:
        return
    told = _comparable(reading_of(stream).payloads[-1][1].get("response") or {}, stream)
    said = _comparable(reading_of(whole).payloads[-1][1], stream)
    for name in sorted(told.keys() | said.keys()):
        if told.get(name) != said.get(name):
            seen = f"{name}: the stream says {told.get(name)!r:.200}, the whole answer {said.get(name)!r:.200}"
            yield violation(PARITY, seen)
            return


def _comparable(response: dict[str, Any], stream: Exchange) -> dict[str, Any]:
    output = [_lasting(item) for item in response.get("output") or ()]
    if not stream.burst:
        calls = [number for number, item in enumerate(output) if item.get("type") == "function_call"]
        output = output[: calls[0] + 1] if calls else output
    return {**_lasting(response), "output": output}


def _lasting(value: dict[str, Any]) -> dict[str, Any]:
    return {name: inner for name, inner in value.items() if name not in PASSING}


def across(response: Exchange, chat: Exchange) -> Iterable[Violation]:
    """What a response says is what chat says of the same turn."""
    here, there = response.choice(), chat.choice()
    pairs: list[tuple[str, object, object]] = [
        ("calls", _told(here), _told(there)),
        ("finish", here.finish, there.finish),
    ]
    if not there.calls:
        pairs.append(("text", here.text or "", there.text or ""))
    for what, ours, theirs in pairs:
        if ours != theirs:
            yield violation(PARITY, f"{what}: the response says {ours!r:.200}, chat {theirs!r:.200}")
            return


def _told(choice: Choice) -> list[tuple[str, str]]:
    return [(call.name, call.arguments) for call in choice.calls]
