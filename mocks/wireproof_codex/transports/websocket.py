"""The WebSocket edge of the mock app-server: one message a text frame, any number of clients of one core.

Binary frames are passed over, and text that is no message. Over TCP a request with an `Origin` gets 403, one without
the token 401; `/readyz` and `/healthz` answer 200. On a Unix socket whatever asks for no WebSocket is cut off. A signal
lets the turns that run end first, a second one does not; then every connection breaks off, as the real server's do, and
the status is 0. Versions that do not know the signal are killed by it.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import signal
import sys
from contextlib import AsyncExitStack, suppress
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from wireproof_codex.protocol.outputs import Exit, Garbage, Note
from wireproof_codex.transports.listening import Listening, ListeningSocket
from wireproof_codex.transports.unix_socket import bound
from wireproof_codex.transports.websocket_client import Client

if TYPE_CHECKING:
    from wireproof_codex.protocol.connection import Addressed, Connection
    from wireproof_codex.server import Server
    from wireproof_codex.transports.journal import Direction, Journal

_PROBES = ("/readyz", "/healthz")


class Edge:
    """Moves messages between clients and the core until the process is to end."""

    def __init__(self, server: Server, listening: Listening | ListeningSocket, journal: Journal | None) -> None:
        self._server = server
        self._listening = listening
        self._journal = journal
        self._clients: dict[Connection, Client] = {}
        self._woken = asyncio.Event()
        self._playing: asyncio.Task[int] | None = None
        self._stopping = False
        self._status: int | None = None

    async def run(self) -> int:
        """Serve until the end; the exit status.

        Raises:
            RefusedError: codex would not listen there either.
            OSError: the address cannot be used.
        """
        self._handle_signals()
        async with AsyncExitStack() as stack:
            where: dict[str, Any]
            match self._listening:
                case Listening(host=host, port=port):
                    where = {"host": host, "port": port}
                case ListeningSocket(path=path):
                    where = {"sock": stack.enter_context(bound(path)), "unix": True}
            listener = await stack.enter_async_context(
                serve(
                    self._serve,
                    **where,
                    process_request=self._admit,
                    compression=None,
                    max_size=None,  # a user's text may be longer than the 1 MiB that websockets allows
                    ping_interval=None,  # a client that does not read is not cut off for its silence, see `MOST`
                    server_header=None,
                    close_timeout=1,
                )
            )
            if isinstance(self._listening, Listening):
                host, port = next(iter(listener.sockets)).getsockname()[:2]  # port 0 is a real one by now
                _announce(f"[{host}]" if ":" in host else host, port)
            return await self._play_to_the_end()

    def _handle_signals(self) -> None:
        loop = asyncio.get_running_loop()
        # Without Python's own handler: a version that does not drain on SIGINT is killed by it.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        for name in self._server.version.transport.drains_on:
            loop.add_signal_handler(signal.Signals[name], self._stop)

    def _stop(self) -> None:
        """End when the turns have, or now that a second signal says so."""
        if self._stopping and self._playing:
            self._status = 0
            self._playing.cancel()  # it may be waiting for a client that does not read
        self._stopping = True
        self._server.drain()
        self._woken.set()

    def _admit(self, connection: ServerConnection, request: Request) -> Response | None:
        """The answer to a request that is not to become a WebSocket."""
        match self._listening:
            case Listening(digest=digest):
                return _answer_to(request, digest)
            case ListeningSocket():
                if "Upgrade" not in request.headers:  # no answer over a Unix socket, not even to a probe
                    connection.transport.abort()
                return None

    async def _serve(self, socket: ServerConnection) -> None:
        """Hand on what a client sends, until it is gone."""
        connection = self._server.connect()
        self._clients[connection] = client = Client(socket)
        sending = asyncio.create_task(client.run())
        try:
            with suppress(ConnectionClosed):
                async for message in socket:
                    if isinstance(message, str):
                        self._take(message, connection)
        finally:
            sending.cancel()
            del self._clients[connection]
            self._server.disconnect(connection)

    def _take(self, message: str, connection: Connection) -> None:
        line = message.encode()
        self._note("received", line, self._server.clock())
        self._server.receive(line, connection)
        self._woken.set()

    async def _play_to_the_end(self) -> int:
        """Play until nothing is to follow, or until that is cut short; the exit status."""
        self._playing = asyncio.create_task(self._play())
        try:
            return await self._playing
        except asyncio.CancelledError:
            return 0
        finally:
            for client in self._clients.values():
                client.cut_off()

    async def _play(self) -> int:
        """Send the outputs of the core, and wait while it has none."""
        while self._status is None:
            addressed = self._server.addressed()
            if addressed is not None:
                await self._output(addressed)
            elif self._server.drained:
                self._status = 0
            else:
                await self._wait()
        for client in list(self._clients.values()):  # a copy: clients leave while others are waited for
            await client.flush()
        return self._status

    async def _wait(self) -> None:
        if self._journal is not None:
            self._journal.flush()
        wake = self._server.wake_at()
        patience = None if wake is None else max(0.0, wake - self._server.clock())
        with suppress(TimeoutError):
            await asyncio.wait_for(self._woken.wait(), patience)
        self._woken.clear()

    async def _output(self, addressed: Addressed) -> None:
        match addressed.output:
            case bytes() as line:
                self._note("sent", line, self._server.now, message=True)
                await self._send(addressed.to, line)
            case Garbage(line):
                self._note("sent", line, self._server.now)
                for connection in list(self._clients):
                    await self._send(connection, line)
            case Note(text):
                sys.stderr.write(f"{text}\n")
            # `Pieces` is passed over: a frame is a message, there are no bytes to cut.
            case Exit(status):
                self._status = status

    async def _send(self, connection: Connection | None, line: bytes) -> None:
        """Send a line to a client that may be gone."""
        client = self._clients.get(connection) if connection else None
        if client is not None:
            await client.send(line.decode(errors="replace").rstrip("\n"))  # a text frame must be UTF-8

    def _note(self, direction: Direction, line: bytes, now: float, *, message: bool = False) -> None:
        if self._journal is not None:
            self._journal.note(direction, line, now, message=message)


def _answer_to(request: Request, digest: str | None) -> Response | None:
    """The answer over TCP; `digest`: what must be the SHA-256 of the client's token."""
    if "Origin" in request.headers:  # a page in a browser: refused before all else, probes included
        return _answer(HTTPStatus.FORBIDDEN)
    if request.path in _PROBES:
        return _answer(HTTPStatus.OK)
    if digest is None:
        return None
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer":
        return _answer(HTTPStatus.UNAUTHORIZED, "missing websocket bearer token")
    if not hmac.compare_digest(hashlib.sha256(given.strip().encode()).hexdigest(), digest):  # in constant time
        return _answer(HTTPStatus.UNAUTHORIZED, "invalid websocket bearer token")
    return None


def _answer(status: HTTPStatus, text: str = "") -> Response:
    headers = Headers({"Content-Length": str(len(text)), "Connection": "close"})
    if text:
        headers["Content-Type"] = "text/plain; charset=utf-8"
    return Response(status.value, status.phrase, headers, text.encode())


def _announce(host: str, port: int) -> None:
    sys.stderr.write(
        "codex app-server (WebSockets)\n"
        f"  listening on: ws://{host}:{port}\n"
        f"  readyz: http://{host}:{port}/readyz\n"
        f"  healthz: http://{host}:{port}/healthz\n"
    )
    sys.stderr.flush()


def serve_websockets(server: Server, listening: Listening | ListeningSocket, journal: Journal | None) -> int:
    """Serve the clients that connect until the end; the exit status.

    Raises:
        RefusedError: codex would not listen there either.
        OSError: the address cannot be used.
    """
    return asyncio.run(Edge(server, listening, journal).run())
