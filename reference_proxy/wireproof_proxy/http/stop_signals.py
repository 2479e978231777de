"""Waiting for a signal to stop.

A signal may reach any thread, and a handler of Python's runs on the main thread only once that wakes up: one that
waits for a lock may sleep on. The wake-up pipe is written to by whichever thread is hit, so the main thread reads it.
"""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

STOP = (signal.SIGTERM, signal.SIGINT)


@contextmanager
def stop_signals() -> Iterator[Callable[[], None]]:
    """Catch SIGTERM and SIGINT, on the main thread; the function that is yielded waits until one of them has come."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)  # `set_wakeup_fd` takes no other
    before = signal.set_wakeup_fd(writing)
    # Handlers that do nothing: without one of Python's the pipe is not written to, and the signal ends the process.
    handlers = {number: signal.signal(number, lambda *_: None) for number in STOP}

    def wait() -> None:
        # The pipe gets the number of every signal that has a handler, also of others.
        while os.read(reading, 1)[0] not in STOP:
            continue

    try:
        yield wait
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(before)
        os.close(reading)
        os.close(writing)
