"""Requests out of the bytes of one connection: llhttp parses them, limits bound them. No I/O.

A request that is sent ahead of the answers before it is read like any other: the parser cannot be paused. Whoever
receives the requests answers them in their order.

llhttp was chosen over h11 by measurement (docs/wsgi-server.md). It stops at an error, and at an exception of ours: one
that is raised in a callback comes out of `feed_data` as the context of an error of the parser's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import httptools

from wireproof_surfaces.errors import BAD_REQUEST
from wireproof_surfaces.http.connection_states import READ_TABLE
from wireproof_surfaces.http.edge_limits import FRAMED
from wireproof_surfaces.http.request_head import (
    TOO_LONG,
    TOO_MANY,
    VERSION,
    RejectedRequestError,
    RequestHead,
    check,
)

if TYPE_CHECKING:
    from wireproof_surfaces.http.connection_states import ReadEvent, ReadState
    from wireproof_surfaces.http.edge_limits import EdgeLimits
    from wireproof_surfaces.http.served_exchange import ServedExchange


_AROUND = len(": \r\n")
"""Bytes of a field beside its name and its value."""


class _StopParsingError(Exception):
    """Nothing more is read from this connection: the parser is to stop."""


class RequestReceiver(Protocol):
    """What is given the requests of a connection."""

    def opened(self, head: RequestHead) -> ServedExchange:
        """Take a request whose head is here."""

    def completed(self, exchange: ServedExchange) -> bool:
        """Have a request answered when it is its turn; whether more may follow it."""


class RequestReader:
    """Reads the requests of one connection, and gives them to `connection`."""

    def __init__(self, limits: EdgeLimits, connection: RequestReceiver) -> None:
        self._limits = limits
        self._connection = connection
        self._parser = httptools.HttpRequestParser(self)
        self.state: ReadState = "idle"
        self.moved = False
        """Whether the state was set again since somebody has looked, to whichever: the client has its time for it."""
        self.receiving: ServedExchange | None = None
        """The request whose body comes."""
        self._head = RequestHead()
        """The head that comes."""
        self._head_bytes = 0
        """Read of it so far, as long as it is not complete."""
        self._field_bytes = 0
        """Of the fields that are complete, or of the trailers."""
        self._framing_bytes = 0
        """Read of a body beside its data."""
        self._replaying = False
        """Whether a parser is being given a head that another one has read: see `_stay`."""

    def feed(self, data: bytes) -> None:
        """Read on.

        Raises:
            RejectedRequestError: this is no request that the application is to see. The caller stops the reader.
        """
        receiving, head = self.receiving, self._head
        body, fields = len(receiving.body) if receiving else 0, self._field_bytes
        self._parse(data)
        # The parser keeps a field, or an extension of a chunk, until its end: what has none is counted here.
        # So are empty lines before a request, which it passes over.
        if self.state in {"head", "idle"} and receiving is None and head is self._head:
            self._head_bytes += len(data)
            if self._head_bytes > self._limits.head + self._limits.target:
                raise RejectedRequestError(TOO_MANY)
        elif receiving is not None and receiving is self.receiving:
            # Trailers have a limit of their own: which of the two is broken must not depend on the pieces that come.
            self._framing_bytes += len(data) - (len(receiving.body) - body) - (self._field_bytes - fields)
            if self._framing_bytes > self._limits.framing + FRAMED * len(receiving.body):
                raise RejectedRequestError(BAD_REQUEST, "The request's body has more framing than data.")

    def stop(self) -> None:
        """Read nothing more; a request of which a part is here is none."""
        self._move("stopped")

    def end(self) -> None:
        """Nothing comes any more; a request of which a part is here is none."""
        self._move("ended")

    def close(self) -> None:
        """End, and let go what holds this reader, which would stay until a search for garbage, and that is rare."""
        self.end()
        del self._parser, self._connection

    def _move(self, event: ReadEvent) -> None:
        self.state = READ_TABLE[self.state][event]
        self.moved = True
        if self.state != "body":
            self.receiving = None

    def _parse(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self._stay(data[upgrade.args[0] :])
        except httptools.HttpParserError as error:
            # Looked at where it is, and not kept: it would hold this frame, which would hold it, and all that was read.
            if isinstance(error.__context__, _StopParsingError):
                return
            if isinstance(error.__context__, RejectedRequestError):
                raise error.__context__ from None
            if "PRI" in str(error):  # with which a client of HTTP/2 begins that asks for nothing before
                raise RejectedRequestError(VERSION) from None
            problem = VERSION if "HTTP version" in str(error) else BAD_REQUEST
            raise RejectedRequestError(problem, f"The request is no HTTP: {error}.") from None

    def _stay(self, rest: bytes) -> None:
        """Go on in HTTP/1.1 though the client offers another protocol, as Java's does; the parser ends there."""
        self._parser = httptools.HttpRequestParser(self)
        if self.receiving is not None:
            # A parser knows of a body by a head alone.
            head = self.receiving.head
            framing = b"Transfer-Encoding: chunked" if head.chunked else b"Content-Length: %d" % head.length
            self._replaying = True
            self._parser.feed_data(b"POST / HTTP/1.1\r\nHost: x\r\n" + framing + b"\r\n\r\n")
            self._replaying = False
        if rest:
            self._parse(rest)

    # What the parser has read

    def on_message_begin(self) -> None:
        """A request begins."""
        if not self._replaying:
            self._head, self._head_bytes, self._field_bytes, self._framing_bytes = RequestHead(), 0, 0, 0
            self._move("begun")

    def on_url(self, url: bytes) -> None:
        """A piece of its target."""
        if self._replaying:
            return
        self._head.target += url
        if len(self._head.target) > self._limits.target:
            raise RejectedRequestError(TOO_LONG)

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header field, or a trailer."""
        if self._replaying:
            return
        size = self._field_bytes = self._field_bytes + len(name) + len(value) + _AROUND
        if size > self._limits.head:
            raise RejectedRequestError(TOO_MANY)
        if self.state != "head":  # a trailer: nothing reads those
            return
        fields = self._head.fields
        # The parser leaves the blanks behind a value.
        fields.append((name.lower(), value.rstrip(b" \t")))
        if len(fields) > self._limits.fields:
            raise RejectedRequestError(TOO_MANY, "The request has too many header fields.")

    def on_headers_complete(self) -> None:
        """The head is complete."""
        if self._replaying:
            return
        head, self._field_bytes = self._head, 0
        head.method, head.version = self._parser.get_method().decode(), self._parser.get_http_version()
        check(head)
        head.path, head.query = _path_and_query(head.target)
        exchange = self._connection.opened(head)
        if not head.has_body:
            self._complete(exchange)
            return
        self._move("body follows")
        self.receiving = exchange
        if not exchange.wanted:
            self._cut_short(exchange)

    def on_body(self, data: bytes) -> None:
        """A piece of its body."""
        exchange = self.receiving
        if exchange is None:
            return
        exchange.body += data
        # One byte more than is wanted says that it is too large.
        if len(exchange.body) > exchange.wanted:
            self._cut_short(exchange)

    def on_message_complete(self) -> None:
        """The request is complete."""
        # With an offer to upgrade the parser ends here, whatever body follows: see `_stay`.
        if not self._replaying and self.receiving is not None and not self._parser.should_upgrade():
            self._complete(self.receiving)

    def _complete(self, exchange: ServedExchange) -> None:
        more = self._connection.completed(exchange)
        self._move("complete")
        if not more:
            self.stop()
            raise _StopParsingError

    def _cut_short(self, exchange: ServedExchange) -> None:
        """Have a request answered without the rest of its body, behind which no next one can be found."""
        exchange.closes = True
        self._connection.completed(exchange)
        self.stop()
        raise _StopParsingError


def _path_and_query(target: bytes) -> tuple[bytes, bytes]:
    """Those of a target: of a path, as nearly all send it, of a URL, as to a forward proxy, or of what is neither."""
    if b"://" in target and not target.startswith(b"/"):
        url = httptools.parse_url(target)
        return url.path or b"/", url.query or b""
    path, _, query = target.partition(b"?")
    return path, query
