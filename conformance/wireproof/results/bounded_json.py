"""JSON of files that others may have made: neither deep nor of more parts than a result has.

An empty list takes three characters in a file and some sixty bytes in memory, so a bound of bytes
alone would let a file of some megabytes fill the memory.
"""

from __future__ import annotations

from typing import Any

from wireproof.wire.fields import parse_json

MOST_PARTS = 2_000_000
"""Lists and objects that a file may hold; that of a whole run has some 100,000."""


def bounded_json(text: bytes) -> Any:  # noqa: ANN401 (JSON)
    """The value of a JSON text.

    Raises:
        ValueError: it is no JSON, too deep, or of too many parts.
    """
    _refuse_many_parts(text)
    return parse_json(text)


def bounded_lines(text: bytes) -> list[Any]:
    """The values of JSON lines, all of which together are bounded; raises as `bounded_json`."""
    _refuse_many_parts(text)
    return [parse_json(line) for line in text.splitlines()]


def _refuse_many_parts(text: bytes) -> None:
    if text.count(b"[") + text.count(b"{") > MOST_PARTS:
        raise ValueError(f"it holds more than {MOST_PARTS:,} lists and objects, and no result does")
