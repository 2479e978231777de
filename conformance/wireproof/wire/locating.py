"""Where in a JSON document a value stands, by the path that leads to it: in its text, or in the bytes of a frame.

A parser forgets it, and a search for the value finds another one that looks the same. So the text is walked along the
path; what lies beside it is skipped by the parser of the standard library.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from wireproof.wire.violation import Place

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wireproof.wire.sse import SseFrame

Step = str | int
"""The name of a member, or the number of an element, counted from 0."""
MARKED = 24
"""Characters from a difference on that belong to its place; enough to be found, and no more than a glance takes in."""
_JSON = json.JSONDecoder()
_BLANKS = re.compile(r"[ \t\n\r]*")
_CHARACTER = r"(?:\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\(?!u).|[^\"\\])"
"""One character as a string of JSON writes it (RFC 8259, section 7)."""
# Possessive: a run that matched is never given back a piece at a time.
_RUNS = {size: re.compile(f"{_CHARACTER}{{{size}}}+", re.DOTALL) for size in (16_384, 512, 16, 1)}
"""How many characters → so many of them. Some texts have a million."""


def written(path: Sequence[Step]) -> str:
    """A path as sentences have it: `choices[0].message.content`."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "".join(steps).removeprefix(".")


def strings_in(value: object, path: tuple[Step, ...] = ()) -> Iterator[tuple[tuple[Step, ...], str]]:
    """The strings in a JSON value with the paths that lead to them, in the order in which they stand."""
    if isinstance(value, str):
        yield path, value
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, one in inner:
        yield from strings_in(one, (*path, step))


def locate(frame: SseFrame, path: Sequence[Step], at: int | None = None) -> Place:
    """The place of a value in a frame; a whole body counts as one, whose places have no number of a frame.

    Args:
        frame: What holds the JSON.
        path: Leads to the value. Where it leads to nothing, the place is that of the last value on the way.
        at: The place begins at this character of the value, which is a string; None: all of the value.
    """
    number = frame.number if frame.fields else None
    whole = Place(offset=frame.offset, length=len(frame.raw), frame=number)
    data = (frame.data or "").encode(errors="surrogatepass")
    base = frame.raw.find(data)
    # Data of several lines, or of bytes that are not UTF-8, does not stand in the frame as it was read.
    if not data or base < 0:
        return whole
    try:
        start, end = _span(frame.data or "", path, at)
    except (ValueError, IndexError):
        return whole
    before, value = (frame.data or "")[:start], (frame.data or "")[start:end]
    return Place(offset=frame.offset + base + len(before.encode()), length=len(value.encode()), frame=number)


def span_of(text: str, *path: Step) -> tuple[int, int] | None:
    """Where a value begins and ends in a text, in characters; None where the path leads to none."""
    try:
        start, found = _reached(text, path)
        return (start, _JSON.raw_decode(text, start)[1]) if found else None
    except (ValueError, IndexError, RecursionError):
        return None


def _reached(text: str, path: Sequence[Step]) -> tuple[int, bool]:
    """Where the last value on a path begins, and whether the path leads no further."""
    start = _after_blanks(text, 0)
    for step in path:
        # Of several members of one name the last counts, as in every parser.
        found = [inner for name, inner in _inside(text, start) if name == step]
        if not found:
            return start, False
        start = found[-1]
    return start, True


def _span(text: str, path: Sequence[Step], at: int | None) -> tuple[int, int]:
    start, found = _reached(text, path)
    end = _JSON.raw_decode(text, start)[1]
    if at is None or not found or text[start] != '"':
        return start, end
    begin = _character(text, start, at)
    # At least one: of a text that ends too early the place is the quote that closes it.
    return begin, max(begin + 1, min(end - 1, _character(text, begin - 1, MARKED)))


def _inside(text: str, start: int) -> Iterator[tuple[Step, int]]:
    """The members or elements of the value that begins here, and where each of their values begins."""
    closing = {"{": "}", "[": "]"}.get(text[start])
    position, number = _after_blanks(text, start + 1), 0
    while closing and text[position] != closing:
        name: Step = number
        if closing == "}":
            name, position = _JSON.raw_decode(text, position)
            position = _after_blanks(text, _after_blanks(text, position) + 1)  # the colon
        yield name, position
        position, number = _after_blanks(text, _JSON.raw_decode(text, position)[1]), number + 1
        if text[position] == ",":
            position = _after_blanks(text, position + 1)


def _character(text: str, start: int, number: int) -> int:
    """Where the character of this number is written in the string whose quote stands at `start`; its end if none is."""
    first = start + 1
    # Most texts have no escape, and some have a million characters.
    plain = text.find("\\", first, first + number) < 0 and text.find('"', first, first + number) < 0
    if plain:
        return first + number
    position, left = first, number
    for size, run in _RUNS.items():
        while left >= size and (found := run.match(text, position)):
            position, left = found.end(), left - size
    return position


def _after_blanks(text: str, position: int) -> int:
    found = _BLANKS.match(text, position)
    return found.end() if found else position
