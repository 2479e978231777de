"""The client of one stream: what it does while the stream is sent, and how long it waits.

Pure but for the loop's clock; the one request that it may need beside the stream is given as a function.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from wireproof.model.scenario import OPENS_AT, Act
from wireproof.targets.budget import now
from wireproof.wire.events import Comment, Done, Text

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from wireproof.model.target import Target
    from wireproof.wire.stream import Stream

LINGER = 1.0
"""Seconds that a body may stay open after [DONE]."""
KEEPALIVES = 4
"""How many keep-alive intervals a client waits for a comment."""
PATIENCE = 3.0
"""Seconds that it waits at least for the first one: a busy machine may be late."""
# The scripts' gates also open by themselves, so a proxy that buffers does not hang: it is seen to be late.
OPEN_GATE = "open/gate"
"""The script that opens the gate of its nonce."""
AWAIT_SENT = "leave/told"
"""The script that waits until the turn beside it, under its nonce, has sent all it will send."""


class Watch:
    """What the client does while a stream is sent (see `Act`), and how long it waits.

    `silence` is the longest wait, in seconds; `deadline` is when it ends, by the loop's clock. What the client acts on
    must come before it. From then on each event moves the deadline, but a comment does not: a proxy that sends only
    keep-alives is as silent as one that sends nothing. `crowded` says that the target did not take the request beside.
    """

    def __init__(
        self, act: Act, target: Target, stream: Stream, beside: Callable[[str], Coroutine[None, None, bool]]
    ) -> None:
        """Start to wait. Of the target the limit on silence and the interval of keep-alives count.

        `beside` sends a request for a script under the same nonce, and returns when it is answered: whether the target
        took it.
        """
        # `_act` changes: once the gate is open, a client only reads on.
        self._act, self._target, self._beside = act, target, beside
        self.stream = stream
        self._opening: asyncio.Task[bool] | None = None
        self._patience: asyncio.TimerHandle | None = None
        self.done = self.left = self.crowded = False
        self.silence = target.silence
        self._comments = OPENS_AT.get(act, 0)
        if self._comments:
            interval = target.keepalive or 0.0
            patience = max(target.stretched(PATIENCE), KEEPALIVES * interval) + (self._comments - 1) * interval
            # A proxy that sends no comments is to be judged by its silence (chat.stream.keepalive, a SHOULD), not to
            # run into the timeout: so the gate is opened for it, too.
            self._wait(patience)
            self.silence += patience  # the silence until then is the scenario's own
        self.deadline = now() + self.silence

    async def leave_when_sent(self) -> None:
        """Return when the backend has sent all it will send; never, unless that is when the client leaves."""
        if self._act is not Act.LEAVE_WHEN_SENT:
            await asyncio.Event().wait()  # until it is cancelled
        self.crowded = not await self._beside(AWAIT_SENT)
        if self.crowded:
            await asyncio.Event().wait()  # nothing says when to leave

    def feed(self, data: bytes) -> None:
        """Read a piece of the stream, and act on it."""
        for event in self.stream.feed(data):
            match event, self._act:
                case Done(), _:
                    # A second is enough for an end that is already on its way, and short beside `timeout`.
                    self.done, self.deadline = True, now() + self._target.stretched(LINGER)
                # Once only: opening makes the act READ.
                case Text(), Act.OPEN_AT_TEXT:
                    self._open_now()
                case Comment(), Act.OPEN_AT_COMMENT | Act.OPEN_AT_COMMENTS:
                    self._comments -= 1
                    if not self._comments:
                        self._open_now()
                    elif self._target.keepalive is not None:
                        # Where no other follows, long before the proxy gives the silent backend up.
                        self._wait(KEEPALIVES * self._target.keepalive)
                case Text(), Act.LEAVE_AT_TEXT:
                    self.left = True
                case Comment(), _:
                    pass
                # After [DONE] the short deadline stays: frames behind it (chat.stream.done-last) must not prolong it.
                case _, Act.READ if not self.done:
                    self.deadline = now() + self.silence
                case _:
                    pass

    def _wait(self, seconds: float) -> None:
        """Open the gate in so many seconds, unless something comes before."""
        self._stop_waiting()
        self._patience = asyncio.get_running_loop().call_later(seconds, self._open_now)

    def _open_now(self) -> None:
        self._stop_waiting()
        # Before the request is sent: another piece must not open the gate a second time.
        self._act = Act.READ
        self.silence = self._target.silence
        self.deadline = now() + self.silence
        # In a task: the stream has to be read while the gate's request is answered.
        self._opening = asyncio.create_task(self._beside(OPEN_GATE))

    def _stop_waiting(self) -> None:
        if self._patience is not None:
            self._patience.cancel()

    async def finish(self) -> None:
        """Wait until the gate that was to be opened is open."""
        self._stop_waiting()
        if self._opening is not None:
            self.crowded = not await self._opening
