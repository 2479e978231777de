from __future__ import annotations

import os
import signal
import threading

import pytest

from wireproof_surfaces.http.stop_signals import STOP, stop_signals


@pytest.mark.parametrize("number", STOP)
def test_a_signal_ends_the_waiting_whichever_thread_it_hits(number: int) -> None:
    with stop_signals() as wait:
        other = threading.Thread(target=lambda: signal.pthread_kill(threading.get_ident(), number))
        other.start()
        wait()
        other.join()


def test_a_signal_before_the_waiting_counts() -> None:
    with stop_signals() as wait:
        os.kill(os.getpid(), signal.SIGTERM)
        wait()


def test_other_signals_are_not_waited_for() -> None:
    before = signal.signal(signal.SIGUSR1, lambda *_: None)
    try:
        with stop_signals() as wait:
            os.kill(os.getpid(), signal.SIGUSR1)
            os.kill(os.getpid(), signal.SIGTERM)
            wait()
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_handlers_are_as_before_afterwards() -> None:
    before = [signal.getsignal(number) for number in STOP]
    with stop_signals():
        assert [signal.getsignal(number) for number in STOP] != before
    assert [signal.getsignal(number) for number in STOP] == before
