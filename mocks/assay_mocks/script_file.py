"""Loads a user's scripts from a YAML or JSON file.

The file holds `scripts:` with a list of scripts, or the list alone, each script in the form of `script_json`:

    scripts:
      - name: weather
        when: weather           # chosen when the last user message contains this, in any case; without it, by a marker
        parts:
          - - call: {id: call_1, name: get_weather, arguments: {city: Paris}}
          - - say: [It is, " sunny."]
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from assay_mocks.script_json import ScriptError, script_from_json

if TYPE_CHECKING:
    from assay_mocks.script import Library, Script

__all__ = ["ScriptError", "load_scripts"]


def load_scripts(path: Path | str) -> Library:
    """The scripts of the file by name, in its order; `.json` is read as JSON, everything else as YAML.

    Raises:
        ScriptError: naming the file, the place in it and what would be right there.
    """
    path = Path(path)
    try:
        return _library(_parsed(path))
    except ScriptError as error:
        raise error.in_file(str(path)) from error


def _parsed(path: Path) -> object:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ScriptError("", f"cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ScriptError(f"byte {error.start}", "the file is not UTF-8") from error
    try:
        return json.loads(text) if path.suffix == ".json" else yaml.safe_load(text)
    except json.JSONDecodeError as error:
        raise ScriptError(f"line {error.lineno}, column {error.colno}", f"no JSON: {error.msg}") from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f"line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise ScriptError(place, f"no YAML: {error.problem}") from error
    except yaml.YAMLError as error:
        raise ScriptError("", f"no YAML: {error}") from error


def _library(data: object) -> Library:
    inside = data.get("scripts") if isinstance(data, dict) and set(data) == {"scripts"} else data
    place = "scripts" if inside is not data else ""
    if not isinstance(inside, list) or not inside:
        raise ScriptError(place, "expected a list of scripts under the key `scripts`")
    scripts = [script_from_json(script, f"{place}[{index}]") for index, script in enumerate(inside)]
    _all_different(scripts, place)
    return {script.name: script for script in scripts}


def _all_different(scripts: list[Script], place: str) -> None:
    for name, times in Counter(script.name for script in scripts).items():
        if times > 1:
            second = [index for index, script in enumerate(scripts) if script.name == name][1]
            raise ScriptError(f"{place}[{second}].name", f"the name {name} is taken by an earlier script")
