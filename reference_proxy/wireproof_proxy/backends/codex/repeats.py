"""A message that begins again after its stream broke: what of it is new. Pure.

A message may be longer than memory should hold, so the part that was emitted is kept as its length and its hash alone.
A difference is therefore noticed only when as much text has come again.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field


@dataclass
class _Known:
    """Text that went by."""

    length: int = 0
    _hash: hashlib.blake2b = field(default_factory=hashlib.blake2b)

    def add(self, text: str) -> None:
        """More of it."""
        self.length += len(text)
        # surrogatepass: half a character may come alone, its other half with the next delta.
        self._hash.update(text.encode(errors="surrogatepass"))

    def same(self, other: _Known) -> bool:
        """Whether both are the same text."""
        return self._hash.digest() == other._hash.digest()


@dataclass
class RepeatFilter:
    """Drops what a message repeats after it has begun again; one message after the other."""

    _emitted: _Known = field(default_factory=_Known)
    _again: _Known = field(default_factory=_Known)
    repeats: bool = False
    """Whether a message has begun again and is not yet where it was before."""

    def new(self, text: str) -> str | None:
        """The part of the text that is new; None when the message differs from what it was before."""
        left = self._emitted.length - self._again.length if self.repeats else 0
        repeated, rest = text[:left], text[left:]
        if self.repeats:
            self._again.add(repeated)
            # Only now is there as much text as was hashed.
            if len(repeated) == left:
                self.repeats = False
                if not self._again.same(self._emitted):
                    return None
        self._emitted.add(rest)
        return rest

    def begin_again(self) -> None:
        """The message comes once more, from its beginning."""
        self._again = _Known()
        self.repeats = self._emitted.length > 0

    def end(self) -> None:
        """The message is complete."""
        self._emitted = _Known()
