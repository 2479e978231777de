"""The bytes at the place of a violation, shown with what stands around them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof.results.document import ShownBytes

if TYPE_CHECKING:
    from wireproof.wire.violation import Place

AROUND = 80
"""Bytes shown before and after the place."""
LONGEST = 240
"""Bytes of the place itself that are shown."""
FIRST_OF_MANY = 0xC0
"""The least byte that begins a character of several bytes in UTF-8."""


def excerpt(body: bytes, place: Place) -> ShownBytes:
    r"""The place, cut out of a body; bytes that are no UTF-8 are written as \\xNN."""
    # All in bytes of the body, never in characters: a place may lie inside one (chat.stream.utf8).
    begin, end = place.offset, place.offset + place.length
    shown = end if place.length <= LONGEST else _between_characters(body, begin + LONGEST)
    cut = end - shown
    return ShownBytes(
        before=_readable(body[_between_characters(body, max(0, begin - AROUND)) : begin]),
        # A place of many bytes is a frame that cannot be read; what stands behind it would look like its end, so
        # `after` is left out then.
        at=_readable(body[begin:shown]) + (f" … {cut} {'byte' if cut == 1 else 'bytes'} more" if cut else ""),
        after="" if cut else _readable(body[end : _between_characters(body, end + AROUND)]),
        where=f"byte {begin}" + ("" if place.frame is None else f", frame {place.frame}"),
    )


def _between_characters(body: bytes, at: int) -> int:
    """The last place up to `at` that is not inside a character, so that a window shows no torn one of its own."""
    inside = (at - back for back in range(4) if back <= at)  # a character has four bytes at most in UTF-8
    return next((place for place in inside if body[place : place + 1] < b"\x80" or body[place] >= FIRST_OF_MANY), at)


def _readable(data: bytes) -> str:
    text = data.decode("utf-8", errors="backslashreplace")
    # Control characters of an answer must not reach a terminal.
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
