from __future__ import annotations

import json

import pytest

from assay.model.dialect import Arguments
from assay.targets.argument_mode import detect_argument_mode


def stream(*fragments: str) -> bytes:
    deltas = [{"index": 0, "function": {"arguments": fragment}} for fragment in fragments]
    opened = {"index": 0, "id": "c", "type": "function", "function": {"name": "f", "arguments": ""}}
    chunks = [{"choices": [{"index": 0, "delta": {"tool_calls": [delta]}}]} for delta in (opened, *deltas)]
    return b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks)


@pytest.mark.parametrize(
    ("fragments", "way"),
    [
        (("{", '{"a"', '{"a": 1}'), Arguments.CUMULATIVE),
        (("{", '"a"', ": 1}"), Arguments.INCREMENTAL),
        (("1", "1"), Arguments.INCREMENTAL),
        (("{}",), None),
        ((), None),
    ],
)
def test_fragments_show_how_they_are_told(fragments: tuple[str, ...], way: Arguments | None) -> None:
    assert detect_argument_mode(stream(*fragments)) is way


@pytest.mark.parametrize("body", [b"", b"{}", b"data: no\n\n"])
def test_what_is_no_stream_shows_nothing(body: bytes) -> None:
    assert detect_argument_mode(body) is None
