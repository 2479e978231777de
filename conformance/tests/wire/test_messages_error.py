"""Errors of Messages: right ones, and each way of being wrong."""

from __future__ import annotations

import json

import pytest

from wireproof.wire.messages_whole import read_message_error

JSON = "application/json"


def body(type_: object = "invalid_request_error", message: object = "model: Field required", **more: object) -> bytes:
    return json.dumps({"type": "error", "error": {"type": type_, "message": message}, **more}).encode()


@pytest.mark.parametrize(
    ("status", "type_"),
    [
        (400, "invalid_request_error"), (401, "authentication_error"), (404, "not_found_error"),
        (405, "invalid_request_error"), (413, "request_too_large"), (415, "invalid_request_error"),
        (429, "rate_limit_error"), (500, "api_error"), (502, "api_error"), (503, "overloaded_error"),
        (529, "overloaded_error"),
    ],
)  # fmt: skip
def test_an_error_has_the_type_of_its_status(status: int, type_: str) -> None:
    failed, broken = read_message_error(body(type_), JSON, status)
    assert failed is not None
    assert (failed.type, broken) == (type_, ())


def test_the_path_at_the_beginning_of_a_message_is_what_it_is_about() -> None:
    named, _ = read_message_error(body(message="messages.2.content.0.tool_use.id: String …"), JSON, 400)
    unnamed, _ = read_message_error(body(message="Something: is wrong"), JSON, 400)
    assert named is not None
    assert unnamed is not None
    assert (named.param, unnamed.param) == ("messages.2.content.0.tool_use.id", "Something")


@pytest.mark.parametrize(
    ("said", "kind", "seen", "letter_only"),
    [
        (body("server_error"), JSON, "error.type is", True),
        (body("api_error"), JSON, "error.type is", True),
        (body({}), JSON, "error.type is", True),
        (body(type="message"), JSON, "type is", True),
        (body(), "text/plain", "Content-Type", True),
        (body(message=""), JSON, "error.message is", False),
        (b'{"error": "no"}', JSON, "no error object", True),
        (b'{"detail": []}', JSON, "no error object", False),
        (b"<html>", "text/html", "the body is not JSON", False),
    ],
)
def test_what_is_wrong_with_an_error_is_one_violation(said: bytes, kind: str, seen: str, *, letter_only: bool) -> None:
    _, (violation,) = read_message_error(said, kind, 400)
    assert violation.requirement == "messages.error.envelope"
    assert seen in violation.seen
    assert violation.strict_only is letter_only
