"""The versions of the app-server that the mock can play: each is the oldest with the changes since (`changes`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from wireproof_codex.versions.changes import CHANGES, OLDEST, RECORDED, STABLE, Change, Traits
from wireproof_codex.versions.marks import firsts, known, minor, unknown
from wireproof_codex.versions.names import FIELDS, METHODS, NOTIFICATIONS, hidden_fields
from wireproof_codex.versions.params import gated_methods, gated_params, marked_params, params_of
from wireproof_codex.versions.traits import (
    CallTraits,
    Commands,
    CompactionTraits,
    CountTraits,
    ExecTraits,
    Failures,
    McpServerTraits,
    MessageTraits,
    OwnToolTraits,
    RequestTraits,
    StoredTraits,
    TransportTraits,
    TurnTraits,
)

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, kw_only=True, slots=True)
class Version:
    """One version of `codex app-server`: what it does, as data."""

    number: str
    played_as: str
    """The number of the version whose recordings the mock was compared with: its own, or that of the newest recorded
    version before it.
    """
    seen_in: tuple[str, ...]
    """Later versions, up to this one, of whose binaries single changes were seen; these are played, too."""
    requests: RequestTraits
    transport: TransportTraits
    messages: MessageTraits
    turns: TurnTraits
    counts: CountTraits
    calls: CallTraits
    commands: Commands
    tools: OwnToolTraits
    mcp_server: McpServerTraits
    compaction: CompactionTraits
    failures: Failures
    stored: StoredTraits
    exec: ExecTraits


def derive(number: str, changes: Iterable[Change] = CHANGES) -> Version:
    """The version of this number: the oldest, with all `changes` up to its number."""
    at = minor(number)
    traits = {group: dict(fields) for group, fields in OLDEST.items()}
    for change in changes:
        if minor(change.first) <= at:
            _apply(traits, change)
    # Never empty: the oldest version that is played was recorded.
    played_as = [recorded for recorded in RECORDED.split() if minor(recorded) <= at][-1]
    return Version(
        number=number,  # never `played_as`: clients choose by the number what they send
        played_as=played_as,
        seen_in=tuple(f"0.{first}.0" for first in sorted(_firsts()) if minor(played_as) < first <= at),
        # These come from tables of names that came and went; the other traits are single changes.
        requests=RequestTraits(
            methods=known(METHODS, number),
            params=params_of(number),
            gated_methods=gated_methods(number),
            gated_params=gated_params(number),
            **traits["requests"],
        ),
        transport=TransportTraits(**traits["transport"]),
        messages=MessageTraits(
            hidden=hidden_fields(number), unsent=unknown(NOTIFICATIONS, number), **traits["messages"]
        ),
        turns=TurnTraits(**traits["turns"]),
        counts=CountTraits(**traits["counts"]),
        calls=CallTraits(**traits["calls"]),
        commands=Commands(**traits["commands"]),
        tools=OwnToolTraits(**traits["tools"]),
        mcp_server=McpServerTraits(**traits["mcp_server"]),
        compaction=CompactionTraits(**traits["compaction"]),
        failures=Failures(**traits["failures"]),
        stored=StoredTraits(**traits["stored"]),
        exec=ExecTraits(**traits["exec"]),
    )


@cache
def _firsts() -> frozenset[int]:
    """The versions in which anything changed."""
    tables = (METHODS, NOTIFICATIONS, *FIELDS.values(), *marked_params())
    return frozenset(minor(change.first) for change in CHANGES).union(*(firsts(marked) for marked in tables))


def _apply(traits: dict[str, Traits], change: Change) -> None:
    for group, fields in change.traits.items():
        for name, value in fields.items():
            traits[group][name] = _changed(traits[group][name], value)


def _changed(before: object, value: object) -> object:
    match before, value:
        case Mapping(), Mapping():
            return {**before, **value}
    return value


def unmeasured(version: Version) -> str | None:
    """One line that says what a version that was not recorded is played as; None for one that was."""
    if version.number == version.played_as:
        return None
    seen = f", with the changes seen in {', '.join(version.seen_in)}" if version.seen_in else ""
    return f"Codex {version.number} was not measured: it is played as {version.played_as}{seen}"


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


def last_with(method: str) -> Version | None:
    """The newest version that has a method; None where none has."""
    number = next((one for one in reversed(STABLE.split()) if method in known(METHODS, one)), None)
    return VERSIONS[number] if number else None


PLAYED = f"every stable version from {STABLE.split()[0]} to {NEWEST.number}"
