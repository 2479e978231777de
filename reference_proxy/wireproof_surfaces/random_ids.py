"""Random text for ids, as `secrets` makes it, without a call of the system for each.

Such a call lets other threads run meanwhile, and the one that made it then waits for its turn: with some requests at
once that costs more than all that makes an answer's head.
"""

from __future__ import annotations

import os
from collections import deque

USUAL = 32
"""Bytes of an id, at most."""
AT_ONCE = 4096
"""Bytes that are taken from the system together."""

# Each is handed out once. A deque gives one to one thread, and needs no lock for it.
_POOL: deque[str] = deque()
# A process that is forked off must not hand out the same.
os.register_at_fork(after_in_child=_POOL.clear)


def random_hex(size: int) -> str:
    """`size` random bytes in hexadecimal digits."""
    if size > USUAL:
        return os.urandom(size).hex()
    try:
        return _POOL.popleft()[: 2 * size]
    except IndexError:
        digits = os.urandom(AT_ONCE).hex()
        _POOL.extend([digits[at : at + 2 * USUAL] for at in range(0, len(digits), 2 * USUAL)])
        return random_hex(size)


def request_id() -> str:
    """A new value for `x-request-id`."""
    return f"req_{random_hex(16)}"
