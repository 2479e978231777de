"""Recorded sessions: what a client sent to a server and received from it, one line each.

    {"dir": "C->" | "S->", "msg": {…} | "raw": "a line that is no message"}

Other directions (stderr, notes, the end) are passed over. Characters of `raw` from U+0080 to U+00FF are bytes where the
line holds bytes that are no UTF-8.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

Message = dict[str, Any]

_DIRECTIONS = {"C->": True, "S->": False}


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """A line of the client's (`sent`), or of the server's. One of the two is meant: a message, or `raw` text."""

    sent: bool
    message: Message | None = None
    raw: str = ""

    @property
    def request(self) -> object:
        """The id of a request of the client's, else None."""
        return self.message.get("id") if self.sent and self.message and "method" in self.message else None


def read_recording(path: Path) -> list[Line]:
    """The lines of a recording.

    Raises:
        ValueError: a line is no JSON.
    """
    # Not `splitlines`: text may hold separators that are no ends of lines.
    text = (gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()).decode()
    entries: Iterable[Mapping[str, Any]] = map(json.loads, text.split("\n")[:-1])
    return [
        Line(sent=_DIRECTIONS[entry["dir"]], message=entry.get("msg"), raw=entry.get("raw", ""))
        for entry in entries
        if entry["dir"] in _DIRECTIONS
    ]


def without(lines: Sequence[Line], requests: Iterable[object]) -> list[Line]:
    """The lines but for these requests and what the server said until the client's next line."""
    left_out, kept, leaving = set(requests), [], False
    for line in lines:
        if line.sent:
            leaving = line.request in left_out
        if not leaving:
            kept.append(line)
    return kept
