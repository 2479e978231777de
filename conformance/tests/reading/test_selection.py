from __future__ import annotations

import pytest

from wireproof.model.catalogue import load
from wireproof.model.dialect import Dialect
from wireproof.reading.applicable import UnknownScenarioError, applicable, keys, select
from wireproof.scenarios import SCENARIOS

CATALOGUE = load()


def names(*wanted: str) -> list[str]:
    return [scenario.name for scenario in select(SCENARIOS, CATALOGUE, wanted)]


def test_all_are_meant_when_none_is_named() -> None:
    assert select(SCENARIOS, CATALOGUE, ()) == SCENARIOS


def test_a_scenario_is_chosen_by_its_name() -> None:
    assert names("call-one") == ["call-one"]


def test_a_requirement_chooses_the_scenarios_that_exercise_it() -> None:
    assert names("chat.stream.stop-after-first") == ["calls-first", "calls-header-first"]
    assert names("chat.stream.usage") == [s.name for s in SCENARIOS if "chat.stream.usage" in s.exercises]


def test_a_requirement_that_none_exercises_chooses_those_that_are_judged_by_it() -> None:
    row = CATALOGUE.find("chat.stream.schema")
    assert not any(row.id in scenario.exercises for scenario in SCENARIOS)
    assert names(row.id) == [s.name for s in SCENARIOS if row in applicable(s, CATALOGUE, Dialect)]
    assert "models" not in names(row.id)


def test_several_names_add_up_in_the_order_of_the_suite() -> None:
    assert names("models", "chat.stream.stop-after-first", "text-hello", "models") == [
        "text-hello", "calls-first", "calls-header-first", "models",
    ]  # fmt: skip
    assert set(names("models", "chat.stream.schema")) == {"models", *names("chat.stream.schema")}


@pytest.mark.parametrize(
    ("wrong", "hint"),
    [
        ("text-helo", "did you mean text-hello"),
        ("chat.stream.txet", "did you mean chat.stream.text"),
        ("zzzz", "is named 'zzzz'"),
    ],
)
def test_an_unknown_name_is_reported_with_the_close_ones(wrong: str, hint: str) -> None:
    with pytest.raises(UnknownScenarioError) as raised:
        names("text-hello", wrong)
    assert hint in str(raised.value)
    assert ("did you mean" in str(raised.value)) == ("did you mean" in hint)


def test_keys_are_those_of_all_dialects() -> None:
    every = keys(SCENARIOS, CATALOGUE)
    assert {"text-hello:chat.stream.text", "xml-values:xml.values", "models:http.models.list"} <= every
    assert "models:chat.stream.text" not in every
