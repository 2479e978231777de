from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from wireproof_surfaces.assembly.aggregator import Aggregator
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
    calls = gathered(*events, CallClosed(id="b", block="<b>")).calls
    assert [(one.index, id_, one.name, one.arguments, one.block) for id_, one in calls.items()] == [
        (0, "a", "f", "2", None),
        (1, "b", "g", "11", "<b>"),
    ]


def test_what_changes_nothing_is_sent_so() -> None:
    aggregator = gathered(A)
    assert not aggregator.feed(A)
    assert not aggregator.feed(ArgumentsAdded(id="a", text=""))
    assert not aggregator.feed(ArgumentsAdded(id="b", text="1"))
    assert not aggregator.feed(CallClosed(id="b"))
    assert aggregator.feed(CallClosed(id="a"))
    assert not aggregator.feed(CallClosed(id="a"))
    assert not aggregator.feed(ArgumentsAdded(id="a", text="late"))
    assert aggregator.calls["a"].arguments == ""
    assert list(aggregator.calls) == ["a"]


@given(st.lists(st.tuples(st.sampled_from("ab"), st.text())))
def test_interleaving_does_not_mix_calls(fragments: list[tuple[str, str]]) -> None:
    aggregator = gathered(A, B, *(ArgumentsAdded(id=id_, text=text) for id_, text in fragments))
    for id_ in "ab":
        assert aggregator.calls[id_].arguments == "".join(text for of, text in fragments if of == id_)
