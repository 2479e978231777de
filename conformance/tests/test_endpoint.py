"""The endpoint of `assay serve`, judged by the whole suite as any proxy is: all dialects, both levels."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

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
    import pytest

KEY, LIMIT, KEEPALIVE, IDLE = "a-key", 4 * 2**20, 0.3, 4.5
JOBS = 12
NO_BACKEND = "only a proxy that Assay starts can be seen with a backend that is not ready"
"""An endpoint has none, so it is never waiting for one."""
SAMPLE = {
    "auth-wrong", "body-too-large", "call-one", "calls-burst", "choices-text", "disconnect", "fail-after-text",
    "fail-first", "history", "images", "input-items", "mode-header", "models", "not-ready", "param-n", "param-tools",
    "previous-response", "response-settings", "route-before-auth", "sentinel-plain", "shape-a", "silence",
    "structured-schema", "surrogates", "text-hello", "text-thinking", "text-utf8", "textual-any-cut",
    "tool-choice-required", "tool-loop", "untouched-text", "usage-asked", "xml-order",
}  # fmt: skip
"""Of every subject one or more; with `--whole` all scenarios are played."""


# One test: the certificate takes half a minute, and tests that are spread over processes would make it in each.
def test_every_dialect_is_served_and_nothing_is_broken_at_either_level(request: pytest.FixtureRequest) -> None:
    whole = request.config.getoption("whole")
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
        played = SCENARIOS if whole else tuple(one for one in SCENARIOS if one.name in SAMPLE)
        certificate = certify(preflight(target), played, load(), jobs=JOBS)
    assert set(certificate.target.dialects) == set(Dialect)
    fine = {Verdict.PASS, Verdict.NOT_APPLICABLE, Verdict.NOT_OBSERVED}
    assert [(one.key, one.verdict, one.reason) for one in certificate.outcomes if one.verdict not in fine] == []
    # Only a backend that is not ready cannot be seen.
    assert {one.reason for one in certificate.outcomes if one.verdict is Verdict.NOT_OBSERVED} == {NO_BACKEND}
    assert {one.scenario for one in certificate.outcomes} >= {one.name for one in played}
    assert sum(one.verdict is Verdict.PASS for one in certificate.outcomes) > (2000 if whole else 500)
