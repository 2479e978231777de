"""What is said of a requirement in each form of answers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from wireproof.judging.outcomes import ScenarioRun
from wireproof.model.catalogue import load
from wireproof.model.dialect import Dialect
from wireproof.model.scenario import Form, Mode
from wireproof.model.target import Target
from wireproof.model.verdict import Finding, Outcome, Verdict
from wireproof.results.cells import BESIDE, cells
from wireproof.results.certificate import NOT_RUN, Certificate
from wireproof.scenarios import SCENARIOS
from wireproof.wire.violation import Violation

if TYPE_CHECKING:
    from collections.abc import Callable

    from wireproof.reading.exchange import Exchange
    from wireproof.results.document import Cell

    Make = Callable[..., Exchange]

STREAM, WHOLE = (Form(Dialect.OPENAI_JSON, mode) for mode in (Mode.STREAM, Mode.WHOLE))
BOTH = "target.answers"
OTHER = "http.error.envelope"
NAMED = {scenario.name: scenario for scenario in SCENARIOS}
TARGET = Target(base_url="http://127.0.0.1:1/v1", model="m", dialects=(Dialect.OPENAI_JSON,))


def found(form: Form, requirement: str = BOTH, *, strict_only: bool = False) -> Finding:
    return Finding(
        form=form, exchange=0, violation=Violation(requirement=requirement, seen="so", strict_only=strict_only)
    )


def said(verdict: Verdict, *findings: Finding, requirement: str = BOTH, **how: Any) -> Outcome:
    return Outcome(scenario="text-hello", requirement=requirement, verdict=verdict, findings=findings, **how)


@pytest.fixture
def table(right_stream: Make, right_whole: Make) -> Callable[..., dict[tuple[str, Form], Cell]]:
    run = ScenarioRun(
        scenario=NAMED["text-hello"],
        exchanges={STREAM: [right_stream("text-hello")], WHOLE: [right_whole("text-hello")]},
    )

    def make(*outcomes: Outcome, run: ScenarioRun = run, **how: Any) -> dict[tuple[str, Form], Cell]:
        certificate = Certificate(
            target=TARGET, date="", runs=(run,), outcomes=outcomes, musts=frozenset(), seconds=1.0, **how
        )
        return {(one.requirement, Form(one.dialect, one.mode)): one for one in cells(certificate, load())}

    return make


def verdicts(made: dict[tuple[str, Form], Cell], requirement: str = BOTH) -> dict[Form, Verdict]:
    return {form: one.strict for (row, form), one in made.items() if row == requirement}


def test_a_pass_is_one_in_every_form(table: Any) -> None:
    assert verdicts(table(said(Verdict.PASS))) == {STREAM: Verdict.PASS, WHOLE: Verdict.PASS}


def test_a_failure_in_one_form_passes_in_another_where_nothing_was_found(table: Any) -> None:
    made = table(said(Verdict.FAIL, found(STREAM)))
    assert verdicts(made) == {STREAM: Verdict.FAIL, WHOLE: Verdict.PASS}
    assert (made[BOTH, STREAM].scenarios, made[BOTH, WHOLE].scenarios) == (1, 1)


def test_a_form_in_which_something_else_was_found_is_not_known(table: Any) -> None:
    made = table(said(Verdict.FAIL, found(STREAM)), said(Verdict.FAIL, found(WHOLE, OTHER), requirement=OTHER))
    assert verdicts(made) == {STREAM: Verdict.FAIL, WHOLE: Verdict.NOT_OBSERVED}
    assert (made[BOTH, WHOLE].reason, made[BOTH, WHOLE].scenarios) == (BESIDE, 0)


def test_a_form_that_was_not_driven_has_its_reason(table: Any, right_stream: Make) -> None:
    run = ScenarioRun(
        scenario=NAMED["text-hello"], exchanges={STREAM: [right_stream("text-hello")]}, not_driven={WHOLE: "no time"}
    )
    made = table(said(Verdict.FAIL, found(STREAM)), run=run)
    assert (made[BOTH, WHOLE].strict, made[BOTH, WHOLE].reason) == (Verdict.NOT_OBSERVED, "no time")


def test_the_levels_differ_where_no_client_is_harmed(table: Any) -> None:
    made = table(said(Verdict.FAIL, found(STREAM, strict_only=True), found(WHOLE)))
    assert [(one.strict, one.compat) for one in made.values() if one.requirement == BOTH] == [
        (Verdict.FAIL, Verdict.WARN),
        (Verdict.FAIL, Verdict.FAIL),
    ]


def test_the_worst_of_several_scenarios_stands_and_known_failures_are_marked(table: Any) -> None:
    made = table(said(Verdict.PASS), said(Verdict.FAIL, found(STREAM), known="ours"))
    assert (made[BOTH, STREAM].strict, made[BOTH, STREAM].known, made[BOTH, STREAM].scenarios) == (
        Verdict.FAIL, True, 2,
    )  # fmt: skip
    made = table(said(Verdict.FAIL, found(STREAM)), said(Verdict.FAIL, found(STREAM), known="ours"))
    assert not made[BOTH, STREAM].known


def test_a_declared_failure_that_passes_fails_in_every_form(table: Any) -> None:
    made = table(said(Verdict.FAIL, reason="remove its line"))
    assert {(one.strict, one.reason) for one in made.values() if one.requirement == BOTH} == {
        (Verdict.FAIL, "remove its line")
    }


def test_a_must_of_no_scenario_is_not_observed_in_a_whole_run_alone(table: Any) -> None:
    made = table(said(Verdict.PASS))
    assert made["chat.stream.text", STREAM].reason == NOT_RUN
    assert ("chat.stream.text", WHOLE) not in made
    assert {row for row, _ in table(said(Verdict.PASS), selection=("text-hello",))} == {BOTH}


def test_why_something_was_not_judged_is_said(table: Any) -> None:
    made = table(replace(said(Verdict.NOT_OBSERVED), reason="no key"))
    assert made[BOTH, WHOLE].reason == "no key"
