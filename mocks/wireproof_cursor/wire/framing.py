"""How messages stand in the bodies of requests and responses: envelopes, and the families that end them in their way.

An envelope is a byte of flags, the length of the payload in four bytes, and the payload. A stream of gRPC-Web ends with
an envelope whose payload is its trailer as text, a stream of Connect with one whose payload is JSON. The bodies of
unary calls of Connect have no envelope.
"""

from __future__ import annotations

import base64
import json
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from wireproof_cursor.wire.errors import ServiceProblem

_HEAD = struct.Struct(">BI")

MESSAGE = 0x00
"""The flags of an envelope with a message."""
COMPRESSED = 0x01
"""The bit of an envelope whose payload is compressed; the mock offers no compression."""
END_STREAM = 0x02
"""The flags of the envelope that ends a stream of Connect."""
TRAILER = 0x80
"""The flags of the envelope that ends a stream of gRPC-Web."""


class FramingError(ValueError):
    """A body is not what its content type says; the text says why."""


def envelope(payload: bytes, flags: int = MESSAGE) -> bytes:
    """One envelope."""
    return _HEAD.pack(flags, len(payload)) + payload


class Envelopes:
    """Takes a body as it comes and gives the payloads of its messages."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    @property
    def incomplete(self) -> bool:
        """Whether the body so far ends within an envelope."""
        return bool(self._buffer)

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The payloads that are complete with these bytes.

        Raises:
            FramingError: the flags are not those of a message.
        """
        self._buffer += data
        while len(self._buffer) >= _HEAD.size:
            flags, length = _HEAD.unpack_from(self._buffer)
            end = _HEAD.size + length
            if flags != MESSAGE:
                what = "a compressed message, which was not offered" if flags == COMPRESSED else "no message"
                raise FramingError(f"an envelope has the flags 0x{flags:02x}: {what}; a client sends messages (0x00)")
            if len(self._buffer) < end:
                return
            payload = bytes(self._buffer[_HEAD.size : end])
            del self._buffer[:end]
            yield payload


def one_message(body: bytes) -> bytes:
    """The payload of a body that is one envelope.

    Raises:
        FramingError: it holds no message, or more than one.
    """
    envelopes = Envelopes()
    payloads = list(envelopes.feed(body))
    if len(payloads) != 1 or envelopes.incomplete:
        raise FramingError(f"expected one envelope in a body of {len(body)} bytes, found {len(payloads)} complete ones")
    return payloads[0]


def _grpc_web_end(problem: ServiceProblem | None) -> bytes:
    if problem is None:
        return envelope(b"grpc-status: 0\r\n", TRAILER)
    lines = [f"grpc-status: {problem.status}", f"grpc-message: {quote(problem.message, safe='')}"]
    if problem.debug:
        lines.append(f"grpc-status-details-bin: {base64.b64encode(problem.as_status()).decode()}")
    return envelope("".join(f"{line}\r\n" for line in lines).encode(), TRAILER)


def _connect_end(problem: ServiceProblem | None) -> bytes:
    end = {} if problem is None else {"error": problem.as_json()}
    return envelope(json.dumps(end, ensure_ascii=False).encode(), END_STREAM)


@dataclass(frozen=True, kw_only=True, slots=True)
class Family:
    """How a stream of one content type ends."""

    content_type: str
    end: Callable[[ServiceProblem | None], bytes]
    """The envelope that ends a stream: well if there is no problem."""


GRPC_WEB = Family(content_type="application/grpc-web+proto", end=_grpc_web_end)
CONNECT = Family(content_type="application/connect+proto", end=_connect_end)

FAMILIES: Mapping[str, Family] = {family.content_type: family for family in (GRPC_WEB, CONNECT)}
"""The families of streams by content type."""
