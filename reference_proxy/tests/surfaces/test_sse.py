from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from wireproof_surfaces.surfaces.json_text import members, written
from wireproof_surfaces.surfaces.sse import DONE, HEADERS, KEEP_ALIVE, frame, named_frame


def test_a_frame_is_one_line_of_json_whatever_the_text() -> None:
    text = "data: [DONE]\n\n\u2028é😀\r\n"
    data = frame({"text": text})
    assert data.startswith(b"data: {")
    assert data.endswith(b"}\n\n")
    assert data.count(b"\n") == 2
    assert b"\r" not in data
    assert json.loads(data[6:])["text"] == text
    assert "é😀".encode() in data


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(st.text(), JSON))
def test_json_is_written_as_the_standard_library_writes_it(payload: dict[str, Any]) -> None:
    assert written(payload) == json.dumps(payload, ensure_ascii=False, separators=(",", ":"))
    assert written([payload, payload]) == json.dumps([payload] * 2, ensure_ascii=False, separators=(",", ":"))


@given(st.dictionaries(st.text(), st.text()))
def test_members_stand_behind_others(payload: dict[str, str]) -> None:
    assert json.loads(f'{{"first":1{members(payload)}}}') == {"first": 1, **payload}


def test_a_keep_alive_is_a_comment() -> None:
    assert KEEP_ALIVE.startswith(b": ")
    assert DONE == b"data: [DONE]\n\n"
    assert HEADERS["Content-Type"] == "text/event-stream"


def test_a_named_frame_says_its_type_twice() -> None:
    assert named_frame({"type": "response.created", "a": 1}) == (
        b'event: response.created\ndata: {"type":"response.created","a":1}\n\n'
    )
