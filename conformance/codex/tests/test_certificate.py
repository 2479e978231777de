"""The certificate of the reference proxy with a real Codex as its backend, whose model's service plays the scripts.

`unobserved.toml` says what such a run cannot show: the MUSTs that nothing in it has shown, and which scenarios the
service cannot play. Nothing fails.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from binaries import NEWEST, VERSIONS, binary

from wireproof.model.catalogue import load
from wireproof.model.target import Backend, Target
from wireproof.model.verdict import Outcome, Verdict
from wireproof.reading.playable import unsupported_reason
from wireproof.results.certificate import ExitStatus
from wireproof.results.certify import certify
from wireproof.scenarios import SCENARIOS
from wireproof.targets.options import TargetOptions
from wireproof.targets.reach import reach

if TYPE_CHECKING:
    from collections.abc import Mapping

_TABLES: Mapping[str, Any] = tomllib.loads((Path(__file__).parents[1] / "unobserved.toml").read_text(encoding="utf-8"))
UNOBSERVED = {NEWEST if version == "newest" else version: table for version, table in _TABLES.items()}
JOBS = 2
"""Exchanges at the same time: a real Codex takes the time of a core for each."""
WRONG = {Verdict.FAIL, Verdict.WARN, Verdict.ERROR}
_EVERYWHERE = {"text-utf8", "usage-asked", "fail-first", "fail-after-text"}
EXERCISED = {
    "0.89.0": {*_EVERYWHERE, "sentinel-plain"},
    NEWEST: {*_EVERYWHERE, "disconnect", "call-one", "calls-three", "many-steps"},
}
"""What above all is to be shown in each version: text, counts, failures, interrupts, and calls."""


@pytest.mark.parametrize("version", VERSIONS)
def test_the_reference_proxy_is_certified(version: str) -> None:
    with reach(TargetOptions(codex=binary(version), timeout=20.0)) as target:
        assert target.backend is Backend.CODEX
        found = certify(target, SCENARIOS, load(), known={}, jobs=JOBS)
    assert [_line(outcome) for outcome in found.outcomes if outcome.verdict in WRONG] == []
    assert found.exit is (ExitStatus.PARTIAL if found.unobserved else ExitStatus.CERTIFIED)
    assert sorted(found.unobserved) == sorted(UNOBSERVED[version]["musts"])
    assert _unplayed(found.target) == UNOBSERVED[version]["scenarios"]
    passed = {outcome.scenario for outcome in found.outcomes if outcome.verdict is Verdict.PASS}
    assert passed >= EXERCISED[version]


def test_the_main_scenarios_pass_with_the_newest() -> None:
    """What a change is tried with: the certificate of everything takes minutes."""
    scenarios = [scenario for scenario in SCENARIOS if scenario.name in EXERCISED[NEWEST]]
    with reach(TargetOptions(codex=binary(NEWEST), timeout=20.0)) as target:
        found = certify(target, scenarios, load(), known={}, jobs=JOBS)
    assert [_line(outcome) for outcome in found.outcomes if outcome.verdict in WRONG] == []
    assert {outcome.scenario for outcome in found.outcomes if outcome.verdict is Verdict.PASS} == EXERCISED[NEWEST]


def _line(outcome: Outcome) -> str:
    seen = [finding.violation.seen for finding in outcome.findings]
    return f"{outcome.verdict} {outcome.scenario}:{outcome.requirement} {seen or outcome.reason}"


def _unplayed(target: Target) -> Mapping[str, str]:
    """The scenarios that cannot be played, and why; without those for another agent than Codex."""
    reasons = {one.name: unsupported_reason(one, target) for one in SCENARIOS if one.backend is None}
    return {name: reason.partition(": ")[2] for name, reason in reasons.items() if reason}
