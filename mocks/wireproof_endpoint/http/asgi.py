"""An endpoint as an ASGI application: reads requests, and sends their answers, on one event loop."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import TYPE_CHECKING, Any

from wireproof_endpoint.endpoint import Request
from wireproof_endpoint.http.exchange import BEGUN, Begun, begin, received
from wireproof_endpoint.http.sending import Gone, Rounds, Sending, reply, reply_headers
from wireproof_endpoint.journal import pages
from wireproof_endpoint.journal.entry import Ended
from wireproof_endpoint.journal.watching import noted
from wireproof_endpoint.play import Reply, refused

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from wireproof_endpoint.endpoint import Endpoint

    Receive = Callable[[], Awaitable[dict[str, Any]]]
    Send = Callable[[dict[str, Any]], Awaitable[None]]

DRAINED = 64 * 2**20
"""Bytes of a refused body that are still read: a client that is still sending would lose the answer."""


class Application:
    """Serves `endpoint`."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.rounds = Rounds()

    async def __call__(self, scope: Mapping[str, Any], receive: Receive, send: Send) -> None:
        """One request, or the life of the server."""
        if scope["type"] == "lifespan":
            await _live(receive, send)
        elif scope["type"] == "http":
            if scope["path"].startswith(pages.PATH):
                await pages.answer(self.endpoint.journal, scope, send)
            else:
                await self._http(scope, receive, send)

    async def _http(self, scope: Mapping[str, Any], receive: Receive, send: Send) -> None:
        taken: Request | Begun | None = scope.get("extensions", {}).get(BEGUN)
        request = self._received(scope) if taken is None else taken if isinstance(taken, Request) else taken.request
        journal, entry = self.endpoint.journal, request.entry
        self.rounds.come()
        try:
            begun = taken if isinstance(taken, Begun) else await self._begin(request, receive)
            await self._send(begun, scope, receive, noted(journal, entry, send))
        except Gone:
            journal.end(entry, monotonic(), Ended.GONE)
        except asyncio.CancelledError:
            journal.end(entry, monotonic(), Ended.STOPPED)
            raise
        except Exception:
            journal.end(entry, monotonic(), Ended.FAILED)
            raise

    def _received(self, scope: Mapping[str, Any]) -> Request:
        query = scope["query_string"].decode("latin-1")
        return received(self.endpoint, scope["method"], scope["path"], query, scope["headers"])

    async def _begin(self, request: Request, receive: Receive) -> Begun:
        length = request.headers.get("content-length")
        refusal = self.endpoint.admit(request, int(length) if length and length.isdigit() else None)
        if refusal is not None:
            await _drain(receive) if length or "transfer-encoding" in request.headers else None
            return Begun(request=request, first=refusal)
        body = await _body(receive, self.endpoint.settings.max_body)
        if body is None:
            return Begun(request=request, first=refused(self.endpoint.too_large()))
        return begin(self.endpoint, request, body, asyncio.get_running_loop().time())

    async def _send(self, begun: Begun, scope: Mapping[str, Any], receive: Receive, send: Send) -> None:
        """Send an answer to its end, or until its client leaves."""
        try:
            if isinstance(begun.first, Reply):
                await reply(begun.first, reply_headers(self.endpoint, begun.first, begun.request), send)
            else:
                sending = _buffered(send) if scope["http_version"] == "1.0" else send
                await Sending(self.endpoint, begun, receive, sending, scope, self.rounds).run()
        finally:
            if begun.play is not None:
                begun.play.close()


def _buffered(send: Send) -> Send:
    """Sends a stream all at once, with its length: HTTP/1.0 has no chunks."""
    begun: list[dict[str, Any]] = []
    pieces: list[bytes] = []

    async def keep(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            headers = [(name, value) for name, value in message["headers"] if name != b"connection"]
            begun.append({**message, "headers": headers})
            return
        pieces.append(message["body"])
        if not message.get("more_body"):
            [start], body = begun, b"".join(pieces)
            headers = [*start["headers"], (b"content-length", b"%d" % len(body))]
            # A whole answer names its length itself.
            unique = {name: (name, value) for name, value in headers}
            await send({**start, "headers": list(unique.values())})
            await send({"type": "http.response.body", "body": body})

    return keep


async def _body(receive: Receive, limit: int) -> bytes | None:
    """The body; None when it is larger than the limit, and read to its end all the same.

    Raises:
        Gone: the client has left before its end.
    """
    pieces, size, more = [], 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Gone
        more = message.get("more_body", False)
        pieces.append(message.get("body", b""))
        size += len(pieces[-1])
        if size > limit:
            await _drain(receive) if more else None
            return None
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


async def _drain(receive: Receive) -> None:
    left = DRAINED
    while left > 0:
        message = await receive()
        if message["type"] == "http.disconnect" or not message.get("more_body"):
            return
        left -= len(message.get("body", b""))


async def _live(receive: Receive, send: Send) -> None:
    """Answer the server's beginning and end: there is nothing to prepare, and nothing to put away."""
    while True:
        kind = (await receive())["type"]
        await send({"type": f"{kind}.complete"})
        if kind == "lifespan.shutdown":
            return
