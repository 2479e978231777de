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
from wireproof.wire.table import Note

Table = Mapping[tuple[Enum, Enum], Enum | Note[Any] | str]

TABLES = {
    "stream": (STREAM, StreamState, StreamSign),
    "choice": (CHOICE, ChoiceState, ChoiceSign),
    "call": (CALL, CallState, CallSign),
}


def violation_of(cell: Enum | Note[Any] | str) -> str | None:
    if isinstance(cell, Note):
        return cell.requirement
    return cell if isinstance(cell, str) else None


@pytest.mark.parametrize(("table", "states", "signs"), TABLES.values(), ids=TABLES)
def test_every_state_and_sign_is_a_transition_or_a_named_violation(
    table: Table, states: type[Enum], signs: type[Enum]
) -> None:
    assert set(table) == set(product(states, signs))
    assert all(isinstance(cell, states) or violation_of(cell) in CHAT_STREAM_VIOLATIONS for cell in table.values())
    assert all(isinstance(cell.then, states) for cell in table.values() if isinstance(cell, Note))


def test_the_violations_are_exactly_the_names_that_are_exported() -> None:
    def violations(cells: Iterable[Enum | Note[Any] | str]) -> set[str]:
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
        reached |= {cell.then if isinstance(cell, Note) else cell for cell in cells if not isinstance(cell, str)}
    assert reached == set(states)
