"""Hearing a turn out: its events, its silences, and whether anybody still waits for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING

from assay_proxy.errors import failure
from assay_proxy.events import CallOpened, Cause, Failed, Finished, Heard, Quiet, Text, Usage

if TYPE_CHECKING:
    from assay_proxy.backends.backend import Turn

TICK = 0.2

Clock = Callable[[], float]


class ClientGoneError(Exception):
    """Nobody waits for the answer any more."""


def listen(turn: Turn, *, gone: Callable[[], bool], idle: float, clock: Clock, tick: float = TICK) -> Iterator[Heard]:
    """The turn's events as they come, and Quiet every `tick` seconds without one.

    A turn that is silent for `idle` seconds fails.

    Raises:
        ClientGoneError: when `gone` says so; it is asked every `tick` seconds, whether the backend talks or not.
    """
    heard = asked = clock()
    while True:
        event = turn.next(tick)
        now = clock()
        if now - asked >= tick or event is None:
            asked = now
            if gone():
                raise ClientGoneError
        if event is not None:
            heard = now
            yield event
        elif now - heard >= idle:
            yield Failed(Cause.TIMEOUT)
        else:
            yield Quiet(now - heard)


def hold(said: Iterator[Heard], *, commit: float, clock: Clock, param: str = "messages") -> Iterator[Heard]:
    """All of `said` that matters, returned once there is an output, or after `commit` seconds without one.

    Then the first event is a Quiet. `param` is the request's field that holds the conversation.

    Raises:
        ApiError: when the turn failed before that, so that it can be told as an HTTP error.
    """
    deadline = clock() + commit
    before: list[Heard] = []
    for event in said:
        if isinstance(event, Failed):
            raise failure(event, param)
        if isinstance(event, Text | CallOpened | Finished):
            return chain(before, [event], said)
        if isinstance(event, Usage):
            before.append(event)
        if clock() >= deadline:
            return chain([Quiet(0)], before, said)
    return chain(before, said)


def keep_alive(pieces: Iterable[bytes], *, comment: bytes, every: float, clock: Clock) -> Iterator[bytes]:
    """The pieces, and a comment whenever `every` seconds have passed without one; empty pieces only tell the time.

    The first piece is never empty: the head of the response goes out with it.
    """
    written: float | None = None
    for piece in pieces:
        now = clock()
        if piece or written is None or now - written >= every:
            written = now
            yield piece or comment
