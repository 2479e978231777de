"""Rows of proxies in front of Cursor's agent service, and how such a backend changes what is right."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from wireproof.judging.checks import CHECKS
from wireproof.judging.judge import judge_runs
from wireproof.judging.outcomes import ScenarioRun
from wireproof.model.catalogue import load
from wireproof.model.dialect import Dialect
from wireproof.model.target import ABOUT_ANOTHER, Backend
from wireproof.model.verdict import Verdict
from wireproof.reading.right_answers import right_answers
from wireproof.scenarios import SCENARIOS

if TYPE_CHECKING:
    from wireproof.reading.exchange import Exchange

Make = Callable[..., "Exchange"]
Call = tuple[str, str, str]
RIGHT: dict[str, dict[str, Any]] = {
    "read": {"filePath": "docs/a b.md"},
    "write": {"filePath": "docs/new.md", "content": "Zwei Zeilen \u2014\nund \u65e5\u672c\n"},
    "grep": {"pattern": "^# .*", "path": "docs"},
    "glob": {"pattern": "*.md", "path": "docs"},
    "get_weather": {"city": "T\u014dky\u014d", "days": 2},
}


@pytest.fixture
def arguments(whole: Make) -> Callable[..., list[str]]:
    """What is said of an answer whose calls have these arguments, with changes."""

    def check(**change: Any) -> list[str]:
        made = {**RIGHT, **change}
        calls = [(f"call_{name}", name, one if isinstance(one, str) else json.dumps(one)) for name, one in made.items()]
        exchange = whole("agent-arguments", None, "tool_calls", calls=calls)
        return [violation.seen for violation in CHECKS.look("agent.arguments", exchange)]

    return check


def test_arguments_of_the_contract_are_right(arguments: Callable[..., list[str]]) -> None:
    assert arguments() == []
    # Declared by the tool, and of no harm.
    assert arguments(read={"filePath": "docs/a b.md", "limit": "5"}) == []
    # Of another name, or undeclared: for other rows.
    assert arguments(ls={"path": 7}) == []


@pytest.mark.parametrize(
    ("name", "came", "seen"),
    [
        ("read", {"path": "docs/a b.md"}, "filePath is missing"),
        ("read", {"filePath": "docs/a"}, 'filePath should be "docs/a b.md"'),
        ("write", {"filePath": "docs/new.md"}, "content is missing"),
        ("grep", {"pattern": "^# .*"}, "path is missing"),
        ("glob", {**RIGHT["glob"], "head_limit": 3}, "the tool declares no head_limit"),
        ("get_weather", {"city": "T\u014dky\u014d", "days": "2"}, "days should be 2"),
        ("get_weather", {"city": "T\u014dky\u014d", "days": 2.0}, "days should be 2"),
        ("read", "docs/a b.md", "they are no JSON object"),
    ],
)
def test_other_arguments_are_reported(arguments: Callable[..., list[str]], name: str, came: Any, seen: str) -> None:
    [found] = arguments(**{name: came})
    assert found.startswith(f"{name} has the arguments ")
    assert found.endswith(seen)


def test_a_file_from_outside_is_reported(whole: Make) -> None:
    def seen(output: str) -> list[str]:
        received = {"history": [{"type": "function_call_output", "call_id": "call_0", "output": output}]}
        return [
            one.seen for one in CHECKS.look("agent.scratch-only", whole("agent-scratch-only", json.dumps(received)))
        ]

    assert seen("rejected: a path that climbs") == []
    [found] = seen("root:x:0:0:root:/root:/bin/sh\n")
    assert "outside of the scratch folder" in found


def behind_cursor(exchange: Exchange) -> Exchange:
    """The exchange, of a proxy in front of Cursor."""
    moved = replace(exchange, target=replace(exchange.target, backend=Backend.CURSOR))
    return replace(moved, wanted=right_answers(moved))


RESPELT = '{"n": 1.5, "query": "caf\u00e9 und caf\u00e9 \U0001f600 a/b", "big": 1e19, "a": [], "Z": {"k": null}}'


def test_arguments_that_are_data_are_compared_by_what_they_mean(whole: Make) -> None:
    row = "chat.whole.arguments-verbatim"
    answer = whole("call-one", None, "tool_calls", calls=[("call_one", "localSearch", RESPELT)])
    assert len(list(CHECKS.look(row, answer))) == 1
    assert list(CHECKS.look(row, behind_cursor(answer))) == []
    wrong = whole("call-one", None, "tool_calls", calls=[("call_one", "localSearch", RESPELT.replace("1.5", "1.6"))])
    [found] = CHECKS.look(row, behind_cursor(wrong))
    assert not found.strict_only
    broken = whole("call-one", None, "tool_calls", calls=[("call_one", "localSearch", RESPELT[:-1])])
    assert len(list(CHECKS.look(row, behind_cursor(broken)))) == 1


def block(**members: str) -> str:
    lines = "".join(f"\n  <{key}>{value}</{key}>" for key, value in members.items())
    return f"<use_tool>\n  <name>localSearch</name>{lines}\n</use_tool>"


def test_blocks_of_arguments_that_are_data_may_be_in_another_order(whole: Make) -> None:
    text = "caf\u00e9 und caf\u00e9 \U0001f600 a/b"
    members = {"query": text, "a": "[]", "Z": '{"k": null}', "big": "1e+19", "n": "1.5"}

    def rules(content: str) -> set[str]:
        calls = [("call_one", "localSearch", RESPELT)]
        answer = behind_cursor(whole("call-one", content, "tool_calls", calls=calls, dialect=Dialect.OBSIDIAN_XML))
        rows = ("xml.shape", "xml.order", "xml.values", "xml.escape", "xml.round-trip", "xml.no-arguments")
        return {found.requirement for row in rows for found in CHECKS.look(row, answer)}

    assert rules(block(**members)) == set()
    assert rules(block(**{**members, "n": "1.6"})) == {"xml.values"}
    assert rules(block(**dict(list(members.items())[:-1]))) == {"xml.round-trip"}
    # What the catalogue says of a tool holds all the same: its parameters come first.
    assert rules(block(a="[]", **{key: value for key, value in members.items() if key != "a"})) == {"xml.order"}


def test_an_answer_with_calls_has_no_counts_of_the_backend(right_whole: Make) -> None:
    answer = right_whole("call-one")
    assert answer.wanted[0].usage is not None
    assert behind_cursor(answer).wanted[0].usage is None
    # A text ends at the service, too, which counts it.
    assert behind_cursor(right_whole("text-hello")).wanted[0].usage is not None


def test_what_is_about_cursor_does_not_apply_to_others(whole: Make) -> None:
    [scenario] = (one for one in SCENARIOS if one.name == "agent-names")
    target = whole("text-hello", "Hello, world!").target
    found = judge_runs([ScenarioRun(scenario=scenario)], target, load()).outcomes
    assert {outcome.verdict for outcome in found} == {Verdict.NOT_APPLICABLE}
    assert {outcome.reason for outcome in found} == {ABOUT_ANOTHER[Backend.CURSOR]}


def test_how_data_is_spelled_is_not_observed(right_whole: Make) -> None:
    [scenario] = (one for one in SCENARIOS if one.name == "call-one")
    answer = behind_cursor(right_whole("call-one"))
    row = "chat.whole.arguments-verbatim"
    run = ScenarioRun(scenario=scenario, exchanges={form: [answer] for form in scenario.forms(answer.target.dialects)})
    verdicts = {one.requirement: one.verdict for one in judge_runs([run], answer.target, load()).outcomes}
    assert verdicts[row] is Verdict.NOT_OBSERVED
