"""What breaks the level compat, and what is a warning there: each by an answer that users of real servers reported."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import pytest

from wireproof.judging.checks import CHECKS
from wireproof.judging.checks.places import Spot, altered_arguments
from wireproof.model.dialect import Dialect
from wireproof.model.transcript import End
from wireproof.reading.expected import ExpectedCall
from wireproof.wire.events import ToolCall
from wireproof.wire.message import read_error

if TYPE_CHECKING:
    from wireproof.reading.exchange import Exchange

Make = Callable[..., Any]
STOP: Mapping[str, Any] = {"finish": "stop"}
ENVELOPE = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_800_000_000, "model": "codex"}
COUNTS = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
HARMS, WARNS, KEPT = "breaks clients", "a warning", "kept"


def chunk(delta: Mapping[str, Any], finish: str | None = None, **members: Any) -> bytes:
    choices = [{"index": 0, "delta": delta, "finish_reason": finish}]
    return b"data: " + json.dumps({**ENVELOPE, "choices": choices, **members}).encode() + b"\n\n"


def weight(row: str, exchange: Exchange) -> str:
    """What the answer is at the level compat by a row."""
    read = exchange.reading.violations if exchange.reading else ()
    found = [one for one in (*read, *CHECKS.look(row, exchange)) if one.requirement == row]
    harmful = any(not one.strict_only for one in found)
    return HARMS if harmful else WARNS if found else KEPT


ROLE, SAID, DONE = {"role": "assistant", "content": ""}, {"content": "Hello"}, b"data: [DONE]\n\n"


@pytest.mark.parametrize(
    ("ids", "wanted"),
    [(("a", "a", "a"), KEPT), (("a", "b", "c"), HARMS), (("", "a", "a"), WARNS), ((None, "a", "a"), KEPT)],
)
def test_an_id_that_changes(stream: Make, ids: tuple[str | None, ...], wanted: str) -> None:
    deltas: tuple[Mapping[str, Any], ...] = (ROLE, SAID, {})
    ends = (None, None, "stop")
    frames = [chunk(delta, end, id=one) for delta, end, one in zip(deltas, ends, ids, strict=True)]
    assert weight("chat.stream.stable-id", stream("text-hello", *frames, DONE, bare=True)) == wanted


@pytest.mark.parametrize(
    ("counted", "last", "wanted"),
    [
        ((None, None, None), COUNTS, KEPT),
        ((None, None, COUNTS), None, WARNS),
        ((COUNTS, COUNTS, COUNTS), None, HARMS),
        ((None, COUNTS, COUNTS), None, HARMS),
    ],
)
def test_usage_that_runs(stream: Make, counted: tuple[Any, ...], last: Any, wanted: str) -> None:
    deltas: tuple[Mapping[str, Any], ...] = (ROLE, SAID, {})
    ends = (None, None, "stop")
    frames = [chunk(delta, end, usage=one) for delta, end, one in zip(deltas, ends, counted, strict=True)]
    frames += [b"data: " + json.dumps({**ENVELOPE, "choices": [], "usage": last}).encode() + b"\n\n"] if last else []
    # Of a script that reports no counts of its own, so that any will do.
    assert weight("chat.stream.usage", stream("call-one", *frames, DONE, bare=True)) == wanted


@pytest.mark.parametrize(("finish", "wanted"), [("tool_calls", KEPT), ("function_call", WARNS), ("stop", HARMS)])
def test_a_finish_where_calls_were_sent(stream: Make, whole: Make, call: Make, finish: str, wanted: str) -> None:
    one = ("a", "localSearch", "{}")
    assert weight("chat.stream.finish-reason", stream("call-one", call(0, *one), {"finish": finish})) == wanted
    assert weight("chat.whole.finish", whole("call-one", None, finish, calls=[one])) == wanted


@pytest.mark.parametrize(
    ("end", "frames", "wanted"),
    [
        (End.COMPLETE, ({"role": "assistant"}, STOP, DONE), KEPT),
        (End.COMPLETE, ({"role": "assistant"}, STOP), WARNS),
        # The body stays open, and nothing says that it has ended.
        (End.TIMEOUT, ({"role": "assistant"}, STOP), HARMS),
        (End.OPEN, ({"role": "assistant"}, STOP, DONE), HARMS),
    ],
)
def test_a_stream_without_its_end(stream: Make, end: End, frames: tuple[Any, ...], wanted: str) -> None:
    assert weight("chat.stream.done-last", stream("text-hello", *frames, bare=True, end=end)) == wanted


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [("text/event-stream", KEPT), ("application/json", HARMS), ("text/plain; charset=utf-8", HARMS)],
)
@pytest.mark.parametrize("dialect", [Dialect.OPENAI_JSON, Dialect.RESPONSES])
def test_the_media_type_of_a_stream(right_stream: Make, dialect: Dialect, kind: str, wanted: str) -> None:
    headers = {
        "content-type": kind, "cache-control": "no-cache", "x-accel-buffering": "no", "connection": "keep-alive",
    }  # fmt: skip
    row = "responses.stream.headers" if dialect is Dialect.RESPONSES else "chat.stream.headers"
    assert weight(row, right_stream("text-hello", dialect=dialect, headers=headers)) == wanted
    others = {"content-type": "text/event-stream", "cache-control": "private"}
    assert weight(row, right_stream("text-hello", dialect=dialect, headers=others)) == WARNS


def test_an_error_as_a_success(stream: Make, error_frame: bytes) -> None:
    row = "chat.stream.error-before-output"
    assert weight(row, stream("fail-first", {"role": "assistant"}, error_frame)) == HARMS
    # How long a proxy holds its status back is its own affair.
    assert weight(row, stream("silent-backend", {"role": "assistant"}, error_frame)) == KEPT


@pytest.mark.parametrize(
    ("number", "wanted"), [(lambda n: n, KEPT), (lambda n: n + 1, WARNS), (lambda _: 7, WARNS), (lambda _: None, HARMS)]
)
def test_numbers_of_events(right_stream: Make, stream: Make, number: Callable[[int], int | None], wanted: str) -> None:
    right = right_stream("text-hello", dialect=Dialect.RESPONSES)
    frames = []
    for count, (_, payload) in enumerate(right.reading.payloads):
        numbered = {**payload, "sequence_number": number(count)}
        if numbered["sequence_number"] is None:
            del numbered["sequence_number"]
        frames.append(f"event: {payload['type']}\ndata: {json.dumps(numbered)}\n\n".encode())
    one = stream("text-hello", *frames, bare=True, dialect=Dialect.RESPONSES)
    assert weight("responses.stream.sequence", one) == wanted


@pytest.mark.parametrize(
    ("error", "wanted"),
    [
        ({"message": "No.", "type": "server_error", "param": None, "code": None}, KEPT),
        ({"message": "No.", "type": "server_error", "param": None, "code": 500}, WARNS),
        ({"message": "No.", "param": None, "code": None}, WARNS),
        ({"message": "No.", "type": "server_error", "code": None}, WARNS),
        ({"type": "server_error", "param": None, "code": None}, HARMS),
        ({"message": "", "type": "server_error", "param": None, "code": None}, HARMS),
    ],
)
def test_the_members_of_an_error(error: Mapping[str, Any], wanted: str) -> None:
    _, found = read_error(json.dumps({"error": error}).encode(), "application/json")
    assert [one.strict_only for one in found] == {KEPT: [], WARNS: [True], HARMS: [False]}[wanted]


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ('{"a": 1.50, "b": [1, 2]}', KEPT),
        ('{"a":1.5,"b":[1,2]}', WARNS),
        ('{"b": [1, 2], "a": 15e-1}', WARNS),
        ('{"a": 1.51, "b": [1, 2]}', HARMS),
        ('{"a": 1.50, "b": [1.0, 2]}', HARMS),
        ('{"a": "1.50", "b": [1, 2]}', HARMS),
    ],
)
def test_another_spelling_of_the_arguments(arguments: str, wanted: str) -> None:
    due = ExpectedCall(id="a", name="f", arguments='{"a": 1.50, "b": [1, 2]}', block="")
    found = list(altered_arguments(due, ToolCall(id="a", name="f", arguments=arguments), Spot(place=None)))
    assert [one.strict_only for one in found] == {KEPT: [], WARNS: [True], HARMS: [False]}[wanted]
