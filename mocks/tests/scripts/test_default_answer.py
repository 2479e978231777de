from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wireproof_scripts.default.answer import default_answer
from wireproof_scripts.steps import Call, Say

CITY = {"type": "object", "properties": {"city": {"type": "string", "enum": ["Zürich"]}}, "required": ["city"]}
TOOLS = [{"name": "get_time", "inputSchema": {"type": "object"}}, {"name": "get_weather", "inputSchema": CITY}]
RESULT = {"type": "function_call_output", "call_id": "1", "output": "sunny, 20°"}


def _user(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}


def _text(*conversation: dict[str, Any], tools: list[dict[str, Any]] | None = None) -> str:
    (step,) = default_answer(conversation, tools or [], "call_1")
    assert isinstance(step, Say)
    return step.text


def test_what_the_user_said_last_is_echoed() -> None:
    assert _text(_user("one"), _user("Hello there 😀")) == "You said: Hello there 😀"


def test_who_says_nothing_is_greeted() -> None:
    assert _text().startswith("Hello!")
    assert _text(_user("")).startswith("Hello!")


def test_what_the_tool_said_is_said() -> None:
    assert _text(_user("call get_time"), RESULT, tools=TOOLS) == "The tool said: sunny, 20°"


@pytest.mark.parametrize(
    ("text", "name", "arguments"),
    [
        ("What does get_weather say?", "get_weather", '{"city": "Zürich"}'),
        ("Please call a tool.", "get_time", "{}"),
        ("make a FUNCTION call", "get_time", "{}"),
    ],
)
def test_a_tool_that_is_asked_for_is_called(text: str, name: str, arguments: str) -> None:
    steps = default_answer([_user(text)], TOOLS, "call_7")
    assert steps == (Call(id="call_7", name=name, arguments=arguments),)


@pytest.mark.parametrize("text", ["Hello", "target_weather_x get_weatherman", "a toolbox"])
def test_a_tool_that_is_not_asked_for_is_not_called(text: str) -> None:
    assert _text(_user(text), tools=TOOLS) == f"You said: {text}"


def test_no_tool_is_called_when_there_is_none() -> None:
    assert _text(_user("call a tool")) == "You said: call a tool"


def test_no_tool_is_called_again_when_a_result_is_in_the_history() -> None:
    assert _text(_user("a"), RESULT, _user("call a tool"), tools=TOOLS) == "You said: call a tool"


def test_a_tool_without_a_schema_is_called_without_arguments() -> None:
    assert default_answer([_user("bare")], [{"name": "bare"}], "c") == (Call(id="c", name="bare", arguments="{}"),)


@given(st.text(min_size=1))
def test_an_echo_loses_nothing_and_is_never_cut_very_small(text: str) -> None:
    (step,) = default_answer([_user(text)], [], "c")
    assert isinstance(step, Say)
    assert step.text == f"You said: {text}"
    assert "" not in step.pieces


def test_a_long_echo_is_cut_into_some_hundred_pieces() -> None:
    (step,) = default_answer([_user("word " * 10_000)], [], "c")
    assert isinstance(step, Say)
    assert len(step.pieces) <= 256


@pytest.mark.parametrize(
    ("developer", "name"),
    [
        ("You must call the tool get_weather in this answer.", "get_weather"),
        ("Be brief.\n\nYou must call one of the tools get_time, get_weather.", "get_time"),
        ("You must call one of the tools.", "get_time"),
        ("You must call the tool get_weather before you write.\n\nBe brief.", None),
        ("Call tools as you like.", None),
    ],
)
def test_a_tool_that_the_instructions_end_with_is_called(developer: str, name: str | None) -> None:
    (step,) = default_answer([_user("Hello"), RESULT], TOOLS, "c", developer=developer)
    assert (step.name if isinstance(step, Call) else None) == name
    (step,) = default_answer([_user("Hello")], [], "c", developer=developer)
    assert isinstance(step, Say)


EVENT = {"type": "object", "properties": {"day": {"type": "integer", "minimum": 3}}, "required": ["day"]}


DUTY = "Reply with exactly OK. Say it softly."


@pytest.mark.each(
    ("developer", "earlier", "text", "said"),
    [
        (DUTY, [], "ping", "OK"),
        (DUTY, [], "What is 2+2?", "4"),
        ("Respond with only valid JSON.", [], "ping", "You said: ping"),
        (f"You are a clerk. {DUTY}", [], "ping", "You said: ping"),
        (DUTY + "x" * 120, [], "ping", "You said: ping"),
        ("", ["Remember: the code is 999, not 12a. Reply OK"], "What is it? Reply with just the number.", "999"),
        ("", ["It is 7.", "It is 12.5 or -3"], "Repeat only that number.", "-3"),
        ("", ["The number is four."], "Repeat only the number.", "You said: Repeat only the number."),
        ("", ["It is 7."], "What is the number?", "You said: What is the number?"),
    ],
)
def test_what_instructions_want_and_a_number_that_was_said_are_said(
    developer: str, earlier: list[str], text: str, said: str
) -> None:
    [step] = default_answer([*map(_user, earlier), _user(text)], [], "call", developer=developer)
    assert isinstance(step, Say)
    assert step.text == said


def test_a_number_of_a_result_is_said() -> None:
    result = {"type": "function_call_output", "call_id": "c", "output": '{"result": 42}'}
    [step] = default_answer([_user("Add 1 and 2"), result, _user("Reply with just the number.")], [], "call")
    assert isinstance(step, Say)
    assert step.text == "42"


def test_a_specimen_has_what_the_text_says_of_it() -> None:
    schema = {"type": "object", "properties": {"status": {"type": "string"}, "value": {"type": "integer"}}}
    [step] = default_answer([_user('An object with status="ok" and value=42.')], [], "call", schema=schema)
    assert isinstance(step, Say)
    assert json.loads(step.text) == {"status": "ok", "value": 42}


@pytest.mark.parametrize("developer", ["", f"Answer by this: {json.dumps(EVENT)}. No {{more}}."])
def test_any_object_is_one_of_a_schema_that_the_text_shows(developer: str) -> None:
    text = "As JSON" if developer else f"As JSON {{so}}: ```{json.dumps(EVENT, indent=2)}```"
    (step,) = default_answer([_user(text)], [], "c", developer=developer, schema={"type": "object"})
    assert isinstance(step, Say)
    assert json.loads(step.text) == {"day": 3}


@pytest.mark.parametrize("text", ["JSON", "{" * 5000, '{"properties": 7} {"a": 1}', '{"properties": {}}'])
def test_without_a_schema_in_the_text_any_object_is_an_empty_one(text: str) -> None:
    (step,) = default_answer([_user(text)], [], "c", schema={"type": "object"})
    assert isinstance(step, Say)
    assert step.text == "{}"
