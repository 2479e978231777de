"""Leaves out of a message the fields that a version does not have.

Messages are built with the fields of all versions, in the one order that every version keeps. A table then names, by
place, the fields to leave out. A place is the method of a notification or of an answered request, or `.key` for the
object at a key; `.key/type` adds the fields of objects of one type. Only keys that are in the table are descended
into, so that nothing inside the arguments of a call is changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wireproof_codex.protocol.json_object import Json

Forms = Mapping[str, frozenset[str]]

_NONE: frozenset[str] = frozenset()
_NESTING = (dict, list)


def trimmed(forms: Forms, place: str, message: Json) -> Json:
    """The object at `place` without the fields that the version does not have."""
    left_out = _left_out(forms, place, message.get("type"))
    return {
        # Only objects and lists have places inside; most values are text, of which nothing is looked up.
        name: trimmed_value(forms, f".{name}", inner) if type(inner) in _NESTING and f".{name}" in forms else inner
        for name, inner in message.items()
        if name not in left_out
    }


def trimmed_value(forms: Forms, place: str, value: object) -> object:
    """The same for any value; in a list it is every item that stands at `place`."""
    if isinstance(value, list):
        return [trimmed_value(forms, place, item) for item in value]
    return trimmed(forms, place, value) if isinstance(value, dict) else value


def _left_out(forms: Forms, place: str, kind: object) -> frozenset[str]:
    always = forms.get(place, _NONE)
    own = forms.get(f"{place}/{kind}") if type(kind) is str else None
    return always | own if own else always
