"""The client of one stream: what it does while the stream comes, and how long it waits.

Pure but for the loop's clock and the one request by which it opens a gate, which is somebody else's to send.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from assay.model.scenario import Act
from assay.wire.events import Comment, Done, Text

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from assay.model.target import Target
    from assay.wire.stream import Stream

LINGER = 1.0
"""Seconds that a body may stay open after [DONE]."""
KEEPALIVES = 4
"""How many keep-alive intervals of silence a client waits for a comment."""
PATIENCE = 3.0
"""Seconds that it waits at the least: a busy machine may be late."""
OPEN_GATE = "open/gate"
AWAIT_SENT = "leave/told"


def now() -> float:
    """Seconds by the running loop's clock."""
    return asyncio.get_running_loop().time()


class Watch:
    """What the client does while a stream comes (see `Act`), and how long it waits.

    `silence` is the longest wait, in seconds, `deadline` when it ends by the loop's clock. What the client acts on must
    come within it; then every event puts the end off, but comments do not: they say nothing. `stream` reads; `beside`
    sends a request of this script under the same nonce, and waits for its answer.
    """

    def __init__(
        self, act: Act, target: Target, stream: Stream, beside: Callable[[str], Coroutine[None, None, None]]
    ) -> None:
        self._act, self._target, self._beside = act, target, beside
        self.stream = stream
        self._opening: asyncio.Task[None] | None = None
        self._patience: asyncio.TimerHandle | None = None
        self.done = self.left = False
        self.silence = target.timeout
        if act is Act.OPEN_AT_COMMENT:
            patience = max(PATIENCE, KEEPALIVES * (target.keepalive or 0.0))
            self._patience = asyncio.get_running_loop().call_later(patience, self._open_now)
            self.silence += patience
        self.deadline = now() + self.silence

    async def told(self) -> None:
        """Come back when the client is to leave whatever it has heard; never, if it does not act so."""
        if self._act is not Act.LEAVE_WHEN_SENT:
            await asyncio.Event().wait()
        await self._beside(AWAIT_SENT)

    def feed(self, data: bytes) -> None:
        """Take in a piece of the stream."""
        for event in self.stream.feed(data):
            match event, self._act:
                case Done(), _:
                    self.done, self.deadline = True, now() + LINGER
                case (Text(), Act.OPEN_AT_TEXT) | (Comment(), Act.OPEN_AT_COMMENT):
                    self._open_now()
                case Text(), Act.LEAVE_AT_TEXT:
                    self.left = True
                case Comment(), _:
                    pass
                case _, Act.READ if not self.done:
                    self.deadline = now() + self.silence
                case _:
                    pass

    def _open_now(self) -> None:
        self._rest()
        self._act = Act.READ
        self.silence = self._target.timeout
        self.deadline = now() + self.silence
        self._opening = asyncio.create_task(self._beside(OPEN_GATE))

    def _rest(self) -> None:
        if self._patience is not None:
            self._patience.cancel()

    async def finish(self) -> None:
        """Wait for a gate that is being opened; raises HarnessError when the target could not be reached for that."""
        self._rest()
        if self._opening is not None:
            await self._opening
