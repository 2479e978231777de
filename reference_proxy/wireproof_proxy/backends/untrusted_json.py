"""JSON of a backend, read without trust: whatever is of the wrong type is taken as empty."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def as_text(value: object) -> str:
    """The string, or an empty one."""
    return value if isinstance(value, str) else ""


def as_mapping(value: object) -> Mapping[str, Any]:
    """The object, or an empty one."""
    return value if isinstance(value, dict) else {}


def as_count(value: object) -> int | None:
    """The non-negative whole number, or None."""
    # Python counts a bool as an int.
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
