"""Leaves out of a message the fields that a version does not have.

Messages are built with the fields of all versions, in the one order that every version keeps. A table then names, by
place, the fields to leave out. A place is the method of a notification or of an answered request, or `.key` for the
object at a key; `.key/type` adds the fields of objects of one type. Only keys that are in the table are descended
into, so that nothing inside the arguments of a call is changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Forms = Mapping[str, frozenset[str]]

_NONE: frozenset[str] = frozenset()


def trimmed(forms: Forms, place: str, value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """The value at `place` without the fields that the version does not have."""
    match value:
        case list():
            return [trimmed(forms, place, item) for item in value]
        case dict():
            # Of an object without a type this asks for `…/None`, which no table has.
            left_out = forms.get(place, _NONE) | forms.get(f"{place}/{value.get('type')}", _NONE)
            return {name: _inner(forms, name, inner) for name, inner in value.items() if name not in left_out}
    return value


def _inner(forms: Forms, name: str, value: Any) -> Any:  # noqa: ANN401 - any JSON value
    return trimmed(forms, f".{name}", value) if f".{name}" in forms else value
