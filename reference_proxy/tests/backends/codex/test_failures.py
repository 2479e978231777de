from __future__ import annotations

from typing import Any

import pytest

from wireproof_proxy.backends.codex.failures import cause_of, cut_short, detail_of, refusal_cause
from wireproof_proxy.backends.codex.rpc import ErrorReply
from wireproof_surfaces.events import Cause


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        ({"codexErrorInfo": "badRequest"}, Cause.REJECTED),
        ({"codexErrorInfo": "unauthorized"}, Cause.CREDENTIALS),
        ({"codexErrorInfo": "somethingNew"}, Cause.FAILED),
        ({"codexErrorInfo": {"httpConnectionFailed": {"httpStatusCode": 404}}}, Cause.FAILED),
        ({"codexErrorInfo": {"httpConnectionFailed": {"httpStatusCode": [1]}}}, Cause.UNREACHABLE),
        ({"codexErrorInfo": {"httpConnectionFailed": {"httpStatusCode": 503}}}, Cause.OVERLOADED),
        ({"codex_error_info": "usage_limit_exceeded"}, Cause.QUOTA),
        ({"codex_error_info": {"http_connection_failed": {"http_status_code": 401}}}, Cause.CREDENTIALS),
        ({"codexErrorInfo": {}, "message": "Missing environment variable: `X`."}, Cause.CREDENTIALS),
        ({"codexErrorInfo": "other", "message": "unexpected status 401 Unauthorized: "}, Cause.CREDENTIALS),
        ({"codexErrorInfo": "other", "message": "unexpected status 503 Service Unavailable: x"}, Cause.OVERLOADED),
        ({"codexErrorInfo": "other", "message": "unexpected status 404 Not Found: x"}, Cause.FAILED),
        ({"message": "said: unexpected status 401 Unauthorized"}, Cause.FAILED),
        ({"message": '{"error": {"message": "no", "code": "context_length_exceeded"}}'}, Cause.CONTEXT),
        ({"message": '{"error": {"message": "no", "type": "invalid_request_error"}}'}, Cause.REJECTED),
        ({"message": '{"error": []}'}, Cause.FAILED),
        ({"message": "[" * 100_000}, Cause.FAILED),
        (
            {"message": "stream disconnected before completion: error sending request for url (http://x/)"},
            Cause.UNREACHABLE,
        ),
        ({"message": ["?"]}, Cause.FAILED),
        ({}, Cause.FAILED),
    ],
)
def test_every_error_has_a_cause(error: Any, cause: Cause) -> None:
    assert cause_of(error) is cause


@pytest.mark.parametrize(
    ("message", "cause"),
    [
        ("dynamic tool input schema is not supported for f", Cause.TOOLS_REJECTED),
        ("duplicate dynamic tool name: f", Cause.TOOLS_REJECTED),
        ("remote image URLs are not supported; use an inline data URL instead", Cause.IMAGES_REJECTED),
        ("Input exceeds the maximum length of 1048576 characters.", Cause.CONTEXT),
        ("Server overloaded; retry later.", Cause.OVERLOADED),
        ("thread not found", Cause.FAILED),
    ],
)
def test_every_refusal_has_a_cause(message: str, cause: Cause) -> None:
    assert refusal_cause(ErrorReply(1, -32600, message)) is cause


def test_too_many_requests_are_known_by_their_code() -> None:
    assert refusal_cause(ErrorReply(1, -32001, "Server overloaded; retry later.")) is Cause.BUSY


def test_an_answer_that_was_cut_short_has_a_reason() -> None:
    assert cut_short({"message": "stream … Incomplete response returned, reason: content_filter"}) == "content_filter"
    assert cut_short({"message": "Incomplete response returned, reason: max_output_tokens"}) == "length"
    assert cut_short({"message": "something else"}) is None
    assert cut_short({}) is None


@pytest.mark.parametrize(
    ("error", "detail"),
    [
        ({"codexErrorInfo": "badRequest", "message": "no such script"}, "no such script"),
        ({"codex_error_info": "bad_request", "message": "no such script"}, "no such script"),
        ({"codexErrorInfo": "badRequest", "message": "x" * 1001}, "x" * 1000),
        ({"codexErrorInfo": "badRequest"}, ""),
        ({"codexErrorInfo": "other", "message": "http://10.0.0.1/"}, ""),
        ({"codexErrorInfo": {"httpConnectionFailed": {}}, "message": "http://10.0.0.1/"}, ""),
        ({"message": "http://10.0.0.1/"}, ""),
    ],
)
def test_only_what_is_said_of_a_wrong_request_is_sent_on(error: Any, detail: str) -> None:
    assert detail_of(error) == detail
