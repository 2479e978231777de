"""The versions of the app-server that the mock can play: each is the oldest with the changes since (`changes`)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, is_dataclass
from functools import cache
from typing import TYPE_CHECKING, get_type_hints

from wireproof_codex.versions import traits  # noqa: TC001 - `derive` reads the types of the fields
from wireproof_codex.versions.changes import CHANGES, RECORDED, STABLE, Change, Traits
from wireproof_codex.versions.failures import CAUSES_0_89, INCOMPLETE_0_89
from wireproof_codex.versions.marks import firsts, known, minor, unknown
from wireproof_codex.versions.names import FIELDS, METHODS, NOTIFICATIONS, hidden_fields
from wireproof_codex.versions.params import GATED_METHODS, GATED_PARAMS, params_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any


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
    requests: traits.RequestTraits
    transport: traits.TransportTraits
    messages: traits.MessageTraits
    turns: traits.TurnTraits
    counts: traits.CountTraits
    calls: traits.CallTraits
    commands: traits.Commands
    tools: traits.OwnToolTraits
    mcp_server: traits.McpServerTraits
    compaction: traits.CompactionTraits
    failures: traits.Failures
    stored: traits.StoredTraits
    exec: traits.ExecTraits


def derive(number: str, changes: Iterable[Change] = CHANGES) -> Version:
    """The version of this number: the oldest, with all `changes` up to its number."""
    at = minor(number)
    # These come from tables of names that came and went, or of failures; the other traits are single changes.
    values: defaultdict[str, Traits] = defaultdict(dict)
    values |= {
        "requests": {
            "methods": known(METHODS, number),
            "params": params_of(number),
            "gated_methods": frozenset(known(GATED_METHODS, number)),
            "gated_params": {method: known(marked, number) for method, marked in GATED_PARAMS.items()},
        },
        "messages": {"hidden": hidden_fields(number), "unsent": unknown(NOTIFICATIONS, number)},
        "failures": {"causes": CAUSES_0_89, "incomplete": INCOMPLETE_0_89},
    }
    for change in changes:
        if minor(change.first) <= at:
            for group, fields in change.traits.items():
                tables = {name: values[group][name] | new for name, new in fields.items() if isinstance(new, dict)}
                values[group] |= fields | tables
    # Never empty: the oldest version that is played was recorded.
    played_as = [recorded for recorded in RECORDED if minor(recorded) <= at][-1]
    return Version(
        number=number,  # never `played_as`: clients choose by the number what they send
        played_as=played_as,
        seen_in=tuple(f"0.{first}.0" for first in sorted(_firsts()) if minor(played_as) < first <= at),
        **{group: made(**values[group]) for group, made in _groups().items()},
    )


@cache
def _groups() -> Mapping[str, Callable[..., Any]]:
    """The classes of the traits, by their groups."""
    return {
        name: kind for name, kind in get_type_hints(Version).items() if isinstance(kind, type) and is_dataclass(kind)
    }


@cache
def _firsts() -> frozenset[int]:
    """The versions in which anything changed."""
    tables = (METHODS, NOTIFICATIONS, *FIELDS.values(), GATED_METHODS, *GATED_PARAMS.values())
    return frozenset(minor(change.first) for change in CHANGES).union(*(firsts(marked) for marked in tables))


def unmeasured(version: Version) -> str | None:
    """One line that says what a version that was not recorded is played as; None for one that was."""
    if version.number == version.played_as:
        return None
    seen = f", with the changes seen in {', '.join(version.seen_in)}" if version.seen_in else ""
    return f"Codex {version.number} was not measured: it is played as {version.played_as}{seen}"


class Versions(Mapping[str, Version]):
    """Every stable version by its number; each is derived when it is asked for."""

    def __getitem__(self, number: str) -> Version:
        if number not in STABLE:
            raise KeyError(number)
        return _made(number)

    def __iter__(self) -> Iterator[str]:
        return iter(STABLE)

    def __len__(self) -> int:
        return len(STABLE)


_made = cache(derive)
VERSIONS = Versions()
NEWEST = VERSIONS[STABLE[-1]]


def last_with(method: str) -> Version | None:
    """The newest version that has a method; None where none has."""
    number = next((one for one in reversed(STABLE) if method in known(METHODS, one)), None)
    return VERSIONS[number] if number else None


PLAYED = f"every stable version from {STABLE[0]} to {NEWEST.number}"
