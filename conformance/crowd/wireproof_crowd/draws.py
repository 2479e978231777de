"""Draws: which faults a proxy has, chosen by a seed.

Of two faults that break the same row a draw holds one, so that a row that is found broken speaks of that fault. The
faults are put into the proxy in an order in which something is left of each beside each other; where one of two leaves
nothing of the other in either order, a draw holds one of them.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from wireproof_crowd.known import alone, also, beside, frequencies
from wireproof_crowd.samples import hides
from wireproof_mocks.miniatures import FAULTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wireproof_mocks.miniatures import Fault

SIZES = (6, 12, 24)
"""How many faults the proxies of a crowd have."""

RARE = 0.5
"""The frequency of a row that no recorded stranger breaks, where one that a single stranger breaks has 1: of a stranger
less is seen than there is."""


class DrawKind(StrEnum):
    """How the faults of a draw are chosen."""

    RANDOM = "random"
    """Every row is as likely as any other."""
    CARELESS = "careless"
    """A careless week: the rows that many strangers break are likelier."""


@dataclass(frozen=True, kw_only=True)
class Draw:
    """The faults of one proxy."""

    kind: DrawKind
    number: int
    """Which of its kind and size it is, counted from 0."""
    faults: tuple[str, ...]
    """The names, in the order in which they are put into the proxy."""

    @property
    def size(self) -> int:
        """How many they are."""
        return len(self.faults)

    @property
    def name(self) -> str:
        """What files and reports call it."""
        return f"{self.kind}-{self.size:02}-{self.number:03}"

    @property
    def rows(self) -> dict[str, str]:
        """Row → the fault that breaks it."""
        return {FAULTS[name].breaks: name for name in self.faults}


def draw(kind: DrawKind, size: int, number: int) -> Draw:
    """The draw of this kind, size and number; the same one every time."""
    taken: list[Fault] = []
    for fault in _candidates(kind, random.Random(f"{kind}-{size}-{number}")):  # noqa: S311 (a draw, no secret)
        if len(taken) == size:
            break
        if all(_may_stand_beside(fault, other) for other in taken):
            taken.append(fault)
    return Draw(kind=kind, number=number, faults=tuple(fault.name for fault in _in_order(taken)))


def drawable() -> list[Fault]:
    """The faults that are drawn: those that can be seen beside any other at all."""
    return [fault for fault in FAULTS.values() if fault.name not in alone()]


def _candidates(kind: DrawKind, chance: random.Random) -> Iterator[Fault]:
    """All faults that are drawn, the likelier ones first."""
    often = frequencies() if kind is DrawKind.CARELESS else {}
    by_row: dict[str, list[Fault]] = {}
    for fault in drawable():
        by_row.setdefault(fault.breaks, []).append(fault)
    # Each row takes part with a chance of its own, whatever the number of its faults: the likelier, the earlier.
    order = sorted(by_row, key=lambda row: chance.expovariate(often.get(row, RARE if often else 1.0)))
    # All faults of a row: one of them may go beside the others where its first one may not.
    for row in order:
        yield from chance.sample(by_row[row], len(by_row[row]))


def _may_stand_beside(one: Fault, other: Fault) -> bool:
    if one.breaks == other.breaks or {(one.name, other.breaks), (other.name, one.breaks)} & also().keys():
        return False
    if {(one.name, other.name), (other.name, one.name)} & beside().keys():
        return False
    return not (hides(one, other) and hides(other, one))


def _in_order(faults: Sequence[Fault]) -> Iterator[Fault]:
    """The faults in an order in which each shows beside each; where they stand in a circle, as they were drawn."""
    left = list(faults)
    while left:
        first = next((one for one in left if not any(hides(one, other) for other in left if other is not one)), left[0])
        left.remove(first)
        yield first
