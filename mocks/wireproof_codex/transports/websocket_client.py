"""The messages that wait for one WebSocket client.

A client that reads is waited for, so a flood costs no memory; one that does not read delays no other client. It finds
what it missed when it reads again, up to a number of messages; beyond that it is cut off, as by a real server.
"""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING

from websockets.exceptions import ConnectionClosed

if TYPE_CHECKING:
    from websockets.asyncio.server import ServerConnection

CROWDED = 64
"""Messages that may wait before the client is waited for."""
MOST = 32_768
"""Messages that are kept for a client that does not read; a real 0.169.0 keeps 30 000, and not 250 000."""
PATIENCE = 0.5
"""Seconds without a message being taken after which a client is not waited for."""


class Client:
    """The messages for one connection, which are sent by a task of their own (`run`)."""

    def __init__(self, connection: ServerConnection) -> None:
        self._connection = connection
        self._waiting: deque[str] = deque()
        self._filled = asyncio.Event()
        self._taken = asyncio.Event()
        self._rests = False

    async def send(self, text: str) -> None:
        """Send a message, in its order; it may take until the client has read others."""
        self._waiting.append(text)
        self._filled.set()
        await asyncio.sleep(0)  # let other clients send
        await self._wait_for_room(CROWDED)
        if len(self._waiting) > MOST:
            self.cut_off()

    async def flush(self) -> None:
        """Wait until all is sent, as long as the client reads."""
        await self._wait_for_room(0)

    async def _wait_for_room(self, most: int) -> None:
        while len(self._waiting) > most and not self._rests:
            self._taken.clear()
            try:
                await asyncio.wait_for(self._taken.wait(), PATIENCE)
            except TimeoutError:
                self._rests = True

    async def run(self) -> None:
        """Send what there is to send until the connection is closed."""
        with suppress(ConnectionClosed):
            while True:
                await self._filled.wait()
                while self._waiting:
                    await self._connection.send(self._waiting[0])
                    self._waiting.popleft()  # only now: `flush` waits until all is sent, not until all is being sent
                    self._rests = False  # it reads again, and is waited for again
                    self._taken.set()
                self._filled.clear()

    def cut_off(self) -> None:
        """End the connection without a closing handshake."""
        self._connection.transport.abort()
