"""How a process is stopped by signals: they raise where they find it, and end a wait that they come just before."""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


# No `Exception`: it is raised wherever a signal finds the process, and no handler of errors may take it for one.
class Stop(BaseException):
    """A signal asks the process to end: its number, 0 if it was none."""

    def __init__(self, signum: int = 0) -> None:
        super().__init__(signum)
        self.signum = signum


@contextmanager
def wake_up_pipe() -> Iterator[int]:
    """A descriptor that can be read once any signal has come, whatever it interrupted."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)  # `set_wakeup_fd` takes no other
    before = signal.set_wakeup_fd(writing)
    try:
        yield reading
    finally:
        signal.set_wakeup_fd(before)
        os.close(reading)
        os.close(writing)


@contextmanager
def stopping_on(signum: int) -> Iterator[None]:
    """Raise `Stop` when the signal comes."""

    def stop(number: int, _frame: object) -> None:
        raise Stop(number)

    before = signal.signal(signum, stop)
    try:
        yield
    finally:
        signal.signal(signum, before)
