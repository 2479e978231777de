"""A journal in a file: one line of JSON for each request, written when its answer has ended."""

from __future__ import annotations

import json
import logging
import os
import stat
from typing import TYPE_CHECKING

from wireproof_endpoint.journal.shown import whole

if TYPE_CHECKING:
    from pathlib import Path

    from wireproof_endpoint.journal.entry import JournalEntry

log = logging.getLogger(__name__)


class LineFile:
    """Appends to a file; several processes may append to the same one.

    A line is one write to a file that is opened for appending: it is there as a whole, or not at all, also when the
    process is killed. What a full disk takes of it is taken back.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
        if not stat.S_ISREG(os.fstat(self._file).st_mode):
            os.close(self._file)
            # A pipe that is not read would hold up every answer.
            raise OSError(f"{path} is no regular file")
        self._end_the_last_line()
        self._failed = False

    def __call__(self, entry: JournalEntry) -> None:
        """Append an entry."""
        line = json.dumps(whole(entry), ensure_ascii=False).encode(errors="backslashreplace") + b"\n"
        try:
            written = os.write(self._file, line)
            if written < len(line):
                os.ftruncate(self._file, os.fstat(self._file).st_size - written)
                self._fail("no space is left for a line")
        except OSError as error:
            self._fail(error)

    def close(self) -> None:
        """Write no more."""
        os.close(self._file)

    def _fail(self, why: object) -> None:
        """Say so once. Answers go on: they matter more than what is noted of them."""
        if not self._failed:
            log.warning("the journal %s cannot be written: %s", self._path, why)
        self._failed = True

    def _end_the_last_line(self) -> None:
        """Begin on a line of our own, whatever another program left."""
        size = os.fstat(self._file).st_size
        if size and os.pread(self._file, 1, size - 1) != b"\n":
            os.write(self._file, b"\n")
