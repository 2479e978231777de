from __future__ import annotations

import io
import json
from typing import Any

import pytest

from wireproof_surfaces import errors
from wireproof_surfaces.errors import ApiError, Problem
from wireproof_surfaces.http.body import DEEPEST, PIECE, read_object


def read(data: bytes, *, length: int | None = -1, media_type: str = "application/json", limit: int = 1000) -> Any:
    length = len(data) if length == -1 else length
    return read_object(io.BytesIO(data), length=length, media_type=media_type, limit=limit)


def problem(data: bytes, **options: Any) -> Problem:
    with pytest.raises(ApiError) as raised:
        read(data, **options)
    return raised.value.problem


def test_an_object_is_read_with_or_without_an_announced_length() -> None:
    assert read(b'{"a": "\xc3\xa9"}') == {"a": "é"}
    assert read(b'{"a": 1}', length=None) == {"a": 1}


def test_a_body_as_large_as_the_limit_is_read() -> None:
    data = json.dumps({"a": "x" * 980}).encode()
    assert read(data, limit=len(data))
    assert read(data, limit=len(data), length=None)


def test_a_larger_body_is_refused_before_anything_else_is_looked_at() -> None:
    assert problem(b"x" * 1001, media_type="text/plain") is errors.TOO_LARGE
    assert problem(b"x" * 1001, length=None) is errors.TOO_LARGE


def test_no_more_is_read_than_the_announced_length() -> None:
    class Once(io.BytesIO):
        def read(self, *size: int | None) -> bytes:
            assert self.tell() == 0
            return super().read(*size)

    assert read_object(Once(b"{}"), length=2, media_type="application/json", limit=10) == {}


def test_nothing_of_a_body_is_read_whose_length_says_that_it_is_too_large() -> None:
    stream = io.BytesIO(b"x" * (10 * PIECE))
    with pytest.raises(ApiError):
        read_object(stream, length=10 * PIECE, media_type="application/json", limit=10)
    assert stream.tell() == 0


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'{"a": "\xff"}', errors.NOT_UTF8),
        (b"", errors.NOT_JSON),
        (b"{", errors.NOT_JSON),
        (b'{"a": NaN}', errors.NOT_JSON),
        (b"[" * 900, errors.NOT_JSON),
        (b"[]", errors.NOT_OBJECT),
        (b'"text"', errors.NOT_OBJECT),
    ],
)
def test_what_is_no_json_object_is_named(data: bytes, expected: Problem) -> None:
    assert problem(data) is expected


def test_nesting_beyond_the_parser_is_no_json() -> None:
    data = b"[" * 200_000 + b"]" * 200_000
    assert problem(data, limit=10**6) is errors.NOT_JSON


@pytest.mark.parametrize(("opening", "closing"), [(b"[", b"]"), (b'{"a":', b"}")])
def test_what_is_nested_more_deeply_than_the_backend_takes_is_refused(opening: bytes, closing: bytes) -> None:
    def nested(levels: int) -> bytes:
        return b'{"a":' + opening * levels + b"1" + closing * levels + b"}"

    assert read(nested(DEEPEST - 1))
    with pytest.raises(ApiError) as raised:
        read(nested(DEEPEST))
    assert raised.value.problem is errors.NOT_JSON
    assert raised.value.message == "The request body is nested more than 100 levels deep."


def test_what_is_wide_is_not_deep() -> None:
    assert read(b'{"a": [' + b"{}," * 200 + b'{"b": "[[["}]}') == {"a": [{}] * 200 + [{"b": "[[["}]}


@pytest.mark.parametrize("number", [b"1e999", b"-1e999", b"9" * 400, b"-" + b"9" * 400])
def test_a_number_that_is_no_double_is_refused(number: bytes) -> None:
    with pytest.raises(ApiError) as raised:
        read(b'{"a": [%s]}' % number)
    assert raised.value.problem is errors.NOT_JSON
    assert raised.value.message == "The request body holds a number that is too large."


def test_other_numbers_are_as_python_reads_them() -> None:
    assert read(b'{"a": [12345678901234567890123, 1.7e308, -0]}') == {"a": [12345678901234567890123, 1.7e308, 0]}


@pytest.mark.parametrize("error", [ValueError("Bad chunked transfer size"), TimeoutError("timed out")])
def test_a_body_that_breaks_off_is_the_clients_fault(error: Exception) -> None:
    class Broken(io.BytesIO):
        def read(self, *_: object) -> bytes:
            raise error

    with pytest.raises(ApiError) as raised:
        read_object(Broken(), length=None, media_type="application/json", limit=1000)
    assert raised.value.problem is errors.BAD_REQUEST


def test_another_media_type_is_refused() -> None:
    assert problem(b"{}", media_type="text/plain") is errors.WRONG_MEDIA
    assert problem(b"{}", media_type="") is errors.WRONG_MEDIA
