from __future__ import annotations

import pytest

from wireproof_proxy.answers.turn_runner import TurnGate
from wireproof_surfaces.errors import BUSY, STOPPING, ApiError


def test_as_many_as_the_limit_enter_and_the_next_is_turned_away() -> None:
    gate = TurnGate(2)
    gate.enter()
    gate.enter()
    with pytest.raises(ApiError) as raised:
        gate.enter()
    assert raised.value.problem is BUSY
    gate.leave()
    gate.enter()
    assert gate.taken == 2


def test_no_one_enters_a_gate_that_was_shut() -> None:
    gate = TurnGate(2)
    gate.enter()
    gate.shut()
    with pytest.raises(ApiError) as raised:
        gate.enter()
    assert raised.value.problem is STOPPING
    gate.leave()
    assert gate.await_empty(0)


def test_an_empty_gate_is_seen() -> None:
    gate = TurnGate(1)
    assert gate.await_empty(0)
    gate.enter()
    assert not gate.await_empty(0)
