"""Whatever a target answers is judged: of answers changed at random none ends a run.

Some are judged for a change, others at each commit; with `--whole` as many as a night is for. A mutant that fails is
judged again by its number, see `python -m wireproof_fuzz --help`.
"""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from itertools import chain
from typing import TYPE_CHECKING

from wireproof.scenarios import SCENARIOS
from wireproof.scenarios.live import LIVE
from wireproof_fuzz.judged import death_of
from wireproof_fuzz.mutants import origins

if TYPE_CHECKING:
    import pytest

A_NIGHT = range(100_000, 120_000)
A_CHANGE = range(1, 101)


def test_no_mutant_ends_otherwise_than_in_a_verdict(request: pytest.FixtureRequest) -> None:
    if not request.config.getoption("whole"):
        deaths = [death_of(number) for number in A_CHANGE]
    else:
        with ProcessPoolExecutor(os.cpu_count()) as pool:
            deaths = [*pool.map(death_of, A_NIGHT, chunksize=25)]
    assert [death.said for death in deaths if death is not None] == []


def test_mutants_are_made_of_nearly_every_scenario() -> None:
    recorded = {run.scenario.name for run in chain.from_iterable(archive.runs for archive in origins())}
    every = {scenario.name for scenario in (*SCENARIOS, *LIVE)}
    # What is left out is too large, or has no answer: `python -m wireproof_fuzz record` records the others.
    assert len(recorded & every) >= 0.9 * len(every), sorted(every - recorded)
