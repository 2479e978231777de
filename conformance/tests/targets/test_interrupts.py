from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
import threading
import weakref

import pytest

from wireproof.targets.interrupts import ENDS, terminable


class Thing:
    """Something that can be referred to weakly."""


@pytest.mark.usefixtures("default_signals")
@pytest.mark.parametrize("number", ENDS)
def test_the_ends_count_as_an_interrupt_within_the_block_only(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with pytest.raises(KeyboardInterrupt), terminable():
        os.kill(os.getpid(), number)
    assert signal.getsignal(number) is before


@pytest.mark.usefixtures("default_signals")
@pytest.mark.parametrize("number", [signal.SIGINT, *ENDS])
def test_an_event_loop_ends_what_it_runs_and_leaves_nothing_to_report(
    number: signal.Signals, capfd: pytest.CaptureFixture[str]
) -> None:
    ended: list[str] = []

    async def work() -> None:
        async def beside() -> None:
            os.kill(os.getpid(), number)
            try:
                await asyncio.Event().wait()
            finally:
                ended.append("beside")

        try:
            await asyncio.create_task(beside())
        finally:
            ended.append("work")

    with pytest.raises(KeyboardInterrupt), terminable():
        asyncio.run(work())
    gc.collect()  # a task with an exception that was never read says so when it goes
    assert (ended, capfd.readouterr().err) == (["beside", "work"], "")


def test_a_hangup_that_is_ignored_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with terminable():
            os.kill(os.getpid(), signal.SIGHUP)
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.usefixtures("default_signals")
@pytest.mark.parametrize("number", [signal.SIGINT, *ENDS])
def test_an_interrupt_that_python_ignores_is_repeated(number: signal.Signals) -> None:
    def lose(_: object) -> None:
        os.kill(os.getpid(), number)
        while True:  # until the handler raises here, in vain
            pass

    def drop_and_wait() -> None:
        things.clear()
        assert threading.Event().wait(20), "nobody interrupted the wait"

    things = [Thing()]
    weak = weakref.ref(things[0], lose)
    with pytest.raises(KeyboardInterrupt), terminable():
        drop_and_wait()
    assert weak() is None


def test_what_else_python_ignores_is_reported_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    reported: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda ignored: reported.append(ignored.exc_type))

    def fail(_: object) -> None:
        raise ValueError

    thing = Thing()
    weak = weakref.ref(thing, fail)
    with terminable():
        del thing
    assert (weak(), reported) == (None, [ValueError])
