"""Runs on one target take turns with what kills its backend.

All else runs side by side, since each conversation has a nonce of its own. But a backend that dies, or sends bytes that
belong to no turn, disturbs every turn that it plays, of whichever run. So runs hold a lock for each target: together
while they do nothing of the kind, alone while they do. It is a file of this machine and of this user; runs from
elsewhere do not see it, and what they disturb is tried again.
"""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import os
import tempfile
from contextlib import asynccontextmanager, contextmanager
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

    file: int | None
    """The descriptor of its file; None: it could not be opened, so there are no turns to take."""

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
        if self.file is None:
            yield
            return
        # Never waited for in the call itself, which would stop the event loop.
        for _ in range(int(LONGEST / LOOK)):
            if _taken(self.file, kind):
                break
            await asyncio.sleep(LOOK)
        try:
            yield
        finally:
            fcntl.flock(self.file, fcntl.LOCK_UN)


@contextmanager
def turns(base_url: str) -> Iterator[Turns]:
    """The lock of the target at a URL, for the length of a run."""
    try:
        # No link is followed: in a folder that all may write to, it would be somebody else's.
        file = os.open(_path(base_url), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError:
        yield Turns(file=None)
        return
    try:
        yield Turns(file=file)
    finally:
        os.close(file)


def _path(base_url: str) -> Path:
    place = urlsplit(base_url).netloc.replace("localhost", "127.0.0.1")
    return Path(tempfile.gettempdir()) / f"assay-{os.getuid()}-{hashlib.sha256(place.encode()).hexdigest()[:12]}.lock"


def _taken(file: int, kind: int) -> bool:
    """Whether the lock was free and is now held."""
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
