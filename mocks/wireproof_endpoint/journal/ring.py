"""The last requests of an endpoint: what is older is forgotten, so that memory does not grow with their number."""

from __future__ import annotations

import itertools
from collections import deque
from typing import TYPE_CHECKING, Any

from wireproof_endpoint.journal.entry import NOT_KEPT, AnswerEnding, Bounds, JournalEntry

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


SIZE = 6 * 2**20
"""Bytes that all entries together may hold."""


class Journal:
    """The last `limit` entries, oldest first, as long as they hold `size` bytes at most; none are kept where it is 0.

    `ended` is called with each entry when its answer has ended, also after it was forgotten.
    """

    def __init__(
        self,
        limit: int,
        bounds: Bounds | None = None,
        ended: Callable[[JournalEntry], None] | None = None,
        *,
        size: int = SIZE,
    ) -> None:
        self.entries: deque[JournalEntry] = deque()
        self.judge: Callable[[Sequence[JournalEntry]], Sequence[Mapping[str, Any]]] | None = None
        """Says what the client did wrong whose requests these are; None: nothing here can."""
        self._limit = limit
        self._size = size
        self._weight = 0
        """Of the entries together, as far as their answers have ended."""
        self._bounds = bounds or Bounds()
        self._ended = ended
        self._numbers = itertools.count(1)

    def begin(
        self, *, method: str, path: str, query: str, headers: Mapping[str, str], now: float, when: float
    ) -> JournalEntry:
        """A new entry, for a request that comes now; `when` is the same in epoch seconds."""
        if not self._limit:
            return NOT_KEPT
        entry = JournalEntry(
            number=next(self._numbers),
            when=when,
            began=now,
            method=method,
            path=path,
            query=query,
            raw_headers=headers,
            bounds=self._bounds,
        )
        self.entries.append(entry)
        if len(self.entries) > self._limit:
            self._forget()
        return entry

    def _forget(self) -> None:
        """Let the oldest go, as far as there are too many, or too large ones."""
        while len(self.entries) > self._limit or (self._weight > self._size and len(self.entries) > 1):
            self._weight -= self.entries.popleft().weighed

    def _weigh(self, entry: JournalEntry) -> None:
        """Count an entry that holds all that it will."""
        # It may be forgotten already.
        if self.entries and entry.number >= self.entries[0].number:
            entry.weighed = entry.weight
            self._weight += entry.weighed
            if self._weight > self._size:
                self._forget()

    def end(self, entry: JournalEntry, now: float, ended: AnswerEnding) -> None:
        """Note the end of an answer; what came first is what counts."""
        if entry.ended is not None or not entry.kept:
            return
        entry.end(now, ended)
        self._weigh(entry)
        if self._ended is not None:
            self._ended(entry)

    def whole(self, entry: JournalEntry, now: float, status: int, headers: Mapping[str, str], body: bytes) -> None:
        """Note a whole answer that is sent now."""
        if entry.kept:
            entry.whole(now, status, headers, body)
            self.end(entry, now, AnswerEnding.COMPLETED)

    def find(self, number: int) -> JournalEntry | None:
        """The entry of this number; None where it is forgotten, or never was."""
        return next((entry for entry in self.entries if entry.number == number), None)
