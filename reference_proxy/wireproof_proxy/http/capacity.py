"""How many turns run at once."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from wireproof_surfaces.errors import BUSY, STOPPING, ApiError


@dataclass(eq=False)
class TurnGate:
    """Lets `limit` turns in at a time and turns the rest away, and all of them once it is shut."""

    limit: int
    _taken: int = 0
    _shut: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._emptied = threading.Condition(self._lock)

    @property
    def taken(self) -> int:
        """Turns inside."""
        with self._lock:
            return self._taken

    @property
    def shut_down(self) -> bool:
        """Whether no more turns are let in."""
        with self._lock:
            return self._shut

    def enter(self) -> None:
        """Take a slot.

        Raises:
            ApiError: 429 when none is free, 503 when the proxy is stopping.
        """
        with self._lock:
            if self._shut:
                raise ApiError(STOPPING)
            # At once, without a queue: a client knows how to wait for a 429, and a silent wait looks like a hang.
            if self._taken >= self.limit:
                raise ApiError(BUSY)
            self._taken += 1

    def leave(self) -> None:
        """Give the slot back."""
        with self._lock:
            self._taken -= 1
            if not self._taken:
                self._emptied.notify_all()

    def shut(self) -> None:
        """Let no more turns in."""
        with self._lock:
            self._shut = True

    def await_empty(self, timeout: float) -> bool:
        """Whether all slots are free, waiting for it up to `timeout` seconds."""
        with self._lock:
            return self._emptied.wait_for(lambda: self._taken == 0, timeout)
