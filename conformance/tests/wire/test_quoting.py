from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wireproof.wire.quoting import SHOWN, apart, quoted, visible

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "null"),
        (True, "true"),
        ('it\'s "so"\n', r'"it' + "'" + r's \"so\"\n"'),
        ({"a": [1, 1.5, ("b",)]}, '{"a": [1, 1.5, ["b"]]}'),
        ("é", '"é"'),
        ("\x1b[31m\x7f\x9b\u2028\u202e\ud800\U000e0001", r'"\u001b[31m\u007f\u009b\u2028\u202e\ud800\udb40\udc01"'),
    ],
)
def test_a_value_is_shown_as_json(value: object, shown: str) -> None:
    assert quoted(value) == shown


def test_what_is_long_is_cut() -> None:
    assert quoted("a" * 500) == '"' + "a" * (SHOWN - 1) + "…"
    assert quoted([1, 2, 3], 4) == "[1, …"


@given(JSON)
def test_what_is_not_cut_is_the_value_itself(value: object) -> None:
    assert json.loads(quoted(value, 10**9)) == value


@given(st.text())
def test_nothing_invisible_is_shown(text: str) -> None:
    assert visible(text).isprintable()
    assert quoted(text).isprintable()


@pytest.mark.parametrize(
    ("ours", "theirs", "shown"),
    [
        ([("a", None)], [("a", True)], ('[["a", null]]', '[["a", true]]')),
        ("x" * 100 + "y", "x" * 100 + "z", ("…" + "x" * 20 + 'y"', "…" + "x" * 20 + 'z"')),
        ("y" + "x" * 100, "z" + "x" * 100, ('"y' + "x" * 78 + "…", '"z' + "x" * 78 + "…")),
        ("a\x7f", "b\u2028", (r'"a\u007f"', r'"b\u2028"')),
    ],
)
def test_two_values_are_shown_from_where_they_part(ours: object, theirs: object, shown: tuple[str, str]) -> None:
    assert apart(ours, theirs) == shown
