"""A violation: which requirement the proxy broke, where, and what was seen there."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """A range of bytes in a response body."""

    offset: int
    """Where it begins."""
    length: int
    """How many bytes it has; 0 for the end of the body."""
    frame: int | None = None
    """The SSE frame that it is in, counted from 0; None outside streams."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Violation:
    """One broken requirement."""

    requirement: str
    """Its id."""
    seen: str
    """What was seen, in one sentence."""
    place: Place | None = None
    """Where; None for the exchange as a whole."""
    strict_only: bool = False
    """It breaks the letter of the requirement and harms no real client: at the level `compat` it is a note."""
    hint: str = ""
    """What to do about it, where the row's own hint is about other ways to break the requirement; "": that one fits."""
    harmless: bool = False
    """The content behind it can be understood, whatever the row of its requirement says of others."""
