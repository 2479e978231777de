"""A scripted answer on its way to a client: piece by piece, in turn with others, until it ends or its client leaves."""

from __future__ import annotations

import asyncio
import logging
import math
from time import monotonic
from typing import TYPE_CHECKING

from wireproof_endpoint.journal.entry import AnswerEnding
from wireproof_endpoint.play import CloseConnection, Noise, StreamHead, WholeReply
from wireproof_scripts.player import Until
from wireproof_surfaces.http.served_exchange import status_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wireproof_endpoint.endpoint import EndpointRequest
    from wireproof_endpoint.http.answers_under_way import AnswersUnderWay
    from wireproof_endpoint.play import Output, Play
    from wireproof_surfaces.http.served_exchange import ServedExchange

log = logging.getLogger(__name__)

STREAM: Mapping[str, str] = {"Connection": "keep-alive"}
"""What a stream's head has besides: clients and proxies between wait for this very header."""


class ScriptedAnswer:
    """Plays `play` to the client of `exchange`; the exchange has it as its watcher."""

    def __init__(
        self, answers: AnswersUnderWay, exchange: ServedExchange, request: EndpointRequest, play: Play
    ) -> None:
        self._answers = answers
        self._endpoint = answers.endpoint
        self._exchange = exchange
        self._request = request
        self._play = play
        self._loop = asyncio.get_running_loop()
        self._outputs = play.outputs(self._loop.time())
        self._task: asyncio.Task[None] | None = None
        self._wakened: asyncio.Future[None] | None = None

    def start(self) -> None:
        """Send what is ready now; all that comes after it has a task."""
        output: Output | None = next(self._outputs)
        sent = False
        if isinstance(output, StreamHead) and not output.seconds:
            self._begin(output)
            output = self._next()
            if sent := isinstance(output, bytes):
                self._send(output)
        if isinstance(output, WholeReply):
            self._answers.reply(self._exchange, self._request, output)
            self._play.close()
            return
        self._exchange.watcher = self
        self._answers.running.add(self)
        self._task = self._loop.create_task(self._run(None if sent else output, ready=sent))

    def stop(self) -> None:
        """End it: the server stops."""
        self._endpoint.journal.end(self._request.entry, monotonic(), AnswerEnding.STOPPED)
        if self._task is not None:
            self._task.cancel()

    # As a watcher of the exchange

    def on_gone(self) -> None:
        """The client has left: notice it at the next piece, or now."""
        self._endpoint.journal.end(self._request.entry, monotonic(), AnswerEnding.GONE)
        self.on_resume()

    def on_resume(self) -> None:
        """Go on if anything is waited for."""
        if self._wakened is not None and not self._wakened.done():
            self._wakened.set_result(None)

    def on_stall(self) -> None:
        """Go on: how long a client may take nothing at all is the edge's matter."""

    # The task

    async def _run(self, output: Output | None, *, ready: bool) -> None:
        """Send this and all that follows; `ready`: a piece was sent just now, so the others have their turn first."""
        try:
            if ready:
                await self._turn()
                output = self._next()
            await self._play_on(output)
        except Exception:
            log.exception("an answer failed")
            self._endpoint.journal.end(self._request.entry, monotonic(), AnswerEnding.FAILED)
            self._exchange.fail()
        finally:
            self._play.close()
            self._answers.running.discard(self)

    async def _play_on(self, output: Output | None) -> None:
        exchange, clock, ready = self._exchange, self._loop.time, False
        while output is not None and not exchange.gone:
            if isinstance(output, bytes):
                if ready:
                    await self._turn()
                ready = True
                self._send(output)
                if exchange.paused:
                    await self._wait(math.inf)
            elif isinstance(output, Until):
                ready = False
                exchange.send()  # a head may wait for a first piece
                # What is due, or wants to give way, waits for no timer.
                await (self._wait(output.time) if output.time > clock() else asyncio.sleep(0))
            elif isinstance(output, StreamHead):
                self._begin(output)
                if output.seconds:
                    await self._drip(exchange.take_opening(), output.seconds)
            elif isinstance(output, WholeReply):
                self._answers.reply(exchange, self._request, output)
                return
            else:
                self._cut(output)
                return
            output = self._next()
        if not exchange.gone:
            exchange.end()
            self._endpoint.journal.end(self._request.entry, monotonic(), AnswerEnding.COMPLETED)

    def _next(self) -> Output | None:
        """What is sent next; None at the end."""
        try:
            return self._outputs.send(self._loop.time())
        except StopIteration:
            return None

    def _begin(self, head: StreamHead) -> None:
        headers = {**self._endpoint.dressed(head.headers, self._request), **STREAM}
        # A head that comes slowly is a script's, and ends its connection.
        self._exchange.closes |= head.seconds > 0
        self._exchange.begin(status_line(200), list(headers.items()), framed=not head.seconds)
        self._request.entry.open(200, headers)

    def _send(self, piece: bytes) -> None:
        self._exchange.send(piece)
        self._request.entry.send(monotonic(), piece)

    def _cut(self, output: CloseConnection | Noise) -> None:
        """End the connection as a script says."""
        entry, now = self._request.entry, monotonic()
        if isinstance(output, Noise):
            self._exchange.write(output.content)
            entry.send(now, output.content)
        self._endpoint.journal.end(entry, now, AnswerEnding.CUT)
        self._exchange.cut(reset=isinstance(output, CloseConnection) and output.reset)

    async def _turn(self) -> None:
        # The others' turn: nothing else here gives way as long as pieces are ready.
        await (asyncio.sleep(0) if self._endpoint.playing == 1 else self._answers.rounds.turn())

    async def _wait(self, until: float) -> None:
        """Wait for a time, for a change under the nonces, for the client to take more, or for its departure."""
        if self._exchange.gone:
            return
        nonces = self._play.nonces
        self._wakened = self._loop.create_future()
        timer = self._loop.call_at(until, self.on_resume) if until != math.inf else None
        self._endpoint.listen(nonces, self.on_resume)
        try:
            await self._wakened
        finally:
            self._endpoint.unlisten(nonces, self.on_resume)
            if timer is not None:
                timer.cancel()

    async def _drip(self, content: bytes, seconds: float) -> None:
        """Send this byte by byte over this time."""
        began = self._loop.time()
        for at in range(len(content)):
            if self._exchange.gone:
                return
            await asyncio.sleep(max(0.0, began + seconds * (at + 1) / len(content) - self._loop.time()))
            self._exchange.write(content[at : at + 1])
