"""Messages streams: right ones, and each way of being wrong, one violation each."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wireproof.reading.schemas import errors
from wireproof.wire.events import CallOpened, Comment, Done, Failed, Finished, Fragment, Text, TokenUsage, ToolCall
from wireproof.wire.messages import messages_stream
from wireproof.wire.messages_whole import read_message

if TYPE_CHECKING:
    from wireproof.wire.reading import Reading

Json = dict[str, Any]
Change = Callable[[list[Json]], list[Json]]

USAGE = {
    "input_tokens": 12, "output_tokens": 1, "cache_creation_input_tokens": 2, "cache_read_input_tokens": 3,
}  # fmt: skip
START, DELTA, STOP = "content_block_start", "content_block_delta", "content_block_stop"
THINKING, TEXT, CALL = 0, 1, 2
"""The indexes of the blocks of `EVENTS`."""


def read_messages(pieces: Iterable[bytes], *, ended: bool = True) -> Reading:
    stream = messages_stream()
    for piece in pieces:
        stream.feed(piece)
    if ended:
        stream.end()
    return stream.reading()


def started(index: int, **block: object) -> Json:
    return {"type": START, "index": index, "content_block": block}


def delta(index: int, type_: str, **said: object) -> Json:
    return {"type": DELTA, "index": index, "delta": {"type": type_, **said}}


def stopped(index: int) -> Json:
    return {"type": STOP, "index": index}


EVENTS: list[Json] = [
    {
        "type": "message_start",
        "message": {
            "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [],
            "stop_reason": None, "stop_sequence": None, "usage": USAGE,
        },
    },
    {"type": "ping"},
    started(THINKING, type="thinking", thinking="", signature=""),
    delta(THINKING, "thinking_delta", thinking="Hm."),
    delta(THINKING, "signature_delta", signature="c2ln"),
    stopped(THINKING),
    started(TEXT, type="text", text=""),
    delta(TEXT, "text_delta", text="Hello, "),
    delta(TEXT, "text_delta", text="wörld!"),
    stopped(TEXT),
    started(CALL, type="tool_use", id="toolu_1", name="search", input={}),
    delta(CALL, "input_json_delta", partial_json=""),
    delta(CALL, "input_json_delta", partial_json='{"q": '),
    delta(CALL, "input_json_delta", partial_json="1.50}"),
    stopped(CALL),
    {
        "type": "message_delta",
        "delta": {"stop_reason": "tool_use", "stop_sequence": None},
        "usage": {**USAGE, "output_tokens": 9},
    },
    {"type": "message_stop"},
]  # fmt: skip
"""A right stream: a thought, a text, a call."""
WHOLE: Json = {
    **EVENTS[0]["message"],
    "content": [
        {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
        {"type": "text", "text": "Hello, wörld!"},
        {"type": "tool_use", "id": "toolu_1", "name": "search", "input": {"q": 1.5}},
    ],
    "stop_reason": "tool_use",
    "usage": {**USAGE, "output_tokens": 9},
}
"""The same as a whole answer."""


def copied(events: list[Json]) -> list[Json]:
    made: list[Json] = json.loads(json.dumps(events))
    return made


def frame(event: Json) -> bytes:
    return f"event: {event['type']}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n".encode()


def frames(events: list[Json]) -> list[bytes]:
    return list(map(frame, events))


def broken(pieces: list[bytes]) -> list[str]:
    """What a stream breaks: the last word of each row, and ~ where that is to the letter alone."""
    found = read_messages(pieces).violations
    return [f"{'~' if one.strict_only else ''}{one.requirement.rpartition('.')[2]}" for one in found]


def test_a_right_stream_breaks_nothing_and_says_all() -> None:
    reading = read_messages(frames(EVENTS))
    assert reading.violations == ()
    (choice,) = reading.answer.choices
    assert (choice.text, choice.finish) == ("Hello, wörld!", "tool_calls")
    assert choice.calls == (ToolCall(id="toolu_1", name="search", arguments='{"q": 1.50}'),)
    assert reading.answer.usage == TokenUsage(frame=0, prompt=17, completion=9, total=26, cached=3)
    kinds = [type(event) for event in reading.events]
    assert kinds == [Comment, Text, Text, CallOpened, Fragment, Fragment, Finished, TokenUsage, Done]


def test_a_whole_answer_says_the_same() -> None:
    reading = read_message(json.dumps(WHOLE).encode())
    assert reading.violations == ()
    ours, streamed = reading.answer, read_messages(frames(EVENTS)).answer
    assert ours.usage == streamed.usage
    assert (ours.choices[0].text, ours.choices[0].finish) == (streamed.choices[0].text, "tool_calls")
    assert json.loads(ours.choices[0].calls[0].arguments) == {"q": 1.5}


def test_all_of_both_is_published() -> None:
    assert errors("messages/message", WHOLE) == []
    assert [errors("messages/stream", event) for event in EVENTS] == [[]] * len(EVENTS)


@given(cuts=st.lists(st.integers(0, 3000), max_size=8))
def test_what_comes_out_does_not_depend_on_the_cuts(cuts: list[int]) -> None:
    body = b"".join(frames(EVENTS))
    places = [0, *sorted(min(cut, len(body)) for cut in cuts), len(body)]
    cut, whole = read_messages(body[a:b] for a, b in pairwise(places)), read_messages([body])
    assert (cut.events, cut.violations) == (whole.events, ())


def without(*numbers: int) -> Change:
    return lambda events: [event for number, event in enumerate(events) if number not in numbers]


def twice(number: int) -> Change:
    return lambda events: [*events[: number + 1], events[number], *events[number + 1 :]]


def put(number: int, *more: Json) -> Change:
    return lambda events: [*events[:number], *more, *events[number:]]


def change(number: int, **members: object) -> Change:
    """An event with other members; `...` leaves one out."""

    def changed(events: list[Json]) -> list[Json]:
        events[number] = {k: v for k, v in {**events[number], **members}.items() if v is not ...}
        return events

    return changed


def within(number: int, member: str, **members: object) -> Change:
    """An event with other members in an object of it."""

    def changed(events: list[Json]) -> list[Json]:
        inner = {**events[number][member], **members}
        events[number][member] = {name: value for name, value in inner.items() if value is not ...}
        return events

    return changed


def shifted(events: list[Json]) -> list[Json]:
    return [{**event, "index": event["index"] + 1} if "index" in event else event for event in events]


def unnumbered(events: list[Json]) -> list[Json]:
    return [{name: value for name, value in event.items() if name != "index"} for event in events]


def all_zero(events: list[Json]) -> list[Json]:
    return [{**event, "index": 0} if "index" in event else event for event in events]


def interleaved(events: list[Json]) -> list[Json]:
    return [*events[:9], events[10], events[9], *events[11:]]


MESSAGE_DELTA = 15
ERROR = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
UNKNOWN_ERROR = {"type": "error", "error": {"type": "oops", "message": "No"}}
CASES: dict[str, tuple[Change, list[str]]] = {
    "no message_start": (without(0), ["order"]),
    "no thinking start": (without(2), ["order"]),
    "no text start": (without(6), ["order"]),
    "no call start": (without(10), ["order"]),
    "nothing of a call but its stop": (without(10, 11, 12, 13), ["order"]),
    "no text stop": (without(9), ["order"]),
    "no call stop": (without(14), ["order"]),
    "no block stops": (without(5, 9, 14), ["order"]),
    "no message_delta": (without(15), ["stop-reason"]),
    "no message_stop": (without(16), ["terminal"]),
    "cut after the first delta": (lambda events: events[:8], ["terminal"]),
    "empty": (lambda _: [], ["terminal"]),
    "no signature": (without(4), ["~thinking"]),
    "two signatures": (twice(4), ["~thinking"]),
    "empty text block": (without(7, 8), ["~text"]),
    "last fragment missing": (without(13), ["arguments"]),
    "message_start twice": (twice(0), ["order"]),
    "text start twice": (twice(6), ["order"]),
    "text stop twice": (twice(9), ["order"]),
    "message_delta twice": (twice(15), ["~stop-reason"]),
    "message_stop twice": (twice(16), ["terminal"]),
    "delta after its stop": (put(10, delta(TEXT, "text_delta", text="!")), ["order"]),
    "text after the end": (put(17, *EVENTS[6:10]), ["terminal"]),
    "end before the blocks": (lambda e: [e[0], e[15], *e[2:15], e[16]], ["stop-reason", "order"]),
    "indexes from 1": (shifted, ["indexes"]),
    "no indexes": (unnumbered, ["indexes", "indexes"]),
    "all indexes 0": (all_zero, ["indexes"]),
    "delta of another index": (change(7, index=7), ["indexes"]),
    "stop of another index": (change(9, index=7), ["indexes"]),
    "two blocks at once": (interleaved, ["~order"]),
    "thought in a text block": (change(8, delta={"type": "thinking_delta", "thinking": "!"}), ["thinking"]),
    "text in a thinking block": (change(3, delta={"type": "text_delta", "text": "!"}), ["delta-kinds"]),
    "text in a call": (put(13, delta(CALL, "text_delta", text="!")), ["delta-kinds"]),
    "arguments in a text block": (put(8, delta(TEXT, "input_json_delta", partial_json="{")), ["delta-kinds"]),
    "unknown delta": (put(8, delta(TEXT, "magic_delta", magic="!")), ["~delta-kinds"]),
    "unknown block": (change(6, content_block={"type": "magic"}), ["schema"]),
    "unknown event": (put(3, {"type": "magic"}), ["~schema"]),
    "text in the start": (within(6, "content_block", text="Hello"), ["delta-kinds"]),
    "content in message_start": (within(0, "message", content=[{"type": "text", "text": "Hi"}]), ["delta-kinds"]),
    "input in the start": (within(10, "content_block", input={"q": 1}), ["arguments"]),
    "partial_json is an object": (within(13, "delta", partial_json={}), ["arguments", "arguments"]),
    "arguments are a list": (lambda e: within(12, "delta", partial_json="[1]")(without(13)(e)), ["arguments"]),
    "no call id": (within(10, "content_block", id=...), ["schema"]),
    "no call name": (within(10, "content_block", name=""), ["schema"]),
    "call id of other characters": (within(10, "content_block", id="functions.Read:0"), ["schema"]),
    "no stop reason": (within(15, "delta", stop_reason=...), ["stop-reason"]),
    "stop reason null": (within(15, "delta", stop_reason=None), ["stop-reason"]),
    "stop reason of chat": (within(15, "delta", stop_reason="tool_calls"), ["stop-reason"]),
    "end_turn beside a call": (within(15, "delta", stop_reason="end_turn"), ["stop-reason"]),
    "max_tokens beside a call": (within(15, "delta", stop_reason="max_tokens"), []),
    "max_tokens inside a call": (lambda e: within(14, "delta", stop_reason="max_tokens")(without(13)(e)), []),
    "tool_use without a call": (without(10, 11, 12, 13, 14), ["stop-reason"]),
    "stop sequence without its reason": (within(15, "delta", stop_sequence="END"), ["~stop-reason"]),
    "no usage at the start": (within(0, "message", usage=...), ["usage"]),
    "usage of chat": (within(0, "message", usage={"prompt_tokens": 1, "completion_tokens": 1}), ["usage"]),
    "no usage at the end": (change(15, usage=...), ["usage"]),
    "no input tokens at the end": (within(15, "usage", input_tokens=...), ["~usage"]),
    "error in the stream": (lambda events: [*events[:8], ERROR], []),
    "error and then an end": (lambda events: [*events[:8], ERROR, events[16]], ["error-in-stream"]),
    "error first": (lambda _: [ERROR], ["error-before-output"]),
    "error of an unknown type": (lambda e: [*e[:8], UNKNOWN_ERROR], ["~error-in-stream"]),
    "ping first": (lambda events: [events[1], *events], []),
}  # fmt: skip


@pytest.mark.each(("changed", "wanted"), CASES.values(), ids=CASES)
def test_a_fault_breaks_its_row_and_no_other(changed: Change, wanted: list[str]) -> None:
    assert broken(frames(changed(copied(EVENTS)))) == wanted


def raw(number: int, data: bytes) -> list[bytes]:
    made = frames(EVENTS)
    return [*made[:number], data, *made[number + 1 :]]


BARE = [f"data: {json.dumps(event)}\n\n".encode() for event in EVENTS]
FRAMES: dict[str, tuple[list[bytes], list[str]]] = {
    "no event lines": (BARE, ["event-name"]),
    "every event line is message": ([b"event: message\n" + one for one in BARE], ["~event-name"]),
    "ping without a line": (raw(1, b'data: {"type": "ping"}\n\n'), ["~event-name"]),
    "ping without a type": (raw(1, b"event: ping\ndata: {}\n\n"), ["event-name"]),
    "cut JSON": (raw(8, b'event: content_block_delta\ndata: {"type": "con\n\n'), ["schema"]),
    "not closed": ([*frames(EVENTS)[:-1], frames(EVENTS)[-1].rstrip()], ["event-name"]),
    "[DONE]": ([*frames(EVENTS), b"data: [DONE]\n\n"], ["~event-name"]),
    "[DONE] with a name": ([*frames(EVENTS), b"event: done\ndata: [DONE]\n\n"], ["event-name"]),
    "error without its line": ([*frames(EVENTS)[:8], f"data: {json.dumps(ERROR)}\n\n".encode()], ["error-in-stream"]),
    "error of OpenAI": ([*frames(EVENTS)[:8], b'data: {"error": {"message": "no"}}\n\n'], ["error-in-stream"]),
    "chunks of chat": ([b'data: {"choices": []}\n\n', b"data: [DONE]\n\n"], ["schema", "~event-name"]),
    "comments": ([b": hi\n\n", *frames(EVENTS)], []),
    "CRLF": ([one.replace(b"\n", b"\r\n") for one in frames(EVENTS)], []),
}  # fmt: skip


@pytest.mark.each(("pieces", "wanted"), FRAMES.values(), ids=FRAMES)
def test_a_fault_of_a_frame_breaks_its_row_and_no_other(pieces: list[bytes], wanted: list[str]) -> None:
    assert broken(pieces) == wanted


def test_an_input_that_stands_in_the_start_is_read_once() -> None:
    events = within(10, "content_block", input={"q": 1})(copied(EVENTS))
    assert read_messages(frames(events)).answer.choices[0].calls[0].arguments == '{"q": 1.50}'
    alone = without(11, 12, 13)(events)
    assert read_messages(frames(alone)).answer.choices[0].calls[0].arguments == '{"q": 1}'


def test_an_input_without_deltas_is_empty_whether_its_block_stops_or_not() -> None:
    empty = without(11, 12, 13)(copied(EVENTS))
    # Stopped, never stopped, stopped too late, and where nothing but message_stop ends the message.
    for events in (empty, without(11)(empty), [*empty[:11], *empty[12:], empty[11]], without(11, 12)(empty)):
        assert read_messages(frames(events)).answer.choices[0].calls[0].arguments == "{}"


def test_a_call_that_was_cut_before_its_input_has_none() -> None:
    cut = within(11, "delta", stop_reason="max_tokens")(without(11, 12, 13, 14)(copied(EVENTS)))
    assert read_messages(frames(cut)).answer.choices[0].calls[0].arguments == ""


def test_an_error_is_read() -> None:
    answer = read_messages(frames([*EVENTS[:8], ERROR])).answer
    assert answer.error == Failed(frame=0, message="Overloaded", type="overloaded_error", code=None, param=None)


def test_a_stream_that_is_never_ended_lacks_nothing() -> None:
    assert read_messages(frames(EVENTS[:8]), ended=False).violations == ()
