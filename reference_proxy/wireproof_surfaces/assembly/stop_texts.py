"""Texts that end an answer where they begin, found however the text that holds them is cut. Pure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class StopTexts:
    """Looks for the first of `stops` that is complete; none of them is empty."""

    stops: tuple[str, ...]
    found: str | None = None
    """The one that was found; nothing passes behind it."""
    _held: str = ""

    def feed(self, piece: str) -> str:
        """What passes of the text so far and was not returned before: all but what may be the head of a stop."""
        if self.found is not None:
            return ""
        text = self._held + piece
        # The first that is complete, as a model's service finds it token by token; of two the one that began earlier.
        ends = [(at + len(stop), at, stop) for stop in self.stops if (at := text.find(stop)) >= 0]
        if ends:
            _, at, self.found = min(ends)
            self._held = ""
            return text[:at]
        kept = max(_head_at_the_end(text, stop) for stop in self.stops)
        self._held = text[len(text) - kept :]
        return text[: len(text) - kept]

    @property
    def holds(self) -> bool:
        """Whether it holds what may be the head of a stop."""
        return bool(self._held)

    def end(self) -> str:
        """What is left when no more of this text comes."""
        rest, self._held = self._held, ""
        return rest


def _head_at_the_end(text: str, stop: str) -> int:
    """How many characters at the end of the text are the head of a stop."""
    longest = min(len(text), len(stop) - 1)
    return next((size for size in range(longest, 0, -1) if text.endswith(stop[:size])), 0)
