from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, get_args

import pytest

from wireproof_scripts.files.definitions import DEFINITIONS, NAMES
from wireproof_scripts.files.json_form import step_from_json
from wireproof_scripts.kinds import MOST_SECONDS
from wireproof_scripts.nonces import Nonce
from wireproof_scripts.player import Until, perform
from wireproof_scripts.steps import (
    Answering,
    Call,
    Crash,
    Doing,
    ErrorNotice,
    Fail,
    Finish,
    Gate,
    Hang,
    Open,
    Pace,
    Pause,
    Reflect,
    Say,
    Silence,
    Spoken,
    Step,
    Surrogates,
    TextDelta,
    Think,
    Usage,
)
from wireproof_scripts.steps.cursor import Agentic
from wireproof_scripts.steps.http import Wire

if TYPE_CHECKING:
    from wireproof_scripts.player import Action, Performance


def performed(*steps: Step, opened: bool = False, running: bool = False, nonce: Nonce | None = None) -> Performance:
    """The part as a turn plays it, beside another one which may run, under a nonce with a gate which may be open."""
    nonce = nonce or Nonce(gates={"gate"} if opened else set())
    nonce.begin("other", 0, "").state = "running" if running else "completed"
    return perform(steps, nonce, nonce.begin("this", 0, ""), 0.0)


def played(*steps: Step, opened: bool = False, running: bool = False, until: float = 0.0) -> list[Action | Until]:
    """Every action up to the time `until`, when all waiting is over at once or at its deadline."""
    performance = performed(*steps, opened=opened, running=running)
    actions = [next(performance, None)]
    while (action := actions[-1]) is not None and not (isinstance(action, Until) and action.time > until):
        try:
            actions.append(performance.send(action.time if isinstance(action, Until) else 0.0))
        except StopIteration:
            break
    return [action for action in actions if action is not None]


def test_each_piece_of_a_say_is_one_delta() -> None:
    assert played(Say(("a", "b"), times=2)) == [
        TextDelta("a"),
        TextDelta("b"),
        TextDelta("a"),
        TextDelta("b"),
        Finish(),
    ]


def test_a_say_of_a_million_deltas_is_made_as_it_is_fetched() -> None:
    performance = performed(Say(("x",), times=1_000_000_000))
    assert next(performance) == TextDelta("x")
    assert performance.send(0.0) == TextDelta("x")


def test_a_part_without_an_end_finishes() -> None:
    assert played() == [Finish()]
    assert played(Think("hm"), Usage(input=1)) == [Think("hm"), Usage(input=1), Finish()]


def test_steps_after_an_end_are_played_and_end_nothing_again() -> None:
    assert played(Finish("length"), Say(("late",))) == [Finish("length"), TextDelta("late")]
    assert played(Fail("cut"), Open(), Crash()) == [Fail("cut"), Open(), Crash()]


def test_a_call_is_played_as_it_is() -> None:
    call = Call(id="1", name="f", arguments="{")
    assert played(call) == [call, Finish()]


def test_a_pause_lasts_as_long_as_it_says() -> None:
    assert played(Pause(0.5), Say(("x",))) == [Until(0.5)]
    assert played(Pause(0.5), Say(("x",)), until=1.0) == [Until(0.5), TextDelta("x"), Finish()]


def test_a_pause_that_is_resumed_early_goes_on() -> None:
    performance = performed(Pause(1.0))
    assert [next(performance), performance.send(0.4), performance.send(1.0)] == [Until(1.0), Until(1.0), Finish()]


def test_nothing_ends_a_hang() -> None:
    performance = performed(Hang(), Say(("never",)))
    assert [next(performance), performance.send(1e12)] == [Until(math.inf), Until(math.inf)]


def test_an_open_gate_is_passed_at_once() -> None:
    assert played(Gate(), Say(("x",)), opened=True) == [TextDelta("x"), Finish()]


def test_a_gate_is_passed_when_it_opens() -> None:
    nonce = Nonce()
    performance = performed(Gate(timeout=9.0), nonce=nonce)
    assert [next(performance), performance.send(1.0)] == [Until(9.0), Until(9.0)]
    nonce.gates.add("gate")
    assert performance.send(2.0) == Finish()


def test_a_gate_that_stays_shut_says_so_and_goes_on() -> None:
    shut = [Until(3.0), TextDelta("too late"), TextDelta("x"), Finish()]
    assert played(Gate("other", 3.0, "too late"), Say(("x",)), opened=True, until=3.0) == shut


def test_reflecting_on_turns_waits_for_the_others() -> None:
    reflect = Reflect("turns", wait=2.0)
    assert played(reflect) == [reflect, Finish()]
    assert played(reflect, running=True, until=2.0) == [Until(2.0), reflect, Finish()]
    nonce = Nonce()
    performance = performed(reflect, running=True, nonce=nonce)
    assert next(performance) == Until(2.0)
    nonce.turns[0].state = "interrupted"
    assert performance.send(0.1) == reflect


def test_reflecting_on_what_was_received_waits_for_nobody() -> None:
    assert played(Reflect(), running=True) == [Reflect(), Finish()]


def test_the_end_of_a_choice_is_not_the_end() -> None:
    end = Finish("length", choice=1)
    assert played(end, Say(("x",), choice=0)) == [end, TextDelta("x", 0), Finish()]


def test_halves_of_characters_come_together_or_apart() -> None:
    assert played(Surrogates("a\U0001f600")) == [TextDelta("a\ud83d\ude00"), Finish()]
    assert played(Surrogates("\U0001f600", apart=True)) == [TextDelta("\ud83d"), TextDelta("\ude00"), Finish()]


def test_after_an_error_notice_nothing_comes() -> None:
    notice = ErrorNotice("cut")
    assert played(notice, Say(("never",))) == [notice, Until(math.inf)]


def shortest(steps: object) -> list[Step]:
    """One step of each class, with no more than must be written."""
    return [step_from_json(DEFINITIONS[NAMES[step]].shortest) for step in get_args(steps)]


@pytest.mark.parametrize("step", shortest(Doing | Answering | Agentic | Wire), ids=lambda step: NAMES[type(step)])
def test_what_is_done_is_played_as_it_is(step: Step) -> None:
    assert played(step)[0] == step


@pytest.mark.parametrize("step", shortest(Spoken), ids=lambda step: NAMES[type(step)])
def test_text_is_played_as_pieces_that_join_to_it(step: Spoken) -> None:
    *pieces, end = played(step)
    said = "".join(piece.text for piece in pieces if isinstance(piece, TextDelta))
    assert (said.encode("utf-16-be", "surrogatepass").decode("utf-16-be"), end) == (step.text, Finish())


@pytest.mark.parametrize("step", shortest(Silence), ids=lambda step: NAMES[type(step)])
def test_silence_is_played_as_a_wait(step: Step) -> None:
    assert isinstance(played(step)[0], Until)


def times_of(*steps: Step) -> list[float]:
    """When each piece of text comes, if each wait ends when it is over."""
    performance, now = performed(*steps), 0.0
    times: list[float] = []
    action = next(performance)
    while not isinstance(action, Finish):
        if isinstance(action, Until):
            now = action.time
        else:
            times.append(round(now, 6))
        action = performance.send(now)
    return times


def test_a_pace_gives_each_piece_its_time() -> None:
    text = Say(("a", "b"), times=2)
    assert times_of(Pace(10, first=0.5), text) == [0.5, 0.6, 0.7, 0.8]
    assert times_of(Pace(first=0.5), text) == [0.5] * 4
    assert times_of(Say(("a",)), Pace(10), text, Pause(1.0), Say(("c",))) == [0, 0, 0.1, 0.2, 0.3, 1.4]
    assert times_of(Pace(10), text, Pace(), Say(("c",))) == [0, 0.1, 0.2, 0.3, 0.3]
    # No time is longer than the system waits for.
    assert times_of(Pace(5e-324), text)[:2] == [0, MOST_SECONDS]


def test_a_jitter_is_that_of_its_seed_and_within_its_bounds() -> None:
    text = Say(("a",), times=50)
    one, same, other = (times_of(Pace(10, jitter=0.5, seed=seed), text) for seed in (1, 1, 2))
    assert one == same != other
    gaps = [after - before for before, after in pairwise(one)]
    assert 0.05 <= min(gaps) < 0.07
    assert 0.13 < max(gaps) <= 0.15


def test_a_late_piece_does_not_make_the_others_later() -> None:
    performance = performed(Pace(10), Say(("a",), times=3))
    assert next(performance) == TextDelta("a")
    assert performance.send(0.0) == Until(0.1)
    assert performance.send(0.15) == TextDelta("a")
    assert performance.send(0.15) == Until(0.2)


def test_a_whole_text_is_one_piece() -> None:
    assert played(Say(("a", "b"), times=2, whole=True))[0] == TextDelta("abab", whole=True)
