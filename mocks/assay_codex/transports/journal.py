"""The journal of an app-server process: every line received and sent, as one JSON object a line.

`{"at": epoch seconds, "pid": process, "direction": "received" | "sent", "message": …}`; a line that is no JSON stands
as `"raw"` text instead of `"message"`. Lines are appended whole, so processes may share a file.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Literal

from assay_codex.protocol.rpc import parse

if TYPE_CHECKING:
    from pathlib import Path

Direction = Literal["received", "sent"]


class Journal:
    """Appends to a file; entries are gathered and written by `flush`."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("ab", buffering=0)  # one write appends whole lines, also beside other processes
        self._entries: list[bytes] = []

    def note(self, direction: Direction, line: bytes, now: float, *, message: bool = False) -> None:
        """Note one line; `message`: it is known to be JSON."""
        head = f'{{"at":{now:.6f},"pid":{os.getpid()},"direction":"{direction}",'.encode()
        value = b'"message":' + line.strip() if message else _checked(line)
        self._entries.append(head + value + b"}\n")

    def flush(self) -> None:
        """Write what was noted."""
        if self._entries:
            self._file.write(b"".join(self._entries))
            self._entries.clear()

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
