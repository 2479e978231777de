"""One answer as bytes: its head, and its body so that the client knows where that ends (RFC 9112, 6.3). No I/O."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wireproof_surfaces.http.request_head import RequestHead


BodyEnd = Literal[
    "none",  # there is no body
    "length",  # its length is announced
    "chunks",  # the last of its chunks is empty
    "close",  # the connection ends
]
"""What says where a body ends."""


class ResponseFraming:
    """Frames the answer to the request of this head.

    `closes`: whether the connection ends with it. `framed`: whether it may come in chunks; without, it ends with the
    connection if its length is not announced.
    """

    __slots__ = ("_end", "closes", "head", "left")

    def __init__(
        self,
        request: RequestHead,
        status: str,
        headers: Sequence[tuple[str, str]],
        *,
        date: bytes,
        closes: bool,
        framed: bool = True,
    ) -> None:
        length, options = None, ""
        for name, value in headers:
            match name.lower():
                case "content-length":
                    length = value
                case "connection":
                    options = value.lower()
                case _:
                    pass
        self._end = _body_end(request, status, measured=length is not None, framed=framed)
        self.left = int(length) if length is not None and self._end == "length" else 0
        """Bytes of the body that were announced and not sent; fewer than none: too many were sent."""
        self.closes = closes or self._end == "close" or "close" in options
        """Whether the connection ends with the answer."""
        if self.closes and options:
            headers = [(name, value) for name, value in headers if name.lower() != "connection"]
        lines = [f"HTTP/1.1 {status}", *map(": ".join, headers)]
        if self._end == "chunks":
            lines.append("Transfer-Encoding: chunked")
        if self.closes:
            lines.append("Connection: close")
        elif request.version == "1.0":
            lines.append("Connection: keep-alive")  # it ends a connection unless both say otherwise
        self.head = "\r\n".join(lines).encode("latin-1", "replace") + b"\r\nDate: " + date + b"\r\n\r\n"

    def data(self, data: bytes) -> bytes:
        """A piece of the body as it is sent."""
        if not data or self._end == "none":
            return b""
        if self._end == "length":
            self.left -= len(data)
        return b"%x\r\n%b\r\n" % (len(data), data) if self._end == "chunks" else data

    def end(self) -> bytes:
        """What is sent behind the last piece."""
        return b"0\r\n\r\n" if self._end == "chunks" else b""


def _body_end(request: RequestHead, status: str, *, measured: bool, framed: bool) -> BodyEnd:
    if request.method == "HEAD" or status.startswith(("1", "204", "304")):
        return "none"
    if measured:
        return "length"
    # HTTP/1.0 has no chunks.
    return "chunks" if framed and request.version == "1.1" else "close"
