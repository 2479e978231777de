from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wireproof_surfaces.errors import INVALID_PARAM, MISSING_PARAM, ApiError
from wireproof_surfaces.surfaces import rules as parts
from wireproof_surfaces.surfaces.rules import (
    boolean,
    first_fault,
    integer,
    mapping,
    number,
    optional,
    required,
    text,
    where,
)


@pytest.mark.parametrize(
    ("check", "right", "wrong"),
    [
        (boolean, [True, False], [0, "true"]),
        (text, ["a"], ["", 1, None]),
        (mapping, [{}], [[], "a"]),
        (number(0, 2), [0, 2, 0.5], [-0.1, 2.1, "1", True, float("nan")]),
        (integer(1), [1, 10**30], [0, 1.0, "1", True]),
        (integer(1, 3), [1, 3], [0, 4]),
    ],
)
def test_a_check_says_what_would_be_right(check: Any, right: list[Any], wrong: list[Any]) -> None:
    assert [check(value) for value in right] == [None] * len(right)
    assert all(isinstance(check(value), str) for value in wrong)


def fault(rules: list[Any], body: dict[str, Any]) -> ApiError:
    with pytest.raises(ApiError) as raised:
        first_fault(rules, body)
    return raised.value


def test_a_required_field_is_missing_or_wrong() -> None:
    rules = [required("model", text)]
    assert fault(rules, {}).problem is MISSING_PARAM
    assert fault(rules, {"model": None}).problem is MISSING_PARAM
    wrong = fault(rules, {"model": 1})
    assert wrong.problem is INVALID_PARAM
    assert (wrong.param, wrong.message) == ("model", "`model` must be a non-empty string.")


def test_an_optional_field_may_be_null() -> None:
    rules = [optional("n", integer(1, 1))]
    for body in ({}, {"n": None}, {"n": 1}):
        first_fault(rules, body)
    assert fault(rules, {"n": 2}).message == "`n` must be an integer from 1 to 1."


def test_a_rule_is_asked_of_bodies_that_have_one_of_its_fields() -> None:
    asked: list[Any] = []

    def rule(body: Any) -> None:
        asked.append(body)
        if body.get("b"):
            raise parts.fault("b", "absent")

    rules = [where(("a", "b"), rule)]
    for body in ({}, {"c": 1}, {"a": None}, {"b": 0, "c": 2}, {}):
        first_fault(rules, body)
    assert asked == [{"a": None}, {"b": 0, "c": 2}]
    assert fault(rules, {"c": 1, "b": 1}).param == "b"


@given(st.dictionaries(st.sampled_from("abcde"), st.sampled_from([None, "", "x", 0, True]), max_size=5))
def test_a_table_finds_the_first_fault_that_its_rules_find(body: dict[str, Any]) -> None:
    rules = [required("a", text), *(optional(name, text) for name in "bcd")]
    wrong = [name for name in "abcd" if (name == "a" or body.get(name) is not None) and text(body.get(name))]
    if wrong:
        assert fault(rules, body).param == wrong[0]
    else:
        first_fault(rules, body)


def test_the_first_rule_that_finds_a_fault_answers() -> None:
    assert fault([required("a", text), required("b", text)], {}).param == "a"
