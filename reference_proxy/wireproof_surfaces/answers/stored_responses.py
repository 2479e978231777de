"""Responses that were answered, kept in memory to be continued, retrieved and deleted.

The memory is bounded, by a number of responses and of characters; those used least recently go first. A response holds
the whole conversation up to itself, so that it can be continued when the ones before it have been dropped.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from wireproof_surfaces.values import value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wireproof_surfaces.conversation import Item

# responses.previous-id asks for bounded memory.
SIZE = 64 * 2**20
"""In characters."""


@value(frozen=True, kw_only=True, slots=True)
class StoredResponse:
    """One stored response."""

    response: Mapping[str, Any]
    conversation: tuple[Item, ...]
    """The conversation that the response ends, itself included."""
    given: tuple[Mapping[str, Any], ...]
    """The input, as `input_items` lists it."""
    size: int
    """In characters."""


@dataclass(eq=False)
class Store:
    """At most `limit` responses of `size` characters together."""

    limit: int
    size: int = SIZE
    _kept: OrderedDict[str, StoredResponse] = field(default_factory=OrderedDict)
    _weight: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def put(self, stored: StoredResponse) -> None:
        """Keep it, as the one that was used last."""
        with self._lock:
            # Nothing is replaced: no id is used twice.
            self._kept[stored.response["id"]] = stored
            self._weight += stored.size
            # A response that alone is larger than `size` goes too, after all others.
            while self._kept and (len(self._kept) > self.limit or self._weight > self.size):
                self._weight -= self._kept.popitem(last=False)[1].size

    def get(self, id_: str) -> StoredResponse | None:
        """The response with this id, None if it is not there; looking it up counts as a use."""
        with self._lock:
            stored = self._kept.get(id_)
            if stored:
                self._kept.move_to_end(id_)
            return stored

    def delete(self, id_: str) -> bool:
        """Drop the response with this id; returns whether it was there."""
        with self._lock:
            stored = self._kept.pop(id_, None)
            self._weight -= stored.size if stored else 0
            return stored is not None
