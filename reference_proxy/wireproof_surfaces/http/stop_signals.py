"""Waiting for a signal to stop.

A signal may reach any thread, and a handler of Python's runs on the main thread only once that wakes up: one that
waits for a lock may sleep on. The wake-up pipe is written to by whichever thread is hit, so the main thread reads it.
"""

from __future__ import annotations

import os
import select
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

STOP = (signal.SIGTERM, signal.SIGINT)


class WaitForSignal(Protocol):
    """Waits for a signal, or `seconds` at most; None: without an end."""

    def __call__(self, seconds: float | None = None) -> bool:
        """Whether one has come."""


@contextmanager
def stop_signals(*also: signal.Signals, lifeline: int | None = None) -> Iterator[WaitForSignal]:
    """Catch SIGTERM, SIGINT and those that are given, on the main thread.

    Yields what waits for the next of them. The end of `lifeline`, a pipe that is open for reading, counts as a signal.
    """
    reading, writing = os.pipe()
    os.set_blocking(writing, False)  # `set_wakeup_fd` takes no other
    before = signal.set_wakeup_fd(writing)
    numbers = (*STOP, *also)
    # Handlers that do nothing: without one of Python's the pipe is not written to, and the signal ends the process.
    handlers = {number: signal.signal(number, lambda *_: None) for number in numbers}

    sources = select.poll()
    sources.register(reading, select.POLLIN)
    if lifeline is not None:
        sources.register(lifeline, select.POLLIN)

    def wait(seconds: float | None = None) -> bool:
        while ready := sources.poll(None if seconds is None else 1000 * seconds):
            # The pipe gets the number of every signal that has a handler, also of others.
            if any(source == lifeline for source, _ in ready) or os.read(reading, 1)[0] in numbers:
                return True
        return False

    try:
        yield wait
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(before)
        os.close(reading)
        os.close(writing)
