from __future__ import annotations

import json

from assay_proxy.surfaces.sse import DONE, HEADERS, KEEP_ALIVE, frame, named_frame


def test_a_frame_is_one_line_of_json_whatever_the_text() -> None:
    text = "data: [DONE]\n\n\u2028é😀\r\n"
    data = frame({"text": text})
    assert data.startswith(b"data: {")
    assert data.endswith(b"}\n\n")
    assert data.count(b"\n") == 2
    assert b"\r" not in data
    assert json.loads(data[6:])["text"] == text
    assert "é😀".encode() in data


def test_a_keep_alive_is_a_comment() -> None:
    assert KEEP_ALIVE.startswith(b": ")
    assert DONE == b"data: [DONE]\n\n"
    assert HEADERS["Content-Type"] == "text/event-stream"


def test_a_named_frame_says_its_type_twice() -> None:
    assert named_frame({"type": "response.created", "a": 1}) == (
        b'event: response.created\ndata: {"type":"response.created","a":1}\n\n'
    )
