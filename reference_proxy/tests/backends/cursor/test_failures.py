from __future__ import annotations

import pytest

from wireproof_proxy.backends.cursor.failures import ServiceError, cause_of, http_error
from wireproof_surfaces.errors import FAILURES
from wireproof_surfaces.events import Cause


@pytest.mark.parametrize(
    ("code", "reason", "cause", "status"),
    [
        ("unauthenticated", "", Cause.CREDENTIALS, 502),
        ("unknown", "ERROR_NOT_LOGGED_IN", Cause.CREDENTIALS, 502),
        ("resource_exhausted", "", Cause.RATE_LIMITED, 429),
        ("resource_exhausted", "ERROR_RATE_LIMITED_CHANGEABLE", Cause.RATE_LIMITED, 429),
        ("not_found", "ERROR_BAD_MODEL_NAME", Cause.MODEL_UNKNOWN, 404),
        ("invalid_argument", "", Cause.REJECTED, 400),
        ("invalid_argument", "ERROR_CONVERSATION_TOO_LONG", Cause.CONTEXT, 400),
        ("unavailable", "", Cause.OVERLOADED, 503),
        ("unavailable", "ERROR_PROVIDER_ERROR", Cause.UNREACHABLE, 502),
        ("internal", "", Cause.FAILED, 502),
        ("canceled", "", Cause.FAILED, 502),
    ],
)
def test_an_error_of_the_service_has_a_cause(code: str, reason: str, cause: Cause, status: int) -> None:
    assert cause_of(ServiceError(code, reason)) is cause
    assert FAILURES[cause].status == status


def test_the_services_refusal_of_our_token_is_no_401_of_the_clients_key() -> None:
    assert FAILURES[cause_of(http_error(401))].status == 502
