"""The endpoint of `wireproof serve`, judged by the whole suite as any proxy is: all dialects, both levels."""

from __future__ import annotations

import shlex
import sys

from wireproof.model.catalogue import load
from wireproof.model.dialect import Dialect
from wireproof.model.served import UNKNOWN_MODEL
from wireproof.model.target import Target
from wireproof.model.verdict import Verdict
from wireproof.results.certify import certify
from wireproof.scenarios import SCENARIOS
from wireproof.targets.launch import launch
from wireproof.targets.preflight import preflight

KEY, LIMIT, KEEPALIVE, IDLE = "a-key", 4 * 2**20, 0.3, 4.5
JOBS = 12
NO_BACKEND = "only a proxy that Wireproof starts can be seen with a backend that is not ready"
"""An endpoint has none, so it is never waiting for one."""


# One test: the certificate takes some seconds, and tests that are spread over processes would make it in each.
def test_every_dialect_is_served_and_nothing_is_broken_at_either_level() -> None:
    options = {
        "port": "{port}", "api-key": KEY, "unknown-models": UNKNOWN_MODEL, "any-model": "false",
        "keepalive": KEEPALIVE, "idle-timeout": IDLE, "commit": 0.3, "max-body": LIMIT,
        # Where the contract of proxies allows what OpenAI refuses, `wireproof serve` does as OpenAI does.
        "as-proxies-do": "true",
    }  # fmt: skip
    words = [sys.executable, "-m", "wireproof_endpoint", *(f"--{name}={value}" for name, value in options.items())]
    with launch(shlex.join(words), env={}) as launched:
        target = Target(
            base_url=launched.base_url, model="codex", api_key=KEY, keepalive=KEEPALIVE, idle_timeout=IDLE,
            body_limit=LIMIT, default_mode=Dialect.OPENAI_JSON,
        )  # fmt: skip
        certificate = certify(preflight(target), SCENARIOS, load(), jobs=JOBS)
    assert set(certificate.target.dialects) == set(Dialect)
    fine = {Verdict.PASS, Verdict.NOT_APPLICABLE, Verdict.NOT_OBSERVED}
    assert [(one.key, one.verdict, one.reason) for one in certificate.outcomes if one.verdict not in fine] == []
    # Only a backend that is not ready cannot be seen.
    assert {one.reason for one in certificate.outcomes if one.verdict is Verdict.NOT_OBSERVED} == {NO_BACKEND}
    assert {one.scenario for one in certificate.outcomes} >= {one.name for one in SCENARIOS}
    assert sum(one.verdict is Verdict.PASS for one in certificate.outcomes) > 2000
