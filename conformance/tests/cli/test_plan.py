from __future__ import annotations

from typing import Any

import pytest

from wireproof.cli.plan import plan
from wireproof.model.target import Agent
from wireproof.targets.options import BUNDLED_JOBS, JOBS, RunOptions, TargetOptions

URL = "http://127.0.0.1:1/v1"


@pytest.mark.parametrize(
    ("target", "run", "jobs"),
    [
        ({}, {}, BUNDLED_JOBS),
        ({"url": URL}, {}, JOBS),
        ({"command": "serve --port {port}"}, {}, JOBS),
        # A program of others is behind the proxy.
        ({"codex": "codex"}, {}, JOBS),
        ({"agent": Agent.CURSOR}, {}, JOBS),
        ({}, {"jobs": 3}, 3),
        ({"url": URL}, {"jobs": 30}, 30),
    ],
)
def test_more_exchanges_run_at_once_where_only_ours_waits(
    target: dict[str, Any], run: dict[str, Any], jobs: int
) -> None:
    assert plan(TargetOptions(**target), RunOptions(**run)).jobs == jobs
