"""One delta of the answer's text: what a step of text becomes when it is played."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Piece:
    """One delta of the answer's text."""

    text: str
    """It may hold lone surrogates, which must be written as JSON escapes."""
    choice: int | None = None
    """The choice that is sent with it; None if none is."""
    whole: bool = False
    """This is the complete text, not a delta."""
