"""The files that hold scripts, and their text: regular files of a bounded size, alone or in folders."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from wireproof_scripts.files.errors import ScriptError
from wireproof_scripts.files.regular import NotRegularError, TooLargeError, content_of

if TYPE_CHECKING:
    from collections.abc import Iterable

SUFFIXES = (".yaml", ".yml", ".json")
"""What a folder is searched for."""
MOST_BYTES = {".json": 16 * 2**20}
"""The largest file by its suffix; scripts are written by hand, and few are longer than a page."""
MOST_BYTES_OF_YAML = 2 * 2**20
"""The largest of all others: YAML takes seconds for each of these megabytes."""
MOST_FILES = 10_000
"""The most that a folder may hold, of any kind: one that was given by mistake may be a whole disk."""


def files_in(paths: Iterable[Path]) -> list[Path]:
    """These files, and those that these folders hold, at any depth, in order of their names.

    Raises:
        ScriptError: a folder holds none.
    """
    return [file for path in paths for file in (_of_folder(path) if path.is_dir() else [path])]


def _of_folder(folder: Path) -> list[Path]:
    found: list[Path] = []
    seen = 0
    for where, folders, names in os.walk(folder):
        # Hidden ones are an editor's or a tool's.
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        shown = (name for name in sorted(names) if not name.startswith("."))
        found += [Path(where, name) for name in shown if Path(name).suffix in SUFFIXES]
        seen += len(names)
        if seen > MOST_FILES:
            problem = f"the folder holds more than {MOST_FILES} files; name a smaller one"
            raise ScriptError("", problem, str(folder), unread=True)
    if not found:
        raise ScriptError("", f"the folder holds no {', '.join(SUFFIXES)} file", str(folder), unread=True)
    return found


def text_of(path: Path) -> str:
    """The text of a file.

    Raises:
        ScriptError: it cannot be read, is no file but a pipe or a device, is too large, or is no UTF-8.
    """
    try:
        content = content_of(path, MOST_BYTES.get(path.suffix, MOST_BYTES_OF_YAML))
        return content.decode("utf-8-sig")  # editors on Windows put a byte order mark first
    except NotRegularError as error:
        raise ScriptError("", str(error), unread=True) from error
    except TooLargeError as error:
        raise ScriptError("", f"{error}; divide it: several files and folders may be given", unread=True) from error
    except OSError as error:
        raise ScriptError("", f"cannot be read: {error.strerror}", unread=True) from error
    except UnicodeDecodeError as error:
        raise ScriptError(f"byte {error.start}", "the file is not UTF-8", unread=True) from error
