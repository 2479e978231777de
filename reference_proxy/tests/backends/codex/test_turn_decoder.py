from __future__ import annotations

from typing import Any

import pytest

from wireproof_proxy.backends.codex.turn_decoder import CodexTurnDecoder
from wireproof_surfaces.events import (
    CallsEnded,
    ChoiceFailed,
    ChoiceFinished,
    FailureReason,
    MessageEnded,
    TextAdded,
    TurnOver,
    UsageReported,
    Working,
)

A = TextAdded(text="a")
WORK = [Working()]
OVER = MessageEnded()


def test_a_message_is_sent_by_its_deltas_or_else_when_it_is_complete() -> None:
    turn = CodexTurnDecoder()
    assert turn.text("a", "m") == [A]
    assert turn.text("", "m") == []
    assert turn.message("a", "m") == WORK
    assert turn.message("a", "n") == [OVER, A]
    assert turn.message("", "o") == WORK


def test_messages_without_ids_are_distinguished_by_their_ends() -> None:
    turn = CodexTurnDecoder()
    assert [*turn.text("a"), *turn.message("a"), *turn.message("a"), *turn.text("a")] == [
        A,
        *WORK,
        OVER,
        A,
        OVER,
        A,
    ]


def test_a_message_ends_when_another_one_begins_and_not_before() -> None:
    turn = CodexTurnDecoder(choice=1, choices=2)
    assert turn.message("", "l") == WORK
    assert turn.message("a", "m") == [TextAdded(choice=1, text="a")]
    assert turn.text("b", "n") == [MessageEnded(choice=1), TextAdded(choice=1, text="b")]
    assert turn.text("c", "n") == [TextAdded(choice=1, text="c")]


def test_the_end_has_the_last_message_if_nothing_was_sent() -> None:
    assert CodexTurnDecoder().complete("a") == [A, ChoiceFinished(reason="stop"), TurnOver()]
    turn = CodexTurnDecoder()
    turn.text("b")
    assert turn.complete("a") == [ChoiceFinished(reason="stop"), TurnOver()]
    assert turn.over


def test_everything_is_sent_of_the_turns_own_choice() -> None:
    turn = CodexTurnDecoder(choice=2, choices=3)
    turn.native("c", "f", "{}")
    sent = [*turn.text("a"), *turn.response_over(), *turn.complete(), turn.failure(FailureReason.FAILED)]
    assert sent == [
        TextAdded(choice=2, text="a"),
        CallsEnded(choice=2),
        ChoiceFinished(choice=2, reason="stop"),
        TurnOver(choice=2),
        ChoiceFailed(FailureReason.FAILED, 2),
    ]


FAILED = [ChoiceFailed(FailureReason.FAILED)]


def test_a_message_that_begins_again_is_sent_once_however_often_and_in_whatever_pieces() -> None:
    turn = CodexTurnDecoder()
    sent = [*turn.text("ab", "m"), *turn.retried(), *turn.text("a", "n"), *turn.retried(), *turn.text("abc", "o")]
    assert [event for event in sent if event not in WORK] == [TextAdded(text="ab"), TextAdded(text="c")]
    assert turn.message("abc", "o") == WORK
    assert turn.retried() == WORK
    assert turn.text("other", "p") == [OVER, TextAdded(text="other")]


def test_a_message_that_begins_again_may_come_whole() -> None:
    turn = CodexTurnDecoder()
    turn.text("a", "m")
    turn.retried()
    assert turn.message("ab", "n") == [TextAdded(text="b")]


@pytest.mark.parametrize(
    "then",
    [
        lambda turn: [*turn.text("b", "n"), *turn.text("a", "n")][1:],
        lambda turn: turn.message("ba", "n"),
        lambda turn: [*turn.text("a", "n"), *turn.message("a", "n")][1:],
        lambda turn: turn.response_over(),
        lambda turn: turn.complete(),
    ],
    ids=["other text", "another message", "a shorter message", "no text", "the end"],
)
def test_what_was_sent_and_is_not_said_again_fails_the_turn(then: Any) -> None:
    turn = CodexTurnDecoder()
    turn.text("ab", "m")
    turn.retried()
    assert then(turn) == FAILED
    assert turn.over


def test_a_response_without_calls_ends_nothing() -> None:
    assert CodexTurnDecoder().response_over() == WORK


def test_the_counts_of_responses_add_up_and_win_over_those_of_the_turn() -> None:
    turn = CodexTurnDecoder()
    one = UsageReported(prompt=1, completion=2)
    assert turn.counted(one) == [one]
    assert turn.summed(one) == [one]
    assert turn.summed(one) == [UsageReported(prompt=2, completion=4)]
    assert turn.summed(None) == [UsageReported(prompt=2, completion=4)]
    assert turn.counted(one) == WORK


def test_a_turn_that_holds_several_choices_counts_once_for_all() -> None:
    one = UsageReported(prompt=1, completion=2)
    assert CodexTurnDecoder(choice=1, choices=2, indexed=True).counted(one) == WORK
    assert CodexTurnDecoder(choice=0, choices=2, indexed=True).counted(one) == [one]


def test_a_failure_is_of_all_choices_if_there_is_but_one() -> None:
    assert CodexTurnDecoder().failed({}) == [ChoiceFailed(FailureReason.FAILED)]
    cut = {"message": "Incomplete response returned, reason: max_output_tokens"}
    assert CodexTurnDecoder().failed(cut) == [ChoiceFinished(reason="length"), TurnOver()]


@pytest.mark.parametrize(
    "sent",
    [
        {"inputTokens": 5, "outputTokens": 3, "cachedInputTokens": 2, "reasoningOutputTokens": 1},
        {"input_tokens": 5, "output_tokens": 3, "cached_input_tokens": 2, "reasoning_output_tokens": 1},
        {
            "prompt_tokens": 5,
            "completion_tokens": 3,
            "prompt_tokens_details": {"cached_tokens": 2},
            "completion_tokens_details": {"reasoning_tokens": 1},
        },
        {"input_tokens": 5, "output_tokens": 3, "input_tokens_details": {"cached_tokens": 2},
         "output_tokens_details": {"reasoning_tokens": 1}},
    ],
)  # fmt: skip
def test_tokens_are_counted_in_any_spelling(sent: Any) -> None:
    assert CodexTurnDecoder().usage(sent) == UsageReported(prompt=5, completion=3, cached=2, reasoning=1)


@pytest.mark.parametrize("sent", [None, [], {}, {"inputTokens": 5}, {"inputTokens": -1, "outputTokens": 1}])
def test_what_is_not_whole_is_no_count(sent: Any) -> None:
    assert CodexTurnDecoder().usage(sent) is None
