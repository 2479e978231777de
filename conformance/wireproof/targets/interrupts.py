"""Interrupts: signals that end a program raise KeyboardInterrupt, so that what was started is stopped.

A signal's handler runs wherever the main thread happens to be. In a callback whose exceptions Python ignores (of a weak
reference, a finaliser) the interrupt would be lost. Python reports what it ignores to a hook, which interrupts again.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

ENDS = (signal.SIGTERM, signal.SIGHUP)
AGAIN = 0.01
"""Seconds until a lost interrupt is repeated: by then the callback that lost it has ended."""


@contextmanager
def terminable() -> Iterator[None]:
    """Within the block, SIGTERM and SIGHUP (of a terminal that closes) count as Ctrl-C.

    A SIGHUP that is ignored, as under nohup, stays ignored. Another thread than the main one cannot take signals: there
    the block does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in ENDS}
    hook = sys.unraisablehook
    for number, handler in before.items():
        # nohup is a wish to outlive the terminal.
        if (number, handler) != (signal.SIGHUP, signal.SIG_IGN):
            signal.signal(number, _as_ctrl_c)
    # Whatever else is ignored still goes to the hook that was there.
    sys.unraisablehook = lambda one: _repeat() if issubclass(one.exc_type, KeyboardInterrupt) else hook(one)
    try:
        yield
    finally:
        sys.unraisablehook = hook
        for number, handler in before.items():
            signal.signal(number, handler)


def _as_ctrl_c(_: int, frame: FrameType | None) -> None:
    """Do what Ctrl-C would do now.

    A running event loop has its own way: it cancels what runs, and raises the interrupt when that has ended. Raised in
    whichever task happens to run, it would leave that one with an exception that nothing reads, and Python says so.
    """
    handler = signal.getsignal(signal.SIGINT)
    # Ignored, as in a job of a shell's background, or not Python's: there is nothing to do as it does.
    act = handler if callable(handler) else signal.default_int_handler
    act(signal.SIGINT, frame)


def _repeat() -> None:
    # Not at once: the handler would run in the same callback and be lost again.
    again = threading.Timer(AGAIN, os.kill, (os.getpid(), signal.SIGTERM))
    again.daemon = True  # an exit in the meantime does not wait for it
    again.start()
