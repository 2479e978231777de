"""The states of a connection, as tables: what the client's side is at, and what the server's.

    what comes    IDLE ──begun──► HEAD ──body follows──► BODY ──complete──► IDLE
                                    └────────────── complete ─────────────► IDLE
                  any but ENDED ──stopped──► IGNORED      any ──ended──► ENDED

    what goes     QUIET ──asked──► ANSWERING ──answered──► QUIET
                    └──said all──► LINGERING              any ──closed──► CLOSED

The two move independently: requests may be sent ahead of the answers before them, and a client may close its end before
its answer has begun. What a pair of states asks for is in `ClientConnection._advance`; how long a client has in a pair
is in `patience`.

An event that a row lacks cannot happen in that state: it is a KeyError, and a bug. The states are text, since its hash
costs less than an enum's own.
"""

from __future__ import annotations

from enum import StrEnum, auto
from functools import cache
from itertools import product
from math import inf
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wireproof_surfaces.http.edge_limits import EdgeLimits


class ReadState(StrEnum):
    """What the client's side is at."""

    IDLE = auto()
    """Nothing of a next request is here."""
    HEAD = auto()
    """A request's line and fields come."""
    BODY = auto()
    """Its body comes."""
    IGNORED = auto()
    """What comes is not read as requests any more, but thrown away."""
    ENDED = auto()
    """The client has closed its end."""


class ReadEvent(StrEnum):
    """What moves it."""

    BEGUN = auto()
    BODY_FOLLOWS = auto()
    COMPLETE = auto()
    STOPPED = auto()
    ENDED = auto()


class WriteState(StrEnum):
    """What the server's side is at."""

    QUIET = auto()
    """Nothing is being answered."""
    ANSWERING = auto()
    """The application has a request."""
    LINGERING = auto()
    """All is said and our end is closed; what still comes is thrown away, so that the client gets to read."""
    CLOSED = auto()
    """Nothing more is said. What was sent and not taken yet still goes, unless the client has left."""


class WriteEvent(StrEnum):
    """What moves it."""

    ASKED = auto()
    ANSWERED = auto()
    SAID_ALL = auto()
    CLOSED = auto()


_STOPS = {ReadEvent.STOPPED: ReadState.IGNORED, ReadEvent.ENDED: ReadState.ENDED}
READ_TABLE: Mapping[ReadState, Mapping[ReadEvent, ReadState]] = {
    ReadState.IDLE: {ReadEvent.BEGUN: ReadState.HEAD, **_STOPS},
    ReadState.HEAD: {ReadEvent.BODY_FOLLOWS: ReadState.BODY, ReadEvent.COMPLETE: ReadState.IDLE, **_STOPS},
    ReadState.BODY: {ReadEvent.COMPLETE: ReadState.IDLE, **_STOPS},
    ReadState.IGNORED: _STOPS,
    ReadState.ENDED: {ReadEvent.STOPPED: ReadState.ENDED, ReadEvent.ENDED: ReadState.ENDED},
}
"""State → event → next state."""
_CLOSES = {WriteEvent.CLOSED: WriteState.CLOSED}
WRITE_TABLE: Mapping[WriteState, Mapping[WriteEvent, WriteState]] = {
    WriteState.QUIET: {WriteEvent.ASKED: WriteState.ANSWERING, WriteEvent.SAID_ALL: WriteState.LINGERING, **_CLOSES},
    WriteState.ANSWERING: {WriteEvent.ANSWERED: WriteState.QUIET, **_CLOSES},
    WriteState.LINGERING: _CLOSES,
    WriteState.CLOSED: _CLOSES,
}
"""State → event → next state."""

_QUIET = {ReadState.HEAD: "reading", ReadState.BODY: "sending"}
_ELSE = {WriteState.ANSWERING: None, WriteState.LINGERING: "closing", WriteState.CLOSED: "taking"}


# Once for all connections of a server, each of which has it.
@cache
def patience(limits: EdgeLimits) -> Mapping[tuple[ReadState, WriteState], float]:
    """How many seconds a client may stay in each pair of states; `inf`: as long as an answer takes."""
    named = {
        (read, write): _QUIET.get(read, "idle") if write is WriteState.QUIET else _ELSE[write]
        for read, write in product(ReadState, WriteState)
    }
    return {states: inf if name is None else getattr(limits, name) for states, name in named.items()}
