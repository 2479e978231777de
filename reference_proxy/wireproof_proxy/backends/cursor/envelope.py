"""The envelope around every message of the service: one byte of flags, four of length, the payload. Pure.

    flags   payload
    00      a message
    01      a compressed message; never sent, since none is asked for
    02      the end of a Connect stream, JSON: {} or {"error": {code, message, details}}
    80      the end of a gRPC-web stream, the trailers as text: grpc-status, grpc-message

Each stream ends in the form of its content type.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import unquote

from wireproof_proxy.backends.cursor.failures import GRPC_CODES, ServiceError, http_error
from wireproof_proxy.backends.untrusted_json import as_mapping, as_text

if TYPE_CHECKING:
    from collections.abc import Iterator

CONNECT = "application/connect+proto"
GRPC_WEB = "application/grpc-web+proto"

_HEAD = struct.Struct(">BI")
LIMIT = 64 * 2**20
"""Bytes; a length beyond it is not believed, since all of the payload is kept in memory."""


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
            return EnvelopeEnd(_connect_error(payload))
        case 0x80:
            return EnvelopeEnd(_trailer_error(payload))
        case _:
            raise GarbledError(f"an envelope with the flags {flags:#04x}")


def _connect_error(payload: bytes) -> ServiceError | None:
    """The error of a Connect stream's end."""
    return _named(as_mapping(_json(payload)).get("error"))


def refused(status: int, body: bytes) -> ServiceError:
    """The error of a refused request: by the JSON of its body, which is the error itself, else by its status."""
    try:
        return _named(_json(body)) or http_error(status)
    except GarbledError:
        return http_error(status)


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
