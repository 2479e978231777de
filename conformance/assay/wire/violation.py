"""A violation: which requirement the proxy broke, where, and what was seen there."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where in a response body: `length` bytes from byte `offset`; `frame` counts SSE frames from 0."""

    offset: int
    length: int
    frame: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Violation:
    """One broken requirement: its id, one sentence on what was seen, and the place (None: the exchange as a whole)."""

    requirement: str
    seen: str
    place: Place | None = None
