"""Text put aside in a file that has no name, and so is gone when it is closed or the process ends."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from typing import IO


@dataclass(eq=False)
class Spool:
    """A file for text that is written once and read once, each in any order; `unread` is in bytes.

    Not for several threads at a time. All methods raise OSError when the disk fails or is full.
    """

    unread: int = 0
    _file: IO[bytes] | None = field(default=None, repr=False)
    _end: int = 0

    def write(self, text: str) -> tuple[int, int]:
        """Put a text aside; returns its place."""
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="wireproof-proxy-")  # noqa: SIM115 - lives as long as the turn
        # Halves of characters stay: `assembly.characters` joins them later.
        data = text.encode(errors="surrogatepass")
        self._file.seek(self._end)  # a read may have moved it
        self._file.write(data)
        place = (self._end, len(data))
        self._end += len(data)
        self.unread += len(data)
        return place

    def read(self, place: tuple[int, int]) -> str:
        """The text at a place, which is dropped by that; once all is read, the file starts again at its beginning."""
        if self._file is None:
            raise ValueError("nothing was put aside")
        start, size = place
        self._file.seek(start)
        data = self._file.read(size)
        self.unread -= size
        if not self.unread:
            self._end = 0
            self._file.truncate(0)
        return data.decode(errors="surrogatepass")

    def close(self) -> None:
        """Drop everything."""
        if self._file is not None:
            self._file.close()
        self._file, self._end, self.unread = None, 0, 0
