"""Templates: what is filled in, escaped where it stands in JSON, and which texts are none."""

from __future__ import annotations

import json
from typing import Any

import pytest

from wireproof_scripts.asked.templates import filled
from wireproof_scripts.files.errors import ScriptError
from wireproof_scripts.files.json_form import step_from_json
from wireproof_scripts.steps import Call, Finish, Say, Template

CONVERSATION: list[dict[str, Any]] = [
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": 'In "Bern" {user_text}?'}]},
    {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "c", "output": "14 degrees"},
]


def said(text: str, conversation: Any = CONVERSATION) -> str:
    [step] = filled((Template(text),), conversation)
    assert isinstance(step, Say)
    return step.text


def test_what_was_asked_is_filled_in_once() -> None:
    assert said("{user_text} It is {tool_result}.") == 'In "Bern" {user_text}? It is 14 degrees.'


def test_double_braces_are_braces() -> None:
    assert said('{{"a": "{tool_result}"}} {{user_text}}') == '{"a": "14 degrees"} {user_text}'


def test_what_there_is_not_is_empty() -> None:
    assert said("<{user_text}{tool_result}>", []) == "<>"
    assert said("{user_text}", []) == ""


def test_text_comes_word_by_word() -> None:
    assert filled((Template("It is {tool_result}. "),), CONVERSATION) == (Say(("It", " is", " 14", " degrees.", " ")),)


def test_arguments_are_filled_as_json() -> None:
    arguments = json.dumps({"place": "{user_text}", "list": ["{tool_result}", 1.5, None], "text": "{{x}}"})
    [call] = filled((Call(id="c", name="f", arguments=arguments, fill=True),), CONVERSATION)
    assert isinstance(call, Call)
    assert json.loads(call.arguments) == {
        "place": 'In "Bern" {user_text}?',
        "list": ["14 degrees", 1.5, None],
        "text": "{x}",
    }
    assert not call.fill


def test_other_steps_stay_as_they_are() -> None:
    part = (Say(("{user_text}",)), Call(id="c", name="f", arguments='{"a": "{user_text}"}'), Finish())
    assert filled(part, CONVERSATION) == part
    assert filled((*part, Template("x")), CONVERSATION)[:3] == part


@pytest.mark.parametrize(
    "text", ["{user}", "{user_text", "user_text}", "{}", "{ user_text }", "{USER_TEXT}", "{{user_text}"]
)
def test_another_brace_or_name_is_a_mistake(text: str) -> None:
    for step in ({"template": text}, {"call": {"id": "c", "name": "f", "arguments": {"a": [text]}, "fill": True}}):
        with pytest.raises(
            ScriptError, match=r"expected text whose braces are \{user_text\}, \{tool_result\}, \{\{ or"
        ):
            step_from_json(step)


def test_filled_arguments_have_no_pieces() -> None:
    call = {"id": "c", "name": "f", "arguments": "ab", "pieces": ["a", "b"], "fill": True}
    with pytest.raises(ScriptError, match="leave pieces out"):
        step_from_json({"call": call})
