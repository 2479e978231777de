"""What one exchange left behind: request, status, headers, the body in the pieces in which it arrived.

Frozen, complete and free of any judgement: every check is a function of transcripts.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class End(StrEnum):
    """How the response ended."""

    COMPLETE = "complete"
    """The body ended as HTTP says it ends."""
    LEFT = "left"
    """The client closed the connection, as the scenario wanted."""
    CUT = "cut"
    """The connection broke before the response was complete."""
    OPEN = "open"
    """The stream had said [DONE] and the body still did not end."""
    TIMEOUT = "timeout"
    """Nothing came for longer than the limit."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Piece:
    """The bytes of one read and when they came, in seconds after the request was sent."""

    at: float
    data: bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class Transcript:
    """One exchange. `status` is None when no response head came; headers are as received, in order."""

    method: str
    url: str
    request_headers: tuple[tuple[str, str], ...]
    request_body: bytes
    status: int | None
    headers: tuple[tuple[str, str], ...]
    pieces: tuple[Piece, ...]
    end: End
    seconds: float

    @property
    def body(self) -> bytes:
        """All pieces joined."""
        return b"".join(piece.data for piece in self.pieces)

    @property
    def ok(self) -> bool:
        """Whether the status is 2xx."""
        return self.status is not None and 200 <= self.status < 300  # noqa: PLR2004 (the class of HTTP statuses)

    def header(self, name: str) -> str | None:
        """The first header of this name, in any case; None when there is none."""
        wanted = name.lower()
        return next((value for key, value in self.headers if key.lower() == wanted), None)
