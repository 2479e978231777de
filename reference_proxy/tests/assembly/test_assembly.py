from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wireproof_surfaces.assembly.assembly import USAGE_PATIENCE, Assembly
from wireproof_surfaces.assembly.choice import Rules
from wireproof_surfaces.events import (
    ArgumentsAdded,
    CallBegan,
    CallClosed,
    CallsEnded,
    ChoiceFailed,
    ChoiceFinished,
    FailureReason,
    Quiet,
    TextAdded,
    Texts,
    TurnOver,
    UsageReported,
    Working,
    apart,
)

HELLO = TextAdded(text="Hello")
STOP = ChoiceFinished(reason="stop")
CALLED = ChoiceFinished(reason="tool_calls")
USAGE = UsageReported(prompt=1, completion=2)
FAILED = ChoiceFailed(FailureReason.FAILED)


def call(id_: str) -> list[Any]:
    return [CallBegan(id=id_, name="f"), ArgumentsAdded(id=id_, text="{}"), CallClosed(id=id_)]


def first(*received: Any, **options: Any) -> list[Any]:
    return list(Assembly(Rules(limit=1), **options).pull(received))


def burst(*received: Any, **options: Any) -> list[Any]:
    return list(Assembly(Rules(), **options).pull(received))


def whole(*received: Any, **options: Any) -> list[Any]:
    return list(Assembly(Rules(ends_early=False, errors_win=True), **options).pull(received))


def test_text_passes_to_its_end() -> None:
    assert first(HELLO, HELLO, STOP) == [HELLO, HELLO, STOP]


def test_pieces_of_text_that_come_together_pass_together_where_nothing_waits() -> None:
    two = Texts(texts=("a", "b"))
    assert first(two, STOP) == [two, STOP]
    block = Texts(texts=("a", "<use_tool>", "<name>f</name></use_tool>", "b"))
    apart_from = [
        event for event in first(block, STOP) if not isinstance(event, CallBegan | ArgumentsAdded | CallClosed)
    ]
    assert apart_from == [TextAdded(text="a"), CALLED]
    assert first(HELLO, Texts(choice=1, texts=("not", "asked")), STOP) == [HELLO, STOP]


@given(
    cuts=st.lists(st.sampled_from(["a", "", "\n", "<", "<use_tool>", "</use_tool>", "\ud83d", "\ude00"]), max_size=8)
)
def test_pieces_of_text_mean_the_same_together_and_apart(cuts: list[str]) -> None:
    together = [one for event in first(Texts(texts=tuple(cuts)), STOP) for one in apart(event)]
    assert [one for one in together if one != TextAdded(text="")] == first(*(TextAdded(text=cut) for cut in cuts), STOP)


@pytest.mark.parametrize("reason", ["length", "content_filter"])
def test_the_reason_of_a_text_is_the_backends(reason: Any) -> None:
    end = ChoiceFinished(reason=reason)
    assert first(HELLO, end) == [HELLO, end]
    assert burst(*call("a"), end) == [*call("a"), CALLED]


def test_the_first_complete_call_ends_a_choice() -> None:
    assert first(HELLO, *call("a"), *call("b"), CallsEnded()) == [HELLO, *call("a"), CALLED]


def test_all_calls_pass_in_a_burst() -> None:
    assert burst(*call("a"), *call("b"), CallsEnded()) == [*call("a"), *call("b"), CALLED]


def test_a_second_call_that_begins_before_the_first_is_complete_is_dropped() -> None:
    one, two = call("a"), call("b")
    assert first(one[0], two[0], one[1], two[1], two[2], one[2]) == [*one, CALLED]
    assert burst(one[0], two[0], one[1], two[1], two[2], one[2], STOP)[-1] == CALLED


def test_text_after_a_call_is_a_tail() -> None:
    assert burst(*call("a"), HELLO, CallsEnded()) == [*call("a"), CALLED]


def test_nothing_follows_the_end() -> None:
    assert first(HELLO, STOP, HELLO, FAILED) == [HELLO, STOP]
    assert burst(*call("a"), CallsEnded(), *call("b")) == [*call("a"), CALLED]


def test_calls_that_end_without_any_are_an_answer() -> None:
    assert first(HELLO, CallsEnded()) == [HELLO, STOP]


def test_a_failure_passes() -> None:
    assert first(HELLO, FAILED) == [HELLO, FAILED]


def test_a_failure_after_a_complete_call_is_no_failure_of_a_stream() -> None:
    assert burst(*call("a"), FAILED) == [*call("a"), CALLED]


def test_a_failure_within_a_call_is_one() -> None:
    assert burst(*call("a")[:2], FAILED) == [*call("a")[:2], FAILED]
    assert burst(*call("a"), *call("b")[:1], FAILED)[-1] == FAILED


def test_a_failure_after_a_call_is_the_end_of_a_whole_answer() -> None:
    assert whole(*call("a"), FAILED)[-1] == FAILED


def test_silence_and_work_pass() -> None:
    assert first(Quiet(1), Working(), HELLO, STOP) == [Quiet(1), Working(), HELLO, STOP]


def test_usage_before_the_end_is_enough() -> None:
    assert first(HELLO, USAGE, STOP, HELLO, await_usage=True) == [HELLO, USAGE, STOP]


def test_usage_is_waited_for_after_the_first_call() -> None:
    received = [*call("a"), Working(), *call("b"), USAGE, CallsEnded()]
    assert first(*received, await_usage=True) == [*call("a"), CALLED, Working(), USAGE]
    assert first(*received) == [*call("a"), CALLED]


@pytest.mark.parametrize("sign", [CallsEnded(), STOP, FAILED, TurnOver(), Quiet(USAGE_PATIENCE + 1)])
def test_usage_that_will_not_come_is_not_waited_for(sign: Any) -> None:
    assert CALLED in first(*call("a"), Quiet(1), sign, HELLO, USAGE, await_usage=True)
    assert USAGE not in first(*call("a"), Quiet(1), sign, HELLO, USAGE, await_usage=True)


def test_a_character_cut_in_two_deltas_is_whole_before_a_call_or_the_end() -> None:
    assert first(TextAdded(text="\ud83d"), TextAdded(text="\ude00"), STOP) == [TextAdded(text="😀"), STOP]
    assert first(TextAdded(text="\ud83d"), STOP) == [TextAdded(text="\ufffd"), STOP]
    assert first(TextAdded(text="\ud83d"), *call("a"))[0] == TextAdded(text="\ufffd")


def of(choice: int, *events: Any) -> list[Any]:
    return [replace(event, choice=choice) for event in events]


def test_choices_end_each_by_itself_and_the_answer_with_the_last() -> None:
    one, two = of(0, HELLO, STOP), of(1, *call("a"), CallsEnded())
    assert burst(one[0], *two, one[1], HELLO, choices=2) == [one[0], *two[:3], *of(1, CALLED), one[1]]


def test_what_is_sent_of_a_choice_that_was_not_asked_for_is_dropped() -> None:
    assert burst(*of(1, HELLO), *of(7, HELLO), STOP, choices=1) == [STOP]


def test_a_failing_choice_fails_them_all() -> None:
    failed = ChoiceFailed(FailureReason.FAILED, 1)
    assert burst(HELLO, failed, STOP, choices=2) == [HELLO, failed]


def test_a_choice_that_fails_after_its_call_is_an_answer() -> None:
    received = [*of(1, *call("a")), ChoiceFailed(FailureReason.FAILED, 1), HELLO, STOP]
    assert burst(*received, choices=2) == [*of(1, *call("a"), CALLED), HELLO, STOP]


def test_a_failure_of_all_spares_only_those_that_have_called() -> None:
    calls = [*call("a"), *of(1, *call("b"))]
    assert burst(*calls, FAILED, choices=2) == [*calls, CALLED, *of(1, CALLED)]
    assert burst(*call("a"), FAILED, choices=2) == [*call("a"), FAILED]


def test_usage_is_waited_for_of_every_choice() -> None:
    ends = [*of(0, STOP), *of(1, STOP)]
    received = [*ends, USAGE, Working(), *of(1, USAGE), HELLO]
    assert burst(*received, choices=2, await_usage=True) == received[:-1]
    received = [*ends, USAGE, TurnOver(choice=1), *of(1, USAGE)]
    assert burst(*received, choices=2, await_usage=True) == received[:3]


def test_text_that_was_held_comes_before_the_failure() -> None:
    assert burst(TextAdded(text="a <use_t"), FAILED) == [TextAdded(text="a "), TextAdded(text="<use_t"), FAILED]


def test_a_call_from_the_text_is_complete_when_the_turn_fails() -> None:
    said = burst(TextAdded(text="<use_tool><name>f</name></use_tool>"), FAILED)
    assert [type(event) for event in said] == [CallBegan, ArgumentsAdded, CallClosed, ChoiceFinished]


EVENTS = st.lists(
    st.sampled_from([HELLO, STOP, FAILED, USAGE, CallsEnded(), Quiet(1), Working(), *call("a"), *call("b")]),
    max_size=12,
)


@given(EVENTS, st.sampled_from([1, None]), st.booleans())
def test_whatever_is_received_an_answer_keeps_its_order(received: list[Any], limit: Any, whole: bool) -> None:  # noqa: FBT001
    said = list(Assembly(Rules(limit=limit, ends_early=not whole, errors_win=whole)).pull(received))
    ends = [at for at, event in enumerate(said) if isinstance(event, ChoiceFinished | ChoiceFailed)]
    assert len(ends) <= 1
    assert not ends or all(isinstance(event, UsageReported | Quiet | Working) for event in said[ends[0] + 1 :])
    calls = [at for at, event in enumerate(said) if isinstance(event, CallBegan | ArgumentsAdded | CallClosed)]
    assert not calls or HELLO not in said[calls[0] :]


@pytest.mark.parametrize(
    ("said", "calm"),
    [
        ([HELLO, Working(), Texts(texts=("a", "<b"))], True),
        ([CallBegan(id="a", name="f")], False),
        ([TextAdded(text="<use_tool><name>f</name></use_tool>")], False),
        ([STOP], False),
    ],
)
def test_it_is_calm_while_nothing_waits_for_a_silence(said: list[Any], *, calm: bool) -> None:
    assembly = Assembly(Rules(), await_usage=True)
    assert assembly.calm
    list(assembly.pull(said))
    assert assembly.calm is calm
