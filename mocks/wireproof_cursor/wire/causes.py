"""How the service fails for each of `wireproof_scripts.steps.causes`: a problem, a stream cut short, or silence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from wireproof_cursor.wire.errors import ServiceProblem

if TYPE_CHECKING:
    from collections.abc import Mapping

_LIMIT = "Your request was rate limited. Please try again later."
# Two errors are documented by no public source. That of the rate limit has no name here, as the documented status 8 has
# none; the name of this one is our guess, since its code is that of any bad request.
_TOO_LONG = "The conversation is longer than the context window of the model. Please start a new one."


def _internal(text: str) -> ServiceProblem:
    return ServiceProblem(code="internal", message=text)


CAUSES: Mapping[str, ServiceProblem | Literal["cut", "silence"]] = {
    "http-400": ServiceProblem(code="invalid_argument", message="the mock refuses the request"),
    "http-400-context": ServiceProblem(
        code="invalid_argument", debug="ERROR_CONVERSATION_TOO_LONG", title="Conversation too long", detail=_TOO_LONG
    ),
    "http-401": ServiceProblem(
        code="unauthenticated", debug="ERROR_NOT_LOGGED_IN", title="Not logged in", detail="Please log in again."
    ),
    "http-403": ServiceProblem(code="permission_denied", message="the mock does not permit this"),
    "http-404": ServiceProblem(
        code="not_found",
        debug="ERROR_BAD_MODEL_NAME",
        title="AI Model Not Found",
        detail="Model name is not valid.",
    ),
    "http-429": ServiceProblem(code="resource_exhausted", title="Rate limited", detail=_LIMIT, retryable=True),
    "http-500": _internal("the mock has an internal error"),
    "http-502": ServiceProblem(code="unavailable", message="the mock's gateway fails"),
    "http-503": ServiceProblem(code="unavailable", message="the mock is unavailable"),
    "connection": ServiceProblem(
        code="unavailable",
        debug="ERROR_PROVIDER_ERROR",
        title="Provider Error",
        detail="We could not reach the model provider.",
        retryable=True,
    ),
    "context-window": ServiceProblem(
        code="invalid_argument", debug="ERROR_CONVERSATION_TOO_LONG", title="Conversation too long", detail=_TOO_LONG
    ),
    "usage-limit": ServiceProblem(
        code="resource_exhausted",
        debug="ERROR_RATE_LIMITED_CHANGEABLE",
        title="You've hit your usage limit",
        detail="You have used up the usage of your plan.",
    ),
    "quota": ServiceProblem(
        code="resource_exhausted",
        debug="ERROR_RATE_LIMITED_CHANGEABLE",
        title="Quota exceeded",
        detail="Your account has no credit left.",
    ),
    "rate-limit": ServiceProblem(code="resource_exhausted", title="Rate limited", detail=_LIMIT, retryable=True),
    "overloaded": ServiceProblem(
        code="unavailable",
        debug="ERROR_PROVIDER_ERROR",
        title="Provider Error",
        detail="The model is at capacity.",
        retryable=True,
    ),
    "invalid-prompt": ServiceProblem(code="invalid_argument", message="the prompt was flagged"),
    "server-error": _internal("the mock fails after the answer has begun"),
    "cut": "cut",
    "idle": "silence",
}
"""What is sent, by cause."""

OVER_HTTP: Mapping[str, ServiceProblem] = {
    cause: problem for cause in ("http-401",) if isinstance(problem := CAUSES[cause], ServiceProblem)
}
"""Causes that are an HTTP error, if nothing was sent before; all others stand in the end of the stream."""

ELSEWHERE: Mapping[str, str] = {
    "no-network": "a service that answers is reached",
    "missing-key": "the client has no key, so the service is never asked",
}
"""Causes that are no failure of the service, with the reason."""
