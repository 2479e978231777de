from __future__ import annotations

from typing import Any

import pytest

from wireproof_surfaces.conversation import Tool
from wireproof_surfaces.errors import ApiError
from wireproof_surfaces.surfaces.declared_tools import function, function_tool, listed


def params(sent: Any, seen: set[str] | None = None) -> list[str]:
    try:
        function(sent, "here", set() if seen is None else seen)
    except ApiError as fault:
        return [str(fault.param)]
    return []


@pytest.mark.parametrize("name", ["f", "a-b_C9", "x" * 64])
def test_a_name_alone_is_a_function(name: str) -> None:
    seen: set[str] = set()
    assert params({"name": name}, seen) == []
    assert seen == {name}
    assert params({"name": name}, seen) == ["here.name"]


@pytest.mark.parametrize("name", [None, "", 1, "a b", "é", "x" * 65])
def test_other_names_are_faults(name: Any) -> None:
    assert params({"name": name}) == ["here.name"]


def test_description_and_parameters_have_their_types() -> None:
    assert params({"name": "f", "description": 1, "parameters": []}) == ["here.description"]
    assert params({"name": "f", "parameters": []}) == ["here.parameters"]
    assert params({"name": "f", "description": None, "parameters": None}) == []


def test_what_was_not_said_of_a_tool_is_empty() -> None:
    assert function_tool({"name": "f"}) == Tool(
        name="f", description="", parameters={"type": "object", "properties": {}}
    )
    schema = {"type": "object"}
    assert function_tool({"name": "f", "description": "d", "parameters": schema}) == Tool(
        name="f", description="d", parameters=schema
    )


def test_a_list_is_one() -> None:
    listed("tools", {"tools": None})
    listed("tools", {"tools": []})
    wrong: tuple[object, ...] = ({}, "x")
    for value in wrong:
        with pytest.raises(ApiError) as raised:
            listed("tools", {"tools": value})
        assert raised.value.message == "`tools` must be a list."
