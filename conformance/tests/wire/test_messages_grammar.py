from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from itertools import product
from typing import Any

import pytest

from wireproof.wire.messages_grammar import (
    BLOCK,
    FRAME,
    INDEXES,
    MESSAGES_STREAM_VIOLATIONS,
    STREAM,
    BlockSign,
    BlockState,
    MessageStreamSign,
    MessageStreamState,
)
from wireproof.wire.table import Hole

Table = Mapping[tuple[Enum, Enum], Enum | Hole[Any]]

TABLES = {
    "stream": (STREAM, MessageStreamState, MessageStreamSign),
    "block": (BLOCK, BlockState, BlockSign),
}
NOT_IN_A_TABLE = {INDEXES, "messages.stream.text", "messages.stream.arguments", "messages.stream.usage"}
"""Violations that are found by comparing, not by place."""


def violation_of(cell: Enum | Hole[Any]) -> str | None:
    return cell.requirement if isinstance(cell, Hole) else None


@pytest.mark.parametrize(("table", "states", "signs"), TABLES.values(), ids=TABLES)
def test_every_state_and_sign_is_a_transition_or_a_named_violation(
    table: Table, states: type[Enum], signs: type[Enum]
) -> None:
    assert set(table) == set(product(states, signs))
    assert all(isinstance(cell, states) or violation_of(cell) in MESSAGES_STREAM_VIOLATIONS for cell in table.values())
    assert all(isinstance(cell.then, states) for cell in table.values() if isinstance(cell, Hole))


def test_the_violations_are_exactly_the_names_that_are_exported() -> None:
    def violations(cells: Iterable[Enum | Hole[Any]]) -> set[str]:
        return {name for name in map(violation_of, cells) if name}

    used = violations(STREAM.values()) | violations(BLOCK.values()) | set(FRAME.values()) | NOT_IN_A_TABLE
    assert used == set(MESSAGES_STREAM_VIOLATIONS)
    assert len(set(MESSAGES_STREAM_VIOLATIONS)) == len(MESSAGES_STREAM_VIOLATIONS)


@pytest.mark.parametrize(("table", "states"), [rows[:2] for rows in TABLES.values()], ids=TABLES)
def test_every_state_can_be_reached(table: Table, states: type[Enum]) -> None:
    reached = {next(iter(states))}
    for _ in states:
        cells = [cell for (state, _), cell in table.items() if state in reached]
        reached |= {cell.then if isinstance(cell, Hole) else cell for cell in cells}
    assert reached == set(states)
