"""The HTTP server: connections on an event loop, which has a thread of its own (docs/wsgi-server.md).

The application answers on that loop, now or later. What must block does so in threads (`wireproof_proxy.http.wsgi`).
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import socket
import threading
from email.utils import formatdate
from typing import TYPE_CHECKING, Self

import uvloop

from wireproof_surfaces.http.client_connection import ClientConnection
from wireproof_surfaces.http.edge_limits import EdgeLimits

if TYPE_CHECKING:
    from collections.abc import Callable

    from wireproof_surfaces.http.client_connection import Application

BACKLOG = 4096
"""Connections that may wait to be taken: thousands of clients come at once in tests of load."""
LOOK = 0.25
"""Seconds between two looks at what takes too long: one clock for all connections."""


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens there; port 0: at any that is free.

    Raises:
        OSError: it cannot.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    at = socket.create_server((host, port), family=family, backlog=BACKLOG)
    # chat.stream.flushed: small events must not wait for each other.
    at.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return at


def base_url(host: str, port: int) -> str:
    """The base URL that clients use."""
    return f"http://[{host}]:{port}/v1" if ":" in host else f"http://{host}:{port}/v1"


class HttpServer:
    """Serves `application` at a listening socket, as a context manager or by `start` and `stop`."""

    def __init__(self, application: Application, at: socket.socket, limits: EdgeLimits | None = None) -> None:
        self._application = application
        self._at = at
        self.url = base_url(*at.getsockname()[:2])
        """The base URL that clients use."""
        self._limits = limits or EdgeLimits()
        self._connections: dict[ClientConnection, None] = {}
        self._date = b""
        self._started = concurrent.futures.Future[None]()
        self._thread = threading.Thread(target=self._run, name="http", daemon=True)

    def start(self) -> None:
        """Serve from now on. What keeps the loop from running is raised here."""
        self._thread.start()
        try:
            self._started.result()
        except BaseException:
            self._at.close()
            raise

    @property
    def answering(self) -> bool:
        """Whether anything is being answered."""
        return not all(connection.idle for connection in tuple(self._connections))

    def shut(self) -> None:
        """Take no more connections, nor requests over those that there are; what is being answered goes on."""
        self._call_soon(self._shut)

    def drop_stuck(self) -> None:
        """Give up on the clients that do not read: answers to them would not end."""
        self._call_soon(self._drop_stuck)

    def stop(self) -> None:
        """End every connection, and wait until it has ended."""
        self._call_soon(self._stopped.set)
        self._thread.join()
        self._at.close()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_raised: object) -> None:
        self.stop()

    def _call_soon(self, job: Callable[[], object]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed, and all that was on it
            self._loop.call_soon_threadsafe(job)

    # On the loop

    def _run(self) -> None:
        try:
            uvloop.run(self._serve())
        except BaseException as error:
            if self._started.done():
                raise
            self._started.set_exception(error)

    async def _serve(self) -> None:
        self._loop, self._stopped = asyncio.get_running_loop(), asyncio.Event()
        self._look()
        self._listening = await self._loop.create_server(self._connect, sock=self._at, backlog=BACKLOG)
        self._started.set_result(None)
        while not self._stopped.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stopped.wait(), LOOK)
            self._look()
        self._listening.close()
        self._application.stop()
        for connection in tuple(self._connections):
            connection.abort()
        # What was aborted ends in the loop's next rounds, and with it what waits for its client.
        while self._connections:  # noqa: ASYNC110 - at its end, and for a few rounds
            await asyncio.sleep(0)

    def _drop_stuck(self) -> None:
        for connection in tuple(self._connections):
            if connection.stuck:
                connection.abort()

    def _shut(self) -> None:
        self._listening.close()
        for connection in tuple(self._connections):
            connection.shut()

    def _connect(self) -> ClientConnection:
        if len(self._connections) >= self._limits.connections:
            idle = next((one for one in self._connections if one.idle), None)
            if idle is not None:
                idle.abort()
        return ClientConnection(self._application, self._limits, self._connections, lambda: self._date)

    def _look(self) -> None:
        now = self._loop.time()
        self._date = formatdate(usegmt=True).encode()
        for connection in tuple(self._connections):
            connection.look(now)
