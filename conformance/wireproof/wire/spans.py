"""Where the values of a JSON text stand: offsets in characters, so that a finding can point at a part of a request."""

from __future__ import annotations

import json
import re
from json.decoder import scanstring  # type: ignore[attr-defined]  # the decoder's own, in every version of Python
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

Span = tuple[int, int]
"""Where a value begins, and where it ends."""
_DECODER = json.JSONDecoder()
_BLANK = re.compile(r"[ \t\n\r]*")


def span_of(text: str, *path: str | int) -> Span | None:
    """Where the value at a path of member names and places in lists stands; None where there is none.

    A member that is written twice counts as JSON parsers read it: the last one.
    """
    at, end = _blank(text, 0), len(text)
    try:
        for step in path:
            inner: Iterator[tuple[str | int, Span]] = (
                _members(text, at) if isinstance(step, str) else enumerate(_elements(text, at))
            )
            found = dict(inner)
            if step not in found:
                return None
            at, end = found[step]
        return (at, end) if path else (at, _DECODER.raw_decode(text, at)[1])
    except (ValueError, IndexError, RecursionError, StopIteration):
        return None


def _members(text: str, at: int) -> Iterator[tuple[str | int, Span]]:
    """The members of the object that begins here; none where no object does."""
    if text[at] != "{":
        return
    at = _blank(text, at + 1)
    while text[at] == '"':
        name, at = scanstring(text, at + 1, False)  # noqa: FBT003 (its own parameter: control characters are taken)
        at = _blank(text, _blank(text, at) + 1)
        end = _DECODER.raw_decode(text, at)[1]
        yield name, (at, end)
        at = _after_comma(text, end)


def _elements(text: str, at: int) -> Iterator[Span]:
    """The elements of the list that begins here; none where no list does."""
    if text[at] != "[":
        return
    at = _blank(text, at + 1)
    while text[at] != "]":
        end = _DECODER.raw_decode(text, at)[1]
        yield at, end
        at = _after_comma(text, end)


def _after_comma(text: str, at: int) -> int:
    at = _blank(text, at)
    return _blank(text, at + 1) if text[at] == "," else at


def _blank(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at
