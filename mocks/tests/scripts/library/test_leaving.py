from __future__ import annotations

from wireproof_scripts.library.leaving import LEAVING, SENT
from wireproof_scripts.steps import Gate, Hang, Open

WAITS = "leave/told"


def test_each_says_that_it_has_said_all_and_then_hangs() -> None:
    for script in LEAVING:
        if script.name != WAITS:
            assert script.parts[0][-2:] == (Open(SENT), Hang())


def test_one_waits_for_that() -> None:
    (waits,) = [script for script in LEAVING if script.name == WAITS]
    assert [step.name for step in waits.parts[0] if isinstance(step, Gate)] == [SENT]
