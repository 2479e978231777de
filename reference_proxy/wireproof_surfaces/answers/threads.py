"""Conversations that are held for a client, which then sends only what is new. Bounded in number, size and time.

A thread is known by the id of its last answer, so that a client can go on from any of them.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from wireproof_surfaces.conversation import converse

if TYPE_CHECKING:
    from collections.abc import Callable

    from wireproof_surfaces.conversation import Item, Tool

SIZE = 64 * 2**20
"""Bytes of text."""
SECONDS = 300.0
"""From the last use of a thread to its end, as the service has it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HeldThread:
    """A conversation up to an answer."""

    items: tuple[Item, ...]
    tools: tuple[Tool, ...] = ()


@dataclass(eq=False)
class Threads:
    """At most `limit` threads, of `size` bytes of text together; those used least recently go first."""

    limit: int
    size: int = SIZE
    clock: Callable[[], float] = time.monotonic
    _held: OrderedDict[str, HeldThread] = field(default_factory=OrderedDict)
    _sizes: dict[str, int] = field(default_factory=dict)
    _used: dict[str, float] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def hold(self, id_: str, thread: HeldThread) -> None:
        """Hold it under the id of its last answer, as the one that was used last."""
        # An upper bound: the answers of one thread share its items.
        size = converse(thread.items).size()
        with self._lock:
            self._held[id_], self._sizes[id_], self._used[id_] = thread, size, self.clock()
            while self._held and self._is_too_much():
                oldest, _ = self._held.popitem(last=False)
                del self._sizes[oldest], self._used[oldest]

    def get(self, id_: str) -> HeldThread | None:
        """The thread up to the answer with this id, None if it is not held; looking it up counts as a use."""
        with self._lock:
            found = self._held.get(id_)
            if found is None or self.clock() - self._used[id_] > SECONDS:
                return None
            self._held.move_to_end(id_)
            self._used[id_] = self.clock()
            return found

    def _is_too_much(self) -> bool:
        expired = self.clock() - self._used[next(iter(self._held))] > SECONDS
        return expired or len(self._held) > self.limit or sum(self._sizes.values()) > self.size
