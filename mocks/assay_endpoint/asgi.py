"""An endpoint as an ASGI application: reads requests, waits, and sends, on one event loop."""

from __future__ import annotations

import asyncio
from collections import deque
from functools import lru_cache
from time import monotonic, time
from typing import TYPE_CHECKING, Any

from assay_endpoint.endpoint import Request
from assay_endpoint.journal import pages
from assay_endpoint.journal.entry import Ended
from assay_endpoint.journal.watching import noted
from assay_endpoint.play import Drop, Head, Noise, Play, Reply, refused
from assay_endpoint.wire.connection import EXTENSION, end, slowly, transport_in
from assay_scripts.player import Until

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator, Mapping

    from assay_endpoint.endpoint import Endpoint
    from assay_endpoint.play import Output

    Receive = Callable[[], Awaitable[dict[str, Any]]]
    Send = Callable[[dict[str, Any]], Awaitable[None]]

DRAINED = 64 * 2**20
"""Bytes of a refused body that are still read: a client that is still sending would lose the answer."""
PATIENCE = 8
"""Pieces that a stream sends without a wait before it looks whether its client is still there."""


class _Gone(Exception):  # noqa: N818 - no error: the client has left
    """The client has left."""


class Application:
    """Serves `endpoint`."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._rounds = _Rounds()

    async def __call__(self, scope: Mapping[str, Any], receive: Receive, send: Send) -> None:
        """One request, or the life of the server."""
        if scope["type"] == "lifespan":
            await _live(receive, send)
        elif scope["type"] == "http":
            if scope["path"].startswith(pages.PATH):
                await pages.answer(self._endpoint.journal, scope, send)
            else:
                await self._http(scope, receive, send)

    async def _http(self, scope: Mapping[str, Any], receive: Receive, send: Send) -> None:
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        journal, method, path = self._endpoint.journal, scope["method"], scope["path"]
        query = scope["query_string"].decode("latin-1")
        entry = journal.begin(method=method, path=path, query=query, headers=headers, now=monotonic(), when=time())
        head = Request(method=method, path=path, query=query, headers=headers, entry=entry)
        try:
            await self._serve(head, scope, receive, noted(journal, entry, send))
        except _Gone:
            journal.end(entry, monotonic(), Ended.GONE)
        except asyncio.CancelledError:
            journal.end(entry, monotonic(), Ended.STOPPED)
            raise
        except Exception:
            journal.end(entry, monotonic(), Ended.FAILED)
            raise

    async def _serve(self, head: Request, scope: Mapping[str, Any], receive: Receive, send: Send) -> None:
        answer = await self._answer(head, receive)
        if isinstance(answer, Play):
            await self._play(answer, head, scope, receive, send)
        else:
            await reply(answer, self._endpoint.dressed(answer.headers, head), send)

    async def _play(self, play: Play, head: Request, scope: Mapping[str, Any], receive: Receive, send: Send) -> None:
        """Play an answer to its end, or until its client leaves."""
        outputs = play.outputs(asyncio.get_running_loop().time())
        try:
            first = next(outputs)
            if isinstance(first, Reply):
                await reply(first, self._endpoint.dressed(first.headers, head), send)
                return
            sending = _buffered(send) if scope["http_version"] == "1.0" else send
            streaming = _Streaming(self._endpoint, play, head, receive, sending, scope, self._rounds)
            await streaming.run(outputs, first)
        finally:
            play.close()

    async def _answer(self, head: Request, receive: Receive) -> Reply | Play:
        length = head.headers.get("content-length")
        refusal = self._endpoint.admit(head, int(length) if length and length.isdigit() else None)
        if refusal is not None:
            await _drain(receive) if length or "transfer-encoding" in head.headers else None
            return refusal
        body = await _body(receive, self._endpoint.settings.max_body)
        if body is None:
            return refused(self._endpoint.too_large())
        request = Request(
            method=head.method, path=head.path, query=head.query, headers=head.headers, body=body, entry=head.entry
        )
        return self._endpoint.answer(request)


TOGETHER = 8
"""Streams that go on in one round of the loop: a request that comes meanwhile waits for no more than their pieces."""


class _Rounds:
    """Streams that have more to send, and take turns."""

    def __init__(self) -> None:
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._goes_on = False

    async def turn(self) -> None:
        """Wait for one's turn."""
        loop = asyncio.get_running_loop()
        mine = loop.create_future()
        self._waiting.append(mine)
        if not self._goes_on:
            self._goes_on = True
            loop.call_soon(self._round, loop)
        await mine

    def _round(self, loop: asyncio.AbstractEventLoop) -> None:
        waiting = self._waiting
        for _ in range(min(TOGETHER, len(waiting))):
            next_one = waiting.popleft()
            # Its stream may have been stopped.
            if not next_one.done():
                next_one.set_result(None)
        self._goes_on = bool(waiting)
        if self._goes_on:
            loop.call_soon(self._round, loop)


class _Streaming:
    """One answer on its way to one client."""

    def __init__(
        self,
        endpoint: Endpoint,
        play: Play,
        request: Request,
        receive: Receive,
        send: Send,
        scope: Mapping[str, Any],
        rounds: _Rounds,
    ) -> None:
        self._endpoint = endpoint
        self._rounds = rounds
        self._play = play
        self._request = request
        self._receive = receive
        self._send = send
        self._scope = scope
        self._loop = asyncio.get_running_loop()
        self._gone: asyncio.Task[None] | None = None
        self._wakened: asyncio.Future[None] | None = None
        self._ready = 0
        """Pieces that were sent since the last wait."""
        self._hurried = False
        """Whether what is sent is written at once."""

    async def run(self, outputs: Generator[Output, float, None], first: Output) -> None:
        """Send the first of its outputs and all that follow, or until the client leaves."""
        try:
            await self._run(outputs, first)
        finally:
            if self._gone is not None:
                self._gone.cancel()

    async def _run(self, outputs: Generator[Output, float, None], first: Output) -> None:
        clock, send = self._loop.time, self._send
        output: Output | None = first
        while output is not None:
            if isinstance(output, bytes):
                await self._piece(output, send)
            elif isinstance(output, Until):
                self._ready = 0
                # What is due, or wants to give way, waits for no timer.
                await (self._wait(output.time) if output.time > clock() else asyncio.sleep(0))
            elif isinstance(output, Head):
                # Clients and proxies between wait for this very header.
                headers = {**self._endpoint.dressed(output.headers, self._request), "Connection": "keep-alive"}
                if output.seconds:
                    slow = slowly(transport_in(self._scope), self._receive, output.seconds)
                    send = noted(self._endpoint.journal, self._request.entry, slow)
                else:
                    self._hurry(on=True)
                await _start(200, headers, send)
            elif isinstance(output, Drop | Noise):
                await self._end(output)
                return
            else:
                await reply(output, self._endpoint.dressed(output.headers, self._request), send)
                return
            try:
                output = outputs.send(clock())
            except StopIteration:
                output = None
        await send({"type": "http.response.body", "body": b""})

    async def _piece(self, piece: bytes, send: Send) -> None:
        if self._ready:
            # The others' turn: nothing else here gives way as long as pieces are ready.
            await (asyncio.sleep(0) if self._endpoint.playing == 1 else self._rounds.turn())
            if self._ready >= PATIENCE:
                self._look()
        self._ready += 1
        await send({"type": "http.response.body", "body": piece, "more_body": True})
        if self._hurried:
            self._hurry(on=False)

    def _hurry(self, *, on: bool) -> None:
        """Have the head and the first piece written at once, and the rest when the loop comes round to it.

        uvloop writes at the end of its round: of a crowd that asks together, the first would wait for the last.
        """
        transport = self._scope.get("extensions", {}).get(EXTENSION)
        if transport is not None and not transport.is_closing():
            # A buffer that may hold nothing is one that is written at once.
            transport.set_write_buffer_limits(high=0 if on else None)
        self._hurried = on

    async def _end(self, output: Drop | Noise) -> None:
        """End the connection as a script says."""
        transport, entry, now = transport_in(self._scope), self._request.entry, monotonic()
        if isinstance(output, Noise):
            transport.write(output.content)
            entry.send(now, output.content)
        self._endpoint.journal.end(entry, now, Ended.CUT)
        await end(transport, self._receive, reset=isinstance(output, Drop) and output.reset)

    def _look(self) -> None:
        """Notice, from now on, when the client leaves.

        Raises:
            _Gone: it has left.
        """
        if self._gone is None:
            self._gone = self._loop.create_task(self._departure())
        elif self._gone.done():
            raise _Gone

    async def _departure(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._wake()

    def _wake(self) -> None:
        if self._wakened is not None and not self._wakened.done():
            self._wakened.set_result(None)

    async def _wait(self, until: float) -> None:
        """Wait for a time, for a change under the nonces, or for the client's departure."""
        self._look()
        self._wakened = self._loop.create_future()
        timer = self._loop.call_at(until, self._wake) if until != float("inf") else None
        self._endpoint.listen(self._play.nonces, self._wake)
        try:
            await self._wakened
        finally:
            self._endpoint.unlisten(self._play.nonces, self._wake)
            if timer is not None:
                timer.cancel()
        self._look()


async def reply(answer: Reply, headers: Mapping[str, str], send: Send) -> None:
    """Send a whole response."""
    await _start(answer.status, {**headers, "Content-Length": str(len(answer.body))}, send)
    await send({"type": "http.response.body", "body": answer.body})


async def _start(status: int, headers: Mapping[str, str], send: Send) -> None:
    raw = [(_lower(name), value.encode("latin-1")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": raw})


@lru_cache
def _lower(name: str) -> bytes:
    return name.lower().encode("latin-1")


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
        _Gone: the client has left before its end.
    """
    pieces, size, more = [], 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise _Gone
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
