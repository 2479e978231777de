from __future__ import annotations

from typing import Any

import pytest

from wireproof_proxy.backends.codex.failures import cause_of, cut_short, detail_of, refusal_cause
from wireproof_proxy.backends.codex.rpc import ErrorReply
from wireproof_surfaces.events import FailureReason


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        ({"codexErrorInfo": "badRequest"}, FailureReason.REJECTED),
        ({"codexErrorInfo": "unauthorized"}, FailureReason.CREDENTIALS),
        ({"codexErrorInfo": "somethingNew"}, FailureReason.FAILED),
        ({"codexErrorInfo": {"httpConnectionFailed": {"httpStatusCode": 404}}}, FailureReason.FAILED),
        ({"codexErrorInfo": {"httpConnectionFailed": {"httpStatusCode": [1]}}}, FailureReason.UNREACHABLE),
        ({"codexErrorInfo": {"httpConnectionFailed": {"httpStatusCode": 503}}}, FailureReason.OVERLOADED),
        ({"codex_error_info": "usage_limit_exceeded"}, FailureReason.QUOTA),
        ({"codex_error_info": {"http_connection_failed": {"http_status_code": 401}}}, FailureReason.CREDENTIALS),
        ({"codexErrorInfo": {}, "message": "Missing environment variable: `X`."}, FailureReason.CREDENTIALS),
        ({"codexErrorInfo": "other", "message": "unexpected status 401 Unauthorized: "}, FailureReason.CREDENTIALS),
        (
            {"codexErrorInfo": "other", "message": "unexpected status 503 Service Unavailable: x"},
            FailureReason.OVERLOADED,
        ),
        ({"codexErrorInfo": "other", "message": "unexpected status 404 Not Found: x"}, FailureReason.FAILED),
        ({"message": "said: unexpected status 401 Unauthorized"}, FailureReason.FAILED),
        ({"message": '{"error": {"message": "no", "code": "context_length_exceeded"}}'}, FailureReason.CONTEXT),
        ({"message": '{"error": {"message": "no", "type": "invalid_request_error"}}'}, FailureReason.REJECTED),
        ({"message": '{"error": []}'}, FailureReason.FAILED),
        ({"message": "[" * 100_000}, FailureReason.FAILED),
        (
            {"message": "stream disconnected before completion: error sending request for url (http://x/)"},
            FailureReason.UNREACHABLE,
        ),
        ({"message": ["?"]}, FailureReason.FAILED),
        ({}, FailureReason.FAILED),
    ],
)
def test_every_error_has_a_cause(error: Any, cause: FailureReason) -> None:
    assert cause_of(error) is cause


@pytest.mark.parametrize(
    ("message", "cause"),
    [
        ("dynamic tool input schema is not supported for f", FailureReason.TOOLS_REJECTED),
        ("duplicate dynamic tool name: f", FailureReason.TOOLS_REJECTED),
        ("remote image URLs are not supported; use an inline data URL instead", FailureReason.IMAGES_REJECTED),
        ("Input exceeds the maximum length of 1048576 characters.", FailureReason.CONTEXT),
        ("Server overloaded; retry later.", FailureReason.OVERLOADED),
        ("thread not found", FailureReason.FAILED),
    ],
)
def test_every_refusal_has_a_cause(message: str, cause: FailureReason) -> None:
    assert refusal_cause(ErrorReply(1, -32600, message)) is cause


def test_too_many_requests_are_known_by_their_code() -> None:
    assert refusal_cause(ErrorReply(1, -32001, "Server overloaded; retry later.")) is FailureReason.BUSY


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
