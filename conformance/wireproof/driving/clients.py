"""The HTTP client of a run.

To a server on this machine that is HTTP/1.1 in a transport of our own: a connection for each exchange, nothing else.
httpx's own keeps a pool, looks for the fastest of several addresses and works on two kinds of event loops, which each
exchange pays for: that was a quarter of the processor's time of a whole run. Here the event loop's sockets are read and
written with h11 as it does, so that what is an answer, and what a broken one, is the same for both.
"""

from __future__ import annotations

import asyncio
import socket
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, cast

import h11
import httpx

from wireproof.targets.clients import NoCookies, settings
from wireproof.targets.validity import is_local

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from wireproof.model.target import Target

READ = 64 * 2**10
"""Bytes that are read at a time, as httpx does."""
HEAD = 100 * 2**10
"""The most bytes of a head, or of a line between chunks, as httpx has it."""
SWITCHING = 101
"""The one status below 200 that is an answer by itself: the server goes on in another protocol."""
PORT = 80


@asynccontextmanager
async def client_of(target: Target, *, kept: int = 0) -> AsyncIterator[httpx.AsyncClient]:
    """The client of all exchanges of a run, or with `kept` connections that of one scenario which uses them again."""
    limits = httpx.Limits(
        # `jobs` bounds the exchanges; a second bound here could only let a request wait inside its time limit.
        max_connections=None,
        # Each exchange has a connection of its own. A server may close an idle one at the very moment when the next
        # request is written to it, which would look like an answer that was cut off; and a client that leaves must
        # close its connection, not give it back.
        max_keepalive_connections=kept,
    )
    url = target.base_url
    if url.startswith("http://") and is_local(url) and not kept:
        client = httpx.AsyncClient(transport=Direct(), trust_env=False, cookies=NoCookies())
    else:
        client = httpx.AsyncClient(limits=limits, **settings(url))
    async with client:
        yield client


class Direct(httpx.AsyncBaseTransport):
    """Sends requests to `http://` URLs, each over a connection of its own."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; of the response the head has come, and the body is still to be read.

        Raises:
            httpx.TransportError: the exchange fails, as it would with httpx's own transport.
        """
        limits = request.extensions["timeout"]
        connected = await _connected(request.url, limits["connect"])
        try:
            connection = _Connection(connected, limits["read"])
            await connection.send(request, await request.aread(), limits["write"])
            head = await connection.head()
        except BaseException:
            connected.close()
            raise
        return httpx.Response(head.status_code, headers=head.headers.raw_items(), stream=connection)


async def _connected(url: httpx.URL, seconds: float | None) -> socket.socket:
    """A connection to the server.

    Raises:
        httpx.ConnectError: there is none.
        httpx.ConnectTimeout: it does not take the connection in time.
    """
    port, refused = url.port or PORT, ""
    async with _within(seconds, httpx.ConnectTimeout):
        # A name of this machine may stand for two addresses, of which a server listens at one.
        for family, _, _, _, address in await _addresses(url.host, port):
            try:
                return await _at(socket.socket(family, socket.SOCK_STREAM), address)
            except OSError as error:
                refused = str(error)
    raise httpx.ConnectError(refused)


async def _addresses(host: str, port: int) -> list[tuple[Any, ...]]:
    try:
        return list(await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM))
    except OSError as error:
        raise httpx.ConnectError(str(error)) from error


async def _at(new: socket.socket, address: tuple[object, ...]) -> socket.socket:
    try:
        new.setblocking(False)  # noqa: FBT003 - a method of sockets
        # As httpx: a request is not to wait for the acknowledgement of what was sent before it.
        new.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await asyncio.get_running_loop().sock_connect(new, address)
    except BaseException:
        new.close()
        raise
    return new


@asynccontextmanager
async def _within(seconds: float | None, late: type[httpx.TimeoutException]) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError as error:
        raise late(f"not within {seconds:g} s") from error


class _Connection(httpx.AsyncByteStream):
    """A connection with one exchange on it; as a stream it is the body of the answer."""

    def __init__(self, connected: socket.socket, seconds: float | None) -> None:
        self._connected = connected
        self._seconds = seconds
        """How long each read may take."""
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=HEAD)

    async def send(self, request: httpx.Request, body: bytes, seconds: float | None) -> None:
        """Send a request, whole."""
        target, method = request.url.raw_path, request.method.encode("ascii")
        try:
            head = h11.Request(method=method, target=target, headers=request.headers.raw)
            events = (head, h11.Data(data=body), h11.EndOfMessage())
            data = b"".join(self._http.send(event) or b"" for event in events)
        except h11.LocalProtocolError as error:
            raise httpx.LocalProtocolError(str(error)) from error
        async with _within(seconds, httpx.WriteTimeout):
            try:
                await asyncio.get_running_loop().sock_sendall(self._connected, data)
            except OSError:
                # A server may refuse a request that it has not read, and close: its answer can still be read.
                return

    async def head(self) -> h11.Response | h11.InformationalResponse:
        """The head of the answer, behind all that only say that one will come."""
        while True:
            event = await self._next()
            if isinstance(event, h11.Response):
                return event
            if isinstance(event, h11.InformationalResponse) and event.status_code == SWITCHING:
                return event

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """The body, in the pieces in which it comes."""
        while isinstance(event := await self._next(), h11.Data):
            yield bytes(event.data)

    async def aclose(self) -> None:
        """Close the connection: to the server that is a client that has left, where the body is not at its end."""
        self._connected.close()

    async def _next(self) -> h11.Event | type[h11.PAUSED]:
        while True:
            try:
                event = self._http.next_event()
            except h11.RemoteProtocolError as error:
                raise httpx.RemoteProtocolError(str(error)) from error
            if event is h11.NEED_DATA:
                self._http.receive_data(await self._read())
            else:
                return cast("h11.Event | type[h11.PAUSED]", event)

    async def _read(self) -> bytes:
        # What is there is read at once, without a turn of the loop: a server that never stops would stop all else here.
        await asyncio.sleep(0)
        async with _within(self._seconds, httpx.ReadTimeout):
            try:
                data = await asyncio.get_running_loop().sock_recv(self._connected, READ)
            except OSError as error:
                raise httpx.ReadError(str(error)) from error
        if not data and self._http.their_state is h11.SEND_RESPONSE:
            raise httpx.RemoteProtocolError("the server closed the connection without an answer")
        return data
