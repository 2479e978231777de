"""What time does to an answer: the wait for events, a backend's silence, the held status line, keep-alive comments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING

from assay_proxy.errors import failure
from assay_proxy.events import CallOpened, Cause, Failed, Finished, Quiet, Text, TurnEvent, Usage

if TYPE_CHECKING:
    from assay_proxy.backends.backend import Turn

# A slot is to be free within 1 s of a disconnect (chat.stream.disconnect).
TICK = 0.2
"""Seconds between two looks at the client's connection: how late, at most, a disconnect is noticed."""

Clock = Callable[[], float]
"""Seconds that never go back."""


class ClientGoneError(Exception):
    """The client has closed its connection, so the answer has no reader."""


def read_events(
    turn: Turn, *, client_gone: Callable[[], bool], idle: float, clock: Clock, tick: float = TICK
) -> Iterator[TurnEvent]:
    """The turn's events as they arrive, and a Quiet every `tick` seconds without one.

    A turn that is silent for `idle` seconds fails.

    Raises:
        ClientGoneError: when `client_gone` is true. It is asked every `tick` seconds, also while events arrive: a busy
            backend must not hide that its reader has left.
    """
    last_event = last_check = clock()
    while True:
        event = turn.next(tick)
        now = clock()
        if now - last_check >= tick or event is None:
            last_check = now
            if client_gone():
                raise ClientGoneError
        if event is not None:
            last_event = now
            yield event
        elif now - last_event >= idle:
            yield Failed(Cause.TIMEOUT)
        else:
            yield Quiet(now - last_event)


def hold_status_line(
    events: Iterator[TurnEvent], *, commit: float, clock: Clock, param: str = "messages"
) -> Iterator[TurnEvent]:
    """Wait for the first output, then return all events that matter; after `commit` seconds return without one.

    The status line goes out when this returns. It is held back because it cannot be taken back: a failure before any
    output is still an HTTP status that clients understand and retry, and afterwards only an error in the stream. The
    wait has an end because clients, and proxies on the way to them, give up on a response without a head; the stream
    then begins with a Quiet, so that a keep-alive comment follows at once. `param`: the request's field that
    holds the conversation.

    Raises:
        ApiError: when the turn fails before its first output.
    """
    deadline = clock() + commit
    before: list[TurnEvent] = []
    for event in events:
        # chat.stream.error-before-output.
        if isinstance(event, Failed):
            raise failure(event, param)
        if isinstance(event, Text | CallOpened | Finished):
            return chain(before, [event], events)
        # It is no output, but the end of the answer needs it. Working and Quiet may be lost.
        if isinstance(event, Usage):
            before.append(event)
        # Looked at with each event, which is often enough: a silence is a Quiet at every tick.
        if clock() >= deadline:
            return chain([Quiet(0)], before, events)
    return chain(before, events)


def keep_alive(pieces: Iterable[bytes], *, comment: bytes, every: float, clock: Clock) -> Iterator[bytes]:
    """The pieces, and a comment whenever `every` seconds have passed without one.

    An empty piece has nothing to send; it only gives this function a chance to look at the clock. The first piece that
    is yielded is never empty: a WSGI server sends the response's head together with it.
    """
    written: float | None = None
    for piece in pieces:
        now = clock()
        if piece or written is None or now - written >= every:
            written = now
            # A comment, never an empty `data:`, which most clients cannot read (chat.stream.keepalive-is-comment).
            yield piece or comment
