from __future__ import annotations

import pytest

from wireproof.wire.events import Failed, TokenUsage
from wireproof.wire.fields import (
    DEEPEST,
    failure_of,
    integer_of,
    json_object,
    json_of,
    list_of,
    object_of,
    parse_object,
    text_of,
    usage_of,
)


def test_an_object_is_parsed() -> None:
    assert parse_object(' {"a": [1, "\\u00e9"]} ') == {"a": [1, "é"]}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nonsense",
        '{"a": NaN}',
        '{"a": -Infinity}',
        "{}{}",
        '{"a": "\n"}',
        "[" * 100_000,
        '{"a": ' + "9" * 5000 + "}",
    ],
    ids=["nothing", "word", "nan", "infinity", "two objects", "raw newline", "deep", "huge number"],
)
def test_what_is_not_json_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"^not JSON"):
        parse_object(text)


@pytest.mark.parametrize("text", ["[]", '"a"', "1", "null", "true"])
def test_what_is_no_object_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"^JSON, but no object"):
        parse_object(text)


@pytest.mark.parametrize(("before", "after"), [("[", "]"), ('{"a":', "}")])
def test_what_is_nested_deeper_than_clients_read_is_not_read(before: str, after: str) -> None:
    whole = before * DEEPEST + "1" + after * DEEPEST
    assert json_of(whole) is not None
    for deep in (f'{{"a": {whole}}}', f'{{"a": {before * 900}1{after * 900}}}'):
        with pytest.raises(ValueError, match=r"not JSON .*nested more than 127 deep"):
            parse_object(deep)
        assert json_of(deep) is None
        assert json_of(deep.encode()) is None


def test_many_lists_beside_one_another_are_not_deep() -> None:
    assert json_of("[" + "[]," * 1000 + "[]]") == [[]] * 1001


def test_only_an_object_is_an_object() -> None:
    assert json_object('{"a": 1}') == {"a": 1}
    assert [json_object("[]"), json_object(b"\xff"), json_object("")] == [None, None, None]


def test_values_of_another_type_are_absent() -> None:
    assert [text_of("a"), text_of(1), text_of(None)] == ["a", None, None]
    assert [integer_of(1), integer_of(True), integer_of(1.0), integer_of("1")] == [1, None, None, None]  # noqa: FBT003
    assert [object_of({"a": 1}), object_of([]), object_of(None)] == [{"a": 1}, {}, {}]
    assert [list_of([1]), list_of({}), list_of(None)] == [[1], [], []]


def test_usage_has_three_counts_and_perhaps_details() -> None:
    counts = {"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8}
    details = {
        "prompt_tokens_details": {"cached_tokens": 2},
        "completion_tokens_details": {"reasoning_tokens": 1},
    }
    assert usage_of(counts, 4) == TokenUsage(frame=4, prompt=5, completion=3, total=8)
    assert usage_of(counts | details, 4) == TokenUsage(frame=4, prompt=5, completion=3, total=8, cached=2, reasoning=1)


@pytest.mark.parametrize("value", [None, {}, 3, {"prompt_tokens": 5, "completion_tokens": "3", "total_tokens": 8}])
def test_usage_without_its_counts_is_none(value: object) -> None:
    assert usage_of(value, 0) is None


def test_a_failure_is_read_as_well_as_can_be() -> None:
    whole = {"message": "m", "type": "t", "code": "c", "param": "p"}
    assert failure_of(whole, 2) == Failed(frame=2, message="m", type="t", code="c", param="p")
    assert failure_of("broken", 2) == Failed(frame=2, message="broken", type="", code=None, param=None)
    assert failure_of({"message": "m", "code": 5}, 0) == Failed(frame=0, message="m", type="", code=None, param=None)
