from __future__ import annotations

import asyncio
import dataclasses
import json
from typing import TYPE_CHECKING, Any

import pytest

from wireproof.driving.tries import MORE, TRIES, Tried, settled, unhurried, until_done
from wireproof.model.asks import AskCount, AskSay, Fits
from wireproof.model.dialect import Dialect
from wireproof.model.scenario import ConversationScenario, Form, Mode, Turn
from wireproof.model.target import Backend, Target
from wireproof.model.transcript import End, Piece, Transcript
from wireproof.reading.exchange import Exchange, read
from wireproof.reading.right_answers import right_answers
from wireproof.requests.plain import UnseenError
from wireproof.targets.budget import SpentError

if TYPE_CHECKING:
    from collections.abc import Sequence

TARGET = Target(base_url="http://x/v1", model="m", backend=Backend.LIVE)
FORM = Form(Dialect.OPENAI_JSON, Mode.WHOLE)
SAY = ConversationScenario(
    name="s", title="t", exercises=("chat.whole.text",), turns=(Turn(say="p", asks=AskSay(text="x")),), cap=10
)


def answered(scenario: ConversationScenario, text: str, finish: str = "stop") -> Exchange:
    message = {"role": "assistant", "content": text}
    return of(scenario, 200, {"choices": [{"index": 0, "message": message, "finish_reason": finish}]})


def of(scenario: ConversationScenario, status: int, body: Any, end: End = End.COMPLETE) -> Exchange:
    transcript = Transcript(
        method="POST", url="http://x/v1/chat/completions", request_headers=(), request_body=b"{}", status=status,
        headers=(("content-type", "application/json"),), pieces=(Piece(at=0.1, data=json.dumps(body).encode()),),
        end=end, seconds=0.1,
    )  # fmt: skip
    exchange = Exchange(
        scenario=scenario, number=0, turn=scenario.turns[0], form=FORM, target=TARGET, transcript=transcript,
        reading=read(transcript, FORM),
    )  # fmt: skip
    return dataclasses.replace(exchange, wanted=right_answers(exchange))


def tried(scenario: ConversationScenario, *texts: tuple[str, str] | Exception) -> tuple[Exchange, list[int | None]]:
    """What comes of a turn whose tries are answered so, and the limits of the tries."""
    caps: list[int | None] = []

    async def send(scenario: ConversationScenario) -> Exchange:
        said = texts[len(caps)]
        caps.append(scenario.cap)
        if isinstance(said, Exception):
            raise said
        return answered(scenario, *said)

    return asyncio.run(until_done(scenario, send)), caps


def test_an_answer_that_does_what_was_asked_is_the_last_try() -> None:
    exchange, caps = tried(SAY, ("x", "stop"))
    assert (len(caps), exchange.earlier) == (1, ())
    exchange, caps = tried(SAY, ("Sure: x", "stop"), ("x", "stop"))
    assert len(caps) == 2
    assert exchange.wanted
    assert [one.choice().text for one in exchange.earlier] == ["Sure: x"]


def test_of_a_picture_that_a_model_does_not_know_it_is_asked_without_it_too() -> None:
    shown = dataclasses.replace(SAY, turns=(Turn(say="p", images=("data:,x",), asks=AskSay(text="x")),))
    exchange, caps = tried(shown, *[(f"y{number}", "stop") for number in range(TRIES + 1)])
    assert len(caps) == TRIES + 1
    assert [one.turn.images for one in (*exchange.earlier, exchange) if one.turn] == [
        *[("data:,x",)] * (TRIES - 1), (), ("data:,x",)
    ]  # fmt: skip
    exchange, caps = tried(shown, ("x", "stop"))
    assert (len(caps), exchange.earlier) == (1, ())
    # What may send no more goes without.
    exchange, caps = tried(shown, *[(f"y{number}", "stop") for number in range(TRIES)], SpentError("spent"))
    assert (len(caps), len(exchange.earlier)) == (TRIES + 1, TRIES - 1)


def test_a_model_that_never_does_it_is_asked_three_times() -> None:
    exchange, caps = tried(SAY, *[(f"y{number}", "stop") for number in range(TRIES + 1)])
    assert len(caps) == TRIES
    assert (exchange.wanted, len(exchange.earlier)) == ((), TRIES - 1)


def test_an_answer_that_comes_again_word_for_word_is_the_last() -> None:
    exchange, caps = tried(SAY, ("y", "stop"), ("y", "stop"), ("x", "stop"))
    assert (len(caps), exchange.wanted) == (2, ())
    # Of two that were cut at different limits, the second may be the beginning of what was asked for.
    assert len(tried(SAY, ("", "length"), ("", "length"), ("x", "stop"))[1]) == 3


@pytest.mark.parametrize(("text", "more"), [("", MORE), ("<think>", MORE), ("xy", MORE), ("Well", 1)])
def test_one_that_was_cut_gets_more_tokens_unless_it_began_with_something_else(text: str, more: int) -> None:
    asked = dataclasses.replace(SAY, turns=(Turn(say="p", asks=AskSay(text="xyz")),))
    assert tried(asked, (text, "length"), ("xyz", "stop"))[1] == [10, 10 * more]


@pytest.mark.parametrize(("text", "more"), [('{"a": ', MORE), ("Here is", 1)])
def test_so_does_one_in_a_schema(text: str, more: int) -> None:
    asks = Fits(schema={"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]})
    asked = dataclasses.replace(SAY, turns=(Turn(say="p", asks=asks),))
    assert tried(asked, (text, "length"), ('{"a": 1}', "stop"))[1] == [10, 10 * more]


def test_a_further_try_whose_answer_cannot_be_read_is_the_last() -> None:
    answers = iter((answered(SAY, "y"), of(SAY, 500, {"error": "gone"})))

    async def send(_: ConversationScenario) -> Exchange:
        return next(answers)

    exchange = asyncio.run(until_done(SAY, send))
    assert (exchange.reading, len(exchange.earlier)) == (None, 1)


def several(*texts: Sequence[tuple[str, str]]) -> list[int]:
    """How often each of several scenarios of a run was sent, one after the other."""
    shared, times = Tried(), list[int]()

    async def send(scenario: ConversationScenario) -> Exchange:
        number = times[-1]
        times[-1] += 1
        return answered(scenario, *texts[len(times) - 1][number])

    async def run() -> None:
        for number in range(len(texts)):
            times.append(0)
            await until_done(dataclasses.replace(SAY, name=f"s{number}"), send, shared)

    asyncio.run(run())
    return times


def test_after_enough_scenarios_with_the_same_answer_no_further_try_is_sent() -> None:
    same, cut = [("y", "stop")] * TRIES, [("", "length"), ("x", "stop")]
    assert several(same, same, same, same) == [2, 2, 1, 1]
    # One that was cut needs more room, which has not been tried.
    assert several(same, same, cut) == [2, 2, 2]


def test_a_further_try_that_helped_shows_that_they_are_not_vain() -> None:
    same, lazy = [("y", "stop")] * TRIES, [("y", "stop"), ("x", "stop")]
    assert several(same, lazy, same, same, lazy) == [2, 2, 2, 2, 2]


def test_a_scenario_is_not_tried_again_in_a_form_after_another_showed_the_same_answer() -> None:
    shared, sent = Tried(), []

    async def send(scenario: ConversationScenario) -> Exchange:
        sent.append(scenario.name)
        return answered(scenario, "y")

    async def run() -> None:
        await asyncio.gather(*(until_done(SAY, send, shared) for _ in range(4)))

    asyncio.run(run())
    # Four first tries, and one further: the others wait for what it shows.
    assert len(sent) == 5


def test_an_answer_that_was_cut_gets_more_room_unless_it_was_to_be_cut() -> None:
    assert tried(SAY, ("", "length"), ("y", "stop"), ("x", "stop"))[1] == [10, 10 * MORE, 10 * MORE]
    count = dataclasses.replace(SAY, turns=(Turn(say="p", asks=AskCount()),))
    assert tried(count, ("1 2 3 4", "length"))[1] == [10]


def test_what_was_seen_before_the_bound_was_reached_stands() -> None:
    exchange, _ = tried(SAY, ("y", "stop"), SpentError("spent"))
    assert exchange.choice().text == "y"
    with pytest.raises(SpentError):
        tried(SAY, SpentError("spent"))


def test_a_broken_answer_is_not_asked_for_again() -> None:
    assert settled(of(SAY, 500, {"error": {}}))
    assert settled(of(SAY, 200, {"choices": 7}))
    assert settled(of(SAY, 200, {"choices": []}, End.CUT))
    assert not settled(answered(SAY, "y"))
    script = dataclasses.replace(SAY, script="text/hello", turns=(Turn(say="p"),))
    assert settled(of(script, 500, {}))


ERROR = {"type": "invalid_request_error", "param": None, "code": None}


@pytest.mark.parametrize(
    ("status", "error", "refused"),
    [
        (400, {**ERROR, "message": "no", "param": "tool_choice"}, True),
        (422, {**ERROR, "message": "tool_choice is not supported"}, True),
        (400, {**ERROR, "message": "this model has no voice"}, False),
        (500, {**ERROR, "message": "tool_choice"}, False),
        (400, "tool_choice", False),
    ],
)
def test_a_plain_refusal_of_what_is_asked_for_is_an_absence(status: int, error: Any, *, refused: bool) -> None:
    forced = dataclasses.replace(SAY, tool_choice="required")

    async def send(scenario: ConversationScenario) -> Exchange:
        return of(scenario, status, {"error": error})

    if refused:
        with pytest.raises(UnseenError, match="the target refuses tool_choice") as raised:
            asyncio.run(until_done(forced, send))
        # Kept, so that the capabilities can be read off it.
        assert [one.transcript.status for one in raised.value.shown] == [status]
    else:
        assert asyncio.run(until_done(forced, send)).transcript.status == status


def test_a_model_of_two_tokens_a_second_has_time_for_the_longest_answer() -> None:
    capped = dataclasses.replace(SAY, cap=60)
    assert unhurried(TARGET, [SAY, capped]).silence >= TARGET.timeout + 60 / 2
    # Where the pace that was seen gives as much, nothing is added.
    slow = dataclasses.replace(TARGET, pace=1000.0)
    assert unhurried(slow, [capped]).silence == pytest.approx(max(slow.silence, TARGET.timeout * 4))


def test_an_answer_that_another_prompt_asks_for_is_the_last() -> None:
    async def send(_scenario: ConversationScenario) -> Exchange:
        return next(answers)

    theirs, mine = answered(SAY, " LIGHTHOUSE\n"), answered(SAY, "x")
    answers = iter((theirs, mine))
    # A further try would hide that the answers were mixed up.
    assert asyncio.run(until_done(SAY, send, Tried(asked=frozenset({"x", "LIGHTHOUSE"})))) is theirs
    answers = iter((theirs, mine))
    assert asyncio.run(until_done(SAY, send, Tried(asked=frozenset({"x"})))).wanted
