"""One client's connection on the event loop: requests as the reader finds them, answers in their order, and deadlines.

What a client can do without being answered is bounded in bytes and in time (`EdgeLimits`), and holds no thread. A body
is taken only where the application says, by the head alone, that it will look at it. A rejection is sent without
waiting for the rest; nothing more is read then, and the connection ends.

Requests that are sent ahead of their answers wait in a queue; the first in it is the one that is answered. After each
event `_advance` does what the states of both sides (`connection_states`), and the queue, ask for.
"""

from __future__ import annotations

import asyncio
import logging
import math
import socket
import struct
from collections import deque
from typing import TYPE_CHECKING, Protocol, cast
from urllib.parse import quote

from wireproof_surfaces.errors import INTERNAL
from wireproof_surfaces.http.connection_states import WRITE_TABLE, patience
from wireproof_surfaces.http.request_head import TOO_SLOW, RejectedRequestError, RequestHead
from wireproof_surfaces.http.request_reader import RequestReader
from wireproof_surfaces.http.served_exchange import ServedExchange

if TYPE_CHECKING:
    from collections.abc import Callable

    from wireproof_surfaces.http.connection_states import WriteEvent, WriteState
    from wireproof_surfaces.http.edge_limits import EdgeLimits
    from wireproof_surfaces.http.served_exchange import Receiver

log = logging.getLogger(__name__)

QUOTED = 120
"""Characters of what a client sent that a line of the log quotes."""
_RESET = struct.pack("ii", 1, 0)
"""SO_LINGER on, for 0 seconds: a socket that is closed then sends RST instead of FIN."""


class Application(Protocol):
    """Answers requests. All methods are called on the event loop, and must not block."""

    def wants(self, exchange: ServedExchange) -> int:
        """How many bytes of a request's body are looked at, by its head alone; 0: none, and none is read."""

    def answer(self, exchange: ServedExchange) -> None:
        """Answer a request, now or later."""

    def stop(self) -> None:
        """The server stops: end what is under way."""


class ClientConnection(asyncio.Protocol):
    """Serves one client. `among`: all connections there are; `clock` gives the value of the `Date` header."""

    def __init__(
        self,
        application: Application,
        limits: EdgeLimits,
        among: dict[ClientConnection, None],
        clock: Callable[[], bytes],
    ) -> None:
        self._application = application
        self._limits = limits
        self._among = among
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport = None  # type: ignore[assignment] # set as soon as there is a connection
        self._reader = RequestReader(limits, self)
        self._state: WriteState = "quiet"
        self._exchanges: deque[ServedExchange] = deque()
        """Those that are not answered yet, in their order; the last may still be read."""
        self._rejection: RejectedRequestError | None = None
        """Sent when all that came before is answered."""
        self._patience = patience(limits)
        self._deadline = math.inf
        self._moved = True
        """Whether our side's state was set again, or the client takes again what it is sent, since the last look."""
        self._paused_at: tuple[float, int] | None = None
        """Since when the client has taken nothing, and how many bytes wait for it; None: it takes what comes."""
        self._writes = 0
        self._thrown_away = 0
        """Bytes that came and were not read as requests."""
        self._resets = False
        """Whether the connection is to be reset as soon as what was sent has left."""
        self._receiver: Receiver | None = None
        """What takes all that comes, where another protocol is spoken; None: it is HTTP."""
        self.peer = ""

    # What the event loop calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client has come."""
        # uvloop's is no subclass, but for type checkers.
        self._transport = cast("asyncio.Transport", transport)
        # What is written leaves at once: uvloop would keep it to the end of its round, and of a crowd that asks
        # together the first would wait for the last. Whatever the system does not take counts as a pause.
        self._transport.set_write_buffer_limits(high=0)
        # None: it has gone already.
        self.peer = str((transport.get_extra_info("peername") or ("",))[0])
        self._among[self] = None

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection has ended, by whichever side."""
        del exc
        self._move("closed")
        self._among.pop(self, None)
        self._reader.close()
        self._forget_all()

    def eof_received(self) -> bool:
        """The client sends no more. That is all one sees of a departure, too, until something is sent."""
        self._drop_unread()
        self._reader.end()
        self._advance()
        # What was asked is answered: some clients close their end first (`nc -N`).
        self._loop.call_later(self._limits.leaving, self._let_go, self._writes)
        return True

    def _let_go(self, writes: int) -> None:
        """Let a client go that has closed its end, unless something was sent to it since.

        One that has closed the whole connection answers that by a reset, and is seen to have left.
        """
        if self._state != "answering":
            return
        if writes == self._writes:
            self.abort()
        else:
            self._loop.call_later(self._limits.leaving, self._let_go, self._writes)

    def pause_writing(self) -> None:
        """The client takes less than comes."""
        self._paused_at = (self._loop.time(), self._transport.get_write_buffer_size())
        if self._exchanges:
            self._exchanges[0].paused = True

    def resume_writing(self) -> None:
        """It has caught up."""
        self._paused_at = None
        self._moved = True
        if self._resets:
            self._reset()
        elif self._exchanges:
            self._exchanges[0].paused = False
            if self._exchanges[0].watcher is not None:
                self._exchanges[0].watcher.on_resume()

    def data_received(self, data: bytes) -> None:
        """Read on."""
        if self._receiver is not None:
            self._receiver.received(data)
            return
        if self._reader.state == "ignored":
            self._throw_away(len(data))
            return
        try:
            self._reader.feed(data)
        except RejectedRequestError as rejection:
            self._reject(rejection)
        receiving = self._reader.receiving
        if receiving is not None and len(self._exchanges) > 1 and len(receiving.body) > self._limits.head:
            self._transport.pause_reading()  # until it is its turn
        self._advance()

    def _throw_away(self, size: int) -> None:
        self._thrown_away += size
        limit = self._limits.unread_body if self._rejection is None else self._limits.thrown_away
        if self._thrown_away > limit:
            self._transport.pause_reading()

    # What the reader calls

    def opened(self, head: RequestHead) -> ServedExchange:
        """Queue a request whose head is here."""
        exchange = ServedExchange(head, self)
        self._exchanges.append(exchange)
        if head.has_body:
            try:
                exchange.wanted = self._application.wants(exchange)
            except Exception:
                # The parser would take whatever it is for a fault of the request.
                log.exception("a request could not be admitted")
                raise RejectedRequestError(INTERNAL) from None
        return exchange

    def completed(self, exchange: ServedExchange) -> bool:
        """Have a request answered when it is its turn; whether more may follow it."""
        exchange.complete = True
        exchange.closes |= len(self._exchanges) > self._limits.waiting
        return not exchange.closes

    # Deadlines

    def look(self, now: float) -> None:
        """End what has taken too long; called often, and the time for what has begun counts from the next call on."""
        if self._moved or self._reader.moved:
            self._moved = self._reader.moved = False
            self._deadline = now + self._patience[self._reader.state, self._state]
        if self._paused_at is not None:
            self._look_at_pause(now, *self._paused_at)
        elif now <= self._deadline:
            return
        elif self._state != "quiet":
            self.abort()
        elif self._reader.state in {"head", "body"}:
            self._reject(RejectedRequestError(TOO_SLOW))
            self._advance()
        else:
            self._close()

    def _look_at_pause(self, now: float, since: float, size: int) -> None:
        waiting = self._transport.get_write_buffer_size()
        if waiting < size:
            self._paused_at = (now, waiting)
        elif now - since > self._limits.taking:
            self.abort()
        elif now - since > self._limits.stalled and self._exchanges and self._exchanges[0].watcher is not None:
            self._exchanges[0].watcher.on_stall()

    # What the server calls

    @property
    def idle(self) -> bool:
        """Whether nothing is being answered."""
        return not self._exchanges

    @property
    def stuck(self) -> bool:
        """Whether its client takes less than comes."""
        return self._paused_at is not None

    def shut(self) -> None:
        """End it once what is being answered is answered."""
        self._drop_unread()
        self._reader.stop()
        if self._exchanges:
            self._exchanges[-1].closes = True
        if self._receiver is not None:
            self._receiver.shut()
        self._advance()

    def abort(self) -> None:
        """End it at once, whatever is still to be sent."""
        self._transport.abort()

    # What goes

    @property
    def half_closed(self) -> bool:
        """Whether the client has closed its end."""
        return self._reader.state == "ended"

    @property
    def date(self) -> bytes:
        """The value of the `Date` header now."""
        return self._clock()

    def write(self, data: bytes) -> None:
        """Send bytes, now."""
        self._writes += 1
        self._transport.write(data)

    def answered(self, exchange: ServedExchange) -> None:
        """Go on behind an answer that is complete."""
        self._exchanges.popleft()
        exchange.watcher = None
        self._move("answered")
        if exchange.left:
            log.warning("an answer was %d bytes short or long", exchange.left)
            self.abort()
        elif exchange.closes:
            self._forget_all()
            self._close()
        else:
            self._transport.resume_reading()
            self._advance()

    def hand_over(self, receiver: Receiver) -> None:
        """Give all that comes from now on to `receiver`."""
        self._receiver = receiver

    def cut(self, *, reset: bool) -> None:
        """End behind what was sent, in the middle of whatever that is."""
        self._reader.stop()
        self._forget_all()
        self._move("closed")
        if not reset:
            self._transport.close()
        elif self._paused_at is None:
            self._reset()
        else:
            self._resets = True
            self._loop.call_later(self._limits.resetting, self._reset)

    def _reset(self) -> None:
        if self in self._among:  # it may have ended meanwhile
            self._transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            self.abort()

    def _move(self, event: WriteEvent) -> None:
        self._state = WRITE_TABLE[self._state][event]
        self._moved = True

    def _advance(self) -> None:
        """Do what both sides' states ask for."""
        if self._state == "lingering" and self.half_closed:
            self._close()
        if self._state != "quiet":
            return
        if self._exchanges:
            first = self._exchanges[0]
            if first.complete:
                self._move("asked")
                self._ask(first)
            elif not (first.invited or first.body):
                first.invited = True
                self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        elif self._rejection is not None:
            self._refuse(self._rejection)
        elif self._reader.state in {"ignored", "ended"}:
            self._close()

    def _ask(self, exchange: ServedExchange) -> None:
        exchange.paused = self._paused_at is not None
        try:
            self._application.answer(exchange)
        except Exception:
            # Whatever it is: the others are answered, and the log has the trace.
            log.exception("a request could not be answered")
            exchange.fail()

    def _reject(self, rejection: RejectedRequestError) -> None:
        """Answer before the application is asked, behind what came before, and end the connection."""
        # Without the frames that it came through: they hold what was read, and this connection, which holds it.
        self._rejection = rejection.with_traceback(None)
        self._drop_unread()
        self._reader.stop()

    def _refuse(self, rejection: RejectedRequestError) -> None:
        log.info("refused with %d: %s", rejection.problem.status, quote(rejection.message[:QUOTED], safe=" `'/.,:-"))
        exchange = ServedExchange(RequestHead(), self)
        self._exchanges.append(exchange)
        self._move("asked")
        exchange.refuse(rejection.problem, rejection.message)

    def _drop_unread(self) -> None:
        """Forget a request of which only a part has come: there is nothing to answer."""
        if self._exchanges and not self._exchanges[-1].complete:
            self._exchanges.pop().leave()

    def _forget_all(self) -> None:
        exchanges, self._exchanges = self._exchanges, deque()
        for exchange in exchanges:
            exchange.leave()

    def _close(self) -> None:
        """End it when all is sent; a client that is still sending has a moment to read what was said.

        RFC 9112, 9.6: were the connection closed with something unread, the answer would be lost on the way to many
        clients. So our end is closed alone, and what still comes is thrown away, of which there is a limit.
        """
        if self._reader.state == "ignored":
            self._move("said all")
            self._transport.write_eof()
            self._transport.resume_reading()
        else:
            self._move("closed")
            self._transport.close()
