from __future__ import annotations

import pytest

from wireproof_surfaces.errors import FAILURES, INVALID_PARAM, ApiError, envelope, failure
from wireproof_surfaces.events import Cause, Failed


@pytest.mark.parametrize("cause", list(Cause))
def test_every_cause_has_a_message_of_our_own_and_an_error_status(cause: Cause) -> None:
    problem = FAILURES[cause]
    assert 400 <= problem.status < 600
    assert problem.message.endswith(".")
    assert failure(Failed(cause)).body()["error"]["code"] == problem.code


def test_a_backend_whose_credentials_fail_never_looks_like_a_wrong_client_key() -> None:
    assert FAILURES[Cause.CREDENTIALS].status == 502


def test_too_many_requests_at_once_are_reported_as_such_whoever_counts_them() -> None:
    problem = FAILURES[Cause.BUSY]
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
    assert failure(Failed(Cause.CONTEXT)).param == "messages"
    assert failure(Failed(Cause.IMAGES_REJECTED), "input").param == "input"
    assert failure(Failed(Cause.TOOLS_REJECTED)).param == "tools"
    assert failure(Failed(Cause.FAILED)).param is None


def test_what_is_wrong_with_a_request_is_reported_to_its_sender() -> None:
    sent = failure(Failed(Cause.REJECTED, detail="There is no such script.")).body()["error"]
    assert sent["message"] == "The backend rejected the request: There is no such script."


@pytest.mark.parametrize(
    ("cause", "conversation", "param"),
    [
        (Cause.SCHEMA_UNKNOWN, "messages", "response_format"),
        (Cause.SCHEMA_UNKNOWN, "input", "text.format"),
        (Cause.NOT_CALLED, "input", "tool_choice"),
        (Cause.FUNCTION_NOT_CALLED, "messages", "function_call"),
    ],
)
def test_what_cannot_be_done_is_a_400_that_names_the_field(cause: Cause, conversation: str, param: str) -> None:
    error = failure(Failed(cause), conversation)
    assert (error.problem.status, error.param) == (400, param)
