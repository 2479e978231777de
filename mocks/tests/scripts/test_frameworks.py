"""The text protocols of smolagents and DSPy."""

from __future__ import annotations

import json
from typing import Any

import pytest

from wireproof_scripts.default.answer import default_answer
from wireproof_scripts.default.frameworks import fields, final_code
from wireproof_scripts.steps import Call, Say

TOOLS = [
    {"name": name, "inputSchema": {"type": "object", "properties": {"answer": {"type": "string"}}}}
    for name in ("get_weather", "final_answer")
]
DEMAND = "You must call one of the tools: get_weather, final_answer."
DSPY = (
    "[[ ## question ## ]]\nWhat?\n\nRespond with the corresponding output fields, starting with the field "
    "`[[ ## reasoning ## ]]`, then `[[ ## count ## ]]` (must be formatted as a valid Python int), then "
    "`[[ ## word ## ]]` (must exactly match one of: yes; no), and then ending with the marker for "
    "`[[ ## completed ## ]]`."
)


def user(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}


def result(text: str) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": "c", "output": text}


def called(*conversation: dict[str, Any], developer: str = "") -> tuple[str, dict[str, Any]]:
    [call] = default_answer(conversation, TOOLS, "c", developer=developer)
    assert isinstance(call, Call)
    return call.name, json.loads(str(call.arguments))


def test_a_run_of_smolagents_ends_by_its_own_tool() -> None:
    assert called(user("Hello"), developer=DEMAND) == ("final_answer", {"answer": "You said: Hello"})
    assert called(user("The weather?"), developer=DEMAND)[0] == "get_weather"
    assert called(user("The weather?"), result("24"), developer=DEMAND) == (
        "final_answer",
        {"answer": "The tool said: 24"},
    )
    assert called(user("The weather?"), result("24"))[0] == "final_answer"


@pytest.mark.each(
    ("developer", "code"),
    [
        ("Use <code> and final_answer(x).", 'Thought: This answers it.\n<code>\nfinal_answer("a")\n</code>'),
        ("Use ```py and final_answer(x).", 'Thought: This answers it.\n```py\nfinal_answer("a")\n```<end_code>'),
        ("Use <code>.", None),
        ("A final_answer is wanted.", None),
        ("final_answer(x)", None),
    ],
)
def test_code_that_ends_a_run_is_written_as_the_instructions_say(developer: str, code: str | None) -> None:
    assert final_code(developer, "a") == code


def test_fields_of_dspy_stand_under_their_headings() -> None:
    values = {"reasoning": "You said: What?", "count": "1", "word": "yes"}
    said = "".join(f"[[ ## {name} ## ]]\n{value}\n\n" for name, value in values.items()) + "[[ ## completed ## ]]"
    assert fields(DSPY) == said
    [step] = default_answer([user(DSPY)], [], "c")
    assert isinstance(step, Say)
    assert step.text.endswith("[[ ## completed ## ]]")


@pytest.mark.each("text", ["", "Hello", "`[[ ## a ## ]]`", DSPY.replace("completed", "over")])
def test_other_texts_ask_for_no_fields(text: str) -> None:
    assert fields(text) is None


REACT = (
    "[[ ## question ## ]]\nHow warm is it?\n\n[[ ## trajectory ## ]]\n{}\n\n"
    "Respond with the corresponding output fields, starting with the field `[[ ## next_thought ## ]]`, "
    "then `[[ ## next_tool_name ## ]]` "
    "(must be formatted as a valid Python Literal['get_weather', 'finish']), then `[[ ## next_tool_args ## ]]` "
    "(must be formatted as a valid Python dict[str, Any]), and then ending with the marker for `[[ ## completed ## ]]`."
)
LISTED = (
    "(1) get_weather, whose description is <desc>The weather.</desc>. It takes arguments {}.\n"
    "(2) finish, whose description is <desc>Marks the task as complete.</desc>. It takes arguments {{}}."
)


@pytest.mark.each(
    ("arguments", "trajectory", "name", "args"),
    [
        (
            "{'city': {'type': 'string'}, 'days': {'type': 'integer'}}",
            "",
            "get_weather",
            {"city": "example", "days": 1},
        ),
        ("{'city': {'type': 'string'}}", "[[ ## observation_0 ## ]]\n24", "finish", {}),
        ("{city}", "", "get_weather", {}),
    ],
)
def test_an_agent_of_dspy_calls_its_tool_and_finishes(arguments: str, trajectory: str, name: str, args: Any) -> None:
    said = fields(REACT.format(trajectory), LISTED.format(arguments))
    assert said is not None
    found = dict(part.removeprefix("[[ ## ").split(" ## ]]\n") for part in said.split("\n\n")[:-1])
    assert found["next_thought"] == "You said: How warm is it?"
    assert (found["next_tool_name"], json.loads(found["next_tool_args"])) == (name, args)


def test_a_result_that_smolagents_hands_on_as_a_user_is_one() -> None:
    handed_on = user("Observation:\n24 degrees")
    assert called(user("The weather?"), handed_on, developer=DEMAND) == (
        "final_answer",
        {"answer": "The tool said: 24 degrees"},
    )
