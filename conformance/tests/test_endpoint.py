"""The endpoint of `assay serve`, judged by the whole suite as any proxy is: all dialects, both levels."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

import pytest

from assay.model.catalogue import load
from assay.model.dialect import Dialect
from assay.model.served import UNKNOWN_MODEL
from assay.model.target import Target
from assay.model.verdict import Verdict
from assay.results.certify import certify
from assay.scenarios import SCENARIOS
from assay.targets.launch import launch
from assay.targets.preflight import preflight

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.results.certificate import Certificate

KEY, LIMIT, KEEPALIVE, IDLE = "a-key", 4 * 2**20, 0.3, 4.5
JOBS = 12
NO_BACKEND = "only a proxy that Assay starts can be seen with a backend that is not ready"
"""An endpoint has none, so it is never waiting for one."""


@pytest.fixture(scope="module")
def certificate() -> Iterator[Certificate]:
    options = {
        "port": "{port}", "api-key": KEY, "unknown-models": UNKNOWN_MODEL, "any-model": "false",
        "keepalive": KEEPALIVE, "idle-timeout": IDLE, "commit": 0.3, "max-body": LIMIT,
    }  # fmt: skip
    words = [sys.executable, "-m", "assay_endpoint", *(f"--{name}={value}" for name, value in options.items())]
    with launch(shlex.join(words), env={}) as launched:
        target = Target(
            base_url=launched.base_url, model="codex", api_key=KEY, keepalive=KEEPALIVE, idle_timeout=IDLE,
            body_limit=LIMIT, default_mode=Dialect.OPENAI_JSON,
        )  # fmt: skip
        yield certify(preflight(target), SCENARIOS, load(), jobs=JOBS)


def test_it_speaks_every_dialect(certificate: Certificate) -> None:
    assert set(certificate.target.dialects) == set(Dialect)


def test_nothing_is_broken_at_either_level(certificate: Certificate) -> None:
    fine = {Verdict.PASS, Verdict.NOT_APPLICABLE, Verdict.NOT_OBSERVED}
    found = [(one.key, one.verdict, one.reason) for one in certificate.outcomes if one.verdict not in fine]
    assert found == []


def test_only_a_backend_that_is_not_ready_is_not_observed(certificate: Certificate) -> None:
    unseen = {one.reason for one in certificate.outcomes if one.verdict is Verdict.NOT_OBSERVED}
    assert unseen == {NO_BACKEND}
    assert sum(one.verdict is Verdict.PASS for one in certificate.outcomes) > 1000
