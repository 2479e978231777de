"""Envelopes, however their bytes are cut, and the ends of both families."""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wireproof_proxy.backends.cursor.envelope import (
    LIMIT,
    EnvelopeEnd,
    EnvelopeReader,
    GarbledError,
    envelope,
    refused,
    status_error,
)

if TYPE_CHECKING:
    from wireproof_proxy.backends.cursor.envelope import ServiceError

CONNECT_ERROR = {
    "error": {
        "code": "resource_exhausted",
        "message": "Error",
        "details": [{"type": "aiserver.v1.ErrorDetails", "debug": {"error": "ERROR_RATE_LIMITED_CHANGEABLE"}}],
    }
}


def framed(flags: int, payload: bytes) -> bytes:
    return struct.pack(">BI", flags, len(payload)) + payload


def ended(flags: int, payload: bytes) -> ServiceError | None:
    [end] = EnvelopeReader().feed(framed(flags, payload))
    assert isinstance(end, EnvelopeEnd)
    return end.error


@given(st.lists(st.binary(max_size=40), max_size=6), st.integers(1, 7))
def test_messages_are_the_same_however_the_bytes_are_cut(payloads: list[bytes], size: int) -> None:
    data = b"".join(map(envelope, payloads))
    reader = EnvelopeReader()
    found = [one for at in range(0, len(data), size) for one in reader.feed(data[at : at + size])]
    assert found == payloads


def test_half_a_message_is_none() -> None:
    assert list(EnvelopeReader().feed(envelope(b"abc")[:-1])) == []


@pytest.mark.parametrize(("flags", "payload"), [(0x02, b"{}"), (0x02, b""), (0x80, b"grpc-status: 0\r\n"), (0x80, b"")])
def test_an_end_without_an_error_has_none(flags: int, payload: bytes) -> None:
    assert ended(flags, payload) is None


def test_the_end_of_a_connect_stream_names_code_and_reason() -> None:
    error = ended(0x02, json.dumps(CONNECT_ERROR).encode())
    assert error
    assert (error.code, error.reason) == ("resource_exhausted", "ERROR_RATE_LIMITED_CHANGEABLE")


def test_the_end_of_a_grpc_stream_names_a_status() -> None:
    error = ended(0x80, b"grpc-status: 8\r\ngrpc-message: Usage%20limit\r\n")
    assert error
    assert (error.code, error.reason) == ("resource_exhausted", "Usage limit")
    assert status_error({"grpc-status": "99"}) is not None


@pytest.mark.parametrize("flags", [0x01, 0x03, 0x81])
def test_unknown_flags_are_garbled(flags: int) -> None:
    with pytest.raises(GarbledError, match="flags"):
        list(EnvelopeReader().feed(framed(flags, b"")))


def test_a_length_beyond_the_limit_is_garbled_at_once() -> None:
    with pytest.raises(GarbledError, match=str(LIMIT + 1)):
        list(EnvelopeReader().feed(struct.pack(">BI", 0, LIMIT + 1)))


def test_an_end_that_is_no_json_is_garbled() -> None:
    with pytest.raises(GarbledError):
        list(EnvelopeReader().feed(framed(0x02, b"<html>")))


def test_a_refused_request_is_known_by_its_body_and_else_by_its_status() -> None:
    assert refused(500, json.dumps({"code": "unauthenticated"}).encode()).code == "unauthenticated"
    assert refused(401, b"<html>").code == "unauthenticated"
    assert refused(503, b"[]").code == "unavailable"
    assert refused(418, b"").code == "unknown"
