"""Where a text stands: at the start of a line or not, inside a code fence or not. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

KEPT = 64
"""Characters of a line that are looked at; a fence has fewer."""
# CommonMark's fences: at most three spaces, then three or more signs of one kind.
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)", re.DOTALL)


@dataclass(slots=True)
class LinePosition:
    """The text so far, as far as it is needed to know where it stands."""

    _line: str = ""
    _fence: str = ""

    @property
    def fresh(self) -> bool:
        """At the start of a line that is in no code fence."""
        # responses.sentinel.own-line.
        return not self._line and not self._fence

    def take(self, text: str) -> None:
        """Go on by this text."""
        # The short way of most pieces.
        if "\n" not in text:
            if len(self._line) < KEPT:
                self._line += text[: KEPT - len(self._line)]
            return
        first, *more = text.split("\n")
        self._line += first[: KEPT - len(self._line)]
        for line in more:
            self._end()
            self._line = line[:KEPT]

    def _end(self) -> None:
        found = _FENCE.match(self._line)
        if not found:
            return
        ticks, rest = found.groups()
        if not self._fence:
            # With a backtick behind its backticks a line is code within text, not a fence (CommonMark).
            self._fence = "" if ticks[0] == "`" and "`" in rest else ticks
        # A fence is closed by its own sign, at least as many of them, and nothing behind.
        elif ticks.startswith(self._fence) and not rest.strip():
            self._fence = ""
