from __future__ import annotations

import dataclasses
import gzip
from typing import TYPE_CHECKING, Any

import pytest

from wireproof.model.dialect import CHATS, ArgumentsMode, Dialect
from wireproof.model.scenario import Form, Mode
from wireproof.model.transcript import End
from wireproof.reading.exchange import read
from wireproof.wire.violation import Place

if TYPE_CHECKING:
    from collections.abc import Callable

    from wireproof.reading.exchange import Exchange

    Make = Callable[..., Exchange]

WHOLE = Form(Dialect.OPENAI_JSON, Mode.WHOLE)
XML = Dialect.OBSIDIAN_XML


def test_a_stream_is_read_and_assembled(stream: Make) -> None:
    exchange = stream("text-hello", "Hello", ", world!", {"finish": "stop"})
    assert exchange.reading is not None
    assert exchange.reading.violations == ()
    assert (exchange.choice().text, exchange.choice().finish) == ("Hello, world!", "stop")


def test_a_whole_answer_is_read_and_assembled(whole: Make) -> None:
    exchange = whole("text-hello", "Hello, world!")
    assert (exchange.choice().text, exchange.choice().finish) == ("Hello, world!", "stop")


@pytest.mark.parametrize("status", [None, 199, 302, 404, 502])
def test_a_response_that_is_no_success_is_no_answer(stream: Make, status: int | None) -> None:
    exchange = stream("text-hello", "Hello", status=status)
    assert exchange.reading is None
    with pytest.raises(ValueError, match="no chat answer"):
        _ = exchange.answer


@pytest.mark.parametrize("end", [End.LEFT, End.CUT, End.TIMEOUT])
def test_of_a_stream_that_broke_off_nothing_is_missing(stream: Make, end: End) -> None:
    exchange = stream("text-hello", {"role": "assistant"}, "Hello", bare=True, end=end)
    assert exchange.reading is not None
    assert exchange.reading.violations == ()
    assert exchange.choice().text == "Hello"


@pytest.mark.parametrize("end", [End.COMPLETE, End.OPEN])
def test_of_a_stream_that_ended_the_missing_end_is_missed(stream: Make, end: End) -> None:
    exchange = stream("text-hello", {"role": "assistant"}, "Hello", bare=True, end=end)
    assert exchange.reading is not None
    assert [found.requirement for found in exchange.reading.violations] == ["chat.stream.finish-once"]


@pytest.mark.parametrize("end", [End.CUT, End.TIMEOUT])
def test_of_a_whole_answer_that_broke_off_nothing_is_read(plain: Make, end: End) -> None:
    reading = read(plain("text-hello", 200, b'{"choices": [', end=end).transcript, WHOLE)
    assert reading is not None
    assert (reading.payloads, reading.events, reading.violations) == ((), (), ())


def test_an_answer_without_choices_has_an_empty_one(stream: Make) -> None:
    choice = stream("text-hello").choice()
    assert choice.text is None or choice.text == ""
    empty = stream("text-hello", bare=True).choice()
    assert (empty.role, empty.text, empty.calls, empty.finish) == (None, None, (), None)


def test_the_stop_policy_is_that_of_scenario_and_turn(stream: Make, plain: Make) -> None:
    assert stream("calls-burst").terms.burst
    assert not stream("calls-first").terms.burst
    with pytest.raises(ValueError, match="no turn of a conversation"):
        _ = plain("models", 200).terms


def test_the_body_as_a_place_is_all_of_it(plain: Make) -> None:
    assert plain("models", 200, b"12345").body_place == Place(offset=0, length=5)


def test_each_choice_stands_beside_its_right_answer(stream: Make) -> None:
    frames = ({"content": "b", "choice": 1}, {"content": "a"}, {"role": "assistant", "choice": 1})
    exchange = stream("choices-text", *frames)
    assert [choice.text for _, choice in exchange.choices()] == ["a", "b"]
    assert [wanted.text for wanted, _ in exchange.choices()] == [one.text for one in exchange.wanted]
    assert exchange.choice(7).text is None


def test_a_form_has_a_mode_and_a_dialect(stream: Make) -> None:
    exchange = stream("call-one", dialect=XML)
    assert (exchange.mode, exchange.dialect) == (Mode.STREAM, XML)


def test_deltas_that_repeat_the_arguments_are_put_together_as_the_target_says_them(
    stream: Make, call: Callable[..., Any], fragment: Callable[..., Any]
) -> None:
    frames = (call(0, "a", "f", '{"q":'), fragment(0, '{"q":1}'), {"finish": "tool_calls"})
    exchange = stream("call-one", *frames, dialect=XML)
    assert exchange.cumulative
    assert exchange.choice().calls[0].arguments == '{"q":1}'
    other = dataclasses.replace(exchange.target, arguments=ArgumentsMode.INCREMENTAL)
    assert stream("call-one", *frames, dialect=XML, target=other).choice().calls[0].arguments == '{"q":{"q":1}'
    assert not stream("call-one", *frames).cumulative


def test_a_whole_answer_is_never_cumulative(whole: Make) -> None:
    assert not whole("call-one", "Hello.", dialect=XML).cumulative


def test_a_block_in_the_content_is_no_tail_where_the_dialect_has_blocks(stream: Make, call: Callable[..., Any]) -> None:
    frames = (call(0, "a", "f", "{}"), "<use_tool>\n</use_tool>", {"finish": "tool_calls"})
    readings = {dialect: stream("call-one", *frames, dialect=dialect).reading for dialect in CHATS}
    broken = {dialect: [v.requirement for v in reading.violations] for dialect, reading in readings.items() if reading}
    assert broken == {one: [] if one.spec.blocks else ["chat.stream.tail-suppressed"] for one in CHATS}
    assert broken[XML] == []


@pytest.mark.parametrize(
    ("dialect", "mode", "row"),
    [
        (Dialect.OPENAI_JSON, Mode.WHOLE, "chat.whole.envelope"),
        (XML, Mode.STREAM, "chat.stream.frames"),
        (Dialect.RESPONSES, Mode.WHOLE, "responses.whole.envelope"),
        (Dialect.RESPONSES, Mode.STREAM, "responses.stream.schema"),
    ],
)
def test_a_compressed_body_is_called_that(plain: Make, dialect: Dialect, mode: Mode, row: str) -> None:
    sent = plain("text-hello", 200, gzip.compress(b"{}"), headers={"Content-Encoding": "gzip"})
    reading = read(sent.transcript, Form(dialect, mode))
    assert reading is not None
    (found,) = reading.violations
    assert (found.requirement, found.seen) == (
        row, "the body is compressed (content-encoding: gzip), though the request asks for identity",
    )  # fmt: skip


def test_a_body_that_says_that_it_is_not_compressed_is_read(plain: Make) -> None:
    sent = plain("text-hello", 200, b"<html>", headers={"Content-Encoding": "Identity"})
    reading = read(sent.transcript, WHOLE)
    assert reading is not None
    assert "compressed" not in reading.violations[0].seen
