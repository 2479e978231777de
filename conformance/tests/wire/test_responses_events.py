from __future__ import annotations

from typing import get_args

import pytest
from openai.types.responses import ResponseStreamEvent

from wireproof.wire.responses_grammar import (
    ADDED,
    OF_AN_ITEM,
    OF_THE_STREAM,
    PUBLISHED,
    TERMINAL,
    ItemSign,
    ResponseStreamSign,
    item_sign,
)


def published() -> set[str]:
    """The types of all events in the installed package."""
    union = get_args(get_args(ResponseStreamEvent)[0])
    return {get_args(one.model_fields["type"].annotation)[0] for one in union}


def test_exactly_the_published_types_are_known() -> None:
    assert published() == PUBLISHED


def test_every_type_is_a_sign_to_the_stream_or_to_an_item() -> None:
    for type_ in PUBLISHED:
        item = {"item": {"type": "message"}}
        assert (type_ in OF_THE_STREAM) != (item_sign(type_, item) is not None), type_


def test_the_terminal_events_are_those_that_end_a_stream() -> None:
    ends = {
        type_
        for type_, sign in OF_THE_STREAM.items()
        if sign in {ResponseStreamSign.FINISH, ResponseStreamSign.FAILURE}
    }
    assert ends == set(TERMINAL)
    assert {type_: f"response.{status}" for type_, status in TERMINAL.items()} == {type_: type_ for type_ in TERMINAL}


@pytest.mark.parametrize(
    ("item", "sign"),
    [
        ({"type": "message"}, ItemSign.MESSAGE),
        ({"type": "function_call"}, ItemSign.CALL),
        ({"type": "reasoning"}, ItemSign.OTHER),
        ({}, ItemSign.OTHER),
        (None, ItemSign.OTHER),
    ],
)
def test_what_is_added_the_item_says(item: object, sign: ItemSign) -> None:
    assert item_sign(ADDED, {"item": item}) is sign


def test_events_of_other_items_are_distinguished_from_those_that_no_one_published() -> None:
    assert item_sign("response.web_search_call.searching", {}) is ItemSign.PUBLISHED
    assert item_sign("response.function_call.delta", {}) is None
    assert item_sign("response.created", {}) is None
    assert all(item_sign(type_, {}) is sign for type_, sign in OF_AN_ITEM.items())
