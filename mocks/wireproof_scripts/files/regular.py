"""Files that a person named, read as what they should be: regular files of a bounded size.

A name may lead to a pipe that has no writer, or to a device without an end: neither is waited for or read.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class NotRegularError(OSError):
    """A pipe, a folder, a socket or a device; the message is a clause that begins with "is"."""


class TooLargeError(OSError):
    """A file of more bytes than are read; the message is a clause that begins with "is"."""


def content_of(path: Path, most: int) -> bytes:
    """The bytes of a file, at most so many.

    Raises:
        NotRegularError: it is no regular file.
        TooLargeError: it has more.
        OSError: it cannot be read.
    """
    # Without waiting: a pipe that has no writer would never open.
    number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(number, "rb") as file:
        mode = os.fstat(number).st_mode
        if not stat.S_ISREG(mode):
            raise NotRegularError(f"is {_kind(mode)}, expected a regular file")
        content = file.read(most + 1)
    if len(content) > most:
        raise TooLargeError(f"is larger than {most} bytes")
    return content


def _kind(mode: int) -> str:
    kinds = {stat.S_ISFIFO: "a pipe", stat.S_ISDIR: "a folder", stat.S_ISSOCK: "a socket"}
    return next((name for test, name in kinds.items() if test(mode)), "a device")
