"""The certificate of a server with a real model: what is found of it was confirmed in the bytes, and nothing is new.

`findings.toml` has what is broken at each level, and what a person saw of it. What depends on whether the model obeys
stands under `at-times`: it may be found or not. A finding that stands nowhere fails until somebody has looked.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from wireproof.cli.plan import plan
from wireproof.model.target import Backend
from wireproof.model.verdict import Verdict, VerdictLevel
from wireproof.targets.budget import REQUESTS
from wireproof.targets.options import RunOptions, TargetOptions
from wireproof.targets.ports import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wireproof.results.certificate import Certificate

HERE = Path(__file__).resolve().parents[1]
FINDINGS = tomllib.loads((HERE / "findings.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def certificate() -> Iterator[Certificate]:
    """That of llama.cpp's server with SmolLM2-135M."""
    port = free_port()
    command = [sys.executable, str(HERE / "serve.py"), str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            assert "127.0.0.1" in server.stdout.readline()
            # A small model on a small machine writes a few dozen tokens a second.
            target = TargetOptions(url=f"http://127.0.0.1:{port}/v1", timeout=120.0)
            yield plan(target, RunOptions(jobs=2)).certify()
        finally:
            server.terminate()


def broken_at(certificate: Certificate, level: VerdictLevel) -> set[str]:
    return set(certificate.broken_at(level))


@pytest.mark.parametrize("level", list(VerdictLevel))
def test_what_is_found_was_confirmed(certificate: Certificate, level: VerdictLevel) -> None:
    always = {*FINDINGS["compat"], *(FINDINGS["strict"] if level is VerdictLevel.STRICT else ())}
    found = broken_at(certificate, level)
    assert found - set(FINDINGS["at-times"]) == always


def test_it_is_judged_as_a_live_endpoint_within_its_bounds(certificate: Certificate) -> None:
    assert certificate.target.backend is Backend.LIVE
    assert certificate.counts[Verdict.ERROR] == 0
    assert certificate.counts[Verdict.PASS] > 100
    sent = [one.transcript for run in certificate.runs for those in run.exchanges.values() for one in those]
    assert len(sent) <= REQUESTS


def test_the_findings_are_rows() -> None:
    for part in ("compat", "strict", "at-times"):
        assert all(FINDINGS[part].values())
