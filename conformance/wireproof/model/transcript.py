"""The record of one exchange: request, status, headers, the body in the pieces in which it arrived.

Frozen, complete and free of any judgement: every check is a function of transcripts.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wireproof.wire.violation import Place


class End(StrEnum):
    """How the response ended."""

    COMPLETE = "complete"
    """The body ended as HTTP frames it: by its length, its last chunk, or the close that ends a body without either."""
    LEFT = "left"
    """The client closed the connection, as the scenario asks."""
    CUT = "cut"
    """The connection broke before the response was complete."""
    OPEN = "open"
    """The stream sent [DONE] and its body still did not end."""
    TIMEOUT = "timeout"
    """Nothing came for longer than the limit."""
    ENDLESS = "endless"
    """The answer was longer than the limit of bytes, frames or time; the client left, and the body is its beginning."""
    REFUSED = "refused"
    """No connection could be made."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Wait:
    """A refusal for lack of capacity that was waited for, as clients do."""

    status: int
    """429 or 503."""
    seconds: float
    """How long the next try was put off: what Retry-After asked for, else a backoff."""
    asked: bool = True
    """Whether it had a Retry-After."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Death:
    """The end of a process of the target that Wireproof had started."""

    status: int
    """Its exit status; negative: the number of the signal that ended it."""
    last_words: str
    """The end of what it wrote to stderr, "" for nothing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Piece:
    """The bytes of one read."""

    at: float
    """When they came, in seconds after the request was sent."""
    data: bytes
    """The bytes, as received."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Transcript:
    """One exchange, as it was recorded."""

    method: str
    """The HTTP method."""
    url: str
    """The absolute URL."""
    request_headers: tuple[tuple[str, str], ...]
    """The headers that the client set, in order."""
    request_body: bytes
    """The body of the request, empty for none."""
    status: int | None
    """The HTTP status; None when no response head came."""
    headers: tuple[tuple[str, str], ...]
    """The headers of the response as received, in order; repeated names are kept."""
    pieces: tuple[Piece, ...]
    """The body of the response in the pieces in which it arrived."""
    end: End
    """How the response ended."""
    seconds: float
    """How long the exchange took, from sending the request to its end."""
    over: str = ""
    """Which limit the answer exceeds, as a clause, where its end is ENDLESS."""
    waits: tuple[Wait, ...] = ()
    """The refusals for lack of capacity before this answer, in order; the answer is that of the last try."""
    death: Death | None = None
    """The target's process, if it ended while this exchange was under way; None: it lived on, or is not ours to see."""
    beside: int = 0
    """How many other requests of the run were on their way when it was sent."""
    stuck: bool = False
    """Whether the target gave no answer to anything after it, so that its silence is no matter of time."""
    began: float = 0.0
    """When the request came, in seconds after the first of its scenario. Known where a client is judged; else 0."""
    left: float | None = None
    """When the person at the client left, in seconds after the request came; None: they stayed to the end."""
    script: str = ""
    """The script of the endpoint that answered; "": none did, or what answered says nothing of scripts."""

    @property
    def body(self) -> bytes:
        """All pieces joined."""
        return b"".join(piece.data for piece in self.pieces)

    def body_at(self, place: Place) -> bytes:
        """The body in which a place is: that of the response, or of the request."""
        return self.request_body if place.in_request else self.body

    @property
    def ok(self) -> bool:
        """Whether the status is 2xx; False when there is none."""
        return self.status is not None and 200 <= self.status < 300  # noqa: PLR2004 (the class of HTTP statuses)

    def header(self, name: str) -> str | None:
        """The first header of this name, in any case; None when there is none."""
        wanted = name.lower()
        return next((value for key, value in self.headers if key.lower() == wanted), None)
