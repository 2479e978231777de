"""Loads a user's scripts from a YAML or JSON file, and again when it has changed.

The file holds `scripts:` with a list of scripts, or the list alone, each script in the form of `json_form`:

    scripts:
      - name: weather
        when: weather           # chosen when the last user message contains this, in any case; without it, by a marker
        parts:
          - - call: {id: call_1, name: get_weather, arguments: {city: Paris}}
          - - say: [It is, " sunny."]
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from assay_scripts.files.errors import ScriptError
from assay_scripts.files.json_form import script_from_json
from assay_scripts.files.text import READERS, line_of, read_yaml

if TYPE_CHECKING:
    from assay_scripts.steps import Library, Script


class ScriptFile:
    """The scripts of a file together with `others`; the file is read again when it has changed.

    The file's scripts come first, so their `when` is tried first, and replace others of the same name.
    """

    def __init__(self, path: Path, others: Library) -> None:
        self._path = path
        self._others = others
        self._seen: tuple[int, ...] | None = None
        self._scripts: Library | ScriptError = {}

    def library(self) -> Library | ScriptError:
        """All scripts, with the file as it is now; or why the file cannot be read now."""
        state = self._state()  # before it is read: a change meanwhile is seen at the next look
        if self._seen != state:
            self._seen, self._scripts = state, self._read()
        return self._scripts

    def _state(self) -> tuple[int, ...]:
        """Values of which one changes whenever the file does."""
        try:
            state = self._path.stat()
        except OSError as error:
            return (error.errno or 0,)  # that it cannot be read is a state, too, and is reported once it is
        # Editors replace a file, within one tick of its clock as well.
        return state.st_ino, state.st_size, state.st_mtime_ns

    def _read(self) -> Library | ScriptError:
        try:
            scripts = load_scripts(self._path)
        except ScriptError as error:
            return error
        return scripts | {name: script for name, script in self._others.items() if name not in scripts}


def load_scripts(path: Path | str) -> dict[str, Script]:
    """The scripts of the file by name, in its order; `.json` is read as JSON, everything else as YAML.

    Raises:
        ScriptError: naming the file, the line, the place in it, the script, and what would be right there.
    """
    path = Path(path)
    try:
        text = _text(path)
        data = READERS.get(path.suffix, read_yaml)(text)
        return _library(data, text)
    except ScriptError as error:
        raise error.in_file(str(path)) from error


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")  # editors on Windows put a byte order mark first
    except OSError as error:
        raise ScriptError("", f"cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ScriptError(f"byte {error.start}", "the file is not UTF-8") from error


def _library(data: object, text: str) -> dict[str, Script]:
    inside = data.get("scripts") if isinstance(data, dict) and set(data) == {"scripts"} else data
    place = "scripts" if inside is not data else ""
    if not isinstance(inside, list) or not inside:
        raise ScriptError(place, "expected a list of scripts under the key `scripts`")
    scripts = [_script(written, f"{place}[{index}]", text) for index, written in enumerate(inside)]
    _all_different(scripts, place)
    return {script.name: script for script in scripts}


def _script(written: object, place: str, text: str) -> Script:
    try:
        return script_from_json(written, place)
    except ScriptError as error:
        line, name = line_of(text, error.place), written.get("name") if isinstance(written, dict) else None
        before = f"line {line}, " if line else ""
        after = f" in the script {name}" if isinstance(name, str) else ""
        raise ScriptError(f"{before}{error.place}{after}", error.problem) from error


def _all_different(scripts: list[Script], place: str) -> None:
    for name, times in Counter(script.name for script in scripts).items():
        if times > 1:
            second = [index for index, script in enumerate(scripts) if script.name == name][1]
            raise ScriptError(f"{place}[{second}].name", f"the name {name} is taken by an earlier script")
