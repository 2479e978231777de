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

ENDS = (signal.SIGTERM, signal.SIGHUP)
AGAIN = 0.01
"""Seconds until a lost interrupt is repeated: by then the callback that lost it has ended."""


@contextmanager
def terminable() -> Iterator[None]:
    """Within the block, SIGTERM and SIGHUP (of a terminal that closes) count as Ctrl-C. For the main thread only.

    A SIGHUP that is ignored, as under nohup, stays ignored.
    """
    before = {number: signal.getsignal(number) for number in ENDS}
    hook = sys.unraisablehook
    for number, handler in before.items():
        # nohup is a wish to outlive the terminal.
        if (number, handler) != (signal.SIGHUP, signal.SIG_IGN):
            signal.signal(number, signal.default_int_handler)
    # Whatever else is ignored still goes to the hook that was there.
    sys.unraisablehook = lambda ignored: _repeat() if _is_interrupt(ignored) else hook(ignored)
    try:
        yield
    finally:
        sys.unraisablehook = hook
        for number, handler in before.items():
            signal.signal(number, handler)


def _is_interrupt(ignored: sys.UnraisableHookArgs) -> bool:
    return issubclass(ignored.exc_type, KeyboardInterrupt)


def _repeat() -> None:
    # Not at once: the handler would run in the same callback and be lost again.
    again = threading.Timer(AGAIN, os.kill, (os.getpid(), signal.SIGTERM))
    again.daemon = True  # an exit in the meantime does not wait for it
    again.start()
