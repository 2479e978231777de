"""The tables of the three grammars: each cell is a state or a named violation, and no state is out of reach."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import Enum
from itertools import chain, product
from typing import Any

import pytest

from wireproof.model.catalogue import load
from wireproof.wire import grammar, messages_grammar, responses_grammar
from wireproof.wire.table import Hole

Table = Mapping[tuple[Enum, Enum], Enum | Hole[Any]]

CHAT, MESSAGES, RESPONSES = (
    grammar.CHAT_STREAM_VIOLATIONS,
    messages_grammar.MESSAGES_STREAM_VIOLATIONS,
    responses_grammar.RESPONSES_STREAM_VIOLATIONS,
)
TABLES: dict[str, tuple[Collection[str], Any, Any, Any]] = {
    "chat": (CHAT, grammar.STREAM, grammar.StreamState, grammar.StreamSign),
    "choice": (CHAT, grammar.CHOICE, grammar.ChoiceState, grammar.ChoiceSign),
    "call": (CHAT, grammar.CALL, grammar.CallState, grammar.CallSign),
    "messages": (
        MESSAGES,
        messages_grammar.STREAM,
        messages_grammar.MessageStreamState,
        messages_grammar.MessageStreamSign,
    ),
    "block": (MESSAGES, messages_grammar.BLOCK, messages_grammar.BlockState, messages_grammar.BlockSign),
    "responses": (
        RESPONSES,
        responses_grammar.STREAM,
        responses_grammar.ResponseStreamState,
        responses_grammar.ResponseStreamSign,
    ),
    "item": (RESPONSES, responses_grammar.ITEM, responses_grammar.ItemState, responses_grammar.ItemSign),
}
IN_NO_TABLE = {
    CHAT: {*grammar.FRAME.values(), *grammar.STABLE.values()},
    MESSAGES: {
        *messages_grammar.FRAME.values(), messages_grammar.INDEXES,
        "messages.stream.text", "messages.stream.arguments", "messages.stream.usage",
    },
    RESPONSES: {
        *responses_grammar.FRAME.values(), responses_grammar.INDEXES, responses_grammar.SUMS,
        "responses.stream.status",
    },
}  # fmt: skip
"""Violations of frames, and those that are found by comparing, not by place."""


def violation_of(cell: Enum | Hole[Any]) -> str | None:
    return cell.requirement if isinstance(cell, Hole) else None


@pytest.mark.parametrize(("violations", "table", "states", "signs"), TABLES.values(), ids=TABLES)
def test_every_state_and_sign_is_a_transition_or_a_named_violation(
    violations: Collection[str], table: Table, states: type[Enum], signs: type[Enum]
) -> None:
    assert set(table) == set(product(states, signs))
    assert all(isinstance(cell, states) or violation_of(cell) in violations for cell in table.values())
    assert all(isinstance(cell.then, states) for cell in table.values() if isinstance(cell, Hole))


@pytest.mark.parametrize("violations", IN_NO_TABLE, ids=("chat", "messages", "responses"))
def test_the_violations_are_exactly_the_names_that_are_exported(violations: Collection[str]) -> None:
    cells = chain.from_iterable(table.values() for those, table, *_ in TABLES.values() if those is violations)
    used = {name for name in map(violation_of, cells) if name} | IN_NO_TABLE[violations]
    assert used == set(violations)
    assert len(used) == len(violations)


def test_the_violations_of_responses_stand_in_the_order_of_the_catalogue() -> None:
    assert [row for row in load().by_id if row in RESPONSES] == list(RESPONSES)


@pytest.mark.parametrize(("table", "states"), [rows[1:3] for rows in TABLES.values()], ids=TABLES)
def test_every_state_can_be_reached(table: Table, states: type[Enum]) -> None:
    reached = {next(iter(states))}
    for _ in states:
        cells = [cell for (state, _), cell in table.items() if state in reached]
        reached |= {cell.then if isinstance(cell, Hole) else cell for cell in cells}
    assert reached == set(states)
