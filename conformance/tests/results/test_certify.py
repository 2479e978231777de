"""Runs on one backend at the same time, in short; `test_load` has more of it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from assay.model.catalogue import load
from assay.model.target import Target
from assay.results.certificate import Exit
from assay.results.certify import certify
from assay.scenarios import SCENARIOS
from assay.targets.preflight import preflight

if TYPE_CHECKING:
    from assay.results.certificate import Certificate

NAMES = ("concurrent", "crash-first", "disconnect", "flush", "fresh-session", "previous-response", "tool-loop")


def test_two_runs_on_one_backend_have_the_same_verdict(served: Any) -> None:
    target = preflight(Target(base_url=served.base_url, model=served.model, api_key=served.key))
    scenarios = [one for one in SCENARIOS if one.name in NAMES]

    def run(jobs: int) -> Certificate:
        return certify(target, scenarios, load(), jobs=jobs, selection=NAMES)

    with ThreadPoolExecutor(2) as pool:
        one, two = pool.map(run, (1, 16))
    assert {key.partition(":")[0] for key in (outcome.key for outcome in one.outcomes)} == set(NAMES)
    assert [(outcome.key, outcome.verdict) for outcome in one.outcomes] == [
        (outcome.key, outcome.verdict) for outcome in two.outcomes
    ]
    assert (one.exit, two.exit) == (Exit.CERTIFIED, Exit.CERTIFIED)
