"""The Unix socket that `--listen unix://PATH` listens on: for its owner alone, and removed when the process ends.

A real server from 0.160.0 on makes PATH a symbolic link to a socket in the folder for temporary files; here it is the
socket itself, as it was before.
"""

from __future__ import annotations

import os
import socket
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from wireproof_codex.transports.listening import RefusedError

if TYPE_CHECKING:
    from collections.abc import Iterator

_OWNER_ALONE = 0o077


@contextmanager
def bound(path: str) -> Iterator[socket.socket]:
    """A socket bound to `path` within the block; missing folders are made, what a killed process left is replaced.

    Raises:
        RefusedError: another process listens there, or the path is no socket.
        OSError: the socket cannot be made.
    """
    place = Path(path)
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    _clear(place)
    with socket.socket(socket.AF_UNIX) as listener:
        # From the first moment for its owner alone; between bind and a mere chmod others could connect.
        before = os.umask(_OWNER_ALONE)
        try:
            listener.bind(path)
        finally:
            os.umask(before)
        place.chmod(0o600)  # the umask leaves 0700
        try:
            yield listener
        finally:
            place.unlink(missing_ok=True)


def _clear(place: Path) -> None:
    if not place.exists():
        return
    if not place.is_socket():
        raise RefusedError(f"Error: app-server control socket path exists and is not a socket: {place}\n", 1)
    # Refused: what bound it was killed, and left it.
    with socket.socket(socket.AF_UNIX) as asking, suppress(ConnectionRefusedError):
        asking.connect(str(place))
        raise RefusedError(f"Error: app-server control socket is already in use at {place}\n", 1)
    place.unlink()
