from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wireproof_surfaces.assembly.aggregator import AggregatedCall, Aggregator
from wireproof_surfaces.events import ArgumentsAdded, CallBegan, CallClosed


def gathered(*events: Any) -> Aggregator:
    aggregator = Aggregator()
    for event in events:
        aggregator.feed(event)
    return aggregator


A, B = CallBegan(id="a", name="f"), CallBegan(id="b", name="g", source="textual")


def test_calls_are_gathered_from_their_pieces_in_order_of_opening() -> None:
    events = [
        A,
        B,
        ArgumentsAdded(id="b", text="1"),
        ArgumentsAdded(id="a", text="2"),
        ArgumentsAdded(id="b", text="1"),
    ]
    assert gathered(*events, CallClosed(id="b", block="<b>")).snapshot() == (
        AggregatedCall(index=0, id="a", name="f", arguments="2", complete=False, source="structured", block=None),
        AggregatedCall(index=1, id="b", name="g", arguments="11", complete=True, source="textual", block="<b>"),
    )


def test_what_changes_nothing_is_sent_so() -> None:
    aggregator = gathered(A)
    assert not aggregator.feed(A)
    assert not aggregator.feed(ArgumentsAdded(id="a", text=""))
    assert not aggregator.feed(ArgumentsAdded(id="b", text="1"))
    assert not aggregator.feed(CallClosed(id="b"))
    assert aggregator.feed(CallClosed(id="a"))
    assert not aggregator.feed(CallClosed(id="a"))
    assert not aggregator.feed(ArgumentsAdded(id="a", text="late"))
    assert aggregator.snapshot()[0].arguments == ""


def test_a_snapshot_stays_as_it_was() -> None:
    aggregator = gathered(A, ArgumentsAdded(id="a", text="1"))
    (before,) = aggregator.snapshot()
    aggregator.feed(ArgumentsAdded(id="a", text="2"))
    assert before.arguments == "1"
    assert aggregator.call("a").arguments == "12"
    assert aggregator.index("a") == 0
    with pytest.raises(FrozenInstanceError):
        before.arguments = "3"  # type: ignore[misc]


def test_a_call_that_was_not_opened_is_unknown() -> None:
    with pytest.raises(KeyError):
        Aggregator().call("a")


@given(st.lists(st.tuples(st.sampled_from("ab"), st.text())))
def test_interleaving_does_not_mix_calls(fragments: list[tuple[str, str]]) -> None:
    aggregator = gathered(A, B, *(ArgumentsAdded(id=id_, text=text) for id_, text in fragments))
    for id_ in "ab":
        assert aggregator.call(id_).arguments == "".join(text for of, text in fragments if of == id_)
