"""Where values stand in a JSON text."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wireproof.wire.spans import span_of

TEXT = ' { "a" : [1, {"b\\"c": "x"} ,"é"], "d":{}, "a" : [ ] , "e":[[2]] } '


@pytest.mark.parametrize(
    ("path", "found"),
    [((), TEXT.strip()), (("a",), "[ ]"), (("d",), "{}"), (("e", 0, 0), "2"), (("e", 0), "[2]")],
)
def test_a_value_is_found_where_it_stands(path: tuple[str | int, ...], found: str) -> None:
    span = span_of(TEXT, *path)
    assert span is not None
    assert TEXT[slice(*span)] == found


@pytest.mark.parametrize("path", [("x",), ("a", 0), ("d", 0), ("e", "0"), ("e", 1)])
def test_what_is_not_there_is_nowhere(path: tuple[str | int, ...]) -> None:
    assert span_of(TEXT, *path) is None


@pytest.mark.parametrize("text", ["", "{", '{"a"', '{"a": 1', "no JSON", '{"a": nope}'])
def test_what_is_no_json_has_no_places(text: str) -> None:
    assert span_of(text, "a") is None


def leads(value: object) -> list[tuple[str | int, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [(), *((step, *rest) for step, one in inner for rest in leads(one))]


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    ),
    st.booleans(),
)
def test_each_value_of_a_text_is_found(value: object, plain: bool) -> None:  # noqa: FBT001 (drawn)
    text = json.dumps(value, ensure_ascii=plain, indent=1 if plain else None)
    for path in leads(value):
        there = value
        for step in path:
            there = there[step]  # type: ignore[index]
        span = span_of(text, *path)
        assert span is not None
        assert json.loads(text[slice(*span)]) == there
