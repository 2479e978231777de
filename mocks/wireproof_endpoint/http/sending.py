"""An answer on its way to a client: piece by piece, in turn with others, until it ends or its client leaves."""

from __future__ import annotations

import asyncio
from collections import deque
from functools import lru_cache
from time import monotonic
from typing import TYPE_CHECKING, Any

from wireproof_endpoint.http.exchange import next_of
from wireproof_endpoint.journal.entry import Ended
from wireproof_endpoint.journal.watching import noted
from wireproof_endpoint.play import Drop, Head, Noise
from wireproof_endpoint.wire.connection import end, slowly, transport_in
from wireproof_scripts.player import Until

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from wireproof_endpoint.endpoint import Endpoint, Request
    from wireproof_endpoint.http.exchange import Begun
    from wireproof_endpoint.play import Reply

    Receive = Callable[[], Awaitable[dict[str, Any]]]
    Send = Callable[[dict[str, Any]], Awaitable[None]]

PATIENCE = 8
"""Pieces that a stream sends without a wait before it looks whether its client is still there."""
TOGETHER = 8
"""Streams that go on in one round of the loop: a request that comes meanwhile waits for no more than their pieces.
As long as requests come, it is one."""


class Rounds:
    """Streams that have more to send, and take turns."""

    def __init__(self) -> None:
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._goes_on = False
        self._came = False
        """Whether a request has come since the last round."""

    def come(self) -> None:
        """A request has come: of a crowd that asks together, the last waits for all that is done before it."""
        self._came = True

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
        waiting, most = self._waiting, 1 if self._came else TOGETHER
        self._came = False
        for _ in range(min(most, len(waiting))):
            next_one = waiting.popleft()
            # Its stream may have been stopped.
            if not next_one.done():
                next_one.set_result(None)
        self._goes_on = bool(waiting)
        if self._goes_on:
            loop.call_soon(self._round, loop)


STREAM: Mapping[str, str] = {"Connection": "keep-alive"}
"""What a stream's head has besides: clients and proxies between wait for this very header."""


class Gone(Exception):  # noqa: N818 - no error: the client has left
    """The client has left."""


class Sending:
    """One answer on its way to one client."""

    def __init__(
        self, endpoint: Endpoint, begun: Begun, receive: Receive, send: Send, scope: Mapping[str, Any], rounds: Rounds
    ) -> None:
        self._endpoint = endpoint
        self._rounds = rounds
        self._begun = begun
        self._nonces = set[int]() if begun.play is None else begun.play.nonces
        self._request = begun.request
        self._receive = receive
        self._send = send
        self._scope = scope
        self._loop = asyncio.get_running_loop()
        self._gone: asyncio.Task[None] | None = None
        self._wakened: asyncio.Future[None] | None = None
        self._ready = 0
        """Pieces that were sent since the last wait."""

    async def run(self) -> None:
        """Send what comes first, if it is not sent yet, and all that follows.

        Raises:
            Gone: the client has left.
        """
        try:
            await self._run()
        finally:
            if self._gone is not None:
                self._gone.cancel()

    async def _run(self) -> None:
        clock, send, begun = self._loop.time, self._send, self._begun
        if begun.head is not None:
            send = await self._start(begun.head, send)
        output = begun.first
        if isinstance(output, Exception):
            raise output
        if output is None:
            # The first piece is on its way already. The others' first ones come before the next of this one.
            self._ready = 1
            await self._turn()
            output = next_of(begun.outputs, clock())
        while output is not None:
            if isinstance(output, bytes):
                await self._piece(output, send)
            elif isinstance(output, Until):
                self._ready = 0
                # What is due, or wants to give way, waits for no timer.
                await (self._wait(output.time) if output.time > clock() else asyncio.sleep(0))
            elif isinstance(output, Head):
                send = await self._start(output, send)
            elif isinstance(output, Drop | Noise):
                await self._end(output)
                return
            else:
                await reply(output, reply_headers(self._endpoint, output, self._request), send)
                return
            output = next_of(begun.outputs, clock())
        await send({"type": "http.response.body", "body": b""})

    async def _start(self, head: Head, send: Send) -> Send:
        """Send the head; what sends all that follows."""
        if head.seconds:
            slow = slowly(transport_in(self._scope), self._receive, head.seconds)
            send = noted(self._endpoint.journal, self._request.entry, slow)
        await _head(200, stream_headers(self._endpoint, head, self._request), send)
        return send

    async def _piece(self, piece: bytes, send: Send) -> None:
        if self._ready:
            await self._turn()
            if self._ready >= PATIENCE:
                self._look()
        self._ready += 1
        await send({"type": "http.response.body", "body": piece, "more_body": True})

    async def _turn(self) -> None:
        # The others' turn: nothing else here gives way as long as pieces are ready.
        await (asyncio.sleep(0) if self._endpoint.playing == 1 else self._rounds.turn())

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
            Gone: it has left.
        """
        if self._gone is None:
            self._gone = self._loop.create_task(self._departure())
        elif self._gone.done():
            raise Gone

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
        self._endpoint.listen(self._nonces, self._wake)
        try:
            await self._wakened
        finally:
            self._endpoint.unlisten(self._nonces, self._wake)
            if timer is not None:
                timer.cancel()
        self._look()


async def reply(answer: Reply, headers: Mapping[str, str], send: Send) -> None:
    """Send a whole response."""
    await _head(answer.status, headers, send)
    await send({"type": "http.response.body", "body": answer.body})


def reply_headers(endpoint: Endpoint, answer: Reply, request: Request) -> dict[str, str]:
    """The headers of a whole response."""
    return {**endpoint.dressed(answer.headers, request), "Content-Length": str(len(answer.body))}


async def _head(status: int, headers: Mapping[str, str], send: Send) -> None:
    raw = [(_lower(name), value.encode("latin-1")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": raw})


def stream_headers(endpoint: Endpoint, head: Head, request: Request) -> dict[str, str]:
    """The headers of a stream."""
    return {**endpoint.dressed(head.headers, request), **STREAM}


@lru_cache
def _lower(name: str) -> bytes:
    return name.lower().encode("latin-1")
