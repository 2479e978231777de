"""Errors as the Messages API writes them, before an answer and within a stream. Pure.

    {"type": "error", "error": {"type": TYPE, "message": "PATH: …"}, "request_id": "req_…"}

The type follows from the status (docs.claude.com, "API errors"). There is no member for the field at fault, so the
message names it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof_surfaces.errors import FAILURES, failure_message
from wireproof_surfaces.events import FailureReason

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wireproof_surfaces.errors import ApiError, Problem
    from wireproof_surfaces.events import ChoiceFailed
    from wireproof_surfaces.surfaces.json_text import Json

OVERLOADED = 529
"""The status of this API for what others say with 503."""
_SERVER = 500
_TYPES: Mapping[int, str] = {
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    409: "conflict_error",
    413: "request_too_large",
    429: "rate_limit_error",
    408: "timeout_error",
    503: "overloaded_error",
    504: "timeout_error",
    OVERLOADED: "overloaded_error",
}
"""Status → type; any other is an invalid_request_error, or from 500 on an api_error."""


def type_of(status: int) -> str:
    """The type of an error with this status."""
    return _TYPES.get(status, "api_error" if status >= _SERVER else "invalid_request_error")


def status_of(problem: Problem) -> int:
    """The status of a problem; only an overload of the model has one of its own here."""
    return OVERLOADED if problem is FAILURES[FailureReason.OVERLOADED] else problem.status


def error_body(error: ApiError, request_id: str) -> Json:
    """The body of a response that is an error."""
    message = error.message or error.problem.message
    if error.param and not message.startswith(error.param):
        message = f"{error.param}: {message}"
    shown: Json = {"type": type_of(error.problem.status), "message": message}
    if error.details:
        shown["details"] = error.details
    return {"type": "error", "error": shown, "request_id": request_id}


def error_event(failed: ChoiceFailed) -> Json:
    """The event of a stream that has failed."""
    kind = type_of(FAILURES[failed.cause].status)
    return {"type": "error", "error": {"type": kind, "message": failure_message(failed)}}
