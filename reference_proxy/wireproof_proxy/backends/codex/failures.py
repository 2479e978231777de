"""How `codex app-server` reports a failure, and what each of its codes means. Pure.

Both families of notifications have the same codes, in camel case or in snake case. Old versions have few of them, and
put the HTTP status or the error object of the model's service into the message. A failed turn whose message says that
the model stopped early is an answer cut short, not a failure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from wireproof_proxy.backends.untrusted_json import as_count, as_mapping, as_text
from wireproof_surfaces.events import FailureReason

if TYPE_CHECKING:
    from wireproof_proxy.backends.codex.rpc import ErrorReply
    from wireproof_surfaces.events import FinishReason

Params = Mapping[str, Any]

# Codex calls such a turn failed, and only this text says more (0.169.0). 0.89.0 does not say it.
CUT_SHORT: tuple[tuple[str, FinishReason], ...] = (
    ("Incomplete response returned, reason: max_output_tokens", "length"),
    ("Incomplete response returned, reason: content_filter", "content_filter"),
)

CAUSES: dict[str, FailureReason] = {
    "contextWindowExceeded": FailureReason.CONTEXT,
    "usageLimitExceeded": FailureReason.QUOTA,
    "rateLimitExceeded": FailureReason.RATE_LIMITED,
    "serverOverloaded": FailureReason.OVERLOADED,
    "unauthorized": FailureReason.CREDENTIALS,
    "badRequest": FailureReason.REJECTED,
}

HTTP_CAUSES: dict[int | None, FailureReason] = {
    None: FailureReason.UNREACHABLE,  # a refused connection has no status
    400: FailureReason.REJECTED,
    401: FailureReason.CREDENTIALS,
    403: FailureReason.CREDENTIALS,
    429: FailureReason.RATE_LIMITED,
    503: FailureReason.OVERLOADED,
    504: FailureReason.TIMEOUT,
}

# 0.89.0 says the status in the message alone.
_STATUS = re.compile(r"unexpected status (\d{3}) ")
_CONTEXT = "context_length_exceeded"

MESSAGE_CAUSES: tuple[tuple[str, FailureReason], ...] = (
    ("idle timeout waiting for", FailureReason.TIMEOUT),
    ("stream disconnected before completion: error sending request", FailureReason.UNREACHABLE),
    ("Missing environment variable", FailureReason.CREDENTIALS),  # the provider's `env_key` is not set
)

_WRONG = ("badRequest", "bad_request")
# Characters; the whole body of an answer of the model's service may stand there.
_LONGEST_DETAIL = 1000

REFUSALS: tuple[tuple[str, FailureReason], ...] = (
    ("dynamic tool", FailureReason.TOOLS_REJECTED),
    ("image URL", FailureReason.IMAGES_REJECTED),  # 0.169.0 takes no addresses; 0.89.0 forwards them
    ("maximum length", FailureReason.CONTEXT),  # 0.169.0: 1048576 characters of input
    ("overloaded", FailureReason.OVERLOADED),
)
TOO_MANY = -32001
"""The code of a refusal when too many requests wait in the app-server's own queues."""


def cause_of(error: Params) -> FailureReason:
    """Why a turn failed, from its TurnError: codexErrorInfo, else the message."""
    info = _info(error)
    if isinstance(info, str) and _camel(info) in CAUSES:
        return CAUSES[_camel(info)]
    if isinstance(info, dict) and info:
        # One member, as in {"httpConnectionFailed": {"httpStatusCode": 401}}.
        detail = as_mapping(next(iter(info.values())))
        status = as_count(detail.get("httpStatusCode", detail.get("http_status_code")))
        return HTTP_CAUSES.get(status, FailureReason.FAILED)
    return _message_cause(as_text(error.get("message")))


def detail_of(error: Params) -> str:
    """The message about a request that is wrong in itself; empty for every other failure, whose texts name machines."""
    wrong = _info(error) in _WRONG
    return as_text(error.get("message"))[:_LONGEST_DETAIL] if wrong else ""


def cut_short(error: Params) -> FinishReason | None:
    """The finish reason, if the failure is an answer that was cut short."""
    message = as_text(error.get("message"))
    return next((reason for text, reason in CUT_SHORT if text in message), None)


def refusal_cause(refusal: ErrorReply) -> FailureReason:
    """Why a request of ours was refused, from the error's code and message."""
    return FailureReason.BUSY if refusal.code == TOO_MANY else _by_text(REFUSALS, refusal.message)


def _info(error: Params) -> object:
    return error.get("codexErrorInfo", error.get("codex_error_info"))


def _message_cause(message: str) -> FailureReason:
    if found := _STATUS.match(message):
        return HTTP_CAUSES.get(int(found[1]), FailureReason.FAILED)
    if error := _error_object(message):  # of a 400, whose body is all of the message
        return FailureReason.CONTEXT if _CONTEXT in {error.get("code"), error.get("type")} else FailureReason.REJECTED
    return _by_text(MESSAGE_CAUSES, message)


def _error_object(message: str) -> Params:
    try:
        return as_mapping(as_mapping(json.loads(message)).get("error"))
    except (ValueError, RecursionError):
        return {}


def _camel(name: str) -> str:
    return re.sub(r"_([a-z])", lambda found: found[1].upper(), name)


def _by_text(table: tuple[tuple[str, FailureReason], ...], message: str) -> FailureReason:
    return next((cause for text, cause in table if text in message), FailureReason.FAILED)
