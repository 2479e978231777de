from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wireproof_surfaces.tools.spelled_json import compact, loads, same

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize("text", ["1.50", "-0", "1e999", "12345678901234567890123", '{"a":[1.0,2e5,"x"],"b":null}'])
def test_numbers_keep_their_spelling(text: str) -> None:
    assert compact(loads(text)) == text


@given(JSON)
def test_what_is_compact_says_the_same(value: Any) -> None:
    assert json.loads(compact(loads(json.dumps(value)))) == value


@pytest.mark.parametrize("text", ["", "{", "NaN", "[Infinity]", "[" * 100_000])
def test_what_is_no_json_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        loads(text)


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ('{"a": 1.50, "b": [true]}', '{"b":[true],"a":1.5}', True),
        ("1", "1.0", True),
        ("1", "true", False),
        ("[0]", "[false]", False),
        ('"a"', '"b"', False),
        ("{", "{", True),
        ("{", "{}", False),
        ("[" * 100_000, "[" * 100_000, True),
    ],
)
def test_texts_are_the_same_as_json_or_letter_for_letter(one: str, other: str, equal: bool) -> None:  # noqa: FBT001 - a case
    assert same(one, other) is equal
