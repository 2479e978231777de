"""Readings of large answers, which are kept as bytes alone and read again when they are looked at.

What is read takes many times the bytes: each frame, its text, its JSON, each event. A run keeps all of its exchanges, a
target may answer each of them at length, and the bytes say all that there is to know. To read them again costs little
beside what it saves, since a judge looks at one exchange for long, then at the next.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from wireproof.wire.reading import Reading

if TYPE_CHECKING:
    from collections.abc import Callable

    from wireproof.wire.events import Answer

LARGE = 2**15
"""Bytes beyond which an answer is large."""
RECENT = 2
"""How many readings of large answers are kept: as many as are compared with one another."""
_MADE_AGAIN = frozenset({"frames", "payloads", "events"})


class ReadAgain(Reading):
    """A reading whose frames and events are made again; what it breaks is known."""

    def __init__(self, first: Reading, again: Callable[[], Reading]) -> None:
        """`first` is what was read when the bytes came; `again` reads them once more."""
        # Not by assignment, which frozen dataclasses refuse.
        self.__dict__.update(violations=first.violations, again=again, kept={})
        # What comes of an answer is looked at as soon as it has come.
        _READ.append((self, first))

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 (as Python has it)
        """What the reading has that is made again."""
        if name not in _MADE_AGAIN:
            raise AttributeError(name)
        return getattr(_recent(self), name)

    def assembled(self, *, cumulative: bool) -> Answer:
        """As of any reading; kept, since many look at all answers of a run. It is no larger than the bytes."""
        kept: dict[bool, Answer] = self.__dict__["kept"]
        if cumulative not in kept:
            kept[cumulative] = _recent(self).assembled(cumulative=cumulative)
        return kept[cumulative]

    # By identity: to compare two of them would read both.
    __eq__ = object.__eq__
    __hash__ = object.__hash__


_READ: deque[tuple[ReadAgain, Reading]] = deque(maxlen=RECENT)
"""What was read of the large answers that were looked at last."""


def _recent(reading: ReadAgain) -> Reading:
    for one, made in _READ:
        if one is reading:
            return made
    read: Reading = reading.__dict__["again"]()
    _READ.append((reading, read))
    return read
