"""Citations in the model's text, which newer servers keep from their client.

    <oai-mem-citation>…</oai-mem-citation>

A text that comes in pieces is held back where it may be the beginning of one: "a <" is sent as "a ", and "<" with the
next piece. A citation that is never closed hides all that follows.
"""

from __future__ import annotations

_OPENS = "<oai-mem-citation>"
_CLOSES = "</oai-mem-citation>"


class Citations:
    """Takes the citations out of one text."""

    def __init__(self) -> None:
        self._held = ""
        self._inside = False

    def take(self, piece: str) -> str:
        """What can be sent of the text after this piece."""
        sent, rest = "", self._held + piece
        while True:
            mark = _CLOSES if self._inside else _OPENS
            before, found, after = rest.partition(mark)
            if not found:
                break
            sent += "" if self._inside else before
            self._inside, rest = not self._inside, after
        self._held = _begun(rest, mark)
        return sent if self._inside else sent + rest.removesuffix(self._held)

    def rest(self) -> str:
        """What was held back, when nothing more comes."""
        held, self._held = self._held, ""
        return "" if self._inside else held  # an open citation hides its rest


def without_citations(text: str) -> str:
    """The text as it is sent."""
    citations = Citations()
    return citations.take(text) + citations.rest()


def _begun(text: str, mark: str) -> str:
    """The longest end of the text with which the mark begins."""
    if mark[0] not in text:
        return ""
    # Without the whole length: a whole mark was found before.
    lengths = range(min(len(text), len(mark) - 1), 0, -1)
    return next((mark[:length] for length in lengths if text.endswith(mark[:length])), "")
