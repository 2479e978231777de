from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from itertools import product

import pytest

from assay.wire.grammar import (
    CALL,
    CHAT_STREAM_VIOLATIONS,
    CHOICE,
    FRAME,
    STABLE,
    STREAM,
    CallSign,
    CallState,
    ChoiceSign,
    ChoiceState,
    StreamSign,
    StreamState,
)

Table = Mapping[tuple[Enum, Enum], Enum | str]

TABLES = {
    "stream": (STREAM, StreamState, StreamSign),
    "choice": (CHOICE, ChoiceState, ChoiceSign),
    "call": (CALL, CallState, CallSign),
}


@pytest.mark.parametrize(("table", "states", "signs"), TABLES.values(), ids=TABLES)
def test_every_state_and_sign_is_a_transition_or_a_named_violation(
    table: Table, states: type[Enum], signs: type[Enum]
) -> None:
    assert set(table) == set(product(states, signs))
    assert all(isinstance(cell, states) or cell in CHAT_STREAM_VIOLATIONS for cell in table.values())


def test_the_violations_are_exactly_the_names_that_are_exported() -> None:
    def violations(cells: Iterable[Enum | str]) -> set[str]:
        return {cell for cell in cells if isinstance(cell, str)}

    used = violations(STREAM.values()) | violations(CHOICE.values()) | violations(CALL.values())
    used |= set(FRAME.values()) | set(STABLE.values())
    assert used == set(CHAT_STREAM_VIOLATIONS)
    assert len(set(CHAT_STREAM_VIOLATIONS)) == len(CHAT_STREAM_VIOLATIONS)


@pytest.mark.parametrize(("table", "states"), [rows[:2] for rows in TABLES.values()], ids=TABLES)
def test_every_state_can_be_reached(table: Table, states: type[Enum]) -> None:
    reached = {next(iter(states))}
    for _ in states:
        reached |= {cell for (state, _), cell in table.items() if state in reached and isinstance(cell, Enum)}
    assert reached == set(states)
