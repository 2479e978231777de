"""A child that ends with its parent, however that ends: on Linux the kernel sees to it.

Elsewhere a child learns of it by the end of its input, if it reads any.
"""

from __future__ import annotations

import ctypes
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import signal
    from collections.abc import Callable

_PR_SET_PDEATHSIG = 1


def ending_with_parent(number: signal.Signals) -> Callable[[], None] | None:
    """What `subprocess` is to do in the child (`preexec_fn`), which gets this signal when its parent has ended.

    The kernel counts the thread as the parent: the child must be started by one that lasts as long as the process.
    None where there is no such thing.
    """
    if sys.platform != "linux":
        return None
    # Looked up before the fork: in the child, where other threads are gone with whatever they held, it only calls.
    prctl, parent = ctypes.CDLL(None).prctl, os.getpid()

    def prepare() -> None:
        prctl(_PR_SET_PDEATHSIG, int(number), 0, 0, 0)
        # It may have ended before that.
        if os.getppid() != parent:
            os._exit(1)

    return prepare
