from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from itertools import product

import pytest

from assay.model.catalogue import load
from assay.wire.responses_grammar import (
    FRAME,
    INDEXES,
    ITEM,
    RESPONSES_STREAM_VIOLATIONS,
    STREAM,
    SUMS,
    ItemSign,
    ItemState,
    StreamSign,
    StreamState,
)

Table = Mapping[tuple[Enum, Enum], Enum | str]

TABLES = {"stream": (STREAM, StreamState, StreamSign), "item": (ITEM, ItemState, ItemSign)}
NOT_IN_A_TABLE = {"responses.stream.status", INDEXES, SUMS}
"""Violations that are found by comparing, not by place."""


@pytest.mark.parametrize(("table", "states", "signs"), TABLES.values(), ids=TABLES)
def test_every_state_and_sign_is_a_transition_or_a_named_violation(
    table: Table, states: type[Enum], signs: type[Enum]
) -> None:
    assert set(table) == set(product(states, signs))
    assert all(isinstance(cell, states) or cell in RESPONSES_STREAM_VIOLATIONS for cell in table.values())


def test_the_violations_are_exactly_the_names_that_are_exported() -> None:
    def violations(cells: Iterable[Enum | str]) -> set[str]:
        return {cell for cell in cells if isinstance(cell, str)}

    used = violations(STREAM.values()) | violations(ITEM.values()) | set(FRAME.values()) | NOT_IN_A_TABLE
    assert used == set(RESPONSES_STREAM_VIOLATIONS)
    assert len(set(RESPONSES_STREAM_VIOLATIONS)) == len(RESPONSES_STREAM_VIOLATIONS)


def test_the_violations_stand_in_the_order_of_the_catalogue() -> None:
    assert [row for row in load().by_id if row in RESPONSES_STREAM_VIOLATIONS] == list(RESPONSES_STREAM_VIOLATIONS)


@pytest.mark.parametrize(("table", "states"), [rows[:2] for rows in TABLES.values()], ids=TABLES)
def test_every_state_can_be_reached(table: Table, states: type[Enum]) -> None:
    reached = {next(iter(states))}
    for _ in states:
        reached |= {cell for (state, _), cell in table.items() if state in reached and isinstance(cell, Enum)}
    assert reached == set(states)
