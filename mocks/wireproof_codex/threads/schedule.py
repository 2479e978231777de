"""Which turn plays next, which turns wait, and until when."""

from __future__ import annotations

import itertools
import math
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wireproof_codex.threads.thread import Running, Thread
    from wireproof_scripts.nonces import Nonce


class Schedule:
    """The turns that play, one action each in rotation, so that none starves another."""

    def __init__(self) -> None:
        self._ready: deque[Running] = deque()
        self._waiting: dict[Running, float] = {}
        """Until when each waits; without an end, what ends it (an answer, a gate, another turn) wakes the turn."""
        self._next = math.inf
        """No turn is to be woken before it; so most calls of `wake_due` need no search."""

    def __iter__(self) -> Iterator[Running]:
        return itertools.chain(self._ready, self._waiting)

    def __bool__(self) -> bool:
        """Whether a turn has something to do."""
        return bool(self._ready)

    def add(self, turn: Running) -> None:
        """Let a new turn play."""
        self._ready.append(turn)

    def step(self) -> Running:
        """Let the next turn do one action, and return the turn; it may be done then."""
        turn = self._ready.popleft()
        turn.step()
        if not turn.done:
            self._settle(turn)
        return turn

    def _settle(self, turn: Running) -> None:
        """Put a turn that has done an action among those that are ready, or that wait."""
        if turn.wait is None:
            self._ready.append(turn)
            return
        self._waiting[turn] = turn.wait.time
        self._next = min(self._next, turn.wait.time)

    def alarm(self) -> float | None:
        """When the next waiting turn is to be woken, None if none waits for a moment."""
        at = min(self._waiting.values(), default=math.inf)
        return at if at < math.inf else None

    def wake_due(self, now: float) -> None:
        """Wake the turns that waited until now, in the order of their moments."""
        if now < self._next:
            return
        for turn in sorted(self._waiting, key=self._waiting.__getitem__):
            if self._waiting[turn] <= now:
                self.wake(turn)
        self._next = self.alarm() or math.inf

    def wake(self, turn: Running) -> None:
        """Let a turn that waits look again."""
        # It may have been woken already, or have ended.
        if turn in self._waiting:
            del self._waiting[turn]
            self._ready.append(turn)

    def wake_all(self, nonce: Nonce) -> None:
        """Let the turns that wait under the nonce look again."""
        for turn in [turn for turn in self._waiting if turn.nonce is nonce]:  # a copy, since waking changes it
            self.wake(turn)

    def forget(self, turn: Running) -> None:
        """The turn plays no more."""
        self._waiting.pop(turn, None)
        # A turn that is just doing its action is in neither.
        if turn in self._ready:
            self._ready.remove(turn)

    def of(self, thread: Thread) -> list[Running]:
        """The turns that play for a thread."""
        return [turn for turn in self if turn.thread is thread]
