"""Where ids come from; the core takes them injected, so that tests can foresee them."""

from __future__ import annotations

import os


class Ids:
    """UUIDs of version 7 as the real server makes them; numbers that count up."""

    def __init__(self) -> None:
        self._number = 0

    def uuid(self, now: float) -> str:
        """A UUID for the time `now` in epoch seconds: 48 bits of milliseconds, then 74 random ones."""
        # By hand, as `uuid.uuid7` is new in Python 3.14.
        head = int(now * 1000) << 80
        tail = int.from_bytes(os.urandom(10), "big") & ~(0xF << 76) & ~(0x3 << 62)  # room for version and variant
        text = f"{head | 0x7 << 76 | 0x2 << 62 | tail:032x}"
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"

    def number(self) -> int:
        """The next number of the process, from 1."""
        self._number += 1
        return self._number
