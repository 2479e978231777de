from __future__ import annotations

from typing import Any

import pytest

from wireproof_surfaces.answers.messages import ShortNames
from wireproof_surfaces.api_forms import MESSAGES, ServedModels
from wireproof_surfaces.conversation import AssistantCall, Tool, ToolResult
from wireproof_surfaces.errors import ApiError

LONG, OTHER = "mcp__server__" + "a" * 70, "mcp__server__" + "a" * 70 + "b"


def tool(name: str) -> Tool:
    return Tool(name=name, description="", parameters={})


def test_names_that_are_too_long_are_cut_and_stay_apart() -> None:
    names = ShortNames.of((tool("f"), tool(LONG), tool(OTHER)), 64)
    short = [names.tool(tool(name)).name for name in ("f", LONG, OTHER)]
    assert short[0] == "f"
    assert len(set(short)) == 3
    assert {len(name) for name in short[1:]} == {64}
    assert names.own == {short[1]: LONG, short[2]: OTHER}
    assert names.item(AssistantCall(id="c", name=LONG, arguments="{}")).name == short[1]  # type: ignore[union-attr]
    result = ToolResult(id="c", output="x")
    assert names.item(result) is result


def page(names: list[str], query: dict[str, str]) -> dict[str, Any]:
    return MESSAGES.models(ServedModels(names=names, created=0, owner=""), query)


@pytest.mark.parametrize(
    ("query", "ids", "more"),
    [
        ({}, "abc", False),
        ({"limit": "2"}, "ab", True),
        ({"limit": "2", "after_id": "a"}, "bc", False),
        ({"limit": "1", "after_id": "a"}, "b", True),
        ({"before_id": "c"}, "ab", False),
        ({"limit": "1", "before_id": "c"}, "b", True),
        ({"after_id": "c"}, "", False),
    ],
)
def test_a_page_of_models(query: dict[str, str], ids: str, *, more: bool) -> None:
    found = page(["a", "b", "c"], query)
    assert "".join(one["id"] for one in found["data"]) == ids
    assert (found["has_more"], found["first_id"], found["last_id"]) == (more, ids[:1] or None, ids[-1:] or None)
    entry: Any = {"type": "model", "id": "a", "display_name": "a", "created_at": "1970-01-01T00:00:00Z"}
    assert page(["a"], {})["data"] == [entry]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"limit": "0"}, "limit: Input should be an integer from 1 to 1000"),
        ({"limit": "x"}, "limit: Input should be a valid integer"),
        ({"limit": "1" * 5000}, "limit: Input should be a valid integer"),
        ({"after_id": "z"}, "after_id: there is no model of this id"),
    ],
)
def test_a_page_that_cannot_be(query: dict[str, str], message: str) -> None:
    with pytest.raises(ApiError) as raised:
        page(["a"], query)
    assert raised.value.message == message
