"""Random text for ids, as `secrets` makes it, without a call of the system for each.

Such a call lets other threads run meanwhile, and the one that made it then waits for its turn: with some requests at
once that costs more than all that makes an answer's head.
"""

from __future__ import annotations

import os
import threading

AT_ONCE = 4096
"""Bytes that are taken from the system together."""


class _Pool:
    """Random bytes, each handed out once."""

    def __init__(self) -> None:
        self.empty()

    def empty(self) -> None:
        """Forget what is left."""
        self._lock = threading.Lock()
        self._bytes, self._taken = b"", 0

    def take(self, size: int) -> bytes:
        with self._lock:
            if self._taken + size > len(self._bytes):
                self._bytes, self._taken = os.urandom(max(AT_ONCE, size)), 0
            begin, self._taken = self._taken, self._taken + size
            return self._bytes[begin : self._taken]


_POOL = _Pool()
# A process that is forked off must not hand out the same bytes.
os.register_at_fork(after_in_child=_POOL.empty)


def random_hex(size: int) -> str:
    """`size` random bytes in hexadecimal digits."""
    return _POOL.take(size).hex()
