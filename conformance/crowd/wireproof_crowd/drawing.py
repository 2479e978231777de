"""Draws: which faults a proxy has, chosen by a seed.

Of two faults that break the same row a draw holds one, so that a row that is found broken speaks of that fault.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wireproof_mocks.miniatures import FAULTS
from wireproof_mocks.miniatures.agent_faults import AGENT_FAULTS
from wireproof_mocks.miniatures.target_faults import TARGET_FAULTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wireproof_mocks.miniatures import Fault

SIZES = (6, 12, 24)
"""How many faults the proxies of a crowd have."""


@dataclass(frozen=True, kw_only=True)
class Draw:
    """The faults of one proxy."""

    size: int
    number: int
    """Which of its size it is, counted from 0; its seed."""
    faults: tuple[str, ...]
    """The names, in the order in which they are put into the proxy."""

    @property
    def name(self) -> str:
        """What files and reports call it."""
        return f"{self.size}-{self.number:03}"

    @property
    def rows(self) -> dict[str, str]:
        """Row → the fault that breaks it."""
        return {FAULTS[name].breaks: name for name in self.faults}


def drawable() -> list[Fault]:
    """The faults that are drawn."""
    return [fault for fault in FAULTS.values() if fault not in {*AGENT_FAULTS, *TARGET_FAULTS}]


def draw(size: int, number: int) -> Draw:
    """The draw of this size and number; the same one every time."""
    chance = random.Random(f"{size}-{number}")  # noqa: S311 (a draw, no secret)
    taken: dict[str, Fault] = {}
    for fault in _shuffled(drawable(), chance):
        if len(taken) == size:
            break
        taken.setdefault(fault.breaks, fault)
    return Draw(size=size, number=number, faults=tuple(fault.name for fault in taken.values()))


def _shuffled(faults: list[Fault], chance: random.Random) -> Iterator[Fault]:
    yield from chance.sample(faults, len(faults))
