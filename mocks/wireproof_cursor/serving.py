"""The service on a loopback port: a server for HTTP/1.1 and HTTP/2 in a thread with an event loop of its own."""

from __future__ import annotations

import asyncio
import logging
import socket
import threading
import weakref
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from h2.exceptions import ProtocolError
from hypercorn.asyncio import serve
from hypercorn.config import Config, Sockets

from wireproof_cursor.app import App
from wireproof_cursor.runs.context import RunConditions
from wireproof_cursor.service import AgentService

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from wireproof_cursor.runs.context import Note
    from wireproof_scripts.files.errors import ScriptError
    from wireproof_scripts.steps import Library

log = logging.getLogger(__name__)

HOST = "127.0.0.1"


class _Listener(socket.socket):
    """A listening socket that knows its connections by the address of the client.

    A script may close one of them, and no ASGI message does that.
    """

    def __init__(self, port: int) -> None:
        super().__init__(socket.AF_INET, socket.SOCK_STREAM)
        self._accepted: weakref.WeakValueDictionary[tuple[str, int], socket.socket] = weakref.WeakValueDictionary()
        self.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.bind((HOST, port))
        self.listen(1024)
        self.setblocking(False)  # noqa: FBT003 - the name of the method says it

    def accept(self) -> tuple[socket.socket, Any]:
        connection, address = super().accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._accepted[address[:2]] = connection
        return connection, address

    def close_connection(self, address: tuple[str, int]) -> None:
        """Close the connection of the client at this address."""
        connection = self._accepted.get((address[0], address[1]))
        if connection is not None:
            with suppress(OSError):  # the client was faster
                connection.shutdown(socket.SHUT_RDWR)

    def close_connections(self) -> None:
        """Close all connections."""
        for address in list(self._accepted):
            self.close_connection(address)


class _Config(Config):
    def __init__(self, listener: _Listener) -> None:
        super().__init__()
        self._listener = listener
        self.errorlog = logging.getLogger("wireproof_cursor.http")
        # A pooled client reuses its connections; one that closes in that moment would fail a request.
        self.keep_alive_timeout = 600
        self.keep_alive_max_requests = 1_000_000_000
        self.h2_max_concurrent_streams = 1000
        self.graceful_timeout = 0.1

    def create_sockets(self) -> Sockets:
        return Sockets([], [self._listener], [])


async def _cancel_the_rest() -> None:
    """End the connections that the server has left, or their sockets would stay open."""
    rest = asyncio.all_tasks() - {asyncio.current_task()}
    for task in rest:
        task.cancel()
    await asyncio.gather(*rest, return_exceptions=True)


class CursorMock:
    """A service that runs in a thread."""

    def __init__(self, service: AgentService, listener: _Listener) -> None:
        self.service = service
        """It belongs to that thread: others may look at it when nothing runs."""
        self.url = f"http://{HOST}:{listener.getsockname()[1]}"
        """The base URL for a client."""
        self._listener = listener
        self._loop = asyncio.new_event_loop()
        self._stopping = asyncio.Event()

    def run(self) -> None:
        """Serve until `stop`."""
        # hypercorn raises where a client sends more on a stream or a connection that is over, and closes that.
        self._loop.set_exception_handler(lambda _, what: log.debug("a connection failed: %s", what))
        app = App(self.service, self._listener.close_connection)
        try:
            self._loop.run_until_complete(
                serve(app, _Config(self._listener), shutdown_trigger=self._stopping.wait, mode="asgi")  # type: ignore[arg-type]
            )
        # Of a connection that fails so while the server stops, hypercorn raises it here.
        except* (KeyError, ProtocolError):
            log.debug("a connection failed at the end", exc_info=True)
        finally:
            self._loop.run_until_complete(_cancel_the_rest())
            self._loop.close()

    def stop(self) -> None:
        """Close every connection and stop serving; may be called from any thread."""
        self._loop.call_soon_threadsafe(self._stop)

    def _stop(self) -> None:
        # The server would wait for clients that do not read.
        self._listener.close_connections()
        self._stopping.set()


@contextmanager
def serving(
    library: Library | Callable[[], Library | ScriptError],
    port: int = 0,
    *,
    conditions: RunConditions | None = None,
    journal: Note | None = None,
) -> Iterator[CursorMock]:
    """The service on a loopback port (0: any free one) for the length of a `with` block.

    Raises:
        OSError: the port is taken.
    """
    service = AgentService(library, conditions=conditions or RunConditions(), journal=journal)
    listener = _Listener(port)
    mock = CursorMock(service, listener)
    thread = threading.Thread(target=mock.run, daemon=True)
    thread.start()
    try:
        yield mock
    finally:
        mock.stop()
        thread.join()
        listener.close()
