"""What older versions tell of an object: the same fields as the newest, but fewer, in an order of their own.

A table names the fields by where the object stands: the method of a notification or of an answered request, or `.key`
for the key that holds it, `.key/type` where objects of several types stand there. () keeps all fields and looks into
them. What the table does not name is told as it is, so nothing inside a call's arguments is ever touched.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Forms = Mapping[str, tuple[str, ...]]


def trimmed(forms: Forms, place: str, value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """The value that stands at `place` in its older form."""
    if not forms:
        return value
    match value:
        case list():
            return [trimmed(forms, place, item) for item in value]
        case dict():
            names = forms.get(f"{place}/{value.get('type')}", forms.get(place, ()))
            return {name: _inner(forms, name, value[name]) for name in names or value if name in value}
    return value


def _inner(forms: Forms, name: str, value: Any) -> Any:  # noqa: ANN401 - any JSON value
    return trimmed(forms, f".{name}", value) if f".{name}" in forms else value
