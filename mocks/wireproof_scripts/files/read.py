"""Loads users' scripts from YAML and JSON files, and again when one has changed.

A file holds `scripts:` with a list of scripts, or the list alone, each script in the form of `json_form`:

    scripts:
      - name: weather
        when: weather           # chosen when the last user message contains this, in any case; without it, by a marker
        parts:
          - - call: {id: call_1, name: get_weather, arguments: {city: Paris}}
          - - say: [It is, " sunny."]
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from wireproof_scripts.asked.matching import hidden
from wireproof_scripts.files.errors import ScriptError
from wireproof_scripts.files.json_form import script_from_json
from wireproof_scripts.files.players import foreign
from wireproof_scripts.files.regular import NotRegularError, TooLargeError, content_of
from wireproof_scripts.files.text import READERS, Places, read_yaml
from wireproof_scripts.files.values import close_name, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from wireproof_scripts.files.players import Player
    from wireproof_scripts.steps import Library, Script

SUFFIXES = (".yaml", ".yml", ".json")
"""What a folder is searched for."""
MOST_BYTES = {".json": 16 * 2**20}
"""The largest file by its suffix; scripts are written by hand, and few are longer than a page."""
MOST_BYTES_OF_YAML = 2 * 2**20
"""The largest of all others: YAML takes seconds for each of these megabytes."""
MOST_FILES = 10_000
"""The most that a folder may hold, of any kind: one that was given by mistake may be a whole disk."""


class ScriptFiles:
    """The scripts of some files and folders together with `others`; they are read again when one has changed.

    The files' scripts come first, so their `when` is tried first, and replace others of the same name. `player`: who
    plays them; None: any.
    """

    def __init__(self, paths: Sequence[Path], others: Library, player: Player | None = None) -> None:
        self._paths = paths
        self._others = others
        self._player = player
        self._seen: tuple[object, ...] | None = None
        self._scripts: Library | ScriptError = {}

    def library(self) -> Library | ScriptError:
        """All scripts, with the files as they are now; or why one cannot be read now."""
        state = self._state()  # before they are read: a change meanwhile is seen at the next look
        if self._seen != state:
            self._seen, self._scripts = state, self._read()
        return self._scripts

    def _state(self) -> tuple[object, ...]:
        """Values of which one changes whenever a file does, or one comes or goes."""
        try:
            return tuple((path, _state_of(path)) for path in files_in(self._paths))
        except ScriptError as error:
            return (str(error),)

    def _read(self) -> Library | ScriptError:
        try:
            scripts = load_scripts(*self._paths, player=self._player)
        except ScriptError as error:
            return error
        return scripts | {name: script for name, script in self._others.items() if name not in scripts}


def _state_of(path: Path) -> tuple[int, ...]:
    try:
        state = path.stat()
    except OSError as error:
        return (error.errno or 0,)  # that it cannot be read is a state, too, and is reported once it is
    # Editors replace a file, within one tick of its clock as well.
    return state.st_ino, state.st_size, state.st_mtime_ns


def load_scripts(*paths: Path | str, player: Player | None = None) -> dict[str, Script]:
    """The scripts of files and folders by name, in order; `.json` is read as JSON, everything else as YAML.

    Raises:
        ScriptError: naming the file, the line, the place in it, the script, and what would be right there.
    """
    found = FileReading(player=player)
    for path in files_in(map(Path, paths)):
        found.read(path)
        if found.mistakes:
            raise found.mistakes[0]
    return found.scripts


def check_scripts(paths: Iterable[Path]) -> FileReading:
    """The scripts of files and folders, with every mistake in them.

    Raises:
        ScriptError: a folder holds none.
    """
    found = FileReading()
    for path in files_in(paths):
        found.read(path)
    found.find_hidden()
    return found


_EXPECTED = "expected a list of scripts under the key `scripts`"


def _hint(found: object) -> str:
    if isinstance(found, dict) and "parts" in found:
        return "; put `- ` before a script"
    if isinstance(found, dict) and len(found) == 1:
        return f"; {hint}" if (hint := close_name(str(*found), ("scripts",))) else ""
    return ""


@dataclass
class FileReading:
    """What was read so far."""

    player: Player | None = None
    scripts: dict[str, Script] = field(default_factory=dict)
    mistakes: list[ScriptError] = field(default_factory=list)
    hidden: list[ScriptError] = field(default_factory=list)
    """Scripts whose condition never chooses them, since an earlier one holds whenever it does."""
    _from: dict[str, tuple[Path, str, Places]] = field(default_factory=dict)
    """Where each script stands."""

    def read(self, path: Path) -> None:
        """Read a file."""
        try:
            text = text_of(path)
            data, places = READERS.get(path.suffix, read_yaml)(text), Places(text)
            mistakes = list(self._scripts(data, path, places))
        except ScriptError as error:
            mistakes = [error]
        self.mistakes += [mistake.in_file(str(path)) for mistake in mistakes]

    def _scripts(self, data: object, path: Path, places: Places) -> Iterator[ScriptError]:
        inside = data.get("scripts") if isinstance(data, dict) and set(data) == {"scripts"} else data
        place = "scripts" if inside is not data else ""
        if not isinstance(inside, list) or not inside:
            yield places.located(ScriptError(place, f"{_EXPECTED}, found {shown(inside)}{_hint(inside)}"), "")
            return
        for index, written in enumerate(inside):
            yield from self._script(written, f"{place}[{index}]", path, places)

    def _script(self, written: object, place: str, path: Path, places: Places) -> Iterator[ScriptError]:
        found: list[ScriptError] = []
        try:
            script = script_from_json(written, place, found)
        except ScriptError as error:
            yield places.located(error, "")
            return
        if not found:
            found += foreign(script, place, self.player)
        yield from (places.located(error, script.name) for error in found)
        if script.name in self.scripts:
            first, at, there = self._from[script.name]
            line, _ = there.of(f"{at}.name") or (None, None)
            where = "an earlier script" if first == path else f"a script in {first}"
            also = f", line {line}" if line else ""
            problem = f"the name {script.name} is taken by {where}{also}"
            yield places.located(ScriptError(f"{place}.name", problem), "")
        elif script.name:
            self.scripts[script.name] = script
            self._from[script.name] = path, place, places

    def find_hidden(self) -> None:
        """Find the scripts that no text chooses."""
        for script, by in hidden(self.scripts.values()):
            path, place, places = self._from[script.name]
            problem = f"no request chooses it: {by.name}, before it, matches whenever it does; put {script.name} first"
            error = places.located(ScriptError(f"{place}.when", problem), script.name)
            self.hidden.append(error.in_file(str(path)))


# The files, alone or in folders, and their text


def files_in(paths: Iterable[Path]) -> list[Path]:
    """These files, and those that these folders hold, at any depth, in order of their names.

    Raises:
        ScriptError: a folder holds none.
    """
    # `Path.is_dir` raises where a name is too long, or a folder on the way may not be entered; reading says so better.
    return [file for path in paths for file in (_of_folder(path) if os.path.isdir(path) else [path])]  # noqa: PTH112


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
