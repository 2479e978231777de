from __future__ import annotations

import json

import pytest

from wireproof_scripts.json_text import DEEPEST, parse_json


@pytest.mark.parametrize(("before", "after"), [("[", "]"), ('{"a":', "}")])
def test_what_is_nested_too_deeply_is_no_json(before: str, after: str) -> None:
    whole = before * DEEPEST + "1" + after * DEEPEST
    assert json.dumps(parse_json(whole), separators=(",", ":")) == whole
    for times in (DEEPEST + 1, 900, 100_000):
        text = before * times + "1" + after * times
        for deep in (text, text.encode(), f'{{"a": [{text}]}}'):
            with pytest.raises(ValueError, match="nested more than 127 deep"):
                parse_json(deep)


def test_many_lists_beside_one_another_and_brackets_in_texts_are_not_deep() -> None:
    assert parse_json("[" + "[]," * 1000 + "[]]") == [[]] * 1001
    assert parse_json(json.dumps("[" * 1000)) == "[" * 1000


@pytest.mark.parametrize(
    ("text", "why"), [("", "Expecting value"), ("{", "line 1"), ("1" * 5000, "digits"), (b"\xff", "invalid start byte")]
)
def test_what_is_no_json_is_a_value_error(text: str | bytes, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        parse_json(text)
