"""The envelope around every message of the service, and how the service reports a failure. Pure.

An envelope is one byte of flags, four of length, the payload:

    flags   payload
    00      a message
    01      a compressed message; never sent, since none is asked for
    02      the end of a Connect stream, JSON: {} or {"error": {code, message, details}}
    80      the end of a gRPC-web stream, the trailers as text: grpc-status, grpc-message

Each stream ends in the form of its content type. The code of a failure is Connect's (`resource_exhausted`), gRPC's (8)
or an HTTP status (429); all become Connect's. Beside it the service names some errors itself: `ERROR_BAD_MODEL_NAME`.
Its messages are not forwarded: they name accounts and plans.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import unquote

from wireproof_proxy.backends.untrusted_json import as_mapping, as_text
from wireproof_surfaces.events import FailureReason

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


CONNECT = "application/connect+proto"
GRPC_WEB = "application/grpc-web+proto"

_HEAD = struct.Struct(">BI")
LIMIT = 64 * 2**20
"""Bytes; a length beyond it is not believed, since all of the payload is kept in memory."""


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


def cause_of(error: ServiceError) -> FailureReason:
    """Why a turn failed."""
    named = next((cause for part, cause in _REASONS if part in error.reason), None)
    return named or _CAUSES.get(error.code, FailureReason.FAILED)


class GarbledError(ValueError):
    """What came is no envelope, or its payload is not what its flags say."""


@dataclass(frozen=True, slots=True)
class EnvelopeEnd:
    """The end of a stream."""

    error: ServiceError | None
    """Why the service ended it; None: it was at its end."""


def envelope(payload: bytes) -> bytes:
    """A message in its envelope."""
    return _HEAD.pack(0x00, len(payload)) + payload


@dataclass(eq=False)
class EnvelopeReader:
    """Reads envelopes from bytes that come in any pieces."""

    _data: bytearray = field(default_factory=bytearray)

    def feed(self, data: bytes) -> Iterator[bytes | EnvelopeEnd]:
        """The payloads of the messages that are complete now, and the end of the stream.

        Raises:
            GarbledError: an envelope cannot be read.
        """
        self._data += data
        while len(self._data) >= _HEAD.size:
            flags, length = _HEAD.unpack_from(self._data)
            if length > LIMIT:
                raise GarbledError(f"an envelope of {length} bytes")
            if len(self._data) < _HEAD.size + length:
                return
            payload = bytes(self._data[_HEAD.size : _HEAD.size + length])
            del self._data[: _HEAD.size + length]
            yield _read(flags, payload)


def _read(flags: int, payload: bytes) -> bytes | EnvelopeEnd:
    match flags:
        case 0x00:
            return payload
        case 0x02:
            return EnvelopeEnd(_named(as_mapping(_json(payload)).get("error")))
        case 0x80:
            return EnvelopeEnd(_trailer_error(payload))
        case _:
            raise GarbledError(f"an envelope with the flags {flags:#04x}")


def refused(status: int, body: bytes) -> ServiceError:
    """The error of a refused request: by the JSON of its body, which is the error itself, else by its status."""
    try:
        named = _named(_json(body))
    except GarbledError:
        named = None
    return named or ServiceError(_HTTP_CODES.get(status, "unknown"))


def _json(payload: bytes) -> object:
    try:
        return json.loads(payload or b"{}")
    except (ValueError, RecursionError) as error:
        raise GarbledError("an end that is no JSON") from error


def _named(error: object) -> ServiceError | None:
    found = as_mapping(error)
    code = as_text(found.get("code"))
    return ServiceError(code or "unknown", _reason(found.get("details"))) if found else None


def _reason(details: object) -> str:
    """The service's own name for the error, `ERROR_…`; empty where it gives none."""
    for detail in details if isinstance(details, list) else []:
        if reason := as_text(as_mapping(as_mapping(detail).get("debug")).get("error")):
            return reason
    return ""


def _trailer_error(payload: bytes) -> ServiceError | None:
    lines = (line.partition(":") for line in payload.decode(errors="replace").splitlines())
    return status_error({name.strip().lower(): value.strip() for name, _, value in lines})


def status_error(trailers: dict[str, str]) -> ServiceError | None:
    """The error of gRPC trailers; None for the status 0, and where no status is given."""
    status = trailers.get("grpc-status", "0")
    if status == "0":
        return None
    # The message alone may hold the service's own name for the error.
    return ServiceError(GRPC_CODES.get(status, "unknown"), unquote(trailers.get("grpc-message", "")))
