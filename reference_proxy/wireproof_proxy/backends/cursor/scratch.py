"""A folder that cannot be left: every step below it is taken from the folder before, and never through a link.

A path is checked as text first: absolute ones must begin with the folder's own path, and none may climb. Then each
folder on the way is opened relative to its parent and without following a symbolic link (`openat` with `O_NOFOLLOW`),
so a link that is put there between a check and an opening is not followed either. What is no regular file (a pipe, a
device) is not opened as one.
"""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_STEP = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# O_NONBLOCK: opening a pipe without a writer would wait for good.
_FILE = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
DEEPEST = 32
"""Folders below one another that are looked through."""
MOST = 20_000
"""Entries that are looked through."""


class OutsideError(ValueError):
    """A path leads out of the folder, or might."""


class NoFileError(OSError):
    """What is there is no regular file."""


@dataclass(frozen=True, slots=True)
class FolderEntry:
    """What a folder holds: a folder or a regular file; nothing else is listed."""

    name: str
    is_folder: bool


@dataclass(frozen=True, slots=True)
class Scratch:
    """The folder; its own path is followed as it is, and must be one without links."""

    folder: Path

    def parts(self, path: str) -> tuple[str, ...]:
        """The names on the way to a path.

        Raises:
            OutsideError: the path climbs, or begins elsewhere.
        """
        below = path
        if path.startswith("/"):
            own = str(self.folder).rstrip("/") + "/"
            if not f"{path}/".startswith(own):
                raise OutsideError("outside the scratch folder")
            below = f"{path}/"[len(own) :]
        names = tuple(name for name in below.split("/") if name not in {"", "."})
        # Not resolved: where `..` leads depends on links.
        if ".." in names or "\0" in path:
            raise OutsideError("a path that climbs")
        return names

    def read(self, path: str, limit: int) -> tuple[bytes, int]:
        """At most `limit` bytes of a file, and its size.

        Raises:
            OutsideError: the path leads out.
            OSError: it cannot be read, or is no file.
        """
        with self._parent(path) as (folder, name), self._file(name, os.O_RDONLY, folder) as file:
            with os.fdopen(os.dup(file), "rb") as opened:
                data = opened.read(limit)
            return data, os.fstat(file).st_size

    def write(self, path: str, data: bytes) -> None:
        """Write a file, and make the folders on the way.

        Raises:
            OutsideError: the path leads out.
            OSError: it cannot be written, or is no file.
        """
        with (
            self._parent(path, make=True) as (folder, name),
            self._file(name, os.O_WRONLY | os.O_CREAT, folder) as file,
        ):
            # Not by O_TRUNC: only when it is known to be a file.
            os.ftruncate(file, 0)
            with os.fdopen(os.dup(file), "wb") as opened:
                opened.write(data)

    def entries(self, path: str) -> list[FolderEntry]:
        """The folders and regular files of a folder, by name.

        Raises:
            OutsideError: the path leads out.
            OSError: it cannot be read, or is no folder.
        """
        with self._folder(self.parts(path)) as folder:
            return _entries(folder)

    def files(self, path: str) -> Iterator[str]:
        """The paths of all files below a folder, from that folder; or the file itself.

        Raises:
            OutsideError: the path leads out.
            OSError: it cannot be read.
        """
        start = self.parts(path)
        seen = 0
        ways: list[tuple[str, ...]] = [()]
        while ways:
            way = ways.pop()
            try:
                with self._folder((*start, *way)) as folder:
                    found = _entries(folder)
            except OSError:
                # It vanished, or may not be read; what was asked for itself must exist.
                if not way:
                    raise
                continue
            for entry in found:
                seen += 1
                if seen > MOST:
                    return
                if not entry.is_folder:
                    yield "/".join((*way, entry.name))
                elif len(way) < DEEPEST:
                    ways.append((*way, entry.name))

    @contextmanager
    def _parent(self, path: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
        """The folder that a path's last name is in, opened, and that name."""
        names = self.parts(path)
        if not names:
            raise NoFileError("the folder itself")
        with self._folder(names[:-1], make=make) as folder:
            yield folder, names[-1]

    @contextmanager
    def _folder(self, names: tuple[str, ...], *, make: bool = False) -> Iterator[int]:
        here = os.open(self.folder, _STEP)
        try:
            for name in names:
                if make:
                    with suppress(FileExistsError):
                        os.mkdir(name, 0o700, dir_fd=here)
                below = os.open(name, _STEP, dir_fd=here)
                os.close(here)
                here = below
            yield here
        finally:
            os.close(here)

    @contextmanager
    def _file(self, name: str, flags: int, folder: int) -> Iterator[int]:
        file = os.open(name, flags | _FILE, 0o600, dir_fd=folder)
        try:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                raise NoFileError("no regular file")
            yield file
        finally:
            os.close(file)


def _entries(folder: int) -> list[FolderEntry]:
    with os.scandir(folder) as found:
        kinds = [(one.name, one.is_dir(follow_symlinks=False), one.is_file(follow_symlinks=False)) for one in found]
    return [FolderEntry(name, is_folder) for name, is_folder, is_file in sorted(kinds) if is_folder or is_file]
