"""A target file (`wireproof.toml`): the options of a run, by their names, so that a line of a terminal can be kept.

Each key is an option's name without its dashes; options that take NAME=VALUE may be tables. What a person may not keep
in it is a secret: a key is named by its variable, and headers that carry one are read from the environment.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from wireproof.targets.kinds import OptionError, Pair
from wireproof.targets.option import find
from wireproof.targets.options import RunOptions, TargetOptions
from wireproof_scripts.files.regular import content_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from wireproof.targets.option import Option

NAME = "wireproof.toml"
"""What `wireproof init` calls it."""
TITLE = "name"
"""The one key that is no option: how summaries call the target."""
OPTIONS: Mapping[str, Option] = {option.name: option for option in (*TargetOptions.options(), *RunOptions.options())}
LONGEST = 100
"""Characters of a name."""
LARGEST = 1 << 20
"""Bytes that a target file may have; most have a few lines."""
_SECRET = re.compile(r"auth|cookie|key|token|secret|password", re.IGNORECASE)
"""Names of headers and parameters whose values are keys."""
_LONG = re.compile(r"[0-9_]{4000}")
"""A number that Python may refuse to read."""
_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")


class TargetFileError(OptionError):
    """A target file that cannot be used; the message is one line: file, line, and what would be right."""


@dataclass(frozen=True, kw_only=True)
class TargetFile:
    """What a target file says."""

    path: Path
    name: str
    """How summaries call the target."""
    values: Mapping[str, Any]
    """The options that it gives, by their fields."""


def load(path: Path) -> TargetFile:
    """Read a target file.

    Raises:
        TargetFileError: it cannot be read, is no TOML, or says what no option can have.
    """
    text = _text(path)
    data = _parsed(path, text)
    name = data.pop(TITLE, "")
    if not isinstance(name, str):
        raise _wrong(path, text, TITLE, f"{TITLE} is {name!r:.100}; it should be a text")
    if name and not _is_plain(name):
        right = "it should be a word or some, which can be the name of a folder"
        raise _wrong(path, text, TITLE, f"{TITLE} is {name!r:.100}; {right}")
    values: dict[str, Any] = {}
    for key, value in data.items():
        try:
            option = find(key, OPTIONS)
            values[option.field] = option.read_data(_beside(path, option, value))
            _refuse_secret(option, values[option.field])
        except OptionError as error:
            raise _wrong(path, text, key, str(error)) from error
    # Without a name a target is called as its file, or where that has the usual name, as its folder.
    called = path.resolve().parent.name if path.name == NAME else path.stem
    return TargetFile(path=path, name=name or called, values=values)


def _is_plain(name: str) -> bool:
    """Whether a name can be that of a folder, in which the result of the target is written."""
    return name.isprintable() and len(name) <= LONGEST and not name.startswith(".") and not set(name) & {"/", "\\"}


def _text(path: Path) -> str:
    try:
        return content_of(path, LARGEST).decode("utf-8-sig")  # TOML has no byte order mark; editors on Windows write it
    except FileNotFoundError:
        raise TargetFileError(f"{path} does not exist; `wireproof init` writes a target file") from None
    except UnicodeDecodeError as error:
        raise TargetFileError(f"{path} is not UTF-8, as TOML must be: {error.reason}") from error
    except OSError as error:
        raise TargetFileError(f"{path} cannot be read: {(error.strerror or str(error)).lower()}") from error


def _parsed(path: Path, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    # RecursionError: thousands of lists in each other. ValueError: a number that is longer than Python reads.
    except (ValueError, RecursionError) as error:
        said = str(error) if isinstance(error, tomllib.TOMLDecodeError) else "a value is too long or too deep"
        place, long = _PLACE.search(said), _LONG.search(text)
        end = text.count("\n", 0, long.end() if long else len(text.rstrip("\n"))) + 1
        line = int(place[1]) if place and place[1] else end
        why = said[: place.start()] if place else said
        right = 'each line should be KEY = VALUE, texts in "quotes"'
        raise TargetFileError(f"{path}:{line}: this is not TOML: {why[:1].lower()}{why[1:]}; {right}") from error


def _wrong(path: Path, text: str, key: str, message: str) -> TargetFileError:
    return TargetFileError(f"{path}:{line_of(text, key)}: {message}")


def line_of(text: str, key: str) -> int:
    """The line on which a key of a TOML text, which can be read, begins.

    It is the first that has to be read for the key to be there. So no grammar is needed here, and a quoted key, a table
    and a key with dots are all found.
    """
    lines, readable = [f"{line}\n" for line in text.split("\n")], 0
    for number in range(1, len(lines) + 1):
        try:
            found = tomllib.loads("".join(lines[:number]))
        # In the midst of a value of several lines.
        except tomllib.TOMLDecodeError:
            continue
        if key in found:
            return readable + 1
        readable = number
    return len(lines)


def check_secrets(options: TargetOptions) -> None:
    """Refuse options that no file may hold.

    Raises:
        OptionError: one is a secret.
    """
    for option in options.options():
        _refuse_secret(option, getattr(options, option.field))


def _refuse_secret(option: Option, value: object) -> None:
    """Refuse a key, and a password in a URL: a file is shared, and what it holds is printed."""
    if option.field == "url" and isinstance(value, str) and _has_password(value):
        raise OptionError("url holds a password; a target file holds no secret: name its variable with api-key-env")
    for pair in value if isinstance(value, tuple) else ():
        if isinstance(pair, Pair) and _SECRET.search(pair.name) and not pair.is_variable:
            raise OptionError(
                f"{option.name} {pair.name} holds a value; a target file holds no secret: write env:VARIABLE"
            )


def _has_password(url: str) -> bool:
    try:
        return urlsplit(url).password is not None
    except ValueError:
        return False  # no URL at all, which is refused elsewhere


def _beside(path: Path, option: Option, value: object) -> object:
    """A path as seen from the folder of the file that names it; any other value as it is."""
    named = option.kind.path and isinstance(value, str) and value
    return str(path.parent / str(value)) if named else value


def schema() -> dict[str, Any]:
    """The JSON Schema of a target file, for editors."""
    title = {"type": "string", "description": "How summaries call the target; if omitted, as its file or folder."}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://wireproof.invalid/schemas/wireproof/target.json",
        "title": "A target of Wireproof",
        "type": "object",
        "properties": {TITLE: title, **{name: option.schema for name, option in OPTIONS.items()}},
        "additionalProperties": False,
    }


def merged(file: TargetFile | None, given: Mapping[str, Any]) -> tuple[TargetOptions, RunOptions]:
    """The options of a file and of a command line, which overrides it; None or empty: not given there."""
    said = {name: value for name, value in given.items() if value not in (None, (), [])}
    values = {**(file.values if file else {}), **said}
    return TargetOptions.from_values(values), RunOptions.from_values(values)
