"""Plays one part of a script against a clock: what happens next, and how long nothing happens.

`perform` is a generator without I/O. It yields actions, each to be carried out at once, and `Until` when nothing is to
happen before a time or a change. It is resumed with the current time. After `Until` it may be resumed early and then
checks again. Text is yielded piece by piece, so that a part of a million deltas takes no memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator, Sequence
from itertools import chain, repeat
from typing import TYPE_CHECKING

from wireproof_scripts import steps as language
from wireproof_scripts.steps import TextDelta
from wireproof_scripts.steps.cursor import Agentic
from wireproof_scripts.steps.http import Wire
from wireproof_scripts.values import value

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from wireproof_scripts.nonces import Nonce, TurnRecord


@value(frozen=True, slots=True)
class Until:
    """Nothing happens before this time, unless something changes."""

    time: float
    """Seconds on the clock of `perform`; infinite if only a change can end the silence."""


Action = TextDelta | language.Answering | language.Doing | Agentic | Wire
"""What a backend does for a step. Text becomes pieces; a pause, a gate or a hang becomes `Until`."""

Performance = Generator[Action | Until, float, None]
"""A part that is played: yields what happens, takes the time, ends with the part."""

_Wordless = language.Silence | language.Answering | language.Doing | language.Overload | Agentic | Wire
_Playing = Generator[Action | Until, float, float]


_FINISH = language.Finish()
"""The end of a part that has none of its own; it never changes."""


def perform(part: tuple[language.Step, ...], nonce: Nonce, record: TurnRecord, now: float) -> Performance:
    """Play `part`, starting at the time `now` (seconds); send the current time to resume.

    It waits for gates under `nonce`, and for turns there other than that of `record`.
    """
    ended, gaps = False, None
    for step in part:
        ended = ended or language.ends_turn(step)
        if isinstance(step, language.Pace):
            gaps = step.gaps()
        elif isinstance(step, language.Spoken):
            if gaps is not None:
                now = yield from _paced(step.deltas(), gaps, now)
                continue
            # Here, not in a generator of its own: it is nearly all that there is in a long answer.
            for piece in step.deltas():
                now = yield piece
        else:
            now = yield from _play(step, nonce, record, now)
    if not ended:
        yield _FINISH


def _play(step: _Wordless, nonce: Nonce, record: TurnRecord, now: float) -> _Playing:
    match step:
        case language.ErrorNotice():
            return (yield from _wait((yield step), math.inf))  # its turn has no end
        case language.Overload():
            # It is played before the turn begins.
            return now
        case language.Pause() | language.Hang():
            return (yield from _wait(now, now + step.seconds if isinstance(step, language.Pause) else math.inf))
        case language.Gate():
            return (yield from _wait_at(step, nonce.gates, now))
        case language.Reflect(what="turns"):
            # Then it is yielded as any other step.
            now = yield from _wait(now, now + step.wait, lambda: not nonce.others_running(record))
    return (yield step)


def _paced(deltas: Iterator[TextDelta], gaps: Iterator[float], now: float) -> _Playing:
    due = now
    for piece in deltas:
        # From when the last one was due, not sent: a late one does not make all others later.
        due += next(gaps)
        now = yield from _wait(now, due)
        now = yield piece
    return now


def _wait_at(gate: language.Gate, opened: AbstractSet[str], now: float) -> _Playing:
    now = yield from _wait(now, now + gate.timeout, lambda: gate.name in opened)
    return now if gate.name in opened else (yield TextDelta(gate.late))


def reconnecting(details: str, waits: Sequence[float]) -> Performance:
    """Report without end that the service is not reached. `waits`: seconds after each report; the last one repeats."""
    seconds = chain(waits, repeat(waits[-1]))
    while True:
        now = yield language.Retry(attempts=0, details=details)  # 0: there is no last attempt
        yield from _wait(now, now + next(seconds))


def _wait(now: float, deadline: float, over: Callable[[], bool] = lambda: False) -> _Playing:
    while now < deadline and not over():
        now = yield Until(deadline)
    return now
