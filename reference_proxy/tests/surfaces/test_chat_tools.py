from __future__ import annotations

from typing import Any

import pytest

from wireproof_surfaces.conversation import Tool
from wireproof_surfaces.errors import ApiError
from wireproof_surfaces.surfaces import chat_tools


def function(name: Any, **more: Any) -> dict[str, Any]:
    return {"name": name, **more}


def tool(name: Any, **more: Any) -> dict[str, Any]:
    return {"type": "function", "function": function(name, **more)}


BOTH: dict[str, Any] = {"functions": [function("f"), function("g")]}


def offered(body: dict[str, Any]) -> list[Tool]:
    return list(chat_tools.choice(body).offered(chat_tools.declared(body)))


def names(**body: Any) -> list[str]:
    return [tool.name for tool in offered(body)]


def test_functions_are_tools_where_there_are_no_others() -> None:
    schema = {"type": "object"}
    body = {"functions": [function("f", description="does f", parameters=schema)]}
    assert chat_tools.legacy(body)
    assert offered(body) == [Tool(name="f", description="does f", parameters=schema)]
    assert not chat_tools.legacy({**body, "tools": [tool("t")]})
    assert names(**body, tools=[tool("t")]) == ["t"]
    assert not chat_tools.legacy({"functions": []})
    assert chat_tools.legacy({**body, "tools": []})


@pytest.mark.parametrize(
    ("choice", "right", "allowed"),
    [(None, ["f", "g"], True), ("auto", ["f", "g"], True), ("none", [], False), ({"name": "g"}, ["g"], True)],
)
def test_function_call_decides_which_functions_are_offered(choice: Any, right: list[str], allowed: bool) -> None:  # noqa: FBT001
    body = {**BOTH, "function_call": choice}
    chat_tools.function_call(body)
    assert names(**body) == right
    assert chat_tools.choice(body).calls is allowed


@pytest.mark.parametrize("choice", ["required", 1, {"name": "x"}, {"type": "function", "function": {"name": "f"}}])
def test_a_wrong_function_call_is_a_fault(choice: Any) -> None:
    with pytest.raises(ApiError) as raised:
        chat_tools.function_call({**BOTH, "function_call": choice})
    assert raised.value.param == "function_call"


def test_the_word_for_the_other_kind_says_nothing() -> None:
    assert chat_tools.choice({**BOTH, "tool_choice": "none"}).calls
    assert chat_tools.choice({"tools": [tool("f")], "function_call": "none"}).calls
    assert not chat_tools.choice({"tools": [tool("f")], "tool_choice": "none"}).calls
    assert not chat_tools.choice({"tool_choice": "none"}).calls


@pytest.mark.parametrize(
    ("body", "forced"),
    [
        ({}, ()),
        ({"tools": [tool("f")]}, ()),
        ({"tools": [tool("f"), tool("g")], "tool_choice": "required"}, ("f", "g")),
        ({"tools": [tool("f"), tool("g")], "tool_choice": tool("g")}, ("g",)),
        ({"tools": [tool("f")], "tool_choice": "auto", "function_call": {"name": "f"}}, ()),
        ({**BOTH, "function_call": {"name": "g"}}, ("g",)),
        ({**BOTH, "tool_choice": "required"}, ()),
    ],
)
def test_the_choice_decides_which_tools_must_be_called(body: dict[str, Any], forced: tuple[str, ...]) -> None:
    assert chat_tools.choice(body).demanded(chat_tools.declared(body)) == forced
