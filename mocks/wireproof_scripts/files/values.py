"""Reads single values of a script file: what is wrong names its place, what was found, and what would be right."""

from __future__ import annotations

import difflib
import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from wireproof_scripts.files.errors import ScriptError
from wireproof_scripts.json_text import parse_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from wireproof_scripts.kinds import Kind

T = TypeVar("T")


@contextmanager
def collected(found: list[ScriptError] | None) -> Iterator[None]:
    """Put a mistake into the list, and go on behind the block; without a list it is raised."""
    try:
        yield
    except ScriptError as error:
        noted(found, error)


def noted(found: list[ScriptError] | None, error: ScriptError) -> None:
    """Put a mistake into the list; without a list it is raised."""
    if found is None:
        raise error
    found.append(error)


def read(kind: Kind[T], value: object, place: str) -> T:
    """The value of a field.

    Raises:
        ScriptError: there is none of that kind.
    """
    right = kind.read(value)
    if right is not None:  # not its truth: false, 0 and "" are values
        return right
    raise ScriptError(place, f"expected {kind.expected}, found {shown(value)}{_hint(kind, value)}")


def _hint(kind: Kind[object], value: object) -> str:
    """What may have been meant; "" if that is not known."""
    if isinstance(value, str) and (near := close_name(value, kind.choices)):
        return f"; {near}"
    # YAML reads 404 and 1.50 as numbers, yes and no as true and false.
    if isinstance(value, int | float) and kind.read(str(value)) is not None:
        return " (in quotes it is text)"
    number = _number(value)
    return " (without quotes it is a number)" if number is not None and kind.read(number) is not None else ""


def _number(value: object) -> int | float | None:
    """The number that a text holds."""
    try:
        number = parse_json(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return number if isinstance(number, int | float) else None


def at(place: str, name: str) -> str:
    """The place of a field in what stands at `place`."""
    return f"{place}.{name}" if place else name


def list_in(data: object, place: str, expected: str) -> list[Any]:
    """The list that is written, which is not empty.

    Raises:
        ScriptError: something else is.
    """
    if not isinstance(data, list) or not data:
        raise ScriptError(place, f"expected {expected}, found {shown(data)}")
    return data


def no_others(data: Mapping[Any, Any], known: Sequence[str], place: str) -> None:
    """Check that an object has fields of these names alone.

    Raises:
        ScriptError: it has another one.
    """
    for name in data:
        if name not in known:
            raise ScriptError(place, f"there is no field {shown(name)}; {known_names(str(name), known)}")


def known_names(name: str, names: Iterable[str]) -> str:
    """What a wrong name should be: the nearest, or all."""
    return close_name(name, tuple(names)) or f"known: {', '.join(names) or 'none'}"


def close_name(name: str, names: Sequence[str]) -> str:
    """The nearest name as a question; "" if none is near."""
    close = difflib.get_close_matches(name, names, n=1)
    return f"did you mean {close[0]}?" if close else ""


_LONGEST_SHOWN = 60


def shown(value: object) -> str:
    """What was found, as an error shows it."""
    if value is None:
        return "nothing"
    text = json.dumps(value, default=str)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"
