"""Every error a client can see: status, type, code, and a message of our own.

A backend's own text about a failure holds addresses, ids and paths and is not forwarded. What it says about a request
that it finds wrong is, since that is meant for the sender.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from wireproof_surfaces.events import ChoiceFailed, FailureReason

INVALID = "invalid_request_error"


@dataclass(frozen=True, slots=True)
class Problem:
    """A row of the table."""

    status: int
    type: str
    code: str | None
    message: str
    retry_after: int | None = None
    """Seconds; None sends no `Retry-After`."""


UNKNOWN_URL = Problem(404, INVALID, "unknown_url", "There is nothing at this address.")
WRONG_METHOD = Problem(405, INVALID, "method_not_allowed", "This address does not take this method.")
WRONG_KEY = Problem(401, INVALID, "invalid_api_key", "The API key is missing or wrong: send `Authorization: Bearer …`.")
WRONG_HOST = Problem(
    421, INVALID, "misdirected_request", "Without a key this proxy answers only at this machine's own names."
)
FOREIGN = Problem(403, INVALID, "origin_not_allowed", "No page of this origin is let in.")
TOO_LARGE = Problem(413, INVALID, "request_too_large", "The request body is too large.")
WRONG_MEDIA = Problem(415, INVALID, "unsupported_media_type", "The request body must be `application/json`.")
NOT_UTF8 = Problem(400, INVALID, "invalid_utf8", "The request body is not valid UTF-8.")
NOT_JSON = Problem(400, INVALID, "invalid_json", "The request body is not valid JSON.")
NOT_OBJECT = Problem(400, INVALID, "invalid_json", "The request body must be a JSON object.")
INVALID_PARAM = Problem(400, INVALID, "invalid_value", "A parameter is not acceptable.")
MISSING_PARAM = Problem(400, INVALID, "missing_required_parameter", "A required parameter is missing.")
UNKNOWN_MODEL = Problem(404, INVALID, "model_not_found", "This model is not served here.")
# The seconds are read: OpenAI's SDKs, ai-sdk and langchain retry 408, 429 and 5xx, and honour Retry-After.
BUSY = Problem(429, "rate_limit_error", "too_many_requests", "Too many requests at once; try again shortly.", 1)
UNKNOWN_RESPONSE = Problem(404, INVALID, "response_not_found", "This response is not stored here.")
UNKNOWN_PREVIOUS = Problem(404, INVALID, "previous_response_not_found", "The previous response is not stored here.")
BAD_REQUEST = Problem(400, INVALID, "bad_request", "The request could not be read.")
STOPPING = Problem(503, "server_error", "stopping", "The proxy is stopping; try again.", 1)
GIVEN_UP = Problem(503, "server_error", "backend_given_up", "The backend died too often; the next request tries again.")
INTERNAL = Problem(500, "server_error", "internal_error", "The proxy failed to answer this request.")

FAILURES: dict[FailureReason, Problem] = {
    FailureReason.RATE_LIMITED: Problem(
        429, "rate_limit_error", "rate_limit_exceeded", "The backend's model is rate limited; try again later.", 5
    ),
    # No Retry-After: waiting a moment brings no quota back.
    FailureReason.QUOTA: Problem(
        429, "insufficient_quota", "insufficient_quota", "The backend's account has used up its quota."
    ),
    FailureReason.CONTEXT: Problem(
        400, INVALID, "context_length_exceeded", "The conversation does not fit into the model's context window."
    ),
    FailureReason.OVERLOADED: Problem(
        503, "server_error", "backend_overloaded", "The backend is overloaded; try again.", 2
    ),
    # The same words, whether the proxy's own gate or the backend counts the requests.
    FailureReason.BUSY: BUSY,
    FailureReason.REJECTED: Problem(400, INVALID, "backend_rejected", "The backend rejected the request."),
    FailureReason.TOOLS_REJECTED: Problem(400, INVALID, "invalid_tools", "The backend rejected the declared tools."),
    FailureReason.IMAGES_REJECTED: Problem(
        400, INVALID, "invalid_image", "The backend takes images as `data:` URLs only, not by address."
    ),
    FailureReason.NO_IMAGES: Problem(400, INVALID, "invalid_image", "This backend takes no images."),
    FailureReason.MODEL_UNKNOWN: Problem(404, INVALID, "model_not_found", "The backend does not know this model."),
    FailureReason.SCHEMA_UNKNOWN: Problem(
        400, INVALID, "unsupported_value", "This version of the backend takes no schema for its answer."
    ),
    FailureReason.NOT_CALLED: Problem(
        400,
        INVALID,
        "tool_not_called",
        "The backend cannot be forced to keep `tool_choice`, and it did not call the tool.",
    ),
    FailureReason.FUNCTION_NOT_CALLED: Problem(
        400,
        INVALID,
        "tool_not_called",
        "The backend cannot be forced to keep `function_call`, and it did not call the function.",
    ),
    # Not a 401: the client's own key is right, and a 401 would say that it is wrong.
    FailureReason.CREDENTIALS: Problem(
        502, "server_error", "backend_credentials", "The backend's own credentials were refused upstream."
    ),
    FailureReason.UNREACHABLE: Problem(
        502, "server_error", "backend_unreachable", "The backend could not reach its model."
    ),
    FailureReason.TIMEOUT: Problem(504, "server_error", "backend_timeout", "The backend was silent for too long."),
    FailureReason.UNAVAILABLE: Problem(
        503, "server_error", "backend_unavailable", "The backend is not running; it is being restarted.", 1
    ),
    FailureReason.GARBLED: Problem(502, "server_error", "backend_garbled", "The backend sent something unreadable."),
    FailureReason.LAGGING: Problem(
        503, "server_error", "client_too_slow", "The client read too slowly; the rest of the answer was dropped."
    ),
    FailureReason.FAILED: Problem(502, "server_error", "backend_error", "The backend failed to answer."),
}


@dataclass(eq=False)
class ApiError(Exception):
    """A request that ends with a problem."""

    problem: Problem
    message: str | None = None
    """Replaces the problem's own message."""
    param: str | None = None
    """The field or header at fault."""
    headers: dict[str, str] = field(default_factory=dict)
    details: dict[str, Any] = field(default_factory=dict)
    """What there is besides for programs, where the API has a place for it."""

    def body(self) -> dict[str, Any]:
        """The error envelope."""
        return envelope(self.problem, message=self.message, param=self.param)


def envelope(problem: Problem, *, message: str | None = None, param: str | None = None) -> dict[str, Any]:
    """`{"error": {message, type, param, code}}`, all four present."""
    # Always the four members; `code` is text or null, never a number (http.error.envelope).
    text = message or problem.message
    return {"error": {"message": text, "type": problem.type, "param": param, "code": problem.code}}


@dataclass(frozen=True, kw_only=True, slots=True)
class RequestFields:
    """What the fields of a surface's request are called that a backend may find wrong."""

    conversation: str = "messages"
    schema: str = "response_format"
    image: str = "image_url"


CHAT_FIELDS = RequestFields()
RESPONSES_FIELDS = RequestFields(conversation="input", schema="text.format")
MESSAGES_FIELDS = RequestFields(schema="output_config.format", image="image")


def failure(failed: ChoiceFailed, fields: RequestFields = CHAT_FIELDS) -> ApiError:
    """The HTTP error for a backend's failure; `fields` are those of the request's surface."""
    cause = failed.cause
    params = {
        FailureReason.TOOLS_REJECTED: "tools",
        FailureReason.CONTEXT: fields.conversation,
        FailureReason.IMAGES_REJECTED: fields.conversation,
        FailureReason.NO_IMAGES: fields.image,
        FailureReason.MODEL_UNKNOWN: "model",
        FailureReason.SCHEMA_UNKNOWN: fields.schema,
        FailureReason.NOT_CALLED: "tool_choice",
        FailureReason.FUNCTION_NOT_CALLED: "function_call",
    }
    return ApiError(FAILURES[cause], failure_message(failed), params.get(cause))


def failure_message(failed: ChoiceFailed) -> str:
    """The message for a backend's failure, with the detail that is meant for the sender."""
    message = FAILURES[failed.cause].message
    return f"{message.removesuffix('.')}: {failed.detail}" if failed.detail else message
