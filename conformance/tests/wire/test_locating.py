from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wireproof.wire.locating import MARKED, Step, locate, span_of, written
from wireproof.wire.sse import Reader, SseFrame
from wireproof.wire.violation import Place

if TYPE_CHECKING:
    from collections.abc import Iterator

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
TEXT = ' { "a" : [1, {"b\\"c": "x"} ,"é"], "d":{}, "a" : [ ] , "e":[[2]] } '
SPACED = '{ "a" : [ 1 , {"b":"x\\n\\u00e9\\ud83d\\ude00é!"} ] ,\t"a" : [ 2 ] }'


def body(text: str, offset: int = 0) -> SseFrame:
    """A whole body as a frame."""
    return SseFrame(number=0, offset=offset, raw=text.encode(), data=text, event=None, comments=())


def pointed(frame: SseFrame, path: tuple[Step, ...], at: int | None = None) -> str:
    place = locate(frame, path, at)
    return frame.raw[place.offset - frame.offset :][: place.length].decode()


def paths(value: Any, path: tuple[Step, ...] = ()) -> Iterator[tuple[tuple[Step, ...], Any]]:
    yield path, value
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, one in inner:
        yield from paths(one, (*path, step))


@given(value=VALUES, separators=st.sampled_from([(", ", ": "), (",", ":"), (" ,\n", " :\t")]), ascii_only=st.booleans())
def test_each_value_is_found_where_it_stands(*, value: Any, separators: tuple[str, str], ascii_only: bool) -> None:
    frame = body(json.dumps(value, separators=separators, ensure_ascii=ascii_only), 7)
    for path, inner in paths(value):
        assert json.loads(pointed(frame, path)) == inner


@given(before=st.text(), rest=st.text(min_size=1), ascii_only=st.booleans())
def test_a_character_is_found_however_those_before_it_are_written(*, before: str, rest: str, ascii_only: bool) -> None:
    frame = body(json.dumps({"é": [before + rest, rest]}, ensure_ascii=ascii_only))
    assert json.loads(f'"{pointed(frame, ("é", 0), len(before))}"') == rest[:MARKED]


def test_behind_the_last_character_is_the_quote() -> None:
    assert pointed(body('{"a": "xy"}'), ("a",), 2) == '"'
    assert pointed(body('{"a": ""}'), ("a",), 0) == '"'


def test_of_members_of_one_name_the_last_counts() -> None:
    assert pointed(body(SPACED), ("a",)) == "[ 2 ]"
    assert pointed(body(SPACED), ("a", 0)) == "2"


@pytest.mark.parametrize("path", [("b",), ("a", 1), ("a", 0, "c"), (0,)])
def test_a_path_that_leads_to_nothing_ends_at_the_last_value_on_it(path: tuple[Step, ...]) -> None:
    whole = {("b",): SPACED, ("a", 1): "[ 2 ]", ("a", 0, "c"): "2", (0,): SPACED}
    assert pointed(body(SPACED), path, 3) == whole[path]


def test_in_a_stream_a_place_has_the_number_of_its_frame() -> None:
    raw = b': hi\n\ndata: {"a": "\xc3\xa9b"}\n\n'
    frame = list(Reader().feed(raw))[1]
    assert locate(frame, ("a",), 1) == Place(offset=raw.index(b"b"), length=1, frame=1)


@pytest.mark.parametrize("raw", [b"data: {\ndata: }\n\n", b'data: {"a": "\xff"}\n\n', b"data: {]\n\n", b"data: \n\n"])
def test_what_does_not_stand_as_it_was_read_is_all_of_the_frame(raw: bytes) -> None:
    (frame,) = Reader().feed(raw)
    assert locate(frame, ("a",)) == frame.place


def test_a_body_that_is_no_json_is_all_of_it() -> None:
    assert locate(body("<html>"), ("a",)) == Place(offset=0, length=6)
    assert locate(body(""), ("a",)) == Place(offset=0, length=0)
    assert locate(body('{"a"'), ("a",)) == Place(offset=0, length=4)


def test_a_path_is_written_as_in_javascript() -> None:
    assert written(("choices", 0, "message", "content")) == "choices[0].message.content"
    assert written((0, "a")) == "[0].a"


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
