from __future__ import annotations

from typing import Any

from wireproof_proxy.backends.backend import Choices
from wireproof_surfaces.events import TextAdded


class Turn:
    """Remembers what happened to it."""

    def __init__(self, steps: Any, mailbox: Any, choice: int) -> None:
        self.steps, self.mailbox, self.choice, self.closed = steps, mailbox, choice, False
        self.silences = 0

    def close(self) -> None:
        """Remember it."""
        self.closed = True

    def on_silence(self) -> bool:
        """Remember it."""
        self.silences += 1
        return False


def choices(count: int) -> tuple[Choices, list[Any], list[bool]]:
    turns: list[Any] = []
    served: list[bool] = []

    def begin(steps: Any, mailbox: Any, choice: int) -> Any:
        turns.append(Turn(steps, mailbox, choice))
        return turns[-1]

    return Choices(begin, count, lambda: served.append(True)), turns, served


def test_turns_learn_of_a_silence() -> None:
    answer, turns, _ = choices(2)
    answer.started(0)
    turns[0].mailbox.put(TextAdded(text="a"))
    assert answer.next(0) == TextAdded(text="a")
    assert [turn.silences for turn in turns] == [0, 0]
    assert answer.next(0) is None
    assert [turn.silences for turn in turns] == [1, 1]


def test_a_turn_begins_when_the_one_before_has_started() -> None:
    answer, turns, served = choices(2)
    assert [turn.choice for turn in turns] == [0]
    answer.served()
    answer.started(0)
    answer.started(0)
    answer.started(1)
    assert [turn.choice for turn in turns] == [0, 1]
    assert served == [True]


def test_all_are_received_in_one_place_and_closed_together() -> None:
    answer, turns, _ = choices(2)
    answer.started(0)
    turns[1].mailbox.put(TextAdded(choice=1, text="a"))
    assert answer.next(0) == TextAdded(choice=1, text="a")
    answer.close()
    assert all(turn.closed for turn in turns)
    assert not turns[0].mailbox.put(TextAdded(text="late"))
    answer.started(1)
    assert len(turns) == 2


def test_a_turn_that_begins_while_the_answer_is_closed_is_closed_too() -> None:
    def begin(steps: Any, mailbox: Any, choice: int) -> Any:
        turn = Turn(steps, mailbox, choice)
        begun.append(turn)
        if choice:
            steps.close()
        return turn

    begun: list[Any] = []
    answer = Choices(begin, 2, lambda: None)
    answer.started(0)
    assert all(turn.closed for turn in begun)
