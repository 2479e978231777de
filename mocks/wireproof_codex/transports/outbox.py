"""What is to be written, and where it is cut: lines in, the bytes of the next write out.

As a rule everything that waits is one write. While the output is cut each piece is a write of its own, and is to wait
until the client has taken what was written before: only then does the client see the cut.
"""

from __future__ import annotations

import itertools
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class Outbox:
    """Bytes that wait to be written; its `len` is their number."""

    def __init__(self) -> None:
        self._waiting = bytearray()
        self._pieces: deque[bytes] = deque()
        self._sizes: Iterator[int] | None = None
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def cut(self, sizes: tuple[int, ...]) -> None:
        """Cut what is added from now on into pieces of these sizes, over and over; () ends that."""
        self._sizes = itertools.cycle(sizes) if sizes else None

    def add(self, line: bytes) -> None:
        """Add a line."""
        self._length += len(line)
        if self._sizes is not None:
            self._pieces.extend(split(line, self._sizes))
        elif self._pieces:  # no longer cut, but pieces still wait: the line keeps its place after them
            self._pieces.append(line)
        else:
            self._waiting += line

    @property
    def in_pieces(self) -> bool:
        """Whether the next write is a piece."""
        return not self._waiting and bool(self._pieces)  # what waited before the cut goes first

    @property
    def next(self) -> bytes | bytearray:
        """The bytes of the next write."""
        return self._pieces[0] if self.in_pieces else self._waiting

    def written(self, count: int) -> None:
        """Take away the first `count` bytes: they were written."""
        self._length -= count
        if not self.in_pieces:
            del self._waiting[:count]
        elif count == len(self._pieces[0]):
            self._pieces.popleft()
        else:
            self._pieces[0] = self._pieces[0][count:]


def split(line: bytes, sizes: Iterator[int]) -> Iterator[bytes]:
    """The line in pieces of these sizes; several lines may share them, so that they run on over the ends of lines."""
    while line:
        size = next(sizes)
        yield line[:size]
        line = line[size:]
