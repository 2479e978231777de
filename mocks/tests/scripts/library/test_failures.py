from __future__ import annotations

from wireproof_scripts.library.failures import FAILURES
from wireproof_scripts.steps import Call, Crash, ErrorNotice, Fail, Hang, Raw


def test_each_of_them_has_something_that_goes_wrong() -> None:
    for script in FAILURES:
        assert any(isinstance(step, Fail | Crash | ErrorNotice | Hang | Raw) for step in script.parts[0])


def test_a_call_that_is_cut_off_says_so() -> None:
    calls = {script.name: step for script in FAILURES for step in script.parts[0] if isinstance(step, Call)}
    assert {name for name, call in calls.items() if call.unfinished} == {"fail/mid-arguments", "fail/crash-arguments"}
