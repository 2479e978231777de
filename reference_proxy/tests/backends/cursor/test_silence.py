from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from wireproof_proxy.backends.cursor.turn import LATE, ServiceSilence

if TYPE_CHECKING:
    from collections.abc import Callable


class Timer:
    def __init__(self, due: float, run: Callable[[], object]) -> None:
        self.due, self.run = due, run
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True


class HeldUpLoop:
    """A loop whose clock and timers a test moves."""

    def __init__(self) -> None:
        self.now = 100.0
        self.timers: list[Timer] = []

    def time(self) -> float:
        return self.now

    def call_later(self, delay: float, callback: Callable[..., object], *args: object) -> Timer:
        self.timers.append(Timer(self.now + delay, lambda: callback(*args)))
        return self.timers[-1]

    def run_timers(self, late: float) -> None:
        """Let those run that are set by now, so much too late."""
        waiting, self.timers = [one for one in self.timers if not one.cancelled], []
        for timer in waiting:
            self.now = timer.due + late
            timer.run()


Made = tuple[ServiceSilence, HeldUpLoop, list[float]]


@pytest.fixture
def silence() -> Made:
    loop: Any = HeldUpLoop()
    ends: list[float] = []
    return ServiceSilence(loop, lambda: ends.append(loop.now)), loop, ends


def test_it_is_over_when_it_has_lasted(silence: Made) -> None:
    begun, loop, ends = silence
    begun.begin(0.3)
    loop.run_timers(late=0.0)
    assert ends == [100.3]


def test_what_breaks_it_makes_it_begin_again(silence: Made) -> None:
    begun, loop, ends = silence
    begun.begin(0.3)
    loop.now = 100.2
    begun.break_off()
    begun.begin(0.3)
    loop.run_timers(late=0.0)
    assert ends == [100.5]


def test_of_a_loop_that_was_held_up_it_is_not_known_whether_anything_came(silence: Made) -> None:
    begun, loop, ends = silence
    begun.begin(0.3)
    loop.run_timers(late=2 * LATE)
    assert ends == []
    loop.run_timers(late=0.0)
    assert ends == [pytest.approx(100.3 + 3 * LATE)]


def test_on_a_machine_that_is_always_late_it_ends_all_the_same(silence: Made) -> None:
    begun, loop, ends = silence
    begun.begin(0.3)
    for _ in range(10):
        loop.run_timers(late=1.0)
    assert len(ends) == 1
