"""Whole numbers in the head of a request: lengths, and what a query counts."""

from __future__ import annotations

_MOST_DIGITS = 18
"""More than any length or place has, and fewer than Python refuses to read."""


def whole_number(text: str) -> int | None:
    """The number that these digits are; None where the text is anything else, or has more than 18 of them."""
    # isascii: `isdecimal` takes the digits of every script.
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS else None
