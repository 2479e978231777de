from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

import pytest

from wireproof.model.transcript import Piece
from wireproof.report import rendering

if TYPE_CHECKING:
    from wireproof.reading.exchange import Exchange


def body(exchange: Exchange, data: bytes, **change: Any) -> list[str]:
    """The lines that are written for an exchange with this body."""
    transcript = dataclasses.replace(exchange.transcript, pieces=(Piece(at=0.0, data=data),), **change)
    return rendering.document([dataclasses.replace(exchange, transcript=transcript)]).split("\n")


@pytest.fixture
def one_body(right_whole: Any) -> Any:
    return right_whole("text-hello")


@pytest.fixture
def one_stream(right_stream: Any) -> Any:
    return right_stream("text-hello")


def test_an_exchange_is_its_request_its_status_its_headers_and_its_body(one_body: Any) -> None:
    lines = body(one_body, b'{"a": 1}')
    assert lines[0] == "# exchange 1"
    assert lines[1].startswith("POST ")
    assert {"HTTP 200", "content-type: application/json", '{"a":1}', "(complete)"} <= set(lines)


def test_what_every_request_carries_is_not_shown(one_body: Any) -> None:
    target = dataclasses.replace(one_body.target, query=(("sig", "s3cr3t"),))
    url = f"{one_body.transcript.url}?sig=s3cr3t&limit=1"
    assert body(dataclasses.replace(one_body, target=target), b"{}", url=url)[1] == (
        "POST /chat/completions?sig=***&limit=1"
    )


@pytest.mark.parametrize(
    ("sent", "written"),
    [
        ('"chatcmpl-0aF"', '"chatcmpl-<id>"'),
        ('"created":1795313156', '"created":<time>'),
        ('"created_at":1795313156.5', '"created_at":<time>'),
        ('"created_at":"2026-11-26T12:22:46Z"', '"created_at":<time>'),
        (f'"resp_{"ab" * 12}"', '"resp_<id>"'),
        (f'"msg_{"ab" * 12}i0000"', '"msg_<id>"'),
        (f'"req_{"ab" * 16}"', '"req_<id>"'),
        ("[[wireproof:text/hello#0123456789ab]]", "[[wireproof:text/hello#<nonce>]]"),
        ('"call_1"', '"call_1"'),
        ('"call_00017"', '"call_<number>"'),
        # The second call of an answer.
        ('"call_00017_2"', '"call_<number>"'),
    ],
)
def test_what_is_never_the_same_twice_is_written_alike(one_stream: Any, sent: str, written: str) -> None:
    assert f"data: {written}" in body(one_stream, f"data: {sent}\n\n".encode())


def test_of_a_stream_comments_are_left_out_and_of_very_many_frames_those_in_the_middle(one_stream: Any) -> None:
    ping = b'event: ping\ndata: {"type": "ping"}\n\n'
    frames = b"".join(b": still here\n\n" + ping + b"data: %d\n\n" % number for number in range(100))
    lines = body(one_stream, frames)
    assert [line for line in lines if line.startswith(("data", ":"))] == [
        *(f"data: {number}" for number in (0, 1, 2, 3, 96, 97, 98, 99))
    ]
    assert "… 92 frames more …" in lines


def test_bytes_that_are_no_text_and_lines_that_are_long_can_be_read_all_the_same(one_body: Any) -> None:
    assert r"\xff\x07" in body(one_body, b"\xff\x07")
    (line,) = [line for line in body(one_body, json.dumps("x" * 5000).encode()) if line.startswith('"x')]
    assert line.endswith(" … 3802 characters more")


def test_the_padding_of_a_request_is_reported_by_its_length(one_body: Any) -> None:
    assert "{} (+ 3 spaces)" in body(one_body, b"", request_body=b"{}   ")
