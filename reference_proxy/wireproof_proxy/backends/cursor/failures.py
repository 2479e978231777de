"""How the service reports a failure, and what each code means. Pure.

A code is Connect's (`resource_exhausted`), gRPC's (8) or an HTTP status (429); all become Connect's. Beside it the
service names some errors itself: `ERROR_BAD_MODEL_NAME`. Its messages are not forwarded: they name accounts and plans.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wireproof_surfaces.events import FailureReason

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(eq=False)
class ServiceError(Exception):
    """The service refused a request or ended a stream by an error."""

    code: str
    """Connect's code."""
    reason: str = ""
    """The service's own name for it; empty where it gives none."""


GRPC_CODES: Mapping[str, str] = {
    "1": "canceled",
    "2": "unknown",
    "3": "invalid_argument",
    "4": "deadline_exceeded",
    "5": "not_found",
    "7": "permission_denied",
    "8": "resource_exhausted",
    "9": "failed_precondition",
    "10": "aborted",
    "11": "out_of_range",
    "12": "unimplemented",
    "13": "internal",
    "14": "unavailable",
    "16": "unauthenticated",
}
"""The statuses of gRPC."""

_HTTP_CODES: Mapping[int, str] = {
    400: "invalid_argument",
    401: "unauthenticated",
    403: "permission_denied",
    404: "unimplemented",  # no such method: a model that is not found is an error of the stream
    408: "deadline_exceeded",
    413: "invalid_argument",
    429: "resource_exhausted",
    502: "unavailable",
    503: "unavailable",
    504: "deadline_exceeded",
}
"""What a status means where the body names no code."""

_CAUSES: Mapping[str, FailureReason] = {
    "unauthenticated": FailureReason.CREDENTIALS,
    "permission_denied": FailureReason.CREDENTIALS,
    "resource_exhausted": FailureReason.RATE_LIMITED,
    "invalid_argument": FailureReason.REJECTED,
    "failed_precondition": FailureReason.REJECTED,
    "out_of_range": FailureReason.REJECTED,
    # A session that is not found would be one, too, but each of ours is new.
    "not_found": FailureReason.MODEL_UNKNOWN,
    "deadline_exceeded": FailureReason.TIMEOUT,
    "unavailable": FailureReason.OVERLOADED,
}

# By a part of the name: the same error has several, one for each plan of an account.
_REASONS: tuple[tuple[str, FailureReason], ...] = (
    ("BAD_MODEL_NAME", FailureReason.MODEL_UNKNOWN),
    # Our guess: no public source documents how the service names it.
    ("CONVERSATION_TOO_LONG", FailureReason.CONTEXT),
    ("NOT_LOGGED_IN", FailureReason.CREDENTIALS),
    ("RATE_LIMIT", FailureReason.RATE_LIMITED),
    ("USAGE_LIMIT", FailureReason.QUOTA),
    ("PROVIDER_ERROR", FailureReason.UNREACHABLE),
)


def http_error(status: int) -> ServiceError:
    """The error of an HTTP status."""
    return ServiceError(_HTTP_CODES.get(status, "unknown"))


def cause_of(error: ServiceError) -> FailureReason:
    """Why a turn failed."""
    named = next((cause for part, cause in _REASONS if part in error.reason), None)
    return named or _CAUSES.get(error.code, FailureReason.FAILED)
