"""Whole characters from text that was cut between the two halves of one. Pure.

JSON lets a sender cut a character beyond U+FFFF into two escapes and send them in two deltas. A trailing first
half waits for its second; a half that stays alone becomes U+FFFD.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_FIRST_HALF = ("\ud800", "\udbff")
_HALF = re.compile("[\ud800-\udfff]")


@dataclass(slots=True)
class Joiner:
    """Joins the halves of characters over the pieces of one text."""

    _held: str = ""

    def feed(self, piece: str) -> str:
        """All of the text so far that is whole and was not returned before."""
        # The short way of most pieces: ASCII holds no halves.
        if piece.isascii() and not self._held:
            return piece
        text = self._held + piece
        cut = len(text) - 1 if text and _FIRST_HALF[0] <= text[-1] <= _FIRST_HALF[1] else len(text)
        self._held = text[cut:]
        return whole(text[:cut])

    def passes(self, piece: str) -> bool:
        """Whether `feed` would return the piece as it is, and hold nothing."""
        return not self._held and (piece.isascii() or _HALF.search(piece) is None)

    @property
    def holds(self) -> bool:
        """Whether it holds the half of a character."""
        return bool(self._held)

    def end(self) -> str:
        """What is left when no more comes."""
        if not self._held:
            return ""
        rest, self._held = self._held, ""
        return whole(rest)


def whole(text: str) -> str:
    """The text with halves joined, and U+FFFD for those that stand alone: so UTF-8 has all of it."""
    # The short way of most texts.
    if text.isascii():
        return text
    # UTF-16 is where two halves side by side are one character (chat.stream.utf8).
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
