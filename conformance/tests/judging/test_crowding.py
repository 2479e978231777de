"""What failed beside other requests and went well alone, where something else explains it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest

from wireproof.judging.among_exchanges import crowded
from wireproof.judging.cases import case_of, may_be_expected
from wireproof.judging.checks import CHECKS
from wireproof.judging.judge import judge_runs
from wireproof.judging.outcomes import ScenarioRun
from wireproof.model.catalogue import load
from wireproof.model.dialect import Dialect
from wireproof.model.scenario import PlainScenario
from wireproof.model.target import Target
from wireproof.model.transcript import Death, End, Wait
from wireproof.model.verdict import Verdict
from wireproof.reading.exchange import Exchange
from wireproof.scenarios import SCENARIOS

Make = Callable[..., Exchange]
TARGET = Target(base_url="http://127.0.0.1:1/v1", model="codex", dialects=(Dialect.OPENAI_JSON,))
DEATH = Death(status=1, last_words="no memory")


def said(exchange: Exchange, **how: object) -> Exchange:
    return dataclasses.replace(exchange, transcript=dataclasses.replace(exchange.transcript, beside=3, **how))  # type: ignore[arg-type]  # by name


@pytest.mark.parametrize(
    ("status", "end", "gone"),
    [
        (503, End.COMPLETE, True),
        (502, End.COMPLETE, True),
        (None, End.REFUSED, True),
        (None, End.CUT, True),
        (500, End.COMPLETE, False),
    ],
)
def test_what_could_not_be_reached_after_a_death_is_no_matter_of_capacity(
    plain: Make, status: int | None, end: End, *, gone: bool
) -> None:
    failed = said(plain("text-hello", status, b"", end=end))
    died = said(plain("call-one", None, b"", end=End.CUT), death=DEATH)
    assert crowded([failed]) == [failed]
    assert crowded([failed], died=True) == ([] if gone else [failed])
    assert crowded([died, failed]) == ([] if gone else [failed])


def looked_at(exchange: Exchange) -> list[str]:
    return [one.seen for one in CHECKS.look("target.capacity", exchange)]


def test_a_backend_that_is_started_again_has_no_lack_of_room(right_whole: Make) -> None:
    returning = right_whole("crash-first", 1)
    assert returning.turn is not None
    assert returning.turn.retry_on_503
    waited = {status: (Wait(status=status, seconds=0.1, asked=False),) for status in (429, 503)}
    assert looked_at(said(returning, waits=waited[503])) == []
    assert len(looked_at(said(returning, waits=waited[429]))) == 1
    assert len(looked_at(said(right_whole("text-hello"), waits=waited[503]))) == 1


def test_a_plain_request_without_room_breaks_no_rule_of_its_own(plain: Make, error_body: Callable[..., bytes]) -> None:
    exchange = plain("param-n-cap", 429, error_body(type="rate_limit_error"))
    judged = judge_runs(
        [ScenarioRun(scenario=exchange.scenario, exchanges={exchange.form: [exchange]})], TARGET, load()
    )
    broken = [one.requirement for one in judged.outcomes if one.findings]
    assert broken == ["target.capacity"]
    subject = exchange.scenario.exercises[0]
    assert {one.verdict for one in judged.outcomes if one.requirement == subject} == {Verdict.NOT_OBSERVED}


def test_where_the_scenario_takes_the_slots_itself_a_refusal_is_its_own(
    plain: Make, error_body: Callable[..., bytes]
) -> None:
    full = next(one for one in SCENARIOS if isinstance(one, PlainScenario) and any(r.full for r in one.requests))
    number = next(number for number, one in enumerate(full.requests) if one.full)
    exchange = plain(full.name, 429, error_body(type="rate_limit_error"), number=number)
    case = case_of(exchange, load())
    assert case is not None
    assert may_be_expected(case)
