from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import pytest

from wireproof.driving.drive import Driving
from wireproof.judging.outcomes import ScenarioRun
from wireproof.model.catalogue import Level, load
from wireproof.model.dialect import Dialect
from wireproof.model.scenario import Form, Mode
from wireproof.model.side import Side
from wireproof.model.target import Backend, Target
from wireproof.model.verdict import Finding, Outcome, Verdict, VerdictLevel
from wireproof.results import certify as certifying
from wireproof.results.certificate import MEANINGS, NOT_RUN, Certificate, ExitStatus
from wireproof.results.certify import certify
from wireproof.results.judge_run import default_level
from wireproof.scenarios import SCENARIOS
from wireproof.wire.violation import Violation

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from wireproof.driving.planning import DrivingPlan
    from wireproof.reading.exchange import Exchange

    Make = Callable[..., Exchange]

TARGET = Target(base_url="http://127.0.0.1:1/v1", model="codex", dialects=(Dialect.OPENAI_JSON,))
NAMED = {scenario.name: scenario for scenario in SCENARIOS}
MUST, SHOULD = "chat.stream.text", "chat.stream.keepalive"


def outcome(verdict: Verdict, requirement: str = MUST, scenario: str = "s", **more: str) -> Outcome:
    return Outcome(scenario=scenario, requirement=requirement, verdict=verdict, **more)  # type: ignore[arg-type]


def certificate_of(*outcomes: Outcome, musts: Sequence[str] = (MUST,)) -> Certificate:
    return Certificate(
        target=TARGET, date="2026-11-21", runs=(), outcomes=outcomes, musts=frozenset(musts), seconds=1.0
    )


def test_counts_are_by_verdict_and_leave_out_known_failures() -> None:
    one = certificate_of(
        outcome(Verdict.PASS), outcome(Verdict.PASS), outcome(Verdict.FAIL), outcome(Verdict.FAIL, known="buffers")
    )
    assert one.counts == {Verdict.PASS: 2, Verdict.FAIL: 1}
    assert [o.known for o in one.known] == ["buffers"]


@pytest.mark.parametrize(
    ("outcomes", "code"),
    [
        ([outcome(Verdict.PASS), outcome(Verdict.NOT_OBSERVED), outcome(Verdict.WARN)], ExitStatus.CERTIFIED),
        ([outcome(Verdict.PASS), outcome(Verdict.NOT_OBSERVED, SHOULD)], ExitStatus.CERTIFIED),
        ([outcome(Verdict.NOT_OBSERVED)], ExitStatus.PARTIAL),
        ([outcome(Verdict.PASS, SHOULD)], ExitStatus.PARTIAL),
        ([outcome(Verdict.FAIL, SHOULD), outcome(Verdict.NOT_OBSERVED)], ExitStatus.FAILED),
        ([outcome(Verdict.ERROR, SHOULD), outcome(Verdict.NOT_OBSERVED)], ExitStatus.UNREACHABLE),
        ([outcome(Verdict.FAIL, known="buffers")], ExitStatus.CERTIFIED),
        ([outcome(Verdict.FAIL)], ExitStatus.FAILED),
        ([outcome(Verdict.ERROR)], ExitStatus.UNREACHABLE),
        ([outcome(Verdict.ERROR), outcome(Verdict.FAIL)], ExitStatus.FAILED),
    ],
)
def test_the_exit_code_is_what_the_outcomes_come_to(outcomes: list[Outcome], code: ExitStatus) -> None:
    assert certificate_of(*outcomes).exit is code


FORM = "chat.stream.headers"
BOTH = (VerdictLevel.COMPAT, VerdictLevel.STRICT)


def broken(requirement: str, *weights: str, compat: bool = True) -> Outcome:
    findings = tuple(
        Finding(
            form=Form(Dialect.OPENAI_JSON, Mode.STREAM),
            exchange=0,
            violation=Violation(requirement=requirement, seen="wrong", strict_only=one == "letter"),
        )
        for one in weights
    )
    return Outcome(
        scenario="s", requirement=requirement, verdict=Verdict.FAIL, findings=findings, compat=compat
    )  # fmt: skip


@pytest.mark.parametrize(
    ("one", "compat"),
    [
        (broken(MUST, "harm"), ExitStatus.FAILED),
        (broken(MUST, "letter", "harm"), ExitStatus.FAILED),
        (broken(MUST, "letter", "letter"), ExitStatus.CERTIFIED),
        (broken(FORM, "harm", compat=False), ExitStatus.CERTIFIED),
        # Without a finding: a declared failure that passes now.
        (broken(FORM, compat=False), ExitStatus.FAILED),
    ],
)
def test_what_harms_no_client_fails_strict_alone(one: Outcome, compat: ExitStatus) -> None:
    certificate = certificate_of(outcome(Verdict.PASS), one)
    assert [certificate.verdict(level) for level in BOTH] == [compat, ExitStatus.FAILED]
    assert certificate.counts_at(VerdictLevel.COMPAT)[Verdict.WARN] == (compat is ExitStatus.CERTIFIED)
    assert certificate.counts_at(VerdictLevel.STRICT)[Verdict.WARN] == 0


def test_compat_does_not_miss_what_harms_no_client() -> None:
    one = certificate_of(outcome(Verdict.PASS), outcome(Verdict.NOT_OBSERVED, FORM), musts=(MUST, FORM))
    assert [one.verdict(level) for level in BOTH] == [ExitStatus.PARTIAL, ExitStatus.PARTIAL]
    one = dataclasses.replace(one, strict_musts=frozenset({FORM}))
    assert [one.verdict(level) for level in BOTH] == [ExitStatus.CERTIFIED, ExitStatus.PARTIAL]
    assert (one.unobserved_at(VerdictLevel.COMPAT), list(one.unobserved)) == ({}, [FORM])


@pytest.mark.parametrize("level", BOTH)
def test_the_exit_status_is_that_of_the_level(level: VerdictLevel) -> None:
    one = dataclasses.replace(certificate_of(outcome(Verdict.PASS), broken(MUST, "letter")), level=level)
    assert (one.exit, one.status(allow_partial=False)) == (one.verdict(level), one.verdict(level))
    assert one.counts == one.counts_at(level)


def test_a_live_endpoint_is_judged_by_compat_and_others_by_strict() -> None:
    levels = {backend: default_level(dataclasses.replace(TARGET, backend=backend)) for backend in Backend}
    assert levels.pop(Backend.LIVE) is VerdictLevel.COMPAT
    assert set(levels.values()) == {VerdictLevel.STRICT}


def test_a_run_that_has_observed_nothing_is_partial_whatever_had_to_be_observed() -> None:
    assert certificate_of(musts=()).exit is ExitStatus.PARTIAL
    assert certificate_of(outcome(Verdict.NOT_OBSERVED, SHOULD), musts=()).exit is ExitStatus.PARTIAL


@pytest.mark.parametrize(
    ("verdict", "accepted"),
    [
        (Verdict.NOT_OBSERVED, ExitStatus.CERTIFIED),
        (Verdict.PASS, ExitStatus.CERTIFIED),
        (Verdict.FAIL, ExitStatus.FAILED),
        (Verdict.ERROR, ExitStatus.UNREACHABLE),
    ],
)
def test_only_a_partial_result_can_be_accepted(verdict: Verdict, accepted: ExitStatus) -> None:
    one = certificate_of(outcome(verdict))
    assert one.status(allow_partial=True) is accepted
    assert one.status(allow_partial=False) is one.exit


def test_every_exit_status_has_a_meaning() -> None:
    assert set(MEANINGS) == set(ExitStatus)


@pytest.mark.parametrize("verdict", [Verdict.PASS, Verdict.FAIL])
def test_a_must_that_one_scenario_has_observed_is_observed(verdict: Verdict) -> None:
    assert certificate_of(outcome(verdict), outcome(Verdict.NOT_OBSERVED, reason="hidden")).unobserved == {}


@pytest.mark.parametrize("verdict", [Verdict.NOT_OBSERVED, Verdict.ERROR])
def test_a_must_that_no_scenario_has_observed_is_reported_with_the_reason(verdict: Verdict) -> None:
    one = certificate_of(outcome(verdict, reason="no key"), outcome(Verdict.NOT_OBSERVED, SHOULD, reason="no interval"))
    assert one.unobserved == {MUST: "no key"}


def test_a_must_that_was_not_asked_for_is_unobserved_too() -> None:
    one = certificate_of(outcome(Verdict.NOT_OBSERVED, reason="no key"), musts=("z.z", MUST, "a.a"))
    assert list(one.unobserved.items()) == [(MUST, "no key"), ("a.a", NOT_RUN), ("z.z", NOT_RUN)]


@pytest.fixture
def driven(monkeypatch: pytest.MonkeyPatch) -> Callable[[ScenarioRun], list[dict[str, Any]]]:
    """Runs in place of driving; what was asked for is kept."""
    asked: list[dict[str, Any]] = []

    def use(*runs: ScenarioRun) -> list[dict[str, Any]]:
        async def drive(plan: DrivingPlan, target: Target, **how: Any) -> Driving:
            asked.append({"plan": plan, "target": target, **how})
            return Driving(runs=runs, at_a_time=2)

        monkeypatch.setattr(certifying, "drive", drive)
        return asked

    return use


def test_certifying_is_driving_and_judging(
    driven: Callable[..., list[dict[str, Any]]], right_stream: Make, right_whole: Make
) -> None:
    hello = NAMED["text-hello"]
    exchange = {one.form: [one] for one in (right_stream("text-hello"), right_whole("text-hello"))}
    asked = driven(ScenarioRun(scenario=hello, exchanges=exchange))
    one = certify(TARGET, [hello], load(), jobs=3)
    assert callable(asked[0].pop("keep"))
    assert [one.scenario for one in asked[0].pop("plan").every] == [hello]
    assert asked == [{"target": TARGET, "jobs": 3, "budget": None}]
    assert one.exit is ExitStatus.PARTIAL, "the other MUSTs were not looked at"
    assert set(one.counts) == {Verdict.PASS}
    assert (one.target, one.date, one.runs[0].scenario) == (TARGET, load().date, hello)
    assert one.musts == {
        row.id
        for row in load().about(Side.PROXY).requirements
        if row.level is Level.MUST and Dialect.OPENAI_JSON in row.dialects
    }
    assert one.seconds >= 0
    assert set(one.unobserved.values()) == {NOT_RUN}


@pytest.mark.parametrize(
    ("dialects", "due"), [((Dialect.OPENAI_JSON,), False), ((Dialect.OPENAI_JSON, Dialect.MESSAGES), True)]
)
def test_where_one_surface_is_served_there_is_none_to_compare_it_with(
    driven: Callable[..., list[dict[str, Any]]],
    dialects: tuple[Dialect, ...],
    due: bool,  # noqa: FBT001
) -> None:
    target, both = dataclasses.replace(TARGET, dialects=dialects), NAMED["surfaces-text"]
    driven(ScenarioRun(scenario=both, not_driven=dict.fromkeys(both.forms(dialects), "no time")))
    assert ("turn.surface-parity" in certify(target, [both], load()).musts) is due


def test_a_selection_misses_only_what_was_selected(
    driven: Callable[..., list[dict[str, Any]]], right_stream: Make, right_whole: Make
) -> None:
    exchange = {one.form: [one] for one in (right_stream("text-hello"), right_whole("text-hello"))}
    driven(ScenarioRun(scenario=NAMED["text-hello"], exchanges=exchange))
    one = certify(TARGET, [NAMED["text-hello"]], load(), selection=("text-hello",))
    assert one.exit is ExitStatus.CERTIFIED
    assert one.selection == ("text-hello",)
    assert one.musts == {o.requirement for o in one.outcomes if load().find(o.requirement).level is Level.MUST}


def test_a_selected_should_is_missed_like_a_must(driven: Callable[..., list[dict[str, Any]]]) -> None:
    scenario = NAMED["silence"]
    reasons = dict.fromkeys(scenario.forms(TARGET.dialects), "the interval is not known")
    driven(ScenarioRun(scenario=scenario, not_driven=reasons))
    assert load().find(SHOULD).level is Level.SHOULD
    one = certify(TARGET, [scenario], load(), selection=(SHOULD,))
    assert one.unobserved[SHOULD] == "the interval is not known"
    assert one.exit is ExitStatus.PARTIAL


def test_a_selected_requirement_that_no_scenario_was_about_is_missed(
    driven: Callable[..., list[dict[str, Any]]],
) -> None:
    driven()
    one = certify(TARGET, [], load(), selection=("responses.xml",))
    assert (one.exit, one.unobserved) == (ExitStatus.PARTIAL, {"responses.xml": NOT_RUN})


def test_known_failures_are_applied(driven: Callable[..., list[dict[str, Any]]], stream: Make) -> None:
    exchange = stream("flush", "first(the gate was not opened in time)second", {"finish": "stop"})
    driven(ScenarioRun(scenario=NAMED["flush"], exchanges={exchange.form: [exchange]}))
    known = {"flush:chat.stream.flushed": "buffers", "flush:chat.stream.role-first": "was broken"}
    one = certify(TARGET, [NAMED["flush"]], load(), known=known)
    assert [o.key for o in one.known] == ["flush:chat.stream.flushed"]
    assert [o.key for o in one.outcomes if o.verdict is Verdict.FAIL and not o.known] == [
        "flush:chat.stream.role-first"
    ]
    assert one.exit is ExitStatus.FAILED
