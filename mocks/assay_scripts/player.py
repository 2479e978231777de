"""Plays one part of a script against a clock: what happens next, and how long nothing happens.

`perform` is a generator without I/O. It yields actions, each a thing to tell at once, and `Until` when there is nothing
to tell before a moment (or before something changes). It is resumed with the time. After `Until` it may be resumed
early; it then looks again. A `Say` is yielded piece by piece, so a part of a million deltas takes no memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Protocol

from assay_scripts.steps import (
    Call,
    Code,
    Command,
    Crash,
    Cut,
    ErrorNotice,
    Fail,
    Finish,
    Gate,
    Hang,
    Open,
    Overload,
    Patch,
    Pause,
    Question,
    Raw,
    Reflect,
    Repeat,
    Retry,
    Say,
    Step,
    Surrogates,
    Think,
    Usage,
    ends_turn,
)


@dataclass(frozen=True, slots=True)
class Piece:
    """One delta of the answer's text, and the choice that is told with it; halves of characters are to be escaped.

    `whole`: it is all of the text, and no delta.
    """

    text: str
    choice: int | None = None
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Until:
    """Nothing to tell before `time` (seconds, the clock of the stage; infinite: no moment is known)."""

    time: float


Action = (
    Piece
    | Think
    | Call
    | Command
    | Patch
    | Code
    | Question
    | Retry
    | Usage
    | Open
    | Reflect
    | Finish
    | Fail
    | Crash
    | ErrorNotice
    | Repeat
    | Cut
    | Raw
)
Performance = Generator[Action | Until, float, None]
_Playing = Generator[Action | Until, float, float]


class Stage(Protocol):
    """What a part can see of the other turns under its nonce."""

    def is_open(self, gate: str) -> bool:
        """Whether this gate was opened."""

    def others_running(self) -> bool:
        """Whether another turn under the nonce still runs."""


def perform(part: tuple[Step, ...], stage: Stage, now: float) -> Performance:
    """Play `part` from the time `now` (seconds); send the current time to resume."""
    ended = False
    for step in part:
        ended = ended or ends_turn(step)
        now = yield from _play(step, stage, now)
    if not ended:
        yield Finish()


def _play(step: Step, stage: Stage, now: float) -> _Playing:
    match step:
        case Say() | Surrogates():
            return (yield from _say(step, now))
        case ErrorNotice():
            return (yield from _wait((yield step), math.inf))
        case Overload():
            return now
        case Pause() | Hang():
            return (yield from _wait(now, now + step.seconds if isinstance(step, Pause) else math.inf))
        case Gate():
            return (yield from _pass(step, stage, now))
        case Reflect(what="turns"):
            now = yield from _wait(now, now + step.wait, lambda: not stage.others_running())
    return (yield step)


def _say(step: Say | Surrogates, now: float) -> _Playing:
    for piece in _pieces(step) if isinstance(step, Say) else _halves(step):
        now = yield piece
    return now


def _pieces(step: Say) -> Iterator[Piece]:
    if step.whole:
        return iter((Piece(step.text, step.choice, whole=True),))
    return (Piece(text, step.choice) for _ in range(step.times) for text in step.pieces)


def _halves(step: Surrogates) -> Iterator[Piece]:
    units = step.text.encode("utf-16-be")
    text = "".join(chr(int.from_bytes(units[at : at + 2], "big")) for at in range(0, len(units), 2))
    return map(Piece, text if step.apart else (text,))


def _pass(gate: Gate, stage: Stage, now: float) -> _Playing:
    now = yield from _wait(now, now + gate.timeout, lambda: stage.is_open(gate.name))
    return now if stage.is_open(gate.name) else (yield Piece(gate.late))


def reconnecting(details: str, waits: Sequence[float]) -> Performance:
    """Tell that the service is not reached, again and again, so many seconds apart, the last for ever."""
    seconds = chain(waits, repeat(waits[-1]))
    while True:
        now = yield Retry(attempts=0, details=details)
        yield from _wait(now, now + next(seconds))


def _wait(now: float, deadline: float, over: Callable[[], bool] = lambda: False) -> _Playing:
    while now < deadline and not over():
        now = yield Until(deadline)
    return now
