"""One WebSocket on which Responses are served: each message is a request to the application, one after the other."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from typing import TYPE_CHECKING, Any

from wireproof_surfaces.errors import INTERNAL, ApiError, envelope
from wireproof_surfaces.http import web_socket
from wireproof_surfaces.http.request_head import RequestHead
from wireproof_surfaces.http.served_exchange import ServedExchange
from wireproof_surfaces.http.web_socket import WebSocket
from wireproof_surfaces.surfaces.responses_socket import AGED, SocketMemory, events_in

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wireproof_surfaces.http.client_connection import Application
    from wireproof_surfaces.surfaces.responses_socket import AskedResponse

LARGEST = 8 * 2**20
"""Bytes of a message."""
WAITING = 16
"""Messages that may wait for the answers before them."""
IDLE, AGE = 600.0, 3600.0
"""Seconds without a request, and of a connection's life."""
_OWN = (b"connection", b"upgrade", b"content-type", b"content-length", b"transfer-encoding", b"expect")


class SocketSession:
    """One connection."""

    def __init__(self, application: Application, exchange: ServedExchange, among: set[SocketSession]) -> None:
        self._application = application
        self.exchange = exchange
        self._among = among
        self._socket = WebSocket(LARGEST)
        self._memory = SocketMemory()
        self._waiting: deque[str] = deque()
        self._current: _SocketExchange | None = None
        self._ends = False
        """Whether it is closed behind the current answer."""
        self._loop = asyncio.get_running_loop()
        self._began = self._loop.time()
        self._idle: asyncio.TimerHandle | None = None

    def open(self, accept: bytes) -> None:
        """Say that it is one from here on."""
        self._among.add(self)
        self.exchange.watcher = self
        self.exchange.write(
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Accept: %b\r\n\r\n" % accept
        )
        self.exchange.connection.hand_over(self)
        self._wait()

    # What comes

    def received(self, data: bytes) -> None:
        """Take what the client sends."""
        found = self._socket.received(data)
        self.exchange.write(found.reply)
        self._waiting += found.messages
        if found.closed:
            self._close()
        elif len(self._waiting) > WAITING:
            self._close(self._socket.close(web_socket.POLICY, f"more than {WAITING} messages wait"))
        else:
            self._go_on()

    def shut(self) -> None:
        """Close it once what is being answered is answered."""
        self._ends = True
        self._waiting.clear()
        if self._current is None:
            self._close(self._socket.close(web_socket.GOING_AWAY))

    def _go_on(self) -> None:
        while self._current is None and self._waiting and not self.exchange.gone:
            self._ask(self._waiting.popleft())

    def _ask(self, message: str) -> None:
        self._unwait()
        if self._loop.time() - self._began > AGE:
            self.refused(AGED.status, {}, envelope(AGED))
            self._close(self._socket.close(web_socket.OVER))
            return
        try:
            asked = self._memory.asked(message)
            if asked.generates:
                self._current = _SocketExchange(self, asked, self.exchange.head)
                self._current.ask(self._application)
                return
            for event in self._memory.kept(asked):
                self._send(event)
        except ApiError as error:
            self.refused(error.problem.status, error.headers, error.body())
        self._wait()

    # What goes

    def events(self, asked: AskedResponse, frames: bytes) -> None:
        """Send the events of these frames."""
        for event in events_in(frames):
            self._send(self._memory.sent(asked, event))

    def refused(self, status: int, headers: Mapping[str, str], body: dict[str, Any]) -> None:
        """Send an error."""
        self._send(self._memory.refused(status, headers, body))

    def answered(self) -> None:
        """Go on behind an answer."""
        self._current = None
        if self._ends:
            self._close(self._socket.close(web_socket.GOING_AWAY))
        else:
            self._wait()
            # Not from here: an answer that needs no time would call this again, as deep as messages wait.
            self._loop.call_soon(self._go_on)

    def _send(self, text: str) -> None:
        self.exchange.write(self._socket.text(text))

    def _close(self, frame: bytes = b"") -> None:
        self.exchange.write(frame)
        self.exchange.cut()

    # Time

    def _wait(self) -> None:
        self._unwait()
        close = self._socket.close
        self._idle = self._loop.call_later(IDLE, lambda: self._close(close(web_socket.GOING_AWAY, "nothing was asked")))

    def _unwait(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None

    # As the watcher of the exchange of the handshake

    def on_gone(self) -> None:
        """The client has left."""
        self._unwait()
        self._among.discard(self)
        self._waiting.clear()
        current, self._current = self._current, None
        if current is not None:
            current.leave()

    def on_resume(self) -> None:
        """It takes what comes again."""
        if self._current is not None and self._current.watcher is not None:
            self._current.watcher.on_resume()

    def on_stall(self) -> None:
        """It takes nothing."""
        if self._current is not None and self._current.watcher is not None:
            self._current.watcher.on_stall()


class _SocketExchange(ServedExchange):
    """A request that came as a message; its answer is sent as messages."""

    __slots__ = ("_asked", "_content", "_headers", "_held", "_session", "_status")

    def __init__(self, session: SocketSession, asked: AskedResponse, handshake: RequestHead) -> None:
        self._content = json.dumps(asked.body, ensure_ascii=False).encode(errors="replace")
        super().__init__(_post(handshake, len(self._content)), session.exchange.connection)
        self._session = session
        self._asked = asked
        self._status = 0
        self._headers: Mapping[str, str] = {}
        self._held = b""

    def ask(self, application: Application) -> None:
        """Have it answered."""
        self.wanted = application.wants(self)
        # One byte more than is wanted says that it is too large.
        self.body += self._content[: self.wanted + 1]
        self.complete = True
        application.answer(self)

    @property
    def paused(self) -> bool:
        """Whether the client takes less than comes."""
        return self._session.exchange.paused

    @paused.setter
    def paused(self, value: bool) -> None:
        """It is the connection's."""

    @property
    def begun(self) -> bool:
        """Whether an answer has begun."""
        return self._status != 0

    def begin(self, status: str, headers: Sequence[tuple[str, str]], *, framed: bool = True) -> None:
        """Note how it is answered."""
        del framed
        self._status, self._headers = int(status[:3]), dict(headers)

    def take_opening(self) -> bytes:
        """A message has no head."""
        return b""

    def send(self, data: bytes = b"") -> None:
        """Send the events that are complete."""
        if self.gone or not data:
            return
        self._held += data
        if self._status == OK:
            frames, between, self._held = self._held.rpartition(b"\n\n")
            self._session.events(self._asked, frames + between)

    def end(self, data: bytes = b"") -> None:
        """Send the last events, or the error."""
        self.send(data)
        if self.gone:
            return
        if self._status != OK:
            self._session.refused(self._status, self._headers, _error(self._held))
        self.watcher = None
        self._session.answered()

    def reply(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        """Send an error: a whole answer is nothing else here."""
        self._status, self._headers = status, headers
        self.end(body)

    def write(self, data: bytes) -> None:
        """Send bytes as they are."""
        self._session.exchange.write(data)

    def cut(self, *, reset: bool = False) -> None:
        """End the connection."""
        self._session.exchange.cut(reset=reset)

    def fail(self) -> None:
        """Say that there is no answer, or break off."""
        if self._status == OK:
            self.cut()
        else:
            self.reply(INTERNAL.status, {}, json.dumps(envelope(INTERNAL)).encode())


OK = 200


def _post(head: RequestHead, length: int) -> RequestHead:
    """The head of the POST that asks the same with a body of this length, and the headers of the handshake."""
    fields = [
        (name, value) for name, value in head.fields if name not in _OWN and not name.startswith(b"sec-websocket")
    ]
    return RequestHead(
        method="POST",
        target=head.target,
        path=head.path,
        query=head.query,
        fields=[*fields, (b"content-type", b"application/json"), (b"content-length", b"%d" % length)],
    )


def _error(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except ValueError:
        return envelope(INTERNAL)
    return found if isinstance(found, dict) else envelope(INTERNAL)
