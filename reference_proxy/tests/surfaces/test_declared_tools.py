from __future__ import annotations

from typing import Any

import pytest

from wireproof_surfaces.conversation import Tool
from wireproof_surfaces.surfaces.declared_tools import function, function_tool, listed


def params(sent: Any, seen: set[str] | None = None) -> list[str]:
    return [fault.param for fault in function(sent, "here", set() if seen is None else seen)]


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
    assert params({"name": "f", "description": 1, "parameters": []}) == ["here.description", "here.parameters"]
    assert params({"name": "f", "description": None, "parameters": None}) == []


def test_what_was_not_said_of_a_tool_is_empty() -> None:
    assert function_tool({"name": "f"}) == Tool(
        name="f", description="", parameters={"type": "object", "properties": {}}
    )
    schema = {"type": "object"}
    assert function_tool({"name": "f", "description": "d", "parameters": schema}) == Tool(
        name="f", description="d", parameters=schema
    )


@pytest.mark.parametrize(("value", "faults"), [(None, 0), ([], 0), ({}, 1), ("x", 1)])
def test_a_list_is_one(value: Any, faults: int) -> None:
    assert len(list(listed("tools", {"tools": value}))) == faults
