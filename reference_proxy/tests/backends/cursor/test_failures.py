from __future__ import annotations

import pytest

from wireproof_proxy.backends.cursor.envelope import ServiceError, cause_of, refused
from wireproof_surfaces.errors import FAILURES
from wireproof_surfaces.events import FailureReason


@pytest.mark.parametrize(
    ("code", "reason", "cause", "status"),
    [
        ("unauthenticated", "", FailureReason.CREDENTIALS, 502),
        ("unknown", "ERROR_NOT_LOGGED_IN", FailureReason.CREDENTIALS, 502),
        ("resource_exhausted", "", FailureReason.RATE_LIMITED, 429),
        ("resource_exhausted", "ERROR_RATE_LIMITED_CHANGEABLE", FailureReason.RATE_LIMITED, 429),
        ("not_found", "ERROR_BAD_MODEL_NAME", FailureReason.MODEL_UNKNOWN, 404),
        ("invalid_argument", "", FailureReason.REJECTED, 400),
        ("invalid_argument", "ERROR_CONVERSATION_TOO_LONG", FailureReason.CONTEXT, 400),
        ("unavailable", "", FailureReason.OVERLOADED, 503),
        ("unavailable", "ERROR_PROVIDER_ERROR", FailureReason.UNREACHABLE, 502),
        ("internal", "", FailureReason.FAILED, 502),
        ("canceled", "", FailureReason.FAILED, 502),
    ],
)
def test_an_error_of_the_service_has_a_cause(code: str, reason: str, cause: FailureReason, status: int) -> None:
    assert cause_of(ServiceError(code, reason)) is cause
    assert FAILURES[cause].status == status


def test_the_services_refusal_of_our_token_is_no_401_of_the_clients_key() -> None:
    assert FAILURES[cause_of(refused(401, b""))].status == 502
