"""Endpoints that strangers wrote, as they were recorded: the suite finds what a person confirmed, and nothing else.

Each NAME.gz has its NAME.toml: the surfaces that were found, and facts. A fact is what was seen in the bytes, with the
outcomes that it breaks, as `requirement: scenario scenario`: under `fail` those that fail both levels, under `strict`
those that fail strict and are a warning in compat, under `warn` those of a SHOULD. Several facts may break one outcome.

What the suite finds and should not is listed apart, as `misjudged`, with what would be right: a defect of the suite,
whose lines go when it is mended. It is no tolerance: a line that is not found any more fails, too.
"""

from __future__ import annotations

import tomllib
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from wireproof.judging.checks import CHECKS
from wireproof.judging.judge import judge_runs
from wireproof.model.catalogue import load as load_catalogue
from wireproof.model.editions import frozen_text, parsed
from wireproof.model.verdict import Outcome, Verdict, VerdictLevel
from wireproof.results.archive import Archive, load
from wireproof.scenarios import SCENARIOS
from wireproof.scenarios.live import LIVE

if TYPE_CHECKING:
    from collections.abc import Mapping

HERE = Path(__file__).parent
ENDPOINTS = HERE.parent.parent / "corpus" / "endpoints.toml"
NAMES = sorted(path.stem for path in HERE.glob("*.gz"))
BROKEN = {Verdict.FAIL, Verdict.WARN, Verdict.ERROR}
VERDICTS: Mapping[str, tuple[Verdict, Verdict]] = {
    "fail": (Verdict.FAIL, Verdict.FAIL),
    "strict": (Verdict.FAIL, Verdict.WARN),
    "warn": (Verdict.WARN, Verdict.WARN),
}
"""A list of a fact → its outcomes' verdicts, in strict and in compat."""


@cache
def recorded(name: str) -> Archive:
    return load(HERE / f"{name}.gz", (*SCENARIOS, *LIVE))


@cache
def judged(name: str) -> tuple[Outcome, ...]:
    return judge_runs(recorded(name).runs, recorded(name).target, load_catalogue(), checks=CHECKS).outcomes


@cache
def confirmed(name: str) -> Mapping[str, Any]:
    return tomllib.loads((HERE / f"{name}.toml").read_text(encoding="utf-8"))


def expected(facts: list[dict[str, Any]]) -> dict[str, tuple[Verdict, Verdict]]:
    """`scenario:requirement` → the verdicts in strict and in compat."""
    return {
        f"{scenario}:{requirement}": verdicts
        for fact in facts
        for kind, verdicts in VERDICTS.items()
        for requirement, scenarios in (line.split(": ") for line in fact.get(kind, ()))
        for scenario in scenarios.split()
    }


def test_there_are_ten_endpoints_at_least() -> None:
    assert len(NAMES) >= 10
    assert sorted(path.stem for path in HERE.glob("*.toml")) == NAMES


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", NAMES)
def test_every_scenario_of_the_recording_still_exists(name: str) -> None:
    assert recorded(name).unknown == ()


@pytest.mark.parametrize("name", NAMES)
def test_its_surfaces_are_found(name: str) -> None:
    target, known = recorded(name).target, confirmed(name)

    assert {surface.value: report.state.value for surface, report in target.surfaces.items()} == known["surfaces"]
    assert [dialect.value for dialect in target.dialects] == known["dialects"]
    assert target.backend == known["backend"]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", NAMES)
def test_what_a_person_confirmed_is_found_and_nothing_else(name: str) -> None:
    found = {
        one.key: (one.at(VerdictLevel.STRICT), one.at(VerdictLevel.COMPAT))
        for one in judged(name)
        if one.verdict in BROKEN
    }
    known = confirmed(name)

    assert found == expected(known["facts"]) | expected(known.get("misjudged", []))


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_both_confirmed_and_misjudged(name: str) -> None:
    known = confirmed(name)

    assert not expected(known["facts"]).keys() & expected(known.get("misjudged", [])).keys()


@pytest.mark.parametrize("name", NAMES)
def test_each_fact_says_why_and_breaks_something(name: str) -> None:
    for fact in (*confirmed(name)["facts"], *confirmed(name).get("misjudged", ())):
        assert set(fact) <= {"why", *VERDICTS}
        assert fact["why"]
        assert expected([fact]), fact["why"]


def test_what_came_after_an_edition_says_nothing_by_it() -> None:
    """The grammar still finds the fault, and it hides nothing of the answer behind it."""
    name, there, now = "chat.stream.role-first", recorded("stubllm"), load_catalogue()
    rows = tuple(row for row in now.requirements if row.id != name)
    then = parsed(frozen_text(replace(now, requirements=rows)), current=now)
    found = judge_runs(there.runs, there.target, then, checks=CHECKS).outcomes
    assert any(one.requirement == name and one.verdict is Verdict.FAIL for one in judged("stubllm"))
    assert [one for one in found if one.requirement == name or name in one.reason] == []
    assert any(one.requirement == "chat.stream.text" and one.verdict is not Verdict.NOT_OBSERVED for one in found)
