"""The reference proxy is certified on the mock of older versions of Codex, but for what those cannot do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof.model.catalogue import load
from wireproof.model.target import Missing
from wireproof.model.verdict import Verdict
from wireproof.results.certificate import ExitStatus
from wireproof.results.certify import certify
from wireproof.scenarios import SCENARIOS
from wireproof.targets.codex import UNPLAYED, missing_in
from wireproof.targets.options import TargetOptions
from wireproof.targets.reach import reach

if TYPE_CHECKING:
    import pytest

WRONG = {Verdict.FAIL, Verdict.WARN, Verdict.ERROR}
VERSIONS = ("0.89.0", "0.99.0", "0.114.0", "0.125.0", "0.131.0", "0.142.0")
"""One on each side of what changed most; the newest is what everything else is played with."""
SAMPLE = ("0.89.0",)
"""Those that are played without `--whole`: the oldest, which differs most from the newest."""
SHARE = 4
"""One scenario in so many is played without `--whole`."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    metafunc.parametrize("version", VERSIONS if metafunc.config.getoption("--whole") else SAMPLE)


def test_the_reference_proxy_is_certified_on_the_mock_of_a_version(
    version: str, pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WIREPROOF_CODEX_VERSION", version)
    played = SCENARIOS if pytestconfig.getoption("whole") else SCENARIOS[::SHARE]
    with reach(TargetOptions()) as target:
        found = certify(target, played, load(), known={}, jobs=8)
    major, minor, _ = version.split(".")
    assert target.missing == missing_in((int(major), int(minor))) - UNPLAYED
    assert [(it.scenario, it.requirement, it.reason) for it in found.outcomes if it.verdict in WRONG] == []
    assert found.exit is (ExitStatus.PARTIAL if found.unobserved else ExitStatus.CERTIFIED)
    assert bool(found.unobserved) is (Missing.TOOLS in target.missing)
