"""What time does to an answer: the wait for events, a backend's silence, the held status line, keep-alive comments."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from wireproof_surfaces.errors import CHAT_FIELDS, failure
from wireproof_surfaces.events import (
    CallBegan,
    ChoiceFailed,
    ChoiceFinished,
    FailureReason,
    Quiet,
    Ready,
    TextAdded,
    Texts,
    UsageReported,
)
from wireproof_surfaces.values import value

if TYPE_CHECKING:
    from wireproof_proxy.backends.backend import BackendTurn
    from wireproof_surfaces.errors import RequestFields


TICK = 0.2
"""Seconds between two looks at a turn that has just gone silent: what it holds back then, it may release."""
CALM = 1.0
"""The same, of one that has said nothing but text: it holds nothing back. Most streams pause for less between words."""
ATTENTIVE = 5.0
"""Seconds of silence after which there are no such looks any more: a thousand silent streams would cost a core."""

SHORTEST = 0.001
"""Seconds; a wait may end a moment before its time, and is not to be followed by none."""

Clock = Callable[[], float]
"""Seconds that never go back."""


def _never() -> bool:
    return False


def _not_noticed(_callback: Callable[[], object]) -> None:
    """Under another server: a departure is noticed at the next write."""


@value(frozen=True, kw_only=True, slots=True)
class ClientState:
    """Whoever sent a request; the defaults are of one of whom nothing is known before the next write."""

    gone: Callable[[], bool] = _never
    """Whether it has left."""
    when_gone: Callable[[Callable[[], object]], object] = _not_noticed
    """Has a function called, in any thread, when it leaves."""
    stalled: Callable[[], bool] = _never
    """Whether it has taken nothing for so long that its answer is given up."""
    keep_open: bool = False
    """Whether its protocol, HTTP/1.1, can keep the connection open."""


class ClientGoneError(Exception):
    """The client has closed its connection, so the answer has no reader."""


@dataclass
class LookSchedule:
    """When a silent turn is to be looked at, whatever it says: set by whoever has something to do then."""

    clock: Clock = time.monotonic
    due: float = math.inf
    """By the clock."""
    tick: float = TICK
    attentive: float = ATTENTIVE
    """For how long a silent turn is looked at every `tick` seconds besides."""
    calm: Callable[[], bool] = _never
    """Whether nothing is held back that a silence would release: every `CALM` seconds will do then."""


def read_events(turn: BackendTurn, *, client: ClientState, idle: float, pace: LookSchedule) -> Iterator[Ready]:
    """The turn's events as they arrive, and a Quiet for each look at a silent one.

    It is looked at when `pace` says. A turn that is silent for `idle` seconds fails, as does one whose client takes
    nothing of what was sent.

    Raises:
        ClientGoneError: the client has left. It is asked after each event and each look; whoever knows of the departure
            closes the turn, which ends the wait.
    """
    last_event = now = pace.clock()
    while True:
        tick = max(pace.tick, CALM) if pace.calm() else pace.tick
        look = now + tick if now - last_event < pace.attentive else math.inf
        wake = min(look, last_event + idle, pace.due if pace.due > now else math.inf)
        event = turn.next(max(wake - now, SHORTEST))
        now = pace.clock()
        if client.gone():
            raise ClientGoneError
        if client.stalled():
            yield ChoiceFailed(FailureReason.LAGGING)
        if event is not None:
            last_event = now
            yield event
        elif now >= last_event + idle:
            yield ChoiceFailed(FailureReason.TIMEOUT)
        else:
            yield Quiet(now - last_event)


def hold_status_line(
    events: Iterator[Ready], *, commit: float, pace: LookSchedule, fields: RequestFields = CHAT_FIELDS
) -> Iterator[Ready]:
    """Wait for the first output, then return all events that matter; after `commit` seconds return without one.

    The status line goes out when this returns. It is held back because it cannot be taken back: a failure before any
    output is still an HTTP status that clients understand and retry, and afterwards only an error in the stream. The
    wait has an end because clients, and proxies on the way to them, give up on a response without a head; the stream
    then begins with a Quiet, so that a keep-alive comment follows at once. `fields`: those of
    the request's surface.

    Raises:
        ApiError: when the turn fails before its first output.
    """
    deadline = pace.due = pace.clock() + commit
    before: list[Ready] = []
    for event in events:
        # chat.stream.error-before-output.
        if isinstance(event, ChoiceFailed):
            raise failure(event, fields)
        if isinstance(event, TextAdded | Texts | CallBegan | ChoiceFinished):
            return chain(before, [event], events)
        # It is no output, but the end of the answer needs it. Working and Quiet may be lost.
        if isinstance(event, UsageReported):
            before.append(event)
        # Looked at with each event, which is often enough: at the deadline there is a Quiet.
        if pace.clock() >= deadline:
            return chain([Quiet(0)], before, events)
    return chain(before, events)


def keep_alive(pieces: Iterable[bytes], *, comment: bytes, every: float, pace: LookSchedule) -> Iterator[bytes]:
    """The pieces, and a comment whenever `every` seconds have passed without one.

    An empty piece has nothing to send; it only gives this function a chance to look at the clock. The first piece that
    is yielded is never empty: a WSGI server sends the response's head together with it.
    """
    due = -math.inf
    for piece in pieces:
        now = pace.clock()
        if piece or now >= due:
            due = pace.due = now + every
            # A comment, never an empty `data:`, which most clients cannot read (chat.stream.keepalive-is-comment).
            yield piece or comment
