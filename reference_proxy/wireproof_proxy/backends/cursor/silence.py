"""A silence of the service, as an event loop notices it: what has arrived and was not read yet ends it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

LATE = 0.05
"""Seconds by which a timer is late on a loop that was held up: it comes before what arrived meanwhile."""


@dataclass(eq=False)
class ServiceSilence:
    """Calls `over` when it has lasted; all on the loop."""

    loop: asyncio.AbstractEventLoop
    over: Callable[[], None]
    _timer: asyncio.TimerHandle | None = field(init=False, default=None)

    def begin(self, seconds: float) -> None:
        """Have it last so long from now on; one that has begun is broken off before."""
        self._wait(seconds, LATE)

    def break_off(self) -> None:
        """Have it never end."""
        if self._timer is not None:
            self._timer.cancel()

    def _wait(self, seconds: float, late: float) -> None:
        self._timer = self.loop.call_later(seconds, self._end, self.loop.time() + seconds, late)

    def _end(self, due: float, late: float) -> None:
        if self.loop.time() - due < late:
            self.over()
        else:
            # Each time for longer: on a machine that is always late it ends all the same.
            self._wait(late, late * 2)
