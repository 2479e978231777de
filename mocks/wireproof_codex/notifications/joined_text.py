"""A text that comes in pieces and is sent whole in the end."""

from __future__ import annotations


class JoinedText:
    """The pieces so far, as bytes: a long answer of many pieces takes no more than its length."""

    def __init__(self) -> None:
        self._text = bytearray()

    def add(self, piece: str) -> None:
        """Append a piece, which may begin or end with half of a character."""
        # A script may cut between the UTF-16 halves of a character; strict UTF-8 knows no such half.
        self._text += piece.encode("utf-8", "surrogatepass")

    @property
    def whole(self) -> str:
        """The text with its halves of characters put together."""
        # UTF-16 joins two halves that stand side by side, and replaces one that stays alone.
        text = self._text.decode("utf-8", "surrogatepass")
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
