"""Mutants: recorded runs of a scenario in which one answer is another, each made by its number alone."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from wireproof.reading import recorded
from wireproof.results.archive import load
from wireproof.scenarios import SCENARIOS
from wireproof.scenarios.live import LIVE
from wireproof_crowd.samples import RECORDED as OF_THE_PROXY
from wireproof_fuzz.mutations import mutated

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wireproof.judging.outcomes import ScenarioRun
    from wireproof.model.scenario import Form
    from wireproof.model.target import Target
    from wireproof.reading.exchange import Exchange
    from wireproof.results.archive import Archive

OF_A_MODEL = Path(__file__).parent / "model.gz"
"""What an endpoint with a small model was asked, and what it answered."""
CROWDED = 400
"""Every so many mutants is of all scenarios together, with half of the answers changed."""


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """Runs that are to be judged together."""

    number: int
    target: Target
    runs: Sequence[ScenarioRun]

    def __str__(self) -> str:
        """Its number, and what it was made of."""
        which = self.runs[0].scenario.name if len(self.runs) == 1 else "all scenarios"
        return f"mutant {self.number} ({which}, backend {self.target.backend})"


@cache
def origins() -> tuple[Archive, ...]:
    """The recordings that mutants are made of."""
    archives = (load(OF_THE_PROXY, SCENARIOS), load(OF_A_MODEL, LIVE))
    return tuple(replace(one, runs=tuple(run for run in one.runs if any(run.exchanges.values()))) for one in archives)


def mutant(number: int) -> Mutant:
    """The mutant of a number, the same one each time."""
    chance = random.Random(number)  # noqa: S311 (it protects nothing)
    # By the number of their scenarios, those of a model would be one in ten.
    archive = chance.choices(origins(), (2, 1))[0]
    if number % CROWDED == 0:
        changed = [_changed(run, {form: {*_some(those, chance)} for form, those in run.exchanges.items()}, chance)
                   for run in archive.runs]  # fmt: skip
        return Mutant(number=number, target=archive.target, runs=changed)
    run = chance.choice(archive.runs)
    form = chance.choice([form for form, those in run.exchanges.items() if those])
    which = chance.randrange(len(run.exchanges[form]))
    return Mutant(number=number, target=archive.target, runs=[_changed(run, {form: {which}}, chance)])


def _some(those: Sequence[Exchange], chance: random.Random) -> list[int]:
    return [number for number in range(len(those)) if chance.random() < 0.5]  # noqa: PLR2004 (half of them)


def _changed(run: ScenarioRun, which: Mapping[Form, set[int]], chance: random.Random) -> ScenarioRun:
    """A run in which the exchanges of these numbers have other answers."""
    exchanges = {
        form: [_other(one, chance) if number in which.get(form, ()) else one for number, one in enumerate(those)]
        for form, those in run.exchanges.items()
    }
    return replace(run, exchanges=exchanges)


def _other(exchange: Exchange, chance: random.Random) -> Exchange:
    transcript = mutated(chance, exchange.transcript)
    if exchange.turn is None:
        return replace(exchange, transcript=transcript)
    return recorded.of_turn(
        exchange.conversation, exchange.number, exchange.form, exchange.target, transcript, earlier=exchange.earlier
    )
