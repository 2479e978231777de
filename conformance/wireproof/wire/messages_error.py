"""The bodies of errors of Messages: `{"type": "error", "error": {"type", "message"}}`, with the type of their status.

https://platform.claude.com/docs/en/api/errors
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from wireproof.wire.fields import JsonObject, failure_of, object_of, text_of
from wireproof.wire.message import media_type_faults
from wireproof.wire.messages_events import ERROR_TYPES
from wireproof.wire.quoting import quoted
from wireproof.wire.reading import parse_body
from wireproof.wire.violation import Place, Violation

if TYPE_CHECKING:
    from wireproof.wire.events import Failed

ENVELOPE = "messages.error.envelope"
SHOWN = 60
"""Characters of a value that a violation shows."""
_PATH = re.compile(r"([A-Za-z_][\w.-]*): ")
"""What a message begins with that names a member of the request: `messages.2.content: Field required`."""
_OTHER_REFUSAL, _OTHER_FAILURE = "invalid_request_error", "api_error"
_ALSO = {413: "invalid_request_error", 500: "overloaded_error", 503: "overloaded_error"}
"""Status → a type that it has as well: some gateways keep the status of what they stand before."""
_SERVERS = 500


def read_message_error(
    body: bytes, content_type: str | None, status: int
) -> tuple[Failed | None, tuple[Violation, ...]]:
    """Read the body of a response whose status is an error.

    Args:
        body: All of it.
        content_type: The value of its Content-Type header, None if it has none.
        status: Its status.

    Returns:
        The error, None if the body has none at all, its `param` the path that its message begins with; and at most one
        violation, which lists all that is wrong.
    """
    faults = media_type_faults(content_type)
    failed = None
    try:
        _, payload = parse_body(body)
    except ValueError as error:
        faults.append(f"the body is {error}")
    else:
        faults += _faults(payload, status)
        failed = _failed(payload)
    if not faults:
        return failed, ()
    # Clients show the message, whatever is missing around it.
    shown = failed is not None and failed.message != ""
    place = Place(offset=0, length=len(body))
    return failed, (Violation(requirement=ENVELOPE, seen="; ".join(faults), place=place, strict_only=shown),)


def _failed(payload: JsonObject) -> Failed | None:
    if not payload.get("error"):
        return None
    failed = failure_of(payload["error"], 0)
    named = _PATH.match(failed.message)
    return replace(failed, param=named[1] if named else None)


def types_of(status: int) -> frozenset[str]:
    """The types of error that a status may have."""
    other = _OTHER_FAILURE if status >= _SERVERS else _OTHER_REFUSAL
    return frozenset({ERROR_TYPES.get(status, other), _ALSO.get(status, ERROR_TYPES.get(status, other))})


def _faults(payload: JsonObject, status: int) -> list[str]:
    error = payload.get("error")
    if not isinstance(error, dict):
        return ["the body has no error object"]
    faults = [] if payload.get("type") == "error" else [f"type is {quoted(payload.get('type'), SHOWN)}, not error"]
    type_, message = object_of(error).get("type"), object_of(error).get("message")
    if not isinstance(message, str) or not message:
        faults.append(f"error.message is {quoted(message, SHOWN)}, not a non-empty string")
    if text_of(type_) not in types_of(status):
        due = " or ".join(sorted(types_of(status)))
        faults.append(f"error.type is {quoted(type_, SHOWN)}, not {due}, as HTTP {status} has it")
    return faults
