"""The HTTP server: connections on an event loop (uvloop, with llhttp as the parser), answers in threads.

It was chosen by measurement (docs/wsgi-server.md). Flask runs in a thread for each request that is being answered; a
client that sends slowly, or is silent, has none.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from email.utils import formatdate
from typing import TYPE_CHECKING, Self

import uvloop

from wireproof_proxy.http.connection import Connection
from wireproof_proxy.http.limits import Limits
from wireproof_proxy.http.threads import Threads
from wireproof_proxy.http.wsgi import answer, environ_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from _typeshed.wsgi import WSGIApplication, WSGIEnvironment

    from wireproof_proxy.http.exchange import Exchange

SPARE_THREADS = 16
"""Threads besides those that run turns: for health checks, models and refusals."""
BACKLOG = 1024
"""Connections that may wait to be taken."""
LOOK = 0.25
"""Seconds between two looks at what takes too long: one clock for all connections."""


class Server:
    """Serves `app` on an event loop in a thread of its own, as a context manager or by `start` and `stop`.

    `accept` says by a request's head how many bytes of its body the application looks at; None: of every body as many
    as `limits` allow. At most `turns` requests run for long at once.

    Raises:
        OSError: by `start`, when the address cannot be listened at.
    """

    def __init__(
        self,
        app: WSGIApplication,
        host: str,
        port: int,
        *,
        turns: int,
        accept: Callable[[WSGIEnvironment], int] | None = None,
        limits: Limits | None = None,
    ) -> None:
        self._app = app
        self._host = host
        self._port = port
        self._accept = accept
        self._limits = limits or Limits()
        self._threads = Threads(turns + SPARE_THREADS)
        self._connections: dict[Connection, None] = {}
        self._started = threading.Event()
        self._date = b""

    @property
    def url(self) -> str:
        """The base URL clients use."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self._port}/v1"

    def start(self) -> None:
        """Listen, and serve from now on."""
        family = socket.AF_INET6 if ":" in self._host else socket.AF_INET
        self._socket = socket.create_server((self._host, self._port), family=family, backlog=BACKLOG)
        # chat.stream.flushed: small events must not wait for each other.
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._port = self._socket.getsockname()[1]
        self._thread = threading.Thread(target=lambda: uvloop.run(self._serve()), name="http", daemon=True)
        self._thread.start()
        self._started.wait()

    def drop_stuck(self) -> None:
        """Give up on the clients that do not read: answers to them would not end."""
        self._soon(self._abort_stuck)

    def stop(self) -> None:
        """End every connection, and wait until it has ended."""
        self._soon(self._stopped.set)
        self._thread.join()
        self._threads.stop()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_raised: object) -> None:
        self.stop()

    def _soon(self, job: Callable[[], object]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed, and all that was on it
            self._loop.call_soon_threadsafe(job)

    # on the loop

    async def _serve(self) -> None:
        self._loop, self._stopped = asyncio.get_running_loop(), asyncio.Event()
        self._look()
        listening = await self._loop.create_server(self._connect, sock=self._socket, backlog=BACKLOG)
        self._started.set()
        while not self._stopped.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stopped.wait(), LOOK)
            self._look()
        listening.close()
        for connection in list(self._connections):
            connection.abort()
        # What was aborted ends in the loop's next rounds, and with it what waits for its client.
        while self._connections:  # noqa: ASYNC110 - at its end, and for a few rounds
            await asyncio.sleep(0)

    def _abort_stuck(self) -> None:
        for connection in list(self._connections):
            if connection.stuck:
                connection.abort()

    def _connect(self) -> Connection:
        if len(self._connections) >= self._limits.connections:
            idle = next((one for one in self._connections if one.idle), None)
            if idle is not None:
                idle.abort()
        return Connection(
            limits=self._limits,
            among=self._connections,
            accept=self._accepted,
            answer=self._answer,
            date=lambda: self._date,
        )

    def _environ(self, exchange: Exchange) -> WSGIEnvironment:
        if exchange.environ is None:
            exchange.environ = environ_of(exchange.head, (self._host, self._port))
        return exchange.environ

    def _accepted(self, exchange: Exchange) -> int:
        if self._accept is None:
            return self._limits.body
        return min(self._accept(self._environ(exchange)), self._limits.body)

    def _answer(self, exchange: Exchange) -> None:
        connection = exchange.connection

        def fail() -> None:
            assert isinstance(connection, Connection)  # noqa: S101 - the only kind that there is here
            self._soon(lambda: connection.fail(exchange))

        environ, exchange.environ = self._environ(exchange), None
        self._threads.run(lambda: answer(self._app, environ, exchange, fail))

    def _look(self) -> None:
        now = asyncio.get_running_loop().time()
        self._date = formatdate(usegmt=True).encode()
        for connection in list(self._connections):
            connection.look(now)
