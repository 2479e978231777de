"""The connection below an answer: what a script does to it that HTTP has no words for.

A server that wants to play these steps puts its transport into the scope of each request, as the ASGI extension
`wireproof.transport`. What is written there passes HTTP by, so each of these responses is the last one of its
connection.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from functools import lru_cache
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    Receive = Callable[[], Awaitable[dict[str, Any]]]
    Send = Callable[[dict[str, Any]], Awaitable[None]]

EXTENSION = "wireproof.transport"
_LINGER = struct.pack("ii", 1, 0)
"""On, for 0 seconds: a socket that is closed then sends RST instead of FIN."""
_PATIENCE = 1.0
"""Seconds that what was sent has to leave before the connection is reset: a client may not read."""
_LOOK = 0.001


def transport_in(scope: Mapping[str, Any]) -> asyncio.Transport:
    """The transport of a request's connection.

    Raises:
        LookupError: the server does not give it.
    """
    found = scope.get("extensions", {}).get(EXTENSION)
    if found is None:
        raise LookupError(f"the server gives no ASGI extension {EXTENSION}: it cannot play this step")
    transport: asyncio.Transport = found
    return transport


async def end(transport: asyncio.Transport, receive: Receive, *, reset: bool) -> None:
    """End a connection, behind what was sent."""
    if reset:
        await _sent(transport)
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER)
        transport.abort()
    else:
        transport.close()
    # A server that does not know of the end yet would answer in the application's place.
    while (await receive())["type"] != "http.disconnect":
        pass


async def _sent(transport: asyncio.Transport) -> None:
    loop = asyncio.get_running_loop()
    until = loop.time() + _PATIENCE
    while transport.get_write_buffer_size() and loop.time() < until:  # noqa: ASYNC110 - a transport says by no event that it is empty
        await asyncio.sleep(_LOOK)


def slowly(transport: asyncio.Transport, receive: Receive, seconds: float) -> Send:
    """Sends a response whose head comes byte by byte over this time; the body ends with the connection."""

    async def send(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            await _drip(transport, _last_head(message), seconds)
            return
        transport.write(message["body"])
        if not message.get("more_body"):
            await end(transport, receive, reset=False)

    return send


def head(status: int, headers: Mapping[str, str], own: str = "", before: Iterable[tuple[bytes, bytes]] = ()) -> bytes:
    """The head of a response: headers that others have, too, `own` lines that none has, and those of the server."""
    theirs = b"".join([b"%b: %b\r\n" % header for header in before])
    return b"%b%b%b%b\r\n" % (_status_line(status), theirs, _lines(tuple(headers.items())), own.encode())


# Of what makes up nearly every head there are a few kinds.
@lru_cache
def _lines(headers: tuple[tuple[str, str], ...]) -> bytes:
    return "".join([f"{name.lower()}: {value}\r\n" for name, value in headers]).encode("latin-1")


@lru_cache
def _status_line(status: int) -> bytes:
    phrase = HTTPStatus(status).phrase if status in set(HTTPStatus) else ""
    return f"HTTP/1.1 {status} {phrase}\r\n".encode()


def _last_head(message: Mapping[str, Any]) -> bytes:
    """The head of the last response of a connection."""
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in message["headers"]}
    return head(message["status"], {**headers, "connection": "close"})


async def _drip(transport: asyncio.Transport, content: bytes, seconds: float) -> None:
    loop = asyncio.get_running_loop()
    began = loop.time()
    for at in range(len(content)):
        if transport.is_closing():
            return
        await asyncio.sleep(max(0.0, began + seconds * (at + 1) / len(content) - loop.time()))
        transport.write(content[at : at + 1])
