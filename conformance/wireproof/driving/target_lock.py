"""A lock file per target: while one run drives scenarios that kill the backend, other runs on the target wait.

All other scenarios run side by side, since each conversation has a nonce of its own. But a backend that dies, or sends
bytes that belong to no turn, disturbs every turn that it plays, of whichever run. So runs share the lock of their
target while they drive scenarios that disturb no others, and hold it alone while they drive those that do. The file is
of this machine and of this user; runs from elsewhere do not see it, and what they disturb is tried again.

The last run that uses the file removes it. So a run may hold the lock of a file that is no longer at its path, where
another run has made a new one: a run that got a lock looks whether its file is the one at the path, and opens that one
if it is not. Only a run that holds the lock alone, and has looked, removes the file, so no other run can have passed
that look. (The package filelock can share a lock only through SQLite, in a file that stays.)
"""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import os
import tempfile
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from contextlib import AbstractAsyncContextManager

LONGEST = 300.0
"""Seconds for which a run waits for others; it goes on then, since one of them may be stuck."""
LOOK = 0.05
"""Seconds between two tries to get the lock."""


@dataclass(kw_only=True)
class TargetLock:
    """The lock of a target, for one run."""

    path: Path
    """Its file; a run that does not find it creates it."""
    file: int | None = None
    """The descriptor of the file; None: it was not opened yet, or cannot be opened."""

    def together(self) -> AbstractAsyncContextManager[None]:
        """Share the lock for the length of a block: other runs may drive the target, too."""
        return self._held(fcntl.LOCK_SH)

    def alone(self) -> AbstractAsyncContextManager[None]:
        """Hold the lock alone for the length of a block: no other run drives the target."""
        return self._held(fcntl.LOCK_EX)

    @asynccontextmanager
    async def _held(self, kind: int) -> AsyncIterator[None]:
        # Never waited for in the call itself, which would stop the event loop.
        for _ in range(int(LONGEST / LOOK)):
            try:
                if self._taken(kind):
                    break
            except OSError:  # no file can be created here, so there is nothing to wait for
                break
            await asyncio.sleep(LOOK)
        try:
            yield
        finally:
            if self.file is not None:
                fcntl.flock(self.file, fcntl.LOCK_UN)

    def _taken(self, kind: int) -> bool:
        """Whether the lock was free and is now held.

        Raises:
            OSError: the file cannot be opened, so there is no lock.
        """
        while True:
            if self.file is None:
                # No link is followed: in a folder that all users may write to, another user may have made it.
                self.file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(self.file, kind | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(self.file), os.lstat(self.path)):
                    return True
            self._close()

    def leave(self) -> None:
        """Remove the file, unless another run holds its lock."""
        # A run that has it open without the lock sees that it is gone when it takes the lock.
        with suppress(OSError):
            if self.file is not None and self._taken(fcntl.LOCK_EX):
                self.path.unlink()
        self._close()

    def _close(self) -> None:
        file, self.file = self.file, None
        if file is not None:
            os.close(file)


@contextmanager
def locked(base_url: str) -> Iterator[TargetLock]:
    """The lock of the target at a URL, for the length of a run."""
    lock = TargetLock(path=_path(base_url))
    try:
        yield lock
    finally:
        lock.leave()


def _path(base_url: str) -> Path:
    place = urlsplit(base_url).netloc.replace("localhost", "127.0.0.1")
    return (
        Path(tempfile.gettempdir()) / f"wireproof-{os.getuid()}-{hashlib.sha256(place.encode()).hexdigest()[:12]}.lock"
    )
