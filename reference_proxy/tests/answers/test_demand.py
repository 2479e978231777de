"""Answers that must call a tool: held until they do, and failed if they do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from wireproof_surfaces.answers.plan import Demand, hold_for_call, instructed
from wireproof_surfaces.conversation import Conversation
from wireproof_surfaces.events import (
    CallBegan,
    CallClosed,
    ChoiceFailed,
    ChoiceFinished,
    FailureReason,
    Quiet,
    TextAdded,
    Texts,
    UsageReported,
    Working,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wireproof_surfaces.events import Ready, TurnEvent

SEARCH = Demand(names=("search",))
ANY = Demand(names=("search", "read"), cause=FailureReason.FUNCTION_NOT_CALLED)
HELLO, USAGE, END = TextAdded(text="Hello"), UsageReported(prompt=1, completion=2), ChoiceFinished(reason="stop")
CALL = (CallBegan(id="a", name="search"), CallClosed(id="a"))
OTHER = (CallBegan(id="b", name="read"), CallClosed(id="b"))
CALLED = ChoiceFinished(reason="tool_calls")


def sent(*events: Ready, demand: Demand | None = SEARCH, choices: int = 1) -> list[Ready]:
    return list(hold_for_call(iter(events), demand, choices=choices))


def test_without_a_demand_all_is_passed_on() -> None:
    assert sent(HELLO, END, demand=None) == [HELLO, END]


def test_an_answer_with_the_call_is_passed_on_in_order() -> None:
    assert sent(HELLO, *CALL, USAGE, CALLED) == [HELLO, *CALL, USAGE, CALLED]


@pytest.mark.parametrize("events", [(HELLO, USAGE, END), (END,), (*OTHER, CALLED)])
def test_an_answer_without_the_call_fails(events: tuple[TurnEvent, ...]) -> None:
    assert sent(*events) == [ChoiceFailed(FailureReason.NOT_CALLED)]


def test_any_of_several_tools_will_do() -> None:
    assert sent(*OTHER, CALLED, demand=ANY) == [*OTHER, CALLED]
    assert sent(HELLO, END, demand=ANY) == [ChoiceFailed(FailureReason.FUNCTION_NOT_CALLED)]


def test_pieces_of_text_that_come_together_are_held_as_one_by_one() -> None:
    two = Texts(texts=("a", "b"))
    assert sent(two, *CALL, CALLED) == [TextAdded(text="a"), TextAdded(text="b"), *CALL, CALLED]
    assert sent(two, END) == [ChoiceFailed(FailureReason.NOT_CALLED)]
    assert sent(two, END, demand=None) == [two, END]


def test_each_choice_must_call() -> None:
    one = CallBegan(choice=1, id="c", name="search")
    assert sent(*CALL, one, CALLED, ChoiceFinished(choice=1, reason="tool_calls"), choices=2)[2] == one
    assert sent(*CALL, CALLED, ChoiceFinished(choice=1, reason="stop"), choices=2) == [
        ChoiceFailed(FailureReason.NOT_CALLED)
    ]


def test_nothing_is_sent_before_the_call_but_that_the_answer_is_on_its_way() -> None:
    taken: list[TurnEvent] = []

    def events() -> Iterator[TurnEvent]:
        for event in (Quiet(1.0), HELLO, Working(), *CALL):
            taken.append(event)
            yield event

    held = hold_for_call(events(), SEARCH)
    assert [next(held), next(held), next(held)] == [Quiet(1.0), Working(), HELLO]
    assert taken == [Quiet(1.0), HELLO, Working(), CALL[0]]


def test_a_failure_is_passed_on_and_what_was_held_is_not() -> None:
    assert sent(HELLO, ChoiceFailed(FailureReason.TIMEOUT)) == [ChoiceFailed(FailureReason.TIMEOUT)]


@pytest.mark.parametrize(
    ("demand", "developer", "wanted"),
    [
        (None, "Be brief.", "Be brief."),
        (None, None, None),
        (SEARCH, None, "You must call the tool search in this answer. Write nothing else."),
        (
            ANY,
            "Be brief.",
            "Be brief.\n\nYou must call one of the tools search, read in this answer. Write nothing else.",
        ),
    ],
)
def test_the_model_is_asked_for_the_call(demand: Demand | None, developer: str | None, wanted: str | None) -> None:
    assert instructed(Conversation(developer=developer), demand).developer == wanted
