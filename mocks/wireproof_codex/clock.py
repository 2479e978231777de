"""The time, as the server is given it: one function, so that tests decide what time it is."""

from __future__ import annotations

import time
from collections.abc import Callable

Clock = Callable[[], float]
"""Epoch seconds; a later call never gives an earlier time."""


def epoch_clock() -> Clock:
    """The clock of this machine, unmoved by changes of its date while the process runs."""
    start = time.time() - time.monotonic()
    return lambda: start + time.monotonic()


def milliseconds(at: float) -> int:
    """Whole milliseconds of a time or a duration in seconds."""
    return int(at * 1000)
