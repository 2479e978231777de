"""Whole numbers that stand in texts: in cursors, and in the environment."""

from __future__ import annotations

_MOST_DIGITS = 18
"""More than any count or place has, and fewer than Python refuses to read."""


def whole_number(text: str) -> int | None:
    """The number that these digits are; None where the text is anything else, or has more than 18 of them."""
    # isascii: `isdecimal` takes the digits of every script.
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS else None
