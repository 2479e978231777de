from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wireproof_proxy.backends.codex.call_collector import CallCollector, CallPiece
from wireproof_surfaces.events import ArgumentsAdded, CallBegan, CallClosed


def piece(shape: Any = "tool_calls", **sent: Any) -> CallPiece:
    return CallPiece(shape=shape, **sent)


def at(index: int, **sent: Any) -> CallPiece:
    return piece(keys=(index,), **sent)


def short(events: list[Any]) -> list[str]:
    """Events as `+id:name`, the text of a fragment, `-id`."""
    words = []
    for event in events:
        match event:
            case CallBegan():
                words.append(f"+{event.id}:{event.name}")
            case ArgumentsAdded():
                words.append(event.text)
            case CallClosed():
                words.append(f"-{event.id}")
    return words


def fragments(*pieces: CallPiece) -> list[str]:
    """The events of fragments, up to the end of every call."""
    calls = CallCollector(seed="turn")
    return short([event for one in pieces for event in calls.fragment(one)] + calls.close())


def test_fragments_are_passed_on_as_they_come() -> None:
    sent = [at(0, id="a", name="f"), at(0, text='{"n": 1'), at(0, text="1"), at(0), at(0, text="}")]
    assert fragments(*sent) == ["+a:f", '{"n": 1', "1", "}", "-a"]


def test_fragments_wait_for_an_id_that_comes_late() -> None:
    assert fragments(at(0, name="f"), at(0, text="{"), at(0, text="}", id="a")) == ["+a:f", "{}", "-a"]


def test_fragments_wait_for_a_name_that_comes_late() -> None:
    assert fragments(at(0, id="a", text="{}"), at(0, name="f")) == ["+a:f", "{}", "-a"]


def test_a_call_without_an_id_gets_one_that_stays_the_same() -> None:
    sent = [at(0, name="f", text="{}"), at(1, name="f", text="{}")]
    words = fragments(*sent)
    assert words == fragments(*sent)
    ids = {word for word in words if word.startswith("+")}
    assert len(ids) == 2
    assert all(id_.startswith("+call_") for id_ in ids)


def test_a_call_without_a_name_is_none() -> None:
    calls = CallCollector()
    assert short([*calls.fragment(at(0, id="a", text="{}")), *calls.close()]) == []
    assert not calls.any


RULES: dict[str, tuple[tuple[CallPiece, ...], list[str]]] = {
    "same key": ((at(0, id="a", name="f"), at(0, text="1"), at(0, text="2")), ["+a:f", "1", "2", "-a"]),
    "same key of an item": (
        (piece("item", keys=(0, "fc_1"), id="a", name="f"), piece("item", keys=("fc_1",), text="1")),
        ["+a:f", "1", "-a"],
    ),
    "another id": (
        (at(0, id="a", name="f", text="1"), at(0, id="b", name="f", text="2"), at(0, text="3")),
        ["+a:f", "1", "+b:f", "2", "3", "-a", "-b"],
    ),
    "late id": ((piece(name="f", text="1"), piece(id="a", text="2")), ["+a:f", "12", "-a"]),
    "late id that a call before has": (
        (
            piece("item", keys=(0,), id="a", name="f", text="1"),
            piece("item", keys=(1,), name="f", text="2"),
            piece("item", id="a"),
        ),
        ["+a:f", "1", "-a"],
    ),
    "same id": (
        (piece(id="a", name="f"), piece(id="b", name="f"), piece(id="a", text="2")),
        ["+a:f", "+b:f", "2", "-a", "-b"],
    ),
    "new id": (
        (piece(id="a", name="f"), piece(text="1"), piece(id="b", name="f"), piece(text="2")),
        ["+a:f", "1", "+b:f", "2", "-a", "-b"],
    ),
    "new index": (
        (at(0, id="a", name="f"), at(1, id="b", name="g"), at(0, text="1"), at(1, text="2")),
        ["+a:f", "+b:g", "1", "2", "-a", "-b"],
    ),
    "new index without a name": ((at(0, id="a", name="f", text="1"), at(1, text="2")), ["+a:f", "1", "-a"]),
    "new name": (
        (
            piece("function_call", id="a", name="f", text="1"),
            piece("function_call", name="g", id="b", text="2"),
        ),
        ["+a:f", "1", "+b:g", "2", "-a", "-b"],
    ),
    "new name in a place of its own": (
        (piece("item", keys=(0,), id="a", name="f"), piece("item", keys=(1,), item="fc_2", name="f")),
        ["+a:f", "-a", "+fc_2:f", "-fc_2"],
    ),
    "a name repeated before any arguments": (
        (
            piece("function_call", id="a", name="f"),
            piece("function_call", name="f"),
            piece("function_call", text="1"),
        ),
        ["+a:f", "1", "-a"],
    ),
    "no rule": ((piece(id="a", name="f"), piece(text="1"), piece(text="2")), ["+a:f", "1", "2", "-a"]),
}
"""Which call a fragment continues: the rules as the module names them, each with its example."""


@pytest.mark.parametrize("rule", RULES)
def test_a_fragment_continues_a_call_or_begins_one_by(rule: str) -> None:
    pieces, events = RULES[rule]
    assert fragments(*pieces) == events


def test_a_name_after_arguments_begins_a_call_that_gets_an_id() -> None:
    pieces = [piece("function_call", id="a", name="f", text="1"), piece("function_call", name="f", text="2")]
    words = fragments(*pieces)
    assert words[:3] == ["+a:f", "1", "-a"]
    assert words[-2] == "2"


@pytest.mark.parametrize("first", ["tool_calls", "function_call"])
def test_tool_calls_win_over_a_function_call_that_was_not_opened(first: str) -> None:
    legacy = [piece("function_call", name="f"), piece("function_call", text="{}")]
    proper = [at(0, id="a", name="f"), at(0, text="{}")]
    sent = [*proper, *legacy] if first == "tool_calls" else [*legacy, *proper]
    assert fragments(*sent) == ["+a:f", "{}", "-a"]


def test_a_function_call_that_was_opened_is_not_sent_again_by_tool_calls() -> None:
    legacy = [piece("function_call", id="a", name="f"), piece("function_call", text="{}")]
    assert fragments(*legacy, at(0, id="a", name="f"), at(0, text="{}")) == ["+a:f", "{}", "-a"]


def test_a_whole_call_is_sent_at_once_and_once() -> None:
    calls = CallCollector()
    whole = piece(id="a", name="f", text="{}")
    assert short(calls.whole(whole)) == ["+a:f", "{}", "-a"]
    assert calls.any
    assert calls.whole(whole) == []
    assert calls.whole(piece("function_call", id="b", name="f")) == []
    assert short(calls.fragment(at(0, id="a", text="{}"))) == []


def test_a_whole_call_completes_its_fragments() -> None:
    calls = CallCollector()
    assert short(calls.fragment(at(0, id="a", name="f", text='{"q"'))) == ["+a:f", '{"q"']
    assert short(calls.whole(piece("native", id="a", name="f", text='{"q":1}'))) == [":1}", "-a"]
    assert calls.close() == []


def test_a_whole_call_brings_the_id_that_its_fragments_lacked() -> None:
    calls = CallCollector()
    assert calls.fragment(at(0, name="f", text='{"q": 1}')) == []
    assert short(calls.whole(piece(id="a", name="f", text='{"q":1}'))) == ["+a:f", '{"q": 1}', "-a"]


def test_a_whole_call_without_an_id_is_the_one_with_its_name_and_arguments_each_once() -> None:
    calls = CallCollector()
    for index, id_ in enumerate("ab"):
        calls.fragment(at(index, id=id_, name="f", text="{}"))
    again = piece(name="f", text="{}")
    assert short(calls.whole(again)) == ["-a"]
    assert short(calls.whole(again)) == ["-b"]
    assert len(calls.whole(again)) == 3
    assert len(calls.whole(piece(name="f", text="[]"))) == 3


def test_two_whole_calls_alike_with_different_ids_are_two() -> None:
    calls = CallCollector()
    both = [
        *calls.whole(piece("native", id="a", name="f", text="{}")),
        *calls.whole(piece("native", id="b", name="f", text="{}")),
    ]
    assert short(both) == ["+a:f", "{}", "-a", "+b:f", "{}", "-b"]


def test_an_items_call_is_complete_when_its_arguments_are_if_it_has_an_id() -> None:
    calls = CallCollector()
    opened = calls.fragment(piece("item", keys=(0, "fc_1"), id="a", item="fc_1", name="f"))
    more = calls.fragment(piece("item", keys=("fc_1",), item="fc_1", text="{"))
    done = calls.done(piece("item", keys=(0,), text="{}"), last=False)
    again = calls.done(piece("item", keys=(0,), id="a", name="f", text="{}"), last=True)
    assert short([*opened, *more, *done, *again]) == ["+a:f", "{", "}", "-a"]


def test_an_item_without_an_id_of_its_call_waits_for_the_last_word() -> None:
    calls = CallCollector()
    calls.fragment(piece("item", keys=(0,), name="f"))
    assert calls.done(piece("item", keys=("fc_1",), item="fc_1", text="{}"), last=False) == []
    assert short(calls.done(piece("item", keys=("fc_1",), item="fc_1", text="{}"), last=True)) == [
        "+fc_1:f",
        "{}",
        "-fc_1",
    ]


def test_an_item_that_is_sent_by_its_last_word_alone_is_a_call() -> None:
    calls = CallCollector()
    assert short(calls.done(piece("item", keys=(0,), id="a", name="f", text="{}"), last=True)) == ["+a:f", "{}", "-a"]
    assert calls.done(piece("tool_calls", id="a"), last=True) == []


def test_the_last_words_own_text_does_not_replace_what_was_sent() -> None:
    calls = CallCollector()
    calls.fragment(piece("item", keys=(0,), id="a", name="f", text="{1"))
    assert short(calls.done(piece("item", keys=(0,), text="{2}"), last=True)) == ["-a"]


@given(st.text(), st.lists(st.integers(0, 50), max_size=8), st.booleans())
def test_fragments_in_any_cut_give_the_arguments(text: str, cuts: list[int], late: bool) -> None:  # noqa: FBT001
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    sent = [at(0, text=text[a:b]) for a, b in pairwise(places)]
    id_ = at(0, id="a")
    opened, *rest, closed = fragments(at(0, name="f"), *(() if late else (id_,)), *sent, *((id_,) if late else ()))
    assert (opened, "".join(rest), closed) == ("+a:f", text, "-a")
