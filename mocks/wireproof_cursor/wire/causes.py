"""How the service fails for each of `wireproof_scripts.steps.causes`: a problem, a stream cut short, or silence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from wireproof_cursor.wire.errors import ServiceProblem

if TYPE_CHECKING:
    from collections.abc import Mapping


def _plain(code: str, message: str) -> ServiceProblem:
    return ServiceProblem(code=code, message=message)


def _shown(code: str, debug: str, title: str, detail: str, *, retryable: bool = False) -> ServiceProblem:
    """A problem with what the user is shown of it."""
    return ServiceProblem(code=code, debug=debug, title=title, detail=detail, retryable=retryable)


# Two errors are documented by no public source. That of the rate limit has no name here, as the documented status 8 has
# none; the name of a conversation that is too long is our guess, since its code is that of any bad request.
_RATE_LIMITED = _shown(
    "resource_exhausted", "", "Rate limited", "Your request was rate limited. Please try again later.", retryable=True
)
_TOO_LONG = _shown(
    "invalid_argument",
    "ERROR_CONVERSATION_TOO_LONG",
    "Conversation too long",
    "The conversation is longer than the context window of the model. Please start a new one.",
)
_NOT_LOGGED_IN = _shown("unauthenticated", "ERROR_NOT_LOGGED_IN", "Not logged in", "Please log in again.")
_PROVIDER = ("unavailable", "ERROR_PROVIDER_ERROR", "Provider Error")
_LIMITED = ("resource_exhausted", "ERROR_RATE_LIMITED_CHANGEABLE")

CAUSES: Mapping[str, ServiceProblem | Literal["cut", "silence"]] = {
    "http-400": _plain("invalid_argument", "the mock refuses the request"),
    "http-400-context": _TOO_LONG,
    "http-401": _NOT_LOGGED_IN,
    "http-403": _plain("permission_denied", "the mock does not permit this"),
    "http-404": _shown("not_found", "ERROR_BAD_MODEL_NAME", "AI Model Not Found", "Model name is not valid."),
    "http-429": _RATE_LIMITED,
    "http-500": _plain("internal", "the mock has an internal error"),
    "http-502": _plain("unavailable", "the mock's gateway fails"),
    "http-503": _plain("unavailable", "the mock is unavailable"),
    "connection": _shown(*_PROVIDER, "We could not reach the model provider.", retryable=True),
    "context-window": _TOO_LONG,
    "usage-limit": _shown(*_LIMITED, "You've hit your usage limit", "You have used up the usage of your plan."),
    "quota": _shown(*_LIMITED, "Quota exceeded", "Your account has no credit left."),
    "rate-limit": _RATE_LIMITED,
    "overloaded": _shown(*_PROVIDER, "The model is at capacity.", retryable=True),
    "invalid-prompt": _plain("invalid_argument", "the prompt was flagged"),
    "server-error": _plain("internal", "the mock fails after the answer has begun"),
    "cut": "cut",
    "idle": "silence",
}
"""What is sent, by cause."""

OVER_HTTP: Mapping[str, ServiceProblem] = {"http-401": _NOT_LOGGED_IN}
"""Causes that are an HTTP error, if nothing was sent before; all others stand in the end of the stream."""

ELSEWHERE: Mapping[str, str] = {
    "no-network": "a service that answers is reached",
    "missing-key": "the client has no key, so the service is never asked",
}
"""Causes that are no failure of the service, with the reason."""
