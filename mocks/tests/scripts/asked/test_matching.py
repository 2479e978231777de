"""Conditions: when they hold, what is said when they do not, and which scripts they hide."""

from __future__ import annotations

from typing import Any

import pytest

from wireproof_scripts.asked.matching import described, hidden, why_not
from wireproof_scripts.asked.request import AskedTurn
from wireproof_scripts.files.conditions import when_from_json, when_to_json
from wireproof_scripts.steps import Script
from wireproof_scripts.steps.when import condition


def user(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}


CALL = {"type": "function_call", "call_id": "c1", "name": "get_weather", "arguments": "{}"}
RESULT = {"type": "function_call_output", "call_id": "c1", "output": "14 degrees"}
ASKED = AskedTurn(
    conversation=[user("Hello."), user("What is the Weather in Bern?")],
    developer="You are a pirate.",
    tools=[{"name": "get_weather"}, {"name": "get_time"}],
    model="gpt-4o-mini",
    headers={"x-test": "abc", "user-agent": "OpenAI/Python 2.0"},
    number=3,
)
ANSWERED = AskedTurn(conversation=[user("Weather?"), CALL, RESULT])


def holds(when: Any, asked: AskedTurn = ASKED) -> str:
    return why_not(condition(when_from_json(when, "when")), asked)


@pytest.mark.parametrize(
    "when",
    [
        "weather",
        {"text": "WEATHER"},
        {"text": {"is": "What is the Weather in Bern?"}},
        {"text": {"matches": r"in [A-Z]\w+\?$"}},
        {"text": {"like": "What*Bern?"}},
        {"system": "pirate"},
        {"model": "gpt-4o*"},
        {"model": {"contains": "MINI"}},
        {"tool": "get_time"},
        {"tool": "get_*"},
        {"turn": 2},
        {"turn": {"from": 2}},
        {"turn": {"to": 2}},
        {"results": 0},
        {"request": {"from": 2, "to": 3}},
        {"header": {"X-Test": "abc"}},
        {"header": {"user-agent": "OpenAI/*", "x-test": {"matches": "^a"}}},
        {"text": "weather", "turn": 2},
        {"all": ["weather", {"turn": 2}]},
        {"any": ["snow", "weather"]},
        {"not": "snow"},
        {"not": ["snow", {"turn": 1}]},
        {"any": [{"all": ["weather", {"not": {"tool": "get_moon"}}]}, "snow"]},
    ],
)
def test_it_holds(when: Any) -> None:
    assert holds(when) == ""


@pytest.mark.parametrize(
    ("when", "why"),
    [
        ("snow", "the last message of the user, 'What is the Weather in Bern?', does not contain 'snow'"),
        ("Hello", "the last message of the user, 'What is the Weather in Bern?', does not contain 'Hello'"),
        (
            {"text": {"is": "weather"}},
            "the last message of the user, 'What is the Weather in Bern?', is not 'weather'",
        ),
        ({"model": "gpt-4o"}, "the model, 'gpt-4o-mini', is not like 'gpt-4o'"),
        ({"tool": "get_moon"}, "no declared tool is like 'get_moon'"),
        ({"turn": 1}, "the number of the turn, 2, is not 1"),
        ({"turn": {"from": 3}}, "the number of the turn, 2, is not 3 or more"),
        ({"request": {"from": 1, "to": 2}}, "the number of the request, 3, is not from 1 to 2"),
        ({"result": "14"}, "the tool result at the end is not there"),
        ({"header": {"x-other": "a"}}, "the header x-other is missing"),
        ({"header": {"x-test": "b"}}, "the header x-test, 'abc', is not like 'b'"),
        ({"text": "weather", "turn": 1}, "the number of the turn, 2, is not 1"),
        ({"all": ["weather", {"turn": 1}]}, "the number of the turn, 2, is not 1"),
        (
            {"any": [{"turn": 1}, {"tool": "x"}]},
            "none of `any` holds: the number of the turn, 2, is not 1; no declared tool is like 'x'",
        ),
        (
            {"not": {"model": "gpt*", "turn": 2}},
            "it is what `not` excludes: the model is like 'gpt*' and the number of the turn is 2",
        ),
    ],
)
def test_it_does_not_hold_and_says_why(when: Any, why: str) -> None:
    assert holds(when) == why


@pytest.mark.parametrize("when", [{"result": "14"}, {"result_of": "get_weather"}, {"results": 1, "turn": 1}])
def test_a_result_is_asked_for_at_the_end(when: Any) -> None:
    assert holds(when, ANSWERED) == ""
    later = AskedTurn(conversation=[*ANSWERED.conversation, user("Thanks.")])
    assert holds(when, later) != ""


def test_a_backend_that_does_not_see_it_does_not_choose_by_it() -> None:
    blind = AskedTurn(conversation=[user("Hello.")])
    for when in ({"model": "*"}, {"request": {"from": 0}}, {"header": {"x": "*"}}):
        assert holds(when, blind) != ""


def test_a_key_is_not_shown() -> None:
    keyed = AskedTurn(conversation=[user("Hello.")], headers={"authorization": "Bearer secret"})
    assert holds({"header": {"Authorization": "Bearer other"}}, keyed) == (
        "the header authorization is not like 'Bearer other'"
    )


def test_a_long_text_is_shown_short() -> None:
    assert len(holds("snow", AskedTurn(conversation=[user("x" * 1000)]))) < 150


@pytest.mark.parametrize(
    "when", [{"text": "a", "turn": {"from": 2}, "header": {"a": "b"}}, {"any": ["a", {"not": "b"}]}]
)
def test_a_condition_is_written_as_it_was_read(when: Any) -> None:
    read = when_from_json(when, "")
    assert not isinstance(read, str)
    assert when_from_json(when_to_json(read), "") == read


def test_a_condition_is_described() -> None:
    when = {"text": "a", "tool": "t", "header": {"x": "y"}, "any": ["b", "c"], "not": "d"}
    assert described(condition(when_from_json(when, ""))) == (
        "the last message of the user contains 'a' and a declared tool is like 't' and the header x is like 'y' and "
        "(the last message of the user contains 'b' or the last message of the user contains 'c') and "
        "not (the last message of the user contains 'd')"
    )


def library(*conditions: Any) -> dict[str, Script]:
    named = zip("abcdef", conditions, strict=False)
    return {
        name: Script(name=name, title="", when=None if when is None else when_from_json(when, ""), parts=((),))
        for name, when in named
    }


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("weather", "weather"),
        ("weather", "the WEATHER in Bern"),
        ("weather", {"text": {"is": "weather"}}),
        ("weather", {"text": "weather", "turn": 2}),
        ("weather", {"all": [{"turn": 1}, "weather"]}),
        ("weather", {"any": ["weather in Bern", "weather in Rome"]}),
        ({"any": ["snow", "weather"]}, "weather"),
        ({"any": ["snow", "weather"]}, {"any": ["weather", "snow"]}),
        ({"turn": {"from": 2}}, {"turn": 3}),
        ({"header": {"a": "*"}}, {"header": {"a": {"is": "x"}, "b": "y"}}),
        ({"not": "a"}, {"not": "a", "text": "b"}),
    ],
)
def test_a_script_that_is_never_chosen_is_found(first: Any, second: Any) -> None:
    scripts = library(None, first, "unrelated", second)
    assert [(one.name, by.name) for one, by in hidden(scripts.values())] == [("d", "b")]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("the weather in Bern", "weather"),
        ("snow", "weather"),
        ({"text": "weather", "turn": 2}, "weather"),
        ({"turn": {"from": 2, "to": 3}}, {"turn": {"from": 2}}),
        ({"system": "weather"}, "weather"),
        ({"all": ["weather", {"turn": 1}]}, "weather"),
        ("weather", {"any": ["weather", "snow"]}),
        ({"not": "a"}, "b"),
        ({"header": {"a": "x"}}, {"header": {"a": "*"}}),
    ],
)
def test_a_script_that_may_be_chosen_is_not(first: Any, second: Any) -> None:
    assert list(hidden(library(first, second).values())) == []
