"""The journal of an app-server process: every line received and sent, as one JSON object a line.

`{"at": epoch seconds, "pid": process, "direction": "received" | "sent", "message": …}`; a line that is no JSON stands
as `"raw"` text instead of `"message"`. Lines are appended whole, so processes may share a file.
"""

from __future__ import annotations

import errno
import json
import os
import sys
from typing import TYPE_CHECKING, Literal

from wireproof_codex.protocol.rpc import parse

if TYPE_CHECKING:
    from pathlib import Path

Direction = Literal["received", "sent"]


class LineJournal:
    """Appends to a file; entries are gathered and written by `flush`."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("ab", buffering=0)  # one write appends whole lines, also beside other processes
        self._entries: list[bytes] = []
        self._over = False

    def note(self, direction: Direction, line: bytes, now: float, *, message: bool = False) -> None:
        """Note one line; `message`: it is known to be JSON."""
        head = f'{{"at":{now:.6f},"pid":{os.getpid()},"direction":"{direction}",'.encode()
        value = b'"message":' + line.strip() if message else _checked(line)
        self._entries.append(head + value + b"}\n")

    def flush(self) -> None:
        """Write what was noted; once the disk is full, nothing more."""
        data = b"".join(self._entries)
        self._entries.clear()
        if not data or self._over:
            return
        try:
            written, reason = self._file.write(data), os.strerror(errno.ENOSPC)
        except OSError as error:
            written, reason = 0, str(error.strerror)
        if written < len(data):
            self._over = True
            self._cut(written - data.rfind(b"\n", 0, written) - 1)
            print(f"the journal {self._file.name} ends here: {reason}", file=sys.stderr)  # noqa: T201 - its log

    def _cut(self, torn: int) -> None:
        """Take away the beginning of a line that was not written to its end, unless others have written since."""
        end = self._file.tell()
        if torn and end == os.fstat(self._file.fileno()).st_size:
            self._file.truncate(end - torn)

    def close(self) -> None:
        """Write what was noted and close the file."""
        self.flush()
        self._file.close()


def _checked(line: bytes) -> bytes:
    text = line.strip()
    try:
        # Strictly: what Python alone reads as JSON (NaN) would make the journal unreadable to others.
        parse(text.decode())
    except ValueError:
        return b'"raw":' + json.dumps(text.decode(errors="backslashreplace")).encode()
    return b'"message":' + text
