"""An endpoint on the edge: what a request asks for, and the answers under way, each piece by piece.

A request is answered where its last byte is read. What waits for nothing is one write: a whole answer, or the head of
a stream with its first piece. The rest of a stream has a task, which goes on in turn with others until the answer ends
or its client leaves.
"""

from __future__ import annotations

import asyncio
import logging
import math
from time import monotonic, time
from typing import TYPE_CHECKING
from urllib.parse import unquote

from wireproof_endpoint.endpoint import EndpointRequest
from wireproof_endpoint.http.rounds import Rounds
from wireproof_endpoint.journal import pages
from wireproof_endpoint.journal.entry import AnswerEnding
from wireproof_endpoint.play import CloseConnection, Noise, StreamHead, WholeReply
from wireproof_scripts.player import Until
from wireproof_surfaces.http.served_exchange import status_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wireproof_endpoint.endpoint import Endpoint
    from wireproof_endpoint.journal.entry import JournalEntry
    from wireproof_endpoint.journal.ring import Journal
    from wireproof_endpoint.play import Output, PlayedAnswer
    from wireproof_surfaces.http.request_head import RequestHead
    from wireproof_surfaces.http.served_exchange import ServedExchange
    from wireproof_surfaces.http.socket_application import Refusal

log = logging.getLogger(__name__)

STREAM: Mapping[str, str] = {"Connection": "keep-alive"}
"""What a stream's head has besides: clients and proxies between wait for this very header."""


class EndpointApplication:
    """Serves `endpoint`."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.rounds = Rounds()
        self.running: set[_ScriptedAnswer] = set()
        """Answers that go on, each with a task."""

    def wants(self, exchange: ServedExchange) -> int:
        """How many bytes of a body are looked at: none where the head alone says how to answer."""
        if _is_page(exchange.head):
            return 0
        request, refusal = exchange.context = self._admitted(exchange)
        exchange.watcher = _Leaving(self.endpoint.journal, request.entry)
        return 0 if refusal else self.endpoint.settings.max_body

    def answer(self, exchange: ServedExchange) -> None:
        """Answer a request, or begin to."""
        if exchange.context is None and _is_page(exchange.head):
            exchange.reply(*pages.answer(self.endpoint.journal, exchange.head, exchange.connection.peer))
            return
        (request, refusal), exchange.context = exchange.context or self._admitted(exchange), None
        try:
            if refusal is None and len(exchange.body) > self.endpoint.settings.max_body:
                refusal = request.refused(self.endpoint.too_large())
            if refusal is not None:
                self.reply(exchange, request, refusal)
                return
            request.body = bytes(exchange.body)
            found = self.endpoint.answer(request)
            if isinstance(found, WholeReply):
                self.reply(exchange, request, found)
            else:
                _ScriptedAnswer(self, exchange, request, found).start()
        except Exception:
            self.endpoint.journal.end(request.entry, monotonic(), AnswerEnding.FAILED)
            raise

    def reply(self, exchange: ServedExchange, request: EndpointRequest, reply: WholeReply) -> None:
        """Send a whole answer."""
        headers = self.endpoint.dressed(reply.headers, request)
        # Before it is sent: the client has it at that time at the earliest, however late this process goes on.
        now = monotonic()
        exchange.reply(reply.status, headers, reply.body)
        self.endpoint.journal.whole(request.entry, now, reply.status, headers, reply.body)

    def gate(self, exchange: ServedExchange) -> Refusal | None:
        """The refusal of a handshake, as the same POST would be refused by its head; None: it is let in."""
        head = exchange.head
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in head.fields}
        request = EndpointRequest(method="POST", path=_path(head), headers=headers)
        reply = self.endpoint.admit_page(request) or self.endpoint.admit(request, None)
        return None if reply is None else (reply.status, self.endpoint.dressed(reply.headers, request), reply.body)

    def stop(self) -> None:
        """End the answers that go on: the server stops."""
        for answer in tuple(self.running):
            answer.stop()

    def _admitted(self, exchange: ServedExchange) -> tuple[EndpointRequest, WholeReply | None]:
        """A request of which the head is here, and its refusal if that says enough."""
        self.rounds.come()
        head = exchange.head
        query = head.query.decode("latin-1")
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in head.fields}
        path, now = _path(head), monotonic()
        entry = self.endpoint.journal.begin(
            method=head.method, path=path, query=query, headers=headers, now=now, when=time()
        )
        request = EndpointRequest(method=head.method, path=path, query=query, headers=headers, entry=entry)
        length = headers.get("content-length")
        return request, self.endpoint.admit(request, None if length is None else int(length))


class _Leaving:
    """Notes that a client has left before its request was answered."""

    def __init__(self, journal: Journal, entry: JournalEntry) -> None:
        self._journal = journal
        self._entry = entry

    def on_gone(self) -> None:
        """It has."""
        self._journal.end(self._entry, monotonic(), AnswerEnding.GONE)

    def on_resume(self) -> None:
        """Nothing waits for that yet."""

    def on_stall(self) -> None:
        """Nothing has been sent yet."""


class _ScriptedAnswer:
    """Plays `play` to the client of `exchange`; the exchange has it as its watcher."""

    def __init__(
        self, application: EndpointApplication, exchange: ServedExchange, request: EndpointRequest, play: PlayedAnswer
    ) -> None:
        self._application = application
        self._endpoint = application.endpoint
        self._exchange = exchange
        self._request = request
        self._play = play
        self._loop = asyncio.get_running_loop()
        self._outputs = play.outputs(self._loop.time())
        self._task: asyncio.Task[None] | None = None
        self._wakened: asyncio.Future[None] | None = None
        self._changed = False
        """Whether anything has changed since the last wait that it may wait for."""

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
            self._application.reply(self._exchange, self._request, output)
            self._play.close()
            return
        self._exchange.watcher = self
        self._application.running.add(self)
        # To its end, not for each wait: what is waited for was looked at before what comes ahead of the wait was sent.
        self._endpoint.answerer.listen(self._play.nonces, self.on_resume)
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
        """Go on if anything is waited for, now or next."""
        self._changed = True
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
            self._endpoint.answerer.unlisten(self._play.nonces, self.on_resume)
            self._play.close()
            self._application.running.discard(self)

    async def _play_on(self, output: Output | None) -> None:
        exchange, clock, ready = self._exchange, self._loop.time, False
        while output is not None and not exchange.gone:
            if isinstance(output, bytes):
                if ready:
                    await self._turn()
                ready = True
                self._send(output)
                while exchange.paused and not exchange.gone:
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
                self._application.reply(exchange, self._request, output)
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
        now = monotonic()  # as of a whole answer
        self._exchange.send(piece)
        self._request.entry.send(now, piece)

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
        await (asyncio.sleep(0) if self._endpoint.answerer.playing == 1 else self._application.rounds.turn())

    async def _wait(self, until: float) -> None:
        """Wait for a time, for a change under the nonces, for the client to take more, or for its departure."""
        if not (self._changed or self._exchange.gone):
            self._wakened = self._loop.create_future()
            timer = self._loop.call_at(until, self.on_resume) if until != math.inf else None
            try:
                await self._wakened
            finally:
                if timer is not None:
                    timer.cancel()
        self._changed = False

    async def _drip(self, content: bytes, seconds: float) -> None:
        """Send this byte by byte over this time."""
        began = self._loop.time()
        for at in range(len(content)):
            if self._exchange.gone:
                return
            await asyncio.sleep(max(0.0, began + seconds * (at + 1) / len(content) - self._loop.time()))
            self._exchange.write(content[at : at + 1])


def _path(head: RequestHead) -> str:
    path = head.path.decode("latin-1")
    return unquote(path) if "%" in path else path


def _is_page(head: RequestHead) -> bool:
    # All that others ask for is under another path, whose escapes need not be resolved to see that.
    return not head.path.startswith(b"/v1/") and _path(head).startswith(pages.PATH)
