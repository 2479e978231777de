from __future__ import annotations

import pytest

from wireproof_surfaces.errors import (
    CHAT_FIELDS,
    FAILURES,
    INVALID_PARAM,
    MESSAGES_FIELDS,
    RESPONSES_FIELDS,
    ApiError,
    RequestFields,
    envelope,
    failure,
)
from wireproof_surfaces.events import ChoiceFailed, FailureReason


@pytest.mark.parametrize("cause", list(FailureReason))
def test_every_cause_has_a_message_of_our_own_and_an_error_status(cause: FailureReason) -> None:
    problem = FAILURES[cause]
    assert 400 <= problem.status < 600
    assert problem.message.endswith(".")
    assert failure(ChoiceFailed(cause)).body()["error"]["code"] == problem.code


def test_a_backend_whose_credentials_fail_never_looks_like_a_wrong_client_key() -> None:
    assert FAILURES[FailureReason.CREDENTIALS].status == 502


def test_too_many_requests_at_once_are_reported_as_such_whoever_counts_them() -> None:
    problem = FAILURES[FailureReason.BUSY]
    assert (problem.status, problem.code, problem.retry_after) == (429, "too_many_requests", 1)


def test_the_envelope_has_all_four_fields() -> None:
    assert envelope(INVALID_PARAM) == {
        "error": {
            "message": INVALID_PARAM.message,
            "type": "invalid_request_error",
            "param": None,
            "code": "invalid_value",
        }
    }


def test_an_error_may_have_words_and_a_place_of_its_own() -> None:
    error = ApiError(INVALID_PARAM, message="`n` must be 1.", param="n")
    assert error.body()["error"]["message"] == "`n` must be 1."
    assert error.body()["error"]["param"] == "n"


def test_a_failure_names_the_parameter_to_blame() -> None:
    assert failure(ChoiceFailed(FailureReason.CONTEXT)).param == "messages"
    assert failure(ChoiceFailed(FailureReason.IMAGES_REJECTED), RESPONSES_FIELDS).param == "input"
    assert failure(ChoiceFailed(FailureReason.TOOLS_REJECTED)).param == "tools"
    assert failure(ChoiceFailed(FailureReason.FAILED)).param is None


def test_what_is_wrong_with_a_request_is_reported_to_its_sender() -> None:
    sent = failure(ChoiceFailed(FailureReason.REJECTED, detail="There is no such script.")).body()["error"]
    assert sent["message"] == "The backend rejected the request: There is no such script."


@pytest.mark.parametrize(
    ("cause", "fields", "param"),
    [
        (FailureReason.SCHEMA_UNKNOWN, CHAT_FIELDS, "response_format"),
        (FailureReason.SCHEMA_UNKNOWN, RESPONSES_FIELDS, "text.format"),
        (FailureReason.SCHEMA_UNKNOWN, MESSAGES_FIELDS, "output_config.format"),
        (FailureReason.NO_IMAGES, MESSAGES_FIELDS, "image"),
        (FailureReason.NOT_CALLED, RESPONSES_FIELDS, "tool_choice"),
        (FailureReason.FUNCTION_NOT_CALLED, CHAT_FIELDS, "function_call"),
    ],
)
def test_what_cannot_be_done_is_a_400_that_names_the_field(
    cause: FailureReason, fields: RequestFields, param: str
) -> None:
    error = failure(ChoiceFailed(cause), fields)
    assert (error.problem.status, error.param) == (400, param)
