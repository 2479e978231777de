"""The versions of the app-server that the mock can play: each is the oldest with the changes since (`changes`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay_codex.versions.changes import CHANGES, OLDEST, STABLE, Change, Traits
from assay_codex.versions.fields import NOTIFICATIONS, hidden_fields
from assay_codex.versions.marks import known, minor, unknown
from assay_codex.versions.methods import METHODS
from assay_codex.versions.params import gated_methods, gated_params, ignored_params, params_of
from assay_codex.versions.traits import (
    Calls,
    Commands,
    Compaction,
    Counts,
    Failures,
    Messages,
    Requests,
    Stored,
    Transport,
    Turns,
)

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, kw_only=True, slots=True)
class Version:
    """One version of `codex app-server`: what it does, as data."""

    number: str
    requests: Requests
    transport: Transport
    messages: Messages
    turns: Turns
    counts: Counts
    calls: Calls
    commands: Commands
    compaction: Compaction
    failures: Failures
    stored: Stored


def derive(number: str, changes: Iterable[Change] = CHANGES) -> Version:
    """The version of this number: the oldest, with all `changes` up to its number."""
    at = minor(number)
    traits = {group: dict(fields) for group, fields in OLDEST.items()}
    for change in changes:
        if minor(change.first) <= at:
            _apply(traits, change)
    return Version(
        number=number,
        requests=Requests(
            methods=known(METHODS, number),
            params=params_of(number),
            gated_methods=gated_methods(number),
            gated_params=gated_params(number),
            ignored_params=ignored_params(number),
            **traits["requests"],
        ),
        transport=Transport(**traits["transport"]),
        messages=Messages(hidden=hidden_fields(number), unsent=unknown(NOTIFICATIONS, number), **traits["messages"]),
        turns=Turns(**traits["turns"]),
        counts=Counts(**traits["counts"]),
        calls=Calls(**traits["calls"]),
        commands=Commands(**traits["commands"]),
        compaction=Compaction(**traits["compaction"]),
        failures=Failures(**traits["failures"]),
        stored=Stored(**traits["stored"]),
    )


def _apply(traits: dict[str, Traits], change: Change) -> None:
    for group, fields in change.traits.items():
        for name, value in fields.items():
            traits[group][name] = _changed(traits[group][name], value)


def _changed(before: Any, value: Any) -> Any:  # noqa: ANN401 - the value of any field
    both = isinstance(before, Mapping) and isinstance(value, Mapping)
    return {**before, **value} if both else value


class Versions(Mapping[str, Version]):
    """Every stable version by its number; each is derived when it is asked for."""

    def __init__(self, numbers: Iterable[str]) -> None:
        self._made: dict[str, Version | None] = dict.fromkeys(numbers)

    def __getitem__(self, number: str) -> Version:
        made = self._made[number]
        if made is None:
            made = self._made[number] = derive(number)
        return made

    def __iter__(self) -> Iterator[str]:
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._made)


VERSIONS = Versions(STABLE.split())
NEWEST = VERSIONS[STABLE.split()[-1]]
PLAYED = f"every stable version from {STABLE.split()[0]} to {NEWEST.number}"
