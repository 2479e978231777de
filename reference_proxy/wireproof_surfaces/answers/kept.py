"""What is kept in memory of requests: responses that a client may name, threads that are held for it, names of models.

The memory is bounded, by a number and by a size; what was used least recently goes first. Responses and threads hold
the whole conversation up to themselves, so that they can be continued when the ones before them have been dropped.
"""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from wireproof_surfaces.values import value

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from wireproof_surfaces.conversation import Item, Tool


# responses.previous-id asks for bounded memory.
SIZE = 64 * 2**20
"""In characters of responses, or bytes of the text of threads."""
SECONDS = 300.0
"""From the last use of a thread to its end, as the service has it."""

NAMES = 64
"""How many names of models are kept. Clients name a few; one that makes names up is not to fill the memory."""

_T = TypeVar("_T")


@value(frozen=True, kw_only=True, slots=True)
class StoredResponse:
    """One stored response."""

    response: Mapping[str, Any]
    conversation: tuple[Item, ...]
    """The conversation that the response ends, itself included."""
    given: tuple[Mapping[str, Any], ...]
    """The input, as `input_items` lists it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HeldThread:
    """A conversation up to an answer, whose id it is known by: a client can go on from any of them."""

    items: tuple[Item, ...]
    tools: tuple[Tool, ...] = ()


@dataclass(eq=False)
class BoundedStore(Generic[_T]):
    """At most `limit` values, of `size` together, each for `seconds` after its last use."""

    limit: int
    size: int = SIZE
    seconds: float = math.inf
    clock: Callable[[], float] = time.monotonic
    _kept: OrderedDict[str, tuple[_T, int, float]] = field(default_factory=OrderedDict)
    """Id → the value, its size, and when it was used last."""
    _weight: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def put(self, id_: str, value: _T, size: int) -> None:
        """Keep it, as the one that was used last."""
        with self._lock:
            # Nothing is replaced: no id is used twice.
            self._kept[id_] = value, size, self.clock()
            self._weight += size
            # One that alone is larger than `size` goes too, after all others.
            while self._kept and self._is_too_much():
                self._weight -= self._kept.popitem(last=False)[1][1]

    def get(self, id_: str) -> _T | None:
        """The value with this id, None if it is not there; looking it up counts as a use."""
        with self._lock:
            found = self._kept.get(id_)
            if found is None or self.clock() - found[2] > self.seconds:
                return None
            self._kept[id_] = *found[:2], self.clock()
            self._kept.move_to_end(id_)
            return found[0]

    def delete(self, id_: str) -> bool:
        """Drop the value with this id; returns whether it was there."""
        with self._lock:
            found = self._kept.pop(id_, None)
            self._weight -= found[1] if found else 0
            return found is not None

    def _is_too_much(self) -> bool:
        expired = self.clock() - next(iter(self._kept.values()))[2] > self.seconds
        return expired or len(self._kept) > self.limit or self._weight > self.size


Store = BoundedStore[StoredResponse]


@dataclass(eq=False)
class Threads(BoundedStore[HeldThread]):
    """The threads of one service."""

    seconds: float = SECONDS


class AskedModels:
    """The names of the models that were asked for last although they are not listed (`PROXY_ANY_MODEL`).

    A client that has asked for a model finds it in the list then, as do the clients of a gateway that passes it on.
    """

    def __init__(self) -> None:
        """None has been asked for."""
        self._lock = threading.Lock()
        self._names: dict[str, None] = {}
        self._latest: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names, that of the latest request last."""
        with self._lock:
            return tuple(self._names)

    def note(self, name: str) -> None:
        """Keep the name of a model that was asked for, and is served."""
        if name == self._latest:
            return
        with self._lock:
            self._latest = name
            self._names.pop(name, None)
            self._names[name] = None
            if len(self._names) > NAMES:
                del self._names[next(iter(self._names))]
