"""A folder of notes, in memory as far as it was read, and never left.

A note is read again when its time of change or its size is another, so a search of a vault that has not changed reads
nothing. Links are not followed, neither when the folder is listed nor when a file is opened: each step of a path is
opened below the one before, and one that is a link is refused by the system itself, also when it became one a moment
ago. Hidden files and folders are no notes, as in Obsidian, whose own settings are kept in one.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from wireproof_scripts.kinds import is_unicode

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NOTE = ".md"
"""How the names of notes end."""
_STEP = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
# A pipe would keep an opening for reading waiting for who writes into it.
_FILE = _STEP | os.O_NONBLOCK


class NotFoundError(Exception):
    """There is no such file in the vault."""


class NotReadableError(Exception):
    """The file cannot be read as text; the text says why."""


@dataclass(frozen=True, kw_only=True, slots=True)
class VaultNote:
    """A note as it was when it was read."""

    path: str
    """From the vault's folder on, with slashes."""
    stamp: tuple[int, int]
    """Its time of change in nanoseconds, and its size."""
    text: str | None
    """None: it cannot be read as text."""
    folded: str
    """The text in lower case, every character at the same place; empty where there is none."""

    @property
    def basename(self) -> str:
        """The name without folder and ending."""
        return self.path.rpartition("/")[2].removesuffix(NOTE)


@dataclass(kw_only=True)
class Vault:
    """The vault in a folder."""

    folder: Path
    _notes: dict[str, VaultNote] = field(default_factory=dict)

    def notes(self) -> Iterator[VaultNote]:
        """Every note as it is now, by path."""
        known = self._notes
        # A new table, so that notes which are gone are forgotten.
        self._notes = {}
        for path, stamp in sorted(_listed(os.fspath(self.folder), "")):
            note = known.get(path)
            if note is None or note.stamp != stamp:
                note = self._note(path, stamp)
            self._notes[path] = note
        return iter(self._notes.values())

    def _note(self, path: str, stamp: tuple[int, int]) -> VaultNote:
        try:
            text = self.read(path)
        # Gone since it was listed, or no text: it is still found by its name.
        except (NotFoundError, NotReadableError):
            return VaultNote(path=path, stamp=stamp, text=None, folded="")
        return VaultNote(path=path, stamp=stamp, text=text, folded=folded(text))

    def read(self, path: str) -> str:
        """The text of a file.

        Raises:
            NotFoundError: the vault has no such file.
            NotReadableError: it is not UTF-8, or the system does not let it be read.
        """
        try:
            return self._bytes(path).decode()
        except UnicodeDecodeError as error:
            raise NotReadableError(f"not UTF-8 text, see byte {error.start}") from None
        except PermissionError as error:
            raise NotReadableError((error.strerror or "not readable").lower()) from None

    def _bytes(self, path: str) -> bytes:
        try:
            with open(self._opened(path), "rb") as file:  # noqa: PTH123 (what is opened is a descriptor, not a path)
                return file.read()
        except PermissionError:
            raise
        # Missing, a link, a file where a folder should be, a name that is too long or that no file system can spell.
        except (OSError, ValueError):
            raise NotFoundError(path) from None

    def _opened(self, path: str) -> int:
        *folders, name = path.split("/")
        if any(_no_name(step) for step in (*folders, name)):
            raise NotFoundError(path)
        at = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for step in folders:
                below = os.open(step, _STEP | os.O_DIRECTORY, dir_fd=at)
                os.close(at)
                at = below
            file = os.open(name, _FILE, dir_fd=at)
        finally:
            os.close(at)
        if not stat.S_ISREG(os.fstat(file).st_mode):
            os.close(file)
            raise NotFoundError(path)
        return file


def _no_name(step: str) -> bool:
    """Whether a step of a path names nothing in a vault: nothing at all, this folder, the one above, or hidden."""
    return not step or step.startswith(".") or "\0" in step


def _listed(folder: str, below: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """The path and stamp of every note in a folder and its folders."""
    with os.scandir(folder) as entries:
        for entry in entries:
            path = f"{below}{entry.name}"
            # A file system may hold names that are no text, and JSON cannot.
            if _no_name(entry.name) or not is_unicode(path):
                continue
            if entry.is_dir(follow_symlinks=False):
                yield from _listed(entry.path, f"{path}/")
            elif entry.name.endswith(NOTE) and entry.is_file(follow_symlinks=False):
                found = entry.stat(follow_symlinks=False)
                yield path, (found.st_mtime_ns, found.st_size)


def folded(text: str) -> str:
    """A text in lower case, each character at its place: those whose small letter is longer stay as they are."""
    low = text.lower()
    if len(low) == len(text):
        return low
    return "".join(small if len(small := sign.lower()) == 1 else sign for sign in text)
