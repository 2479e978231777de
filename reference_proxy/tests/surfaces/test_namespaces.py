from __future__ import annotations

from typing import Any

import pytest

from wireproof_surfaces.errors import ApiError
from wireproof_surfaces.surfaces.responses_tools import called, functions, joined, namespace, spaces

FIND = {"type": "function", "name": "find", "description": "Finds one.", "parameters": {"type": "object"}}
CRM: dict[str, Any] = {
    "type": "namespace",
    "name": "crm",
    "description": "For customers.",
    "tools": [FIND, {"type": "custom", "name": "free"}, {"type": "function", "name": "list"}],
}
LONG = "a" * 60


def faults(*tools: dict[str, Any]) -> list[str]:
    seen: set[str] = set()
    found = []
    for tool in tools:
        try:
            namespace(tool, "t", seen)
        except ApiError as fault:
            found.append(str(fault.param))
    return found


def test_a_backend_knows_a_function_by_both_names() -> None:
    assert joined("crm", "find") == "crm__find"
    assert called({"namespace": "crm", "name": "find"}) == "crm__find"
    assert [called({"name": "find", "namespace": none}) for none in (None, "")] == ["find", "find"]


def test_a_name_that_is_too_long_is_still_one_and_unlike_any_other() -> None:
    names = [joined(LONG, "find"), joined(LONG, "fine"), joined("b" * 64, "find")]
    assert {len(name) for name in names} == {64}
    assert len(set(names)) == len(names)
    assert joined(LONG, "ab") == f"{LONG}__ab"


def test_a_backend_is_sent_what_the_namespace_is_for() -> None:
    assert list(functions(CRM)) == [
        {**FIND, "name": "crm__find", "description": "For customers.\n\nFinds one."},
        {"type": "function", "name": "crm__list", "description": "For customers."},
    ]
    assert spaces({"tools": [CRM]}) == {"crm__find": ("crm", "find"), "crm__list": ("crm", "list")}


def test_a_right_namespace_has_no_fault() -> None:
    assert faults(CRM, {**CRM, "name": "other"}) == []


@pytest.mark.parametrize(
    ("wrong", "param"),
    [
        ({"name": None}, "t.name"),
        ({"name": "a b"}, "t.name"),
        ({"tools": None}, "t.tools"),
        ({"tools": ["find"]}, "t.tools"),
        ({"tools": [{"type": "function", "name": "a b"}]}, "t.tools[0].name"),
        ({"tools": [FIND, {**FIND, "parameters": 1}]}, "t.tools[1].parameters"),
        ({"tools": [FIND, FIND]}, "t.tools[1].name"),
    ],
)
def test_a_wrong_namespace_is_named(wrong: dict[str, Any], param: str) -> None:
    assert faults({**CRM, **wrong})[0] == param


def test_two_functions_must_not_have_one_name() -> None:
    assert faults(CRM, CRM) == ["t.tools[0].name"]
    assert faults(CRM, {**CRM, "tools": CRM["tools"][1:]}) == ["t.tools[1].name"]
