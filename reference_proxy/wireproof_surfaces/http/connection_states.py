"""The states of a connection, as tables: what the client's side is at, and what the server's.

    what comes    IDLE ──begun──► HEAD ──body follows──► BODY ──complete──► IDLE
                                    └────────────── complete ─────────────► IDLE
                  any but ENDED ──stopped──► IGNORED      any ──ended──► ENDED

    what goes     QUIET ──asked──► ANSWERING ──answered──► QUIET
                    └──said all──► LINGERING              any ──closed──► CLOSED

The two move independently: requests may be sent ahead of the answers before them, and a client may close its end before
its answer has begun. What a pair of states asks for is in `ClientConnection._advance`; how long a client has in a pair
is in `patience`.

An event that a row lacks cannot happen in that state: it is a KeyError, and a bug. States and events are words, which
the type checker holds to those there are: some dozen are compared for each request, and before Python 3.12 to name the
member of an enum costs as much as two calls.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from math import inf
from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wireproof_surfaces.http.edge_limits import EdgeLimits

ReadState = Literal[
    "idle",  # nothing of a next request is here
    "head",  # a request's line and fields come
    "body",  # its body comes
    "ignored",  # what comes is not read as requests any more, but thrown away
    "ended",  # the client has closed its end
]
"""What the client's side is at."""
ReadEvent = Literal["begun", "body follows", "complete", "stopped", "ended"]
"""What moves it."""
WriteState = Literal[
    "quiet",  # nothing is being answered
    "answering",  # the application has a request
    "lingering",  # all is said and our end is closed; what still comes is thrown away, so that the client gets to read
    "closed",  # nothing more is said; what was sent and not taken yet still goes, unless the client has left
]
"""What the server's side is at."""
WriteEvent = Literal["asked", "answered", "said all", "closed"]
"""What moves it."""

_STOPS: Mapping[ReadEvent, ReadState] = {"stopped": "ignored", "ended": "ended"}
READ_TABLE: Mapping[ReadState, Mapping[ReadEvent, ReadState]] = {
    "idle": {"begun": "head", **_STOPS},
    "head": {"body follows": "body", "complete": "idle", **_STOPS},
    "body": {"complete": "idle", **_STOPS},
    "ignored": _STOPS,
    "ended": {"stopped": "ended", "ended": "ended"},
}
"""State → event → next state."""
_CLOSES: Mapping[WriteEvent, WriteState] = {"closed": "closed"}
WRITE_TABLE: Mapping[WriteState, Mapping[WriteEvent, WriteState]] = {
    "quiet": {"asked": "answering", "said all": "lingering", **_CLOSES},
    "answering": {"answered": "quiet", **_CLOSES},
    "lingering": _CLOSES,
    "closed": _CLOSES,
}
"""State → event → next state."""

_QUIET = {"head": "reading", "body": "sending"}
_ELSE = {"answering": None, "lingering": "closing", "closed": "taking"}


# Once for all connections of a server, each of which has it.
@cache
def patience(limits: EdgeLimits) -> Mapping[tuple[ReadState, WriteState], float]:
    """How many seconds a client may stay in each pair of states; `inf`: as long as an answer takes."""
    named = {
        (read, write): _QUIET.get(read, "idle") if write == "quiet" else _ELSE[write]
        for read, write in product(get_args(ReadState), get_args(WriteState))
    }
    return {states: inf if name is None else getattr(limits, name) for states, name in named.items()}
