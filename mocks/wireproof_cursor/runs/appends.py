"""The order of a client's messages on RunSSE: appends are numbered from 0, and the number counts, not the arrival.

Appends may be sent in parallel, so one that comes early waits for those before it. A number that was used is a retry:
acknowledged, and ignored. Clients that count twice, once for results and once for answers about blobs, lose messages
by that; `lenient` takes every append as it comes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wireproof_cursor_protos.agent_pb2 import AgentClientMessage

MOST_WAITING = 256
"""How many appends may wait for one before them."""


class OutOfOrderError(ValueError):
    """An append cannot be taken; the text says why."""


class Appends:
    """The appends of one request id."""

    def __init__(self, *, lenient: bool = False) -> None:
        self._lenient = lenient
        self._used: set[int] = set()
        self._next = 0
        self._early: dict[int, AgentClientMessage] = {}

    def used(self, number: int) -> bool:
        """Whether an append had this number."""
        return 0 <= number < self._next or number in self._early or number in self._used

    def take(self, number: int, message: AgentClientMessage) -> Iterator[tuple[int, AgentClientMessage]]:
        """The messages that can be read now with their numbers, in order.

        Raises:
            OutOfOrderError: the number is no number of an append, or too many wait for one that is missing.
        """
        if number < 0:
            raise OutOfOrderError(f"append_seqno is {number}; appends are numbered from 0")
        if self._lenient:
            self._used.add(number)
            yield number, message
        elif not self.used(number):
            yield from self._in_order(number, message)

    def _in_order(self, number: int, message: AgentClientMessage) -> Iterator[tuple[int, AgentClientMessage]]:
        if len(self._early) >= MOST_WAITING:
            raise OutOfOrderError(f"{MOST_WAITING} appends wait for append_seqno {self._next}, which has not come")
        self._early[number] = message
        while self._next in self._early:
            self._next += 1
            yield self._next - 1, self._early.pop(self._next - 1)

    @property
    def missing(self) -> int | None:
        """The number that appends wait for; None if none does."""
        return self._next if self._early else None
