"""Runs on one target take turns with what kills its backend.

All else runs side by side, since each conversation has a nonce of its own. But a backend that dies, or sends bytes that
belong to no turn, disturbs every turn that it plays, of whichever run. So runs hold a lock for each target: together
while they do nothing of the kind, alone while they do. It is a file of this machine and of this user; runs from
elsewhere do not see it, and what they disturb is tried again.

The last run that uses the file removes it. So a run may hold the lock of a file that is no longer at its path, where
another run has made a new one: whoever has got a lock looks whether its file is the one at the path, and opens that
one if it is not. A file is removed only by a run that holds it alone and has looked, so that no other has passed that
look.
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

LONGEST = 300.0
"""Seconds for which a run waits for others; it goes on then, since one of them may be stuck."""
LOOK = 0.05
"""Seconds between two tries to get the lock."""


@dataclass(kw_only=True)
class Turns:
    """The lock of a target."""

    path: Path
    """Its file, which each run makes that does not find it."""
    file: int | None = None
    """The descriptor of the file; None: it is not open, since it was not wanted yet or cannot be opened."""

    @asynccontextmanager
    async def together(self) -> AsyncIterator[None]:
        """The time in which other runs may drive the target, too."""
        async with self._held(fcntl.LOCK_SH):
            yield

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """The time in which no other run drives the target."""
        async with self._held(fcntl.LOCK_EX):
            yield

    @asynccontextmanager
    async def _held(self, kind: int) -> AsyncIterator[None]:
        # Never waited for in the call itself, which would stop the event loop.
        for _ in range(int(LONGEST / LOOK)):
            try:
                if self._taken(kind):
                    break
            except OSError:  # there can be no file here, so there are no turns to take
                break
            await asyncio.sleep(LOOK)
        try:
            yield
        finally:
            if self.file is not None:
                fcntl.flock(self.file, fcntl.LOCK_UN)

    def _taken(self, kind: int) -> bool:
        """Whether the lock was free and is now held; an OSError says that there can be none."""
        while True:
            if self.file is None:
                # No link is followed: in a folder that all may write to, it would be somebody else's.
                self.file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(self.file, kind | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            if self._is_at_its_path(self.file):
                return True
            self._close()

    def _is_at_its_path(self, file: int) -> bool:
        try:
            return os.path.samestat(os.fstat(file), os.lstat(self.path))
        except FileNotFoundError:
            return False

    def leave(self) -> None:
        """Remove the file, unless another run holds its lock."""
        # Whoever has it open without holding it finds out when it takes the lock.
        with suppress(OSError):
            if self.file is not None and self._taken(fcntl.LOCK_EX):
                self.path.unlink()
        self._close()

    def _close(self) -> None:
        file, self.file = self.file, None
        if file is not None:
            os.close(file)


@contextmanager
def turns(base_url: str) -> Iterator[Turns]:
    """The lock of the target at a URL, for the length of a run."""
    shared = Turns(path=_path(base_url))
    try:
        yield shared
    finally:
        shared.leave()


def _path(base_url: str) -> Path:
    place = urlsplit(base_url).netloc.replace("localhost", "127.0.0.1")
    return (
        Path(tempfile.gettempdir()) / f"wireproof-{os.getuid()}-{hashlib.sha256(place.encode()).hexdigest()[:12]}.lock"
    )
