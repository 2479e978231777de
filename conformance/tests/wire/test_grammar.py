from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from itertools import product
from typing import Any

import pytest

from wireproof.wire.grammar import (
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
from wireproof.wire.table import Hole

Table = Mapping[tuple[Enum, Enum], Enum | Hole[Any]]

TABLES = {
    "stream": (STREAM, StreamState, StreamSign),
    "choice": (CHOICE, ChoiceState, ChoiceSign),
    "call": (CALL, CallState, CallSign),
}


def violation_of(cell: Enum | Hole[Any]) -> str | None:
    return cell.requirement if isinstance(cell, Hole) else None


@pytest.mark.parametrize(("table", "states", "signs"), TABLES.values(), ids=TABLES)
def test_every_state_and_sign_is_a_transition_or_a_named_violation(
    table: Table, states: type[Enum], signs: type[Enum]
) -> None:
    assert set(table) == set(product(states, signs))
    assert all(isinstance(cell, states) or violation_of(cell) in CHAT_STREAM_VIOLATIONS for cell in table.values())
    assert all(isinstance(cell.then, states) for cell in table.values() if isinstance(cell, Hole))


def test_the_violations_are_exactly_the_names_that_are_exported() -> None:
    def violations(cells: Iterable[Enum | Hole[Any]]) -> set[str]:
        return {name for name in map(violation_of, cells) if name}

    used = violations(STREAM.values()) | violations(CHOICE.values()) | violations(CALL.values())
    used |= set(FRAME.values()) | set(STABLE.values())
    assert used == set(CHAT_STREAM_VIOLATIONS)
    assert len(set(CHAT_STREAM_VIOLATIONS)) == len(CHAT_STREAM_VIOLATIONS)


@pytest.mark.parametrize(("table", "states"), [rows[:2] for rows in TABLES.values()], ids=TABLES)
def test_every_state_can_be_reached(table: Table, states: type[Enum]) -> None:
    reached = {next(iter(states))}
    for _ in states:
        cells = [cell for (state, _), cell in table.items() if state in reached]
        reached |= {cell.then if isinstance(cell, Hole) else cell for cell in cells}
    assert reached == set(states)
