"""How many exchanges run at the same time: as many as were asked for, fewer where the target serves fewer.

The number is found as TCP finds the rate of a line: each refusal halves it, each answer raises it a little.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

RISE = 0.25
"""How much the limit rises while as many exchanges are answered as run at once."""


@dataclass(kw_only=True)
class Slots:
    """Holds exchanges back while as many have a slot as the limit allows."""

    most: int
    """How many were asked for; the limit never rises above this."""
    allowed: float = 0.0
    """How many may run now; its fraction is progress towards the next one."""
    falls: int = 0
    """How often that fell."""
    taken: int = 0
    running: int = 0
    """How many requests are on their way: those that have a slot, without those that wait to be sent again."""
    answered: int = 0
    """How many were answered so far."""
    _served: Counter[int] = field(default_factory=Counter)
    """How many were allowed → how many exchanges were answered then, since the limit fell first."""
    _free: asyncio.Condition = field(default_factory=asyncio.Condition)

    def __post_init__(self) -> None:
        """Begin with as many as were asked for."""
        self.allowed = float(self.most)

    @property
    def found(self) -> int:
        """How many the target was found to serve at once, as far as was asked for."""
        if not self._served:
            return int(self.allowed)
        # The median, and not the largest that went well: an exchange that began as the eighth may have been alone by
        # the time when the target read it.
        return sorted(self._served.elements())[self._served.total() // 2]

    def renew(self) -> None:
        """Begin as with another target: what was refused so far was for lack of slots that this one has."""
        self.allowed, self.falls = float(self.most), self.falls + 1
        self._served.clear()

    def served(self, since: int) -> None:
        """Note that an exchange was answered, which began after `since` falls."""
        if since:
            self._served[int(self.allowed)] += 1
        self.allowed = min(self.allowed + RISE / self.allowed, float(self.most))

    def refused(self, running: int, since: int) -> None:
        """Note that an exchange was refused for lack of capacity; it began as the `running`th, after `since` falls."""
        # Alone it was refused for some other reason. And of those that ran together many may be refused: they are one
        # sign, not many.
        if running > 1 and since == self.falls:
            self.allowed = max(self.allowed / 2, 1.0)
            self.falls += 1

    @asynccontextmanager
    async def take(self) -> AsyncIterator[Slot]:
        """Wait until one more exchange may run; it has its slot for the length of the block."""
        async with self._free:
            await self._free.wait_for(lambda: self.taken < int(self.allowed))
            self.taken += 1
        try:
            yield Slot(slots=self)
        finally:
            async with self._free:
                self.taken -= 1
                # As many as there are places, which may have become more or fewer. Not all: hundreds wait.
                self._free.notify(max(int(self.allowed) - self.taken, 0))


@dataclass(kw_only=True)
class Slot:
    """The place of one exchange among those that run."""

    slots: Slots
    _running: int = 0
    """How many ran when its request was sent last, itself among them."""
    _since: int = 0
    """How often the limit had fallen by then."""
    _answered: int = 0
    """How many requests had been answered by then."""

    @property
    def beside(self) -> int:
        """How many other requests were on their way when its request was sent last."""
        return max(self._running - 1, 0)

    @contextmanager
    def request(self) -> Iterator[None]:
        """The time in which its request is on its way."""
        self.slots.running += 1
        self._running, self._since = self.slots.running, self.slots.falls
        self._answered = self.slots.answered
        try:
            yield
        finally:
            self.slots.running -= 1

    @property
    def stands_still(self) -> bool:
        """Whether nothing was answered since its request was sent last."""
        return self.slots.answered == self._answered

    def served(self) -> None:
        """Note that the last request was answered."""
        self.slots.answered += 1
        self.slots.served(self._since)

    def refused(self) -> None:
        """Note that it was refused for lack of capacity."""
        self.slots.refused(self._running, self._since)
