from __future__ import annotations

import json

import pytest

from wireproof_surfaces.conversation import Tool
from wireproof_surfaces.tools.declared_tools import DeclaredTools


def tool(name: str, description: str = "") -> Tool:
    return Tool(name=name, description=description, parameters={"type": "object"})


def test_tools_keep_the_order_in_which_they_were_declared() -> None:
    registry = DeclaredTools((tool("b"), tool("a")))
    assert registry.names == ("b", "a")
    assert "a" in registry
    assert "c" not in registry


def test_each_tool_is_a_line_of_json() -> None:
    first, second = DeclaredTools((tool("b", "é\nü"), tool("a"))).schema.split("\n")
    assert json.loads(first) == {"name": "b", "description": "é\nü", "parameters": {"type": "object"}}
    assert json.loads(second) == {"name": "a", "parameters": {"type": "object"}}
    assert "é" in first


@pytest.mark.parametrize("names", [("",), ("a b",), ("x" * 65,), ("a", "a")])
def test_names_are_validated(names: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match=r"is not 1 to 64|declared twice"):
        DeclaredTools(tuple(map(tool, names)))
