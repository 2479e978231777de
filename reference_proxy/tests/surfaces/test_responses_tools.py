from __future__ import annotations

from typing import Any

import pytest

from wireproof_surfaces.errors import ApiError
from wireproof_surfaces.surfaces import responses_tools


def flat(name: Any, **more: Any) -> dict[str, Any]:
    return {"type": "function", "name": name, **more}


def chat(name: Any, **more: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, **more}}


BOTH: dict[str, Any] = {"tools": [flat("f"), chat("g"), {"type": "web_search"}]}


def faults(**body: Any) -> list[str]:
    try:
        responses_tools.tools(body)
        responses_tools.tool_choice(body)
    except ApiError as fault:
        return [str(fault.param)]
    return []


def names(choice: Any, body: dict[str, Any] = BOTH) -> list[str]:
    chosen = responses_tools.choice({**body, "tool_choice": choice})
    return [tool.name for tool in chosen.offered(responses_tools.declared(body))]


def test_functions_are_declared_in_either_shape() -> None:
    assert faults(**BOTH) == []
    assert names(None) == ["f", "g"]


@pytest.mark.parametrize(
    ("tools", "param"),
    [
        ("x", "tools"),
        (["x"], "tools[0].type"),
        ([{}], "tools[0].type"),
        ([{"type": "bogus"}], "tools[0].type"),
        ([{"type": ["function"]}], "tools[0].type"),
        ([flat("f"), flat("f")], "tools[1].name"),
        ([flat("f"), chat("f")], "tools[1].function.name"),
        ([flat("a__b"), {"type": "namespace", "name": "a", "tools": [flat("b")]}], "tools[1].tools[0].name"),
        ([flat(None)], "tools[0].name"),
        ([flat("a b")], "tools[0].name"),
        ([{"type": "function", "function": 1}], "tools[0].function.name"),
        ([flat("f", description=1)], "tools[0].description"),
        ([flat("f", parameters=1)], "tools[0].parameters"),
    ],
)
def test_a_wrong_tool_is_named(tools: Any, param: str) -> None:
    assert faults(tools=tools) == [param]


CRM = {"type": "namespace", "name": "crm", "tools": [flat("find"), flat("list")]}


def test_functions_in_a_namespace_are_offered_by_both_names_and_chosen_by_either() -> None:
    body = {"tools": [flat("find"), CRM]}
    assert faults(**body) == []
    choices: list[Any] = [
        None,
        flat("find"),
        flat("find", namespace="crm"),
        {"type": "namespace", "name": "crm"},
        {"type": "allowed_tools", "mode": "auto", "tools": [flat("find"), {"type": "namespace", "name": "crm"}]},
    ]
    sent = [names(choice, body) for choice in choices]
    every = ["find", "crm__find", "crm__list"]
    assert sent == [every, ["find"], ["crm__find"], ["crm__find", "crm__list"], every]
    assert [faults(**body, tool_choice=choice) for choice in choices] == [[]] * len(choices)
    assert responses_tools.spaces(body) == {"crm__find": ("crm", "find"), "crm__list": ("crm", "list")}
    assert responses_tools.echoed_tools(body)[1] == CRM


ALLOWED = {"type": "allowed_tools", "mode": "auto", "tools": [flat("g")]}


@pytest.mark.parametrize(
    ("choice", "offered", "sent"),
    [
        (None, ["f", "g"], "auto"),
        ("auto", ["f", "g"], "auto"),
        ("required", ["f", "g"], "required"),
        ("none", [], "none"),
        (flat("g"), ["g"], flat("g")),
        (chat("f"), ["f"], flat("f")),
        (ALLOWED, ["g"], ALLOWED),
    ],
)
def test_the_choice_decides_which_tools_are_offered(choice: Any, offered: list[str], sent: Any) -> None:
    body = {**BOTH, "tool_choice": choice}
    assert faults(**body) == []
    assert names(choice) == offered
    assert responses_tools.choice(body).calls is (choice != "none")
    assert responses_tools.echoed_choice(body) == sent


@pytest.mark.parametrize(
    "choice",
    [
        *("any", 1, {}, flat("x")),
        # Declared, and not run here.
        {"type": "web_search"},
        *({"type": "function"}, {"type": "file_search"}, {"type": []}, {"type": {}}, {"type": None}),
        {"type": "allowed_tools", "tools": []},
    ],
)
def test_a_wrong_choice_is_a_fault(choice: Any) -> None:
    assert faults(**BOTH, tool_choice=choice) == ["tool_choice"]


@pytest.mark.parametrize(
    ("choice", "forced"),
    [
        (None, ()),
        ("auto", ()),
        ("none", ()),
        ("required", ("f", "g")),
        (flat("g"), ("g",)),
        (ALLOWED, ()),
        ({**ALLOWED, "mode": "required"}, ("g",)),
    ],
)
def test_the_choice_decides_which_tools_must_be_called(choice: Any, forced: tuple[str, ...]) -> None:
    chosen = responses_tools.choice({**BOTH, "tool_choice": choice})
    assert chosen.demanded(responses_tools.declared(BOTH)) == forced


def test_nothing_can_be_required_of_no_tools() -> None:
    assert faults(tool_choice="required") == ["tool_choice"]
    assert faults(tools=[{"type": "web_search"}], tool_choice="required") == ["tool_choice"]
    assert faults(tool_choice="none") == []


def test_a_response_repeats_functions_flat_and_all_else_as_it_is() -> None:
    schema = {"type": "object"}
    body = {"tools": [chat("g", description="d", parameters=schema, strict=True), flat("f"), {"type": "web_search"}]}
    assert responses_tools.echoed_tools(body) == [
        {"type": "function", "name": "g", "description": "d", "parameters": schema, "strict": True},
        {"type": "function", "name": "f", "description": None, "parameters": None, "strict": False},
        {"type": "web_search"},
    ]
    assert responses_tools.echoed_tools({}) == []
