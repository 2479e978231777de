"""Whatever a target answers is judged: of answers changed at random none ends a run.

Some for each change; the environment `fuzz` makes many more, others each night.
"""

from __future__ import annotations

from itertools import chain

import pytest

from wireproof.scenarios import SCENARIOS
from wireproof.scenarios.live import LIVE
from wireproof_fuzz.damaged_files import death_of_file
from wireproof_fuzz.driven import death_of_run
from wireproof_fuzz.judged import death_of
from wireproof_fuzz.mutants import origins

pytestmark = pytest.mark.sampled(2)

MUTANTS = range(1, 41)
RUNS = range(5, 11)
RESULTS = range(1, 4)


def test_no_mutant_ends_otherwise_than_in_a_verdict() -> None:
    deaths = [death_of(number) for number in MUTANTS]
    assert [death.said for death in deaths if death is not None] == []


def test_no_run_at_a_target_that_spoils_answers_ends_otherwise_than_with_its_result() -> None:
    deaths = [death_of_run(number) for number in RUNS]
    assert [death.said for death in deaths if death is not None] == []


def test_no_command_that_reads_a_damaged_result_ends_otherwise_than_in_a_line_or_with_what_it_shows() -> None:
    deaths = [death_of_file(number) for number in RESULTS]
    assert [death.said for death in deaths if death is not None] == []


def test_mutants_are_made_of_nearly_every_scenario() -> None:
    recorded = {run.scenario.name for run in chain.from_iterable(archive.runs for archive in origins())}
    every = {scenario.name for scenario in (*SCENARIOS, *LIVE)}
    # What is left out is too large, or has no answer: `python -m wireproof_fuzz record` records the others.
    assert len(recorded & every) >= 0.9 * len(every), sorted(every - recorded)
