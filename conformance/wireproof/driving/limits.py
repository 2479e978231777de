"""How long, how large and in how many pieces an answer may be; the client disconnects from one that exceeds that.

A target may send without end, by fault or on purpose. Its exchange ends at these limits, and only the beginning of the
body is kept: its content is not judged, and a run must not fill the memory with it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wireproof.driving.watching import now

if TYPE_CHECKING:
    from wireproof.model.target import Target

SILENCES = 3
"""An exchange may last at least so many times as long as the target may be silent."""
PIECES = 250_000
"""Pieces that an answer may have: a proxy may write a mebibyte a few bytes at a time, and that is no fault."""
FRAMES = 50_000
"""Frames that an answer may have. One that says anything has more than 100 bytes, so that streams of them exceed the
limit of bytes first: this one is for frames without anything in them."""
LARGE_BYTES, LARGE_PIECES = 2**17, 1000
"""Beyond either of them an answer is large, and only one is read at a time: what is read takes many times its bytes."""
KEPT = 2**16
"""Bytes that are kept of an answer beyond the limits."""
KEPT_PIECES = 1000


def is_large(size: int, pieces: int) -> bool:
    """True if an answer of this size, with so many pieces or frames, counts as large."""
    return size > LARGE_BYTES or pieces > LARGE_PIECES


@dataclass(frozen=True, kw_only=True)
class ExchangeLimits:
    """The limits of one exchange."""

    seconds: float = math.inf
    most_bytes: int = 2**62
    pieces: int = PIECES
    frames: int = FRAMES

    @classmethod
    def of(cls, target: Target, *, silence: float) -> ExchangeLimits:
        """The limits of a target, for an exchange in which it may be silent for `silence` seconds."""
        return cls(seconds=max(target.longest, SILENCES * silence), most_bytes=target.answer_bytes)

    def over(self, size: int, pieces: int, frames: int) -> str:
        """Which limit a body of `size` bytes, so many pieces and frames exceeds; "": none."""
        if size > self.most_bytes:
            return f"it has more than {self.most_bytes:,} bytes (--answer-bytes sets the limit)"
        if frames > self.frames:
            return f"it has more than {self.frames:,} frames"
        return f"it comes in more than {self.pieces:,} pieces" if pieces > self.pieces else ""

    def late(self) -> str:
        """The message for an answer that exceeds the limit of time."""
        return f"it went on for {self.seconds:g} s (--answer-seconds sets the limit)"

    def deadline(self) -> float | None:
        """When an exchange that begins now has to be over, by the loop's clock; None: never."""
        return None if math.isinf(self.seconds) else now() + self.seconds
