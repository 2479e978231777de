"""The verdict on a target does not depend on what runs beside it: more jobs, another run, a busy machine.

Many jobs and a busy machine are tried with a sample of the scenarios: what is about time, requests at the same time, or
state that runs could share. With `--whole`, as the nightly run does, all scenarios are driven, by one job and by two
runs at once as well.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from wireproof.model.catalogue import load
from wireproof.model.target import Target
from wireproof.model.verdict import Verdict
from wireproof.results.certify import certify
from wireproof.scenarios import SCENARIOS
from wireproof.targets.bundled import IDLE_TIMEOUT, KEEPALIVE, SETTINGS
from wireproof.targets.launch import executable, launch
from wireproof.targets.preflight import preflight

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from wireproof.model.scenario import Scenario

KEY = "key-of-the-load"
TIMES = 4
"""How many processes that take all they can get run beside, for each processor."""
SAMPLE = frozenset({
    "calls-burst", "choices-text", "concurrent", "crash-in-text", "cut-bytes", "disconnect", "disconnect-first",
    "fail-first", "flush", "fresh-session", "garbled", "history", "previous-response", "silence", "text-hello",
    "tool-loop",
})  # fmt: skip
BROKEN = {Verdict.FAIL, Verdict.WARN, Verdict.ERROR}
Verdicts = dict[str, Verdict]


@pytest.fixture(scope="module")
def target() -> Iterator[Target]:
    """The reference proxy, as a target that several runs may share."""
    env = {**SETTINGS, "PROXY_API_KEY": KEY, "PROXY_HOST": "127.0.0.1"}
    with launch([executable("wireproof-proxy")], env=env) as launched:
        declared = Target(
            base_url=launched.base_url, model="codex", api_key=KEY, keepalive=KEEPALIVE, idle_timeout=IDLE_TIMEOUT
        )
        yield preflight(declared)


@pytest.fixture(scope="module")
def scenarios(request: pytest.FixtureRequest) -> Sequence[Scenario]:
    whole = request.config.getoption("whole")
    return [one for one in SCENARIOS if whole or one.name in SAMPLE]


def verdicts(target: Target, scenarios: Sequence[Scenario], jobs: int = 8) -> Verdicts:
    return {outcome.key: outcome.verdict for outcome in certify(target, scenarios, load(), jobs=jobs).outcomes}


@pytest.fixture(scope="module")
def calm(target: Target, scenarios: Sequence[Scenario]) -> Verdicts:
    """The verdicts when nothing runs beside."""
    found = verdicts(target, scenarios)
    assert {key for key, verdict in found.items() if verdict in BROKEN} == set()
    assert {key.partition(":")[0] for key in found} == {one.name for one in scenarios}
    return found


@contextlib.contextmanager
def busy(processes: int) -> Iterator[None]:
    """Keep the machine busy for the length of a `with` block."""
    with contextlib.ExitStack() as stack:
        for _ in range(processes):
            process = stack.enter_context(subprocess.Popen([sys.executable, "-c", "while True: pass"]))
            stack.callback(process.kill)
        yield


def differences(found: Mapping[str, Verdict], calm: Mapping[str, Verdict]) -> dict[str, tuple[object, object]]:
    keys = found.keys() | calm.keys()
    return {key: (found.get(key), calm.get(key)) for key in keys if found.get(key) != calm.get(key)}


def test_the_verdict_is_the_same_with_many_exchanges_at_once(
    target: Target, scenarios: Sequence[Scenario], calm: Verdicts
) -> None:
    assert differences(verdicts(target, scenarios, jobs=32), calm) == {}


@pytest.mark.nightly
def test_the_verdict_is_the_same_with_one_exchange_at_a_time(
    target: Target, scenarios: Sequence[Scenario], calm: Verdicts
) -> None:
    assert differences(verdicts(target, scenarios, jobs=1), calm) == {}


# Two runs at once are in every change's tests too, with two scenarios: see tests/results/test_certify.py.
@pytest.mark.nightly
def test_two_runs_on_one_backend_do_not_disturb_each_other(
    target: Target, scenarios: Sequence[Scenario], calm: Verdicts
) -> None:
    with ThreadPoolExecutor(2) as pool:
        runs = [pool.submit(verdicts, target, scenarios) for _ in range(2)]
    assert [differences(run.result(), calm) for run in runs] == [{}, {}]


def test_the_verdict_is_the_same_on_a_busy_machine(
    target: Target, scenarios: Sequence[Scenario], calm: Verdicts
) -> None:
    with busy(TIMES * (os.cpu_count() or 1)):
        found = verdicts(target, scenarios)
    assert differences(found, calm) == {}
