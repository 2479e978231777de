from __future__ import annotations

from itertools import repeat
from typing import Any

import pytest

from wireproof_proxy.answers.timing import (
    CALM,
    ClientGoneError,
    ClientState,
    LookSchedule,
    hold_status_line,
    keep_alive,
    read_events,
)
from wireproof_surfaces.errors import ApiError
from wireproof_surfaces.events import (
    ChoiceFailed,
    ChoiceFinished,
    FailureReason,
    Quiet,
    TextAdded,
    UsageReported,
    Working,
)

HELLO = TextAdded(text="Hello")
END = ChoiceFinished(reason="stop")
USAGE = UsageReported(prompt=1, completion=1)


class Clock:
    """Goes on by `step` seconds whenever somebody looks."""

    def __init__(self, step: float = 1.0) -> None:
        self.now, self.step = 0.0, step

    def __call__(self) -> float:
        self.now += self.step
        return self.now


def timed(step: float = 1) -> LookSchedule:
    return LookSchedule(clock=Clock(step))


class Turn:
    def __init__(self, *events: Any) -> None:
        self.events = list(events)

    def next(self, timeout: float) -> Any:
        assert timeout > 0
        return self.events.pop(0) if self.events else None

    def close(self) -> None:
        """Nothing to do."""


def take(count: int, received: Any) -> list[Any]:
    return [next(received) for _ in range(count)]


def test_events_come_as_they_are_and_silences_say_how_long_they_last() -> None:
    received = read_events(Turn(HELLO, None, None, END), client=ClientState(), idle=100, pace=timed())
    assert take(4, received) == [HELLO, Quiet(1), Quiet(2), END]


def test_a_backend_that_is_silent_for_too_long_has_failed() -> None:
    received = read_events(Turn(HELLO), client=ClientState(), idle=3, pace=timed())
    assert take(4, received) == [HELLO, Quiet(1), Quiet(2), ChoiceFailed(FailureReason.TIMEOUT)]


@pytest.mark.parametrize("events", [(HELLO,), (HELLO, HELLO, HELLO)], ids=["in a silence", "while the backend talks"])
def test_a_client_that_leaves_is_noticed(events: tuple[Any, ...]) -> None:
    gone = iter([False, True])
    received = read_events(Turn(*events), client=ClientState(gone=lambda: next(gone)), idle=100, pace=timed(0.01))
    assert next(received) == HELLO
    with pytest.raises(ClientGoneError):
        next(received)


def test_a_client_that_takes_nothing_fails_its_answer() -> None:
    received = read_events(Turn(HELLO, HELLO), client=ClientState(stalled=lambda: True), idle=100, pace=timed())
    assert next(received) == ChoiceFailed(FailureReason.LAGGING)


class Waits:
    """A silent turn that goes on with the clock, and remembers how long it was waited for."""

    def __init__(self, clock: Clock) -> None:
        self.clock, self.waits = clock, list[float]()

    def next(self, timeout: float) -> None:
        self.waits.append(round(timeout, 3))
        self.clock.now += timeout

    def close(self) -> None:
        """Nothing to do."""


def test_a_turn_that_holds_nothing_back_is_looked_at_less_often() -> None:
    clock, calm = Clock(0), [True]
    turn = Waits(clock)
    pace = LookSchedule(clock=clock, tick=0.2, attentive=3, calm=lambda: calm[0])
    received = read_events(turn, client=ClientState(), idle=30, pace=pace)
    take(2, received)
    calm[0] = False
    take(2, received)
    assert turn.waits == [CALM, CALM, 0.2, 0.2]


def test_a_turn_that_stays_silent_is_looked_at_when_there_is_something_to_do() -> None:
    clock = Clock(0)
    pace, turn = LookSchedule(clock=clock, due=7, tick=1, attentive=2.5), Waits(clock)
    received = read_events(turn, client=ClientState(), idle=30, pace=pace)
    take(4, received)
    assert turn.waits == [1, 1, 1, 4]
    pace.due = 20
    assert take(2, received)[-1] == ChoiceFailed(FailureReason.TIMEOUT)
    assert turn.waits[4:] == [13, 10.0]


@pytest.mark.parametrize("event", [HELLO, END])
def test_the_first_output_ends_the_holding_and_nothing_is_lost(event: Any) -> None:
    said = hold_status_line(iter([Working(), USAGE, Quiet(1), event, HELLO]), commit=100, pace=timed())
    assert list(said) == [USAGE, event, HELLO]


def test_after_the_time_to_commit_nothing_more_is_waited_for() -> None:
    said = hold_status_line(iter([USAGE, Quiet(1), Quiet(2), HELLO]), commit=2, pace=timed())
    assert list(said) == [Quiet(0), USAGE, Quiet(2), HELLO]


def test_a_failure_before_any_output_is_an_http_error() -> None:
    with pytest.raises(ApiError) as raised:
        hold_status_line(iter([Working(), ChoiceFailed(FailureReason.RATE_LIMITED)]), commit=100, pace=timed())
    assert raised.value.problem.status == 429


def test_a_failure_after_the_commitment_is_left_to_the_stream() -> None:
    failed = ChoiceFailed(FailureReason.RATE_LIMITED)
    assert list(hold_status_line(iter([Quiet(1), failed]), commit=0, pace=timed())) == [
        Quiet(0),
        failed,
    ]


def test_a_turn_that_ends_without_output_is_held_to_its_end() -> None:
    assert list(hold_status_line(iter([USAGE]), commit=100, pace=timed())) == [USAGE]


def test_comments_fill_the_silences_that_last() -> None:
    pieces = [b"a", b"", b"", b"", b"", b"b", b""]
    kept = list(keep_alive(pieces, comment=b":", every=3, pace=timed()))
    assert kept == [b"a", b":", b"b"]


def test_a_comment_goes_out_at_the_look_that_it_asked_for() -> None:
    """Of floats `(a + b) - a` may be less than `b`, by the size of `a`: how long the machine has been up."""
    for power in range(24):
        pace = LookSchedule(clock=iter([2.0**power]).__next__)
        pieces = keep_alive(repeat(b""), comment=b":", every=0.05, pace=pace)
        assert next(pieces) == b":"
        for _ in range(5):
            pace.clock = iter([pace.due]).__next__
            assert next(pieces) == b":"


def test_the_first_piece_goes_out_even_if_there_is_nothing_to_say() -> None:
    assert list(keep_alive([b"", b""], comment=b":", every=100, pace=timed())) == [b":"]
