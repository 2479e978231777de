"""Of proxies with many faults at once one run finds each fault under its own row, and accuses no other row.

One is played for a change; with `--whole` a hundred of each kind and size.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from wireproof.model.verdict import Verdict
from wireproof.scenarios import SCENARIOS
from wireproof_crowd.crowds import certified, judge_again, kept, play_many
from wireproof_crowd.draws import SIZES, DrawKind, draw
from wireproof_crowd.known import also, beside
from wireproof_crowd.scoring import lines, share
from wireproof_mocks.miniatures import FAULTS

if TYPE_CHECKING:
    from pathlib import Path

# Over 200 draws each, 99.7 % of 6 faults were found, 99.4 % of 12 and 98.8 % of 24.
FLOORS = {6: 0.99, 12: 0.98, 24: 0.95}
"""How many faults a proxy has → the share of the faults that must be found."""
FOR_A_CHANGE = DrawKind.RANDOM, 12
"""The crowd of which one proxy is played for a change."""
MANY = 100
"""Draws of each kind and size in a night."""
PROCESSES = os.cpu_count() or 1
CROWDS = [
    # As the environment of a night is called that plays it.
    pytest.param(
        kind, size, id=f"crowd-{kind}-{size}", marks=() if (kind, size) == FOR_A_CHANGE else pytest.mark.nightly
    )
    for kind in DrawKind
    for size in SIZES
]


@pytest.mark.parametrize(("kind", "size"), CROWDS)
def test_of_a_crowd_each_fault_is_found_and_nothing_else(
    kind: DrawKind, size: int, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    draws = [draw(kind, size, number) for number in range(MANY if request.config.getoption("whole") else 1)]
    scores = [*play_many(draws, processes=min(PROCESSES, len(draws)), folder=tmp_path)]
    said = "\n".join(line for one in scores for line in lines(one))
    assert share(scores) >= FLOORS[size], said
    assert [wrong for one in scores for wrong in one.accused] == [], said
    # What was kept is judged as what was driven.
    assert judge_again(kept(tmp_path)[0], tmp_path).missed == min(scores, key=lambda one: one.draw.name).missed


@pytest.mark.sampled(2)
@pytest.mark.parametrize("pair", beside())
def test_a_fault_beside_which_another_cannot_be_seen_leaves_its_row_kept(pair: tuple[str, str]) -> None:
    unseen, other = (FAULTS[name] for name in pair)
    # No scenario exercises a row that is judged in every answer.
    scenarios = [one for one in SCENARIOS if {unseen.breaks, other.breaks} & set(one.exercises)] or SCENARIOS
    outcomes = certified((unseen.name, other.name), scenarios=scenarios[:6]).outcomes
    verdicts = {one.verdict for one in outcomes if one.requirement == unseen.breaks}
    # Kept, and not merely hidden: a judge that looks the other way needs no line in the table.
    assert verdicts == {Verdict.PASS}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("line", also())
def test_a_fault_that_breaks_further_rows_does_so_alone(line: tuple[str, str]) -> None:
    fault, second = FAULTS[line[0]], line[1]
    scenarios = [one for one in SCENARIOS if {fault.breaks, second} & set(one.exercises)]
    outcomes = certified((fault.name,), scenarios=scenarios).outcomes
    broken = {one.requirement for one in outcomes if one.verdict in {Verdict.FAIL, Verdict.WARN}}
    assert {fault.breaks, second} <= broken <= {fault.breaks, *(row for name, row in also() if name == fault.name)}
