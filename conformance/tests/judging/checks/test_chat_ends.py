from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import pytest
from stream_findings import CALLS, STOP, found, frame_of, only, shown

from wireproof.judging.registry import NotShownError
from wireproof.model.transcript import End
from wireproof.reading.exchange import Exchange

if TYPE_CHECKING:
    from wireproof.wire.violation import Violation

Make = Callable[..., Exchange]
Delta = Callable[..., Mapping[str, Any]]


def whole_frame(violation: Violation, exchange: Exchange) -> bytes:
    """The frame that a violation points at, from its first to its last byte."""
    frame = frame_of(violation, exchange)
    assert shown(violation, exchange) == frame
    return frame


# Finish and usage


@pytest.mark.parametrize(
    ("name", "wrong", "right"),
    [
        ("text-hello", "length", "stop"),
        ("finish-length", "stop", "length"),
        ("finish-filter", "stop", "content_filter"),
        ("call-beats-length", "length", "tool_calls"),
    ],
)
def test_another_finish_reason_is_shown(stream: Make, name: str, wrong: str, right: str) -> None:
    assert found("finish-reason", stream(name, {"finish": right})) == []
    exchange = stream(name, {"finish": wrong})
    violation = only("finish-reason", exchange)
    assert violation.seen == f'finish_reason is "{wrong}", it should be "{right}"'
    assert wrong.encode() in whole_frame(violation, exchange)


def test_a_finish_that_never_came_is_the_grammars_business(stream: Make) -> None:
    assert found("finish-reason", stream("text-hello", "Hello")) == []


def test_usage_that_was_asked_for_is_the_backends(stream: Make, usage_chunk: Callable[..., bytes]) -> None:
    assert found("usage", stream("usage-asked", STOP, usage_chunk(1234, 56))) == []
    missing = only("usage", stream("usage-asked", STOP))
    assert missing.seen.endswith("was set and no usage chunk came")
    assert (str(missing.about), missing.counts) == ("usage chunk is missing", False)
    exchange = stream("usage-asked", STOP, usage_chunk(1, 2))
    violation = only("usage", exchange)
    assert violation.seen == "usage is 1 + 2 = 3, the backend reported 1234 + 56"
    assert (violation.about, violation.counts) == (None, True)
    assert b'"prompt_tokens": 1' in whole_frame(violation, exchange)
    assert "= 99," in only("usage", stream("usage-asked", STOP, usage_chunk(1234, 56, 99))).seen


def test_usage_that_was_not_asked_for_is_too_much(stream: Make, usage_chunk: Callable[..., bytes]) -> None:
    exchange = stream("text-hello", STOP, usage_chunk(11, 7))
    assert only("usage", exchange).seen == "a usage chunk came that was not asked for"


def test_a_stream_that_failed_owes_no_usage(stream: Make, error_frame: bytes) -> None:
    assert found("usage", stream("usage-asked", "Counted", error_frame)) == []


def test_any_counts_will_do_where_the_right_ones_are_not_known(stream: Make, usage_chunk: Callable[..., bytes]) -> None:
    assert found("usage", stream("usage-asked", STOP, usage_chunk(1, 2), live=True)) == []


# Failures


def test_a_failure_before_output_is_no_stream(stream: Make, error_frame: bytes) -> None:
    exchange = stream("fail-first", error_frame)
    violation = only("error-before-output", exchange)
    assert violation.seen == "the backend failed before any output, and the stream began with HTTP 200"
    assert found("error-before-output", stream("text-hello", STOP)) == []
    assert found("error-before-output", stream("fail-first", status=502)) == []


def test_a_failure_in_mid_text_is_reported_by_an_error_frame(stream: Make, error_frame: bytes) -> None:
    assert found("error-after-text", stream("fail-after-text", "Half an answer", error_frame)) == []
    exchange = stream("fail-after-text", "Half an answer", STOP)
    violation = only("error-after-text", exchange)
    assert "the client takes half an answer for all" in violation.seen
    assert violation.place == exchange.body_place


@pytest.mark.parametrize(
    ("error", "seen"),
    [
        ({"message": "Gone.", "param": None, "code": None}, "/error: type is missing"),
        (
            {"message": "Gone.", "type": "t", "param": None, "code": 500},
            "/error/code: is 500, should be string or null",
        ),
    ],
)
def test_an_error_frame_holds_the_envelope(stream: Make, error: dict[str, object], seen: str) -> None:
    frame = f"data: {json.dumps({'error': error})}\n\n".encode()
    exchange = stream("fail-after-text", "Half an answer", frame)
    violation = only("error-after-text", exchange)
    assert violation.seen == f"the error frame is no envelope: {seen}"
    assert whole_frame(violation, exchange) == frame


def test_a_failure_after_a_call_leaves_no_trace(stream: Make, call: Delta, error_frame: bytes) -> None:
    one = call(0, "call_failed", "localSearch", '{"query": "before the failure"}')
    assert found("error-after-call", stream("fail-after-call", one, CALLS)) == []
    exchange = stream("fail-after-call", one, error_frame)
    violation = only("error-after-call", exchange)
    assert violation.seen == "the call was complete, yet an error frame came: clients throw the call away"
    assert whole_frame(violation, exchange) == error_frame


def test_where_no_call_was_sent_an_error_frame_throws_none_away(stream: Make, error_frame: bytes) -> None:
    assert found("error-after-call", stream("fail-after-call", error_frame)) == []
    assert found("error-after-call", stream("fail-after-call", "localSearch(…)", error_frame)) == []


def test_half_of_a_call_must_not_look_like_an_answer(stream: Make, call: Delta, error_frame: bytes) -> None:
    half = call(0, "call_half", "localSearch", '{"query": ')
    assert found("error-after-call", stream("fail-in-arguments", half, error_frame)) == []
    violation = only("error-after-call", stream("fail-in-arguments", half, CALLS))
    assert "the client runs half of a call" in violation.seen


def test_a_backend_that_never_says_anything_must_be_reported(stream: Make, error_frame: bytes) -> None:
    assert found("error-before-output", stream("silent-backend", error_frame, bare=True)) == []
    violation = only("error-before-output", stream("silent-backend", STOP))
    assert violation.seen == "the backend stayed silent, and the stream ended without an error"


@pytest.mark.parametrize("name", ["fail-after-text", "fail-in-arguments", "silent-backend"])
def test_after_an_error_frame_the_connection_may_break_off(name: str, stream: Make, error_frame: bytes) -> None:
    assert found("done-last", stream(name, error_frame, bare=True, end=End.CUT)) == []


# Silence and departure


@pytest.mark.parametrize("frames", [(b": keep-alive\n\n", "after the silence"), (b": a\n\n", b": b\n\n")])
def test_a_comment_keeps_a_silent_stream_alive(stream: Make, frames: tuple[bytes | str, ...]) -> None:
    assert found("keepalive", stream("silence", *frames, STOP)) == []


@pytest.mark.parametrize("frames", [("after the silence",), ("after the silence", b": too late\n\n"), ()])
def test_silence_without_a_comment_is_too_much(stream: Make, frames: tuple[bytes | str, ...]) -> None:
    violation = only("keepalive", stream("silence", *frames, STOP))
    assert violation.seen == "no comment came while the backend was silent for several times 0.5 s"


@pytest.mark.parametrize("comments", range(6))
def test_of_a_target_whose_interval_is_not_known_a_silence_shows_what_came(stream: Make, comments: int) -> None:
    frames = [*[b": keep-alive\n\n"] * comments, "after the silence", STOP]
    for name, enough in (("keepalive", 1), ("keepalive-is-comment", 1), ("keepalive-goes-on", 5)):
        exchange = stream("silence-long", *frames)
        exchange = dataclasses.replace(exchange, target=dataclasses.replace(exchange.target, keepalive=None))
        if comments >= enough:
            assert found(name, exchange) == []
        else:
            with pytest.raises(NotShownError, match="declare it with --keepalive SECONDS"):
                found(name, exchange)


@pytest.mark.parametrize("kept", [b": keep-alive\n\n", b"data:\n\n", b"data:  \n\n", b"event: ping\n\n"])
@pytest.mark.parametrize(
    ("times", "seen"),
    [
        # That none comes is for the row of keep-alives itself.
        (0, []),
        (1, ["one keep-alive came, and no more, while the backend was silent for more than 5 times 0.5 s"]),
        (4, ["4 keep-alives came, and no more, while the backend was silent for more than 5 times 0.5 s"]),
        (5, []),
    ],
)
def test_a_stream_is_kept_alive_as_long_as_the_silence(stream: Make, kept: bytes, times: int, seen: list[str]) -> None:
    frames = [*[kept] * times, "after the long silence", b": late\n\n", STOP]
    assert [violation.seen for violation in found("keepalive-goes-on", stream("silence-long", *frames))] == seen
    assert found("keepalive-goes-on", stream("silence", *frames)) == []


def test_a_keepalive_of_another_kind_is_another_requirements_business(stream: Make) -> None:
    assert found("keepalive", stream("silence", b"data:\n\n", "after the silence", STOP)) == []


@pytest.mark.parametrize("state", ["interrupted", "completed"])
def test_a_turn_that_ended_after_the_departure_is_right(stream: Make, state: str) -> None:
    said = json.dumps({"turns": [{"script": "text/hang", "part": 0, "state": state}]})
    assert found("disconnect", stream("disconnect", said, STOP, number=1)) == []


@pytest.mark.parametrize(
    ("said", "state"),
    [
        (
            '{"turns": [{"script": "leave/told", "state": "completed"}, {"script": "text/hang", "state": "running"}]}',
            "running",
        ),
        ('{"turns": [{"script": "leave/told", "state": "completed"}]}', "unknown"),
        ('{"turns": []}', "unknown"),
        ("", "unknown"),
    ],
)
def test_a_turn_that_goes_on_after_the_departure_is_reported(stream: Make, said: str, state: str) -> None:
    violation = only("disconnect", stream("disconnect", said, STOP, number=1))
    assert violation.seen.endswith(f"the backend's turn was still {state}: the proxy did not interrupt it")


def test_the_exchange_that_was_left_is_not_asked_how_it_ended(stream: Make) -> None:
    assert found("disconnect", stream("disconnect", "I have begun", bare=True, end=End.LEFT)) == []
