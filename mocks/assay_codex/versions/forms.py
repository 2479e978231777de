"""What a version tells of an object: the fields of all versions, but for those that it has not, in their one order.

A table names the fields that are left out by where the object stands: the method of a notification or of an answered
request, or `.key` for the key that holds it; `.key/type` adds those of objects of one type. Only what stands at a key
of the table is looked into, so nothing inside a call's arguments is ever touched.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Forms = Mapping[str, frozenset[str]]

_NONE: frozenset[str] = frozenset()


def trimmed(forms: Forms, place: str, value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """The value that stands at `place` as the version tells it."""
    match value:
        case list():
            return [trimmed(forms, place, item) for item in value]
        case dict():
            left_out = forms.get(place, _NONE) | forms.get(f"{place}/{value.get('type')}", _NONE)
            return {name: _inner(forms, name, inner) for name, inner in value.items() if name not in left_out}
    return value


def _inner(forms: Forms, name: str, value: Any) -> Any:  # noqa: ANN401 - any JSON value
    return trimmed(forms, f".{name}", value) if f".{name}" in forms else value
