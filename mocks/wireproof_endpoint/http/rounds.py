"""Streams that have more to send take turns on the event loop."""

from __future__ import annotations

import asyncio
from collections import deque

TOGETHER = 8
"""Streams that go on in one round of the loop: a request that comes meanwhile waits for no more than their pieces.
As long as requests come, it is one."""


class Rounds:
    """Streams that have more to send, and take turns."""

    def __init__(self) -> None:
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._goes_on = False
        self._came = False
        """Whether a request has come since the last round."""

    def come(self) -> None:
        """A request has come: of a crowd that asks together, the last waits for all that is done before it."""
        self._came = True

    async def turn(self) -> None:
        """Wait for one's turn."""
        loop = asyncio.get_running_loop()
        mine = loop.create_future()
        self._waiting.append(mine)
        if not self._goes_on:
            self._goes_on = True
            loop.call_soon(self._round, loop)
        await mine

    def _round(self, loop: asyncio.AbstractEventLoop) -> None:
        waiting, most = self._waiting, 1 if self._came else TOGETHER
        self._came = False
        for _ in range(min(most, len(waiting))):
            next_one = waiting.popleft()
            # Its stream may have been stopped.
            if not next_one.done():
                next_one.set_result(None)
        self._goes_on = bool(waiting)
        if self._goes_on:
            loop.call_soon(self._round, loop)
