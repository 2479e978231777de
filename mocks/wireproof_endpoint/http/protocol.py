"""HTTP on a connection: uvicorn's, and a short way for what can be answered at once.

Most requests come with all their body, and their answer, or its beginning, waits for nothing. Such a request has no
task: it is answered where its last byte is read, by one write. What needs more goes on as an ASGI application: a
stream behind its first piece, an answer that waits, one whose script reaches the wire, a request that is refused by its
head, and whatever is less usual than a POST by HTTP/1.1.
"""

from __future__ import annotations

import json
import re
from time import monotonic
from typing import TYPE_CHECKING

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from wireproof_endpoint.endpoint import ID
from wireproof_endpoint.http.asgi import Application
from wireproof_endpoint.http.exchange import BEGUN, Begun, begin, received
from wireproof_endpoint.http.sending import STREAM
from wireproof_endpoint.journal.entry import Ended
from wireproof_endpoint.play import Head, Reply
from wireproof_endpoint.wire.connection import EXTENSION, head
from wireproof_surfaces.errors import BAD_REQUEST, envelope

if TYPE_CHECKING:
    import asyncio

    from wireproof_endpoint.endpoint import Endpoint, Request

_PATH = re.compile(rb"/v1/[\w/.-]*")
"""A path as it is written nearly always."""
_SMALL = 65_536
"""Bytes of a body that may be read without an application: more of them would have to be held up."""


class Protocol(HttpToolsProtocol):
    """A connection."""

    _served: Application | None
    """What has the answers; None: it is another application, which does it all by itself."""
    _request: Request | None = None
    """The request that is read, if it is to be answered at once."""
    _body = b""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin."""
        super().connection_made(transport)
        self._served = self.app if isinstance(self.app, Application) else None
        # Of a crowd that asks together, the first would wait for the last: uvloop writes what it may hold back at the
        # end of its round.
        transport.set_write_buffer_limits(high=0)

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        if self._request is not None and self._served is not None:
            self._served.endpoint.journal.end(self._request.entry, monotonic(), Ended.GONE)
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        """Begin a request."""
        super().on_message_begin()
        # The one before it may have come in the same bytes, and be answered.
        self._unset_keepalive_if_required()
        self.scope["extensions"] = {EXTENSION: self.transport}  # type: ignore[dict-item]

    def on_headers_complete(self) -> None:
        """Take a request whose head is here."""
        if self._served is None or not self._is_usual():
            super().on_headers_complete()
            return
        self._served.rounds.come()
        endpoint = self._served.endpoint
        request = received(endpoint, "POST", self.url.decode(), "", self.headers)
        length = request.headers.get("content-length", "")
        if not length.isdigit() or int(length) > _SMALL or endpoint.admit(request, int(length)) is not None:
            self._hand_over(request)
            return
        self._request, self._body = request, b""

    def on_body(self, body: bytes) -> None:
        """Take some of its body."""
        if self._request is None:
            super().on_body(body)
        else:
            self._body += body

    def on_message_complete(self) -> None:
        """Answer a request, or let an application."""
        served, request = self._served, self._request
        if served is None or request is None:
            super().on_message_complete()
            return
        endpoint, self._request = served.endpoint, None
        begun = self._begun(endpoint, request)
        if begun.plain and isinstance(begun.first, Reply):
            self._reply(endpoint, begun, begun.first)
            return
        if begun.plain and begun.head is not None:
            self._hand_over(self._started(endpoint, begun, begun.head))
            # It need not know how: this much is written.
            self.cycle.response_started = self.cycle.chunked_encoding = True
        else:
            self._hand_over(begun)
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP with the error object that the endpoint uses, and close the connection."""
        body = json.dumps(envelope(BAD_REQUEST, message=msg)).encode()
        headers = {"Content-Type": "application/json", "Connection": "close", "Content-Length": str(len(body))}
        self.transport.write(head(400, headers) + body)
        self.transport.close()

    def _is_usual(self) -> bool:
        """Whether the request, of which the head is here, is one that may be answered at once."""
        parser = self.parser
        return (
            parser.get_method() == b"POST"
            and parser.get_http_version() == "1.1"
            and parser.should_keep_alive()
            and not (parser.should_upgrade() or self.expect_100_continue or self.flow.write_paused)
            # Its types leave out that there is none at first.
            and (self.cycle is None or self.cycle.response_complete)  # type: ignore[redundant-expr]
            and _PATH.fullmatch(self.url) is not None
        )

    def _hand_over(self, taken: Request | Begun) -> None:
        """Let an application go on with what was taken here."""
        self.scope["extensions"][BEGUN] = taken  # type: ignore[assignment]
        super().on_headers_complete()

    def _begun(self, endpoint: Endpoint, request: Request) -> Begun:
        try:
            return begin(endpoint, request, self._body, self.loop.time())
        # Whatever it is: the application raises it, where the server notes it and answers.
        except Exception as error:  # noqa: BLE001
            return Begun(request=request, first=error)

    def _reply(self, endpoint: Endpoint, begun: Begun, answer: Reply) -> None:
        if begun.play is not None:
            begun.play.close()
        own = f"{ID}: {endpoint.request_id()}\r\ncontent-length: {len(answer.body)}\r\n"
        headers = endpoint.common(answer.headers, begun.request)
        self.transport.write(head(answer.status, headers, own, self.server_state.default_headers) + answer.body)
        endpoint.journal.whole(begun.request.entry, monotonic(), answer.status, answer.body)
        self.on_response_complete()

    def _started(self, endpoint: Endpoint, begun: Begun, first: Head) -> Begun:
        """What is left of a stream when its head is written, with the first piece if that is there."""
        headers = {**endpoint.common(first.headers, begun.request), **STREAM, "Transfer-Encoding": "chunked"}
        own = f"{ID}: {endpoint.request_id()}\r\n"
        written, piece = head(200, headers, own, self.server_state.default_headers), begun.first
        entry = begun.request.entry
        entry.open(200)
        if isinstance(piece, bytes) and piece:
            written += b"%x\r\n%b\r\n" % (len(piece), piece)
            entry.send(monotonic(), piece)
            piece = None
        self.transport.write(written)
        return Begun(request=begun.request, first=piece, play=begun.play, outputs=begun.outputs)
