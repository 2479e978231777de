"""How the model's service fails: for each cause of `wireproof_scripts.steps.causes` what it sends.

How the failure then looks in Codex is measured in `wireproof_codex.versions.failures`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class HttpRefusal:
    """An HTTP error instead of a stream."""

    status: int
    body: bytes


@dataclass(frozen=True, slots=True)
class ResponseFailed:
    """The stream ends with response.failed."""

    code: str
    message: str


Failure = HttpRefusal | ResponseFailed | Literal["cut", "silence"]
"""Cut: the stream ends without the event that completes the response. Silence: it stays open, and nothing comes."""


def refusal(status: int, message: str, **error: object) -> HttpRefusal:
    """An HTTP error with the envelope of the API."""
    return HttpRefusal(status, json.dumps({"error": {"message": message, **error}}, ensure_ascii=False).encode())


_TOO_LONG = "Your input exceeds the context window of this model."


def _http(status: int) -> HttpRefusal:
    return refusal(status, f"the mock says {status}", type="mock_error", code=f"mock_{status}", param=None)


FAILURES: Mapping[str, Failure] = {
    **{f"http-{status}": _http(status) for status in (400, 401, 403, 404, 429, 500, 502, 503)},
    # The code is what 0.169.0 knows it by (contextWindowExceeded); 0.89.0 passes the body on as text.
    "http-400-context": refusal(
        400, f"{_TOO_LONG} Please adjust your input and try again.", type="invalid_request_error",
        code="context_length_exceeded", param="input",
    ),
    # The type makes it a limit of the plan; any other 429 is one of too many tries to Codex.
    "usage-limit": refusal(429, "The usage limit has been reached", type="usage_limit_reached", plan_type="plus",
                           resets_at=4_102_444_800),
    "context-window": ResponseFailed("context_length_exceeded", _TOO_LONG),
    "quota": ResponseFailed("insufficient_quota", "You exceeded your current quota."),
    "rate-limit": ResponseFailed("rate_limit_exceeded", "Rate limit reached for the mock. Please try again in 1s."),
    "overloaded": ResponseFailed("server_is_overloaded", "Selected model is at capacity"),
    "invalid-prompt": ResponseFailed("invalid_prompt", "Invalid prompt: flagged"),
    "server-error": ResponseFailed("server_error", "mock failure"),
    "cut": "cut",
    # Codex gives up by itself, after its stream_idle_timeout_ms.
    "idle": "silence",
}  # fmt: skip
"""What is sent, by cause."""

ELSEWHERE: Mapping[str, str] = {
    "connection": "a service that answers is connected",
    "no-network": "a service that answers is reached",
    "missing-key": "Codex notices that it has no key before it sends a request",
}
"""Causes that are no failure of the service, with the reason."""
