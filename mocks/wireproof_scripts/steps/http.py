"""Steps of HTTP and of the connection below it: what no backend sends, and every client meets some day.

Only the endpoint plays them (`wireproof serve`, and the transport without a socket), as only there what a script says
is next to the client. Behind the mock of an agent stands a proxy with an HTTP of its own.

What is sent before the first byte of the answer, its status and headers, is decided by steps before the first text.
"""

# No `from __future__ import annotations` here: the annotations of the fields are read when the program runs.
from dataclasses import dataclass
from typing import ClassVar, Literal

from wireproof_scripts.kinds import (
    Arguments,
    Count,
    Headers,
    HttpStatus,
    Line,
    Positive,
    RetryAfter,
    Seconds,
    Share,
    Size,
    Text,
)

_HTTP = "only the endpoint writes the HTTP that its client reads"


@dataclass(frozen=True, slots=True)
class Status:
    """The whole response is one of this status; the turn has failed."""

    code: HttpStatus
    """The status."""
    retry_after: RetryAfter | None = None
    """The header `Retry-After`: seconds, or a date as HTTP writes it; not sent without it."""
    message: Text = ""
    """The message of the error object; the name of the status when empty."""
    body: Arguments | None = None
    """The body in the place of an error object of the API that is asked: text as it is, or JSON data."""
    headers: Headers | None = None
    """More headers, or others: `content-type` is that of JSON without it."""
    endpoint: ClassVar[str] = _HTTP


@dataclass(frozen=True, slots=True)
class Head:
    """What the head of the response says besides or in the place of what it would, and how slowly it comes."""

    content_type: Text = ""
    """The media type in the place of the right one; the right one when empty."""
    headers: Headers | None = None
    """More headers, or others."""
    seconds: Seconds = 0.0
    """The head is sent byte by byte over this time; without a time at once. The connection is closed behind such a
    response."""
    endpoint: ClassVar[str] = _HTTP


@dataclass(frozen=True, slots=True)
class Disconnect:
    """The connection ends here, whatever is still to come; the turn has failed."""

    at: Literal["here", "mid-frame"] = "here"
    """`here`: behind what was sent so far, which is nothing at all as first step. `mid-frame`: behind the first half of
    another frame; behind the first half of the body, if the answer is no stream."""
    reset: bool = False
    """The connection is reset (TCP RST) instead of closed."""
    endpoint: ClassVar[str] = _HTTP


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame of the stream that is written as it is; an answer that is no stream has none."""

    data: Text
    """Its `data`, JSON or not, a line of it each."""
    event: Text = ""
    """Its `event`; none when empty."""
    endpoint: ClassVar[str] = _HTTP


@dataclass(frozen=True, slots=True)
class Bytes:
    """Bytes of the body that are written as they are; of an answer that is no stream they are the whole body."""

    text: Line
    """The bytes as text; the characters U+DC80 to U+DCFF stand for the bytes 80 to FF."""
    times: Positive = 1
    """How many times they are written."""
    endpoint: ClassVar[str] = _HTTP

    @property
    def content(self) -> bytes:
        """The bytes themselves."""
        return self.text.encode(errors="surrogateescape") * self.times


@dataclass(frozen=True, slots=True)
class Refusal:
    """The model refuses: its text is sent as OpenAI sends a refusal, and so is all other text of the choice.

    A message of the Messages API keeps its text, and stops for `refusal`.
    """

    text: Text
    """What it says."""
    endpoint: ClassVar[str] = "the surfaces of APIs alone have a place for it"


@dataclass(frozen=True, slots=True)
class Garbage:
    """Bytes on the connection that are no HTTP, where the status line or the next chunk would be; then it closes."""

    size: Size = 64
    """How many."""
    seed: Count = 0
    """Another seed gives other bytes; the same one the same."""
    endpoint: ClassVar[str] = _HTTP


@dataclass(frozen=True, slots=True)
class Truncate:
    """The JSON of the next frame is cut off; of an answer that is no stream, that of the body."""

    kept: Share = 0.5
    """How much of it is sent, from 0 for nothing to 1 for all of it."""
    endpoint: ClassVar[str] = _HTTP


@dataclass(frozen=True, slots=True)
class Stall:
    """Nothing is sent, not even the comments that keep a silent stream open."""

    seconds: Seconds | None = None
    """How long; until the client leaves without it."""
    endpoint: ClassVar[str] = _HTTP


@dataclass(frozen=True, slots=True)
class Drip:
    """From here on the body is sent in small pieces."""

    size: Positive = 1
    """The bytes of each."""
    seconds: Seconds = 0.01
    """The time between two of them."""
    endpoint: ClassVar[str] = _HTTP


Wire = Status | Head | Disconnect | Frame | Bytes | Refusal | Garbage | Truncate | Stall | Drip
"""All steps of this module."""
Heading = Status | Head
"""Those that decide the head of the response."""
Ending = Status | Disconnect | Garbage
"""Those behind which nothing of the answer is sent."""
