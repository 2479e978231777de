"""Launched proxies with a fault that hides all else: it is found, and the rest is judged behind the way round it."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from wireproof.model.catalogue import load
from wireproof.model.dialect import Dialect
from wireproof.model.scenario import ConversationScenario
from wireproof.model.verdict import Verdict
from wireproof.report.data import broken_by
from wireproof.results.certify import certify
from wireproof.scenarios import SCENARIOS
from wireproof.targets.options import TargetOptions
from wireproof.targets.reach import reach

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wireproof.model.scenario import Scenario
    from wireproof.results.certificate import Certificate

PROXY = Path(__file__).parents[1] / "targets" / "faulty_proxy.py"
SETTINGS = (
    "PROXY_OUTPUT_MODE=openai-json", "PROXY_STOP_AFTER_TOOLS_MODE=burst", "PROXY_ANY_MODEL=true", "WIREPROOF_PACE=0",
    "CODEX_HOME=", "PROXY_COMMIT_MS=800", "PROXY_CALL_WAIT_MS=600",
)  # fmt: skip
ASKED = (
    "text-hello", "text-empty", "text-unicode", "call-one", "calls-burst", "calls-three", "disconnect", "history",
    "disconnect-first", "response-settings", "usage-asked", "system-prompt", "model", "flush", "tool-results",
    "disconnect-after-call", "disconnect-in-arguments", "body-not-json", "body-not-object", "fail-first",
    "input-string", "input-replayed", "response-in-chunks",
)  # fmt: skip
"""A few scenarios of each kind: text, calls, clients that leave, several turns, settings, errors, plain requests."""
CHOSEN = [one for one in SCENARIOS if one.name in ASKED]


@pytest.fixture
def launched(request: pytest.FixtureRequest) -> Iterator[TargetOptions]:
    """What launches the proxy with the fault that the test names."""
    # Not measured: traced, its instances are so slow in the night that a silence of three seconds shows nothing.
    command = shlex.join(["env", "-u", "COVERAGE_PROCESS_CONFIG", sys.executable, str(PROXY), request.param])
    dialects = (Dialect.OPENAI_JSON, Dialect.RESPONSES)
    return TargetOptions(command=command, env=SETTINGS, dialects=dialects, timeout=3.0)  # type: ignore[return-value]


def run(
    options: TargetOptions, *, ways: bool = True, played: Sequence[Scenario] = CHOSEN, jobs: int = 4
) -> Certificate:
    with reach(options) as target:
        return certify(target if ways else replace(target, ways=()), played, load(), jobs=jobs)


def unseen(certificate: Certificate) -> int:
    return certificate.counts[Verdict.NOT_OBSERVED]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("launched", "way", "row"),
    [
        ("streams", "stream-false", "chat.whole.envelope"),
        ("instructions", "instructions", "target.answers"),
        ("only-streams", "only-streams", "target.answers"),
        ("store", "store-false", "target.answers"),
        ("parallel", "without-parallel-tool-calls", None),
    ],
    indirect=["launched"],
)
def test_the_fault_is_found_and_the_rest_is_judged(launched: TargetOptions, way: str, row: str | None) -> None:
    without, behind = run(launched, ways=False), run(launched)
    assert unseen(behind) <= unseen(without) / 2
    taken = [one for one in behind.target.ways if one.name == way]
    assert taken
    found = {name for one in taken for name in broken_by(one, behind)}
    # Where a member is refused, plain requests find that.
    assert found == ({row} if row else set())
    others = {one.requirement for one in behind.outcomes if one.verdict in {Verdict.FAIL, Verdict.WARN}} - {row}
    assert others == set()


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("launched", "row"),
    [
        ("leaks", "target.capacity"),
        ("leaks-errors", "target.capacity"),
        ("hangs", "target.answers"),
        ("hangs-errors", "target.answers"),
    ],
    indirect=["launched"],
)
def test_a_fresh_instance_goes_on(launched: TargetOptions, row: str) -> None:
    found = run(launched)
    assert "fresh-instance" in {one.name for one in found.target.ways}
    assert row in {one.requirement for one in found.outcomes if one.verdict in {Verdict.FAIL, Verdict.WARN}}
    assert unseen(found) < len(found.outcomes) / 10


@pytest.mark.nightly
@pytest.mark.parametrize("launched", ["hangs-errors"], indirect=True)
def test_what_hangs_after_each_refusal_is_renewed_before_the_next_request(launched: TargetOptions) -> None:
    refused = [one for one in SCENARIOS if one.name.startswith(("param-", "body-", "route-"))]
    found = run(launched, played=[*CHOSEN, *refused])
    # One exchange has shown the silence. Were the others met by it, each would have that finding.
    assert [one.requirement for one in found.outcomes if one.verdict is Verdict.FAIL] == ["target.answers"]
    late = [one for one in found.outcomes if one.reason.endswith("the time for fresh instances was over")]
    assert len(late) < len(found.outcomes) / 10


@pytest.mark.nightly
@pytest.mark.parametrize("launched", ["hangs-calls"], indirect=True)
def test_calls_that_are_never_answered_hide_what_is_about_calls_and_nothing_else(launched: TargetOptions) -> None:
    about_calls = [one for one in SCENARIOS if isinstance(one, ConversationScenario) and one.tools]
    found = run(launched, played=[*CHOSEN, *(one for one in about_calls if one not in CHOSEN)])
    # Each keeps its slot, so that four of them leave an instance none.
    reasons = ("hidden behind target.capacity", "the time for fresh instances was over")
    unseen_for_capacity = [one for one in found.outcomes if any(said in one.reason for said in reasons)]
    assert len(unseen_for_capacity) < len(found.outcomes) / 10
    assert "target.answers" in {one.requirement for one in found.outcomes if one.verdict is Verdict.FAIL}


@pytest.mark.nightly
@pytest.mark.parametrize("launched", ["leaks-errors"], indirect=True)
def test_slots_whose_loss_is_met_where_an_error_is_due_are_shown_by_an_answer(launched: TargetOptions) -> None:
    # One at a time: no other form meets the instance that has lost them.
    played = [one for one in CHOSEN if one.name in {"text-hello", "fail-first", "body-not-json"}]
    found = run(launched, played=played, jobs=1)
    assert {one.requirement for one in found.outcomes if one.verdict is Verdict.WARN} == {"target.capacity"}


@pytest.mark.parametrize("launched", ["no-output"], indirect=True)
def test_where_the_report_is_lost_nothing_is_said_of_what_the_backend_received(launched: TargetOptions) -> None:
    reporting = {"input-string", "input-replayed", "response-in-chunks"}
    played = [one for one in CHOSEN if one.name in {*reporting, "text-hello", "call-one"}]
    found = run(launched, played=played)
    broken = {one.requirement for one in found.outcomes if one.verdict in {Verdict.FAIL, Verdict.WARN}}
    assert broken == {"responses.whole.message", "responses.whole.call-items"}
    received = {one.requirement for one in found.outcomes if one.scenario in reporting}
    unseen_rows = {one.requirement for one in found.outcomes if one.hidden_behind == "responses.whole.message"}
    assert {"responses.input.items", "responses.input.replayed", "http.body.chunked"} <= received & unseen_rows


@pytest.mark.nightly
@pytest.mark.parametrize("launched", ["dies"], indirect=True)
def test_what_ends_the_process_takes_nothing_along(launched: TargetOptions) -> None:
    found = run(launched)
    broken = {one.requirement for one in found.outcomes if one.verdict is Verdict.FAIL}
    assert broken == {"target.alive"}
    unseen_in = {one.scenario for one in found.outcomes if one.verdict is Verdict.NOT_OBSERVED}
    deadly = {"tool-results", "disconnect-after-call", "disconnect-in-arguments"}
    assert unseen_in <= deadly | {one for one in ASKED if one.startswith("call")}


@pytest.mark.nightly
@pytest.mark.parametrize("launched", ["no-models"], indirect=True)
def test_a_proxy_whose_list_of_models_fails_is_launched_all_the_same(launched: TargetOptions) -> None:
    with reach(launched) as target:
        assert {one.name for one in target.ways} == {"model-by-hand", "other-health-path"}
