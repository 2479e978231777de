"""Responses streams: right ones, and each way of being wrong, one violation each."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wireproof.wire.events import CallOpened, Comment, Done, Failed, Finished, Fragment, Text, TokenUsage, ToolCall
from wireproof.wire.responses import responses_stream
from wireproof.wire.responses_whole import read_response

if TYPE_CHECKING:
    from wireproof.wire.reading import Reading

Json = dict[str, Any]
Events = Callable[..., list[Json]]
Frames = Callable[..., list[bytes]]
Make = Callable[..., Json]

USAGE = {"input_tokens": 11, "output_tokens": 7, "total_tokens": 18}
ARGUMENTS = '{ "q" : 1.50 }'


@pytest.fixture
def right(response: Make, message_item: Make, call_item: Make) -> Json:
    """A response of text and two calls."""
    calls = [call_item("call_a", "search", ARGUMENTS, 1), call_item("call_b", "read", "", 2)]
    return response("completed", [message_item("Hello, wörld!"), *calls], usage=USAGE)


@pytest.fixture
def events(right: Json, response_events: Events) -> list[Json]:
    """Its events."""
    copied: list[Json] = json.loads(json.dumps(response_events(right)))  # nothing is shared between events
    return copied


def read_responses(pieces: Iterable[bytes], *, ended: bool = True) -> Reading:
    stream = responses_stream()
    for piece in pieces:
        stream.feed(piece)
    if ended:
        stream.end()
    return stream.reading()


def broken(frames: Iterable[bytes], *, ended: bool = True) -> list[str]:
    return [violation.requirement for violation in read_responses(frames, ended=ended).violations]


def at(events: list[Json], type_: str) -> int:
    """Where the first event of a type stands."""
    return next(number for number, event in enumerate(events) if event["type"] == type_)


def test_a_right_stream_breaks_nothing_and_says_all(events: list[Json], event_frames: Frames) -> None:
    reading = read_responses(event_frames(events))
    assert reading.violations == ()
    (choice,) = reading.answer.choices
    assert (choice.text, choice.finish) == ("Hello, wörld!", "tool_calls")
    assert choice.calls == (
        ToolCall(id="call_a", name="search", arguments=ARGUMENTS),
        ToolCall(id="call_b", name="read", arguments=""),
    )
    assert reading.answer.usage == TokenUsage(frame=0, prompt=11, completion=7, total=18)
    kinds = [type(event) for event in reading.events]
    assert kinds == [Text, CallOpened, Fragment, CallOpened, Finished, TokenUsage, Done]
    assert len(reading.frames) == len(reading.payloads) == len(events)


@given(cuts=st.lists(st.integers(0, 6000), max_size=8))
def test_what_comes_out_does_not_depend_on_the_cuts(
    cuts: list[int],
) -> None:
    body = b": hi\n\n" + MADE
    places = [0, *sorted(min(cut, len(body)) for cut in cuts), len(body)]
    pieces = [body[a:b] for a, b in pairwise(places)]
    cut, whole = read_responses(pieces), read_responses([body])
    assert (cut.events, cut.violations) == (whole.events, whole.violations)
    assert whole.violations == ()


OTHER: list[Json] = [
    {"type": "response.created", "response": {"id": "resp_1", "status": "in_progress"}},
    {"type": "response.in_progress", "response": {"id": "resp_1", "status": "in_progress"}},
    {"type": "response.output_item.added", "output_index": 0, "item": {"type": "reasoning", "id": "rs_1"}},
    {"type": "response.reasoning_summary_text.delta", "output_index": 0, "item_id": "rs_1", "delta": "Hm 🦬"},
    {"type": "response.output_item.done", "output_index": 0, "item": {"type": "reasoning", "id": "rs_1"}},
    {"type": "response.completed", "response": {"id": "resp_1", "status": "completed", "output": []}},
]
MADE = "".join(
    f"event: {event['type']}\ndata: {json.dumps({**event, 'sequence_number': number}, ensure_ascii=False)}\n\n"
    for number, event in enumerate(OTHER)
).encode()
"""A stream with an item of another kind."""


ITEMS = st.lists(
    st.one_of(st.text(max_size=20), st.tuples(st.text(min_size=1), st.text(min_size=1), st.text())), max_size=5
)


@given(items=ITEMS, size=st.integers(1, 400))
def test_any_output_reported_in_any_pieces_is_right_and_says_what_its_body_says(
    items: list[str | tuple[str, str, str]], size: int, response: Make, message_item: Make, call_item: Make,
    response_events: Events, event_frames: Frames,
) -> None:  # fmt: skip
    calls = [(f"call_{number}", *item[1:]) for number, item in enumerate(items) if isinstance(item, tuple)]
    ids = iter(calls)
    output = [
        message_item(item, number) if isinstance(item, str) else call_item(*next(ids), number)
        for number, item in enumerate(items)
    ]
    whole = response("completed", output, usage=USAGE)
    body = b"".join(event_frames(response_events(whole)))
    streamed = read_responses(body[start : start + size] for start in range(0, len(body), size))
    at_once = read_response(json.dumps(whole).encode())
    assert (streamed.violations, at_once.violations) == ((), ())
    assert streamed.answer == at_once.answer
    (choice,) = streamed.answer.choices
    assert (choice.text or "") == "".join(item for item in items if isinstance(item, str))
    assert [(call.id, call.name, call.arguments) for call in choice.calls] == calls


def without(events: list[Json], *types: str) -> list[Json]:
    return [event for event in events if event["type"] not in types]


def test_each_event_that_is_missing_is_one_violation(events: list[Json], event_frames: Frames) -> None:
    wanted = {
        "response.created": "order",
        "response.in_progress": "order",
        "response.output_item.added": "order",
        "response.content_part.added": "order",
        "response.output_text.delta": "sums",
        "response.output_text.done": "order",
        "response.content_part.done": "order",
        "response.output_item.done": "order",
        "response.function_call_arguments.delta": "sums",
        "response.function_call_arguments.done": "order",
        "response.completed": "terminal",
    }
    assert set(wanted) == {event["type"] for event in events}
    for type_, row in wanted.items():
        assert broken(event_frames(without(events, type_))) == [f"responses.stream.{row}"], type_


def test_each_event_that_is_reported_twice_is_one_violation(events: list[Json], event_frames: Frames) -> None:
    for number, event in enumerate(events):
        row = {"response.completed": "terminal"}.get(event["type"], "order")
        twice = [*events[: number + 1], event, *events[number + 1 :]]
        found = broken(event_frames(twice))
        assert found == [f"responses.stream.{'sums' if event['type'].endswith('.delta') else row}"], event["type"]


@pytest.mark.parametrize(
    ("type_", "change", "rows"),
    [
        ("response.output_item.added", {"output_index": 1}, "indexes"),
        ("response.output_text.delta", {"output_index": True}, "indexes"),
        ("response.output_text.delta", {"item_id": "msg_other"}, "indexes"),
        ("response.output_text.delta", {"content_index": 1}, "indexes"),
        ("response.content_part.added", {"content_index": None}, "indexes"),
        ("response.function_call_arguments.delta", {"item_id": None}, "indexes"),
        ("response.function_call_arguments.done", {"output_index": 0}, "indexes"),
        ("response.output_item.done", {"item": {"type": "message", "id": "msg_other"}}, "indexes sums"),
        ("response.output_item.added", {"item": {"type": "message", "content": []}}, "indexes"),
        (
            "response.output_item.added",
            {"item": {"type": "message", "id": "m", "content": [{"text": "x"}]}},
            "sums indexes",
        ),
        ("response.content_part.added", {"part": {"type": "output_text", "text": "Hello"}}, "sums"),
        ("response.output_text.delta", {"delta": "Bye"}, "sums"),
        ("response.output_text.done", {"text": "Hello"}, "sums"),
        ("response.content_part.done", {"part": {"type": "output_text", "text": "Hello"}}, "sums"),
        ("response.output_item.done", {"item": {"type": "message", "id": "msg_0", "content": []}}, "sums"),
        ("response.function_call_arguments.delta", {"delta": "{}"}, "sums"),
        ("response.function_call_arguments.done", {"arguments": "{}"}, "sums"),
        ("response.output_text.delta", {"type": "response.refusal.delta"}, "order"),
        ("response.output_text.delta", {"type": "response.function_call_arguments.delta"}, "order"),
        # It is passed over, so the text lacks what it stands for.
        ("response.output_text.delta", {"type": "response.web_search_call.searching"}, "sums"),
        ("response.output_text.delta", {"type": "response.text"}, "schema"),
        ("response.completed", {"response": {"id": "resp_1", "status": "failed", "output": []}}, "sums status"),
    ],
)
def test_each_way_in_which_an_event_is_wrong_is_one_violation(
    type_: str, change: Json, rows: str, events: list[Json], event_frames: Frames
) -> None:
    place = at(events, type_)
    events[place] = {**events[place], **change}
    reading = read_responses(event_frames(events))
    assert [violation.requirement for violation in reading.violations] == [
        f"responses.stream.{row}" for row in rows.split()
    ]
    assert reading.violations[0].place is not None
    assert reading.violations[0].place.frame in {place, place + 1 if type_.endswith(".delta") else place}


def test_arguments_that_the_opened_call_already_has_are_doubled(events: list[Json], event_frames: Frames) -> None:
    place = next(n for n, e in enumerate(events) if e.get("item", {}).get("type") == "function_call")
    events[place]["item"]["arguments"] = ARGUMENTS
    assert broken(event_frames(events)) == ["responses.stream.sums"]


def test_two_items_do_not_share_an_id(response: Make, message_item: Make, response_events: Events,
                                      event_frames: Frames) -> None:  # fmt: skip
    twice = response("completed", [message_item("a"), message_item("b")])
    assert broken(event_frames(response_events(twice))) == ["responses.stream.indexes"]


@pytest.mark.parametrize(
    ("change", "row"),
    [
        ({"output": []}, "sums"),
        ({"id": "resp_2"}, "terminal"),
        ({"created_at": 7}, "terminal"),
        ({"model": "other"}, "terminal"),
        ({"status": "incomplete"}, "status"),
    ],
)
def test_the_terminal_response_is_the_one_that_was_reported(
    change: Json, row: str, events: list[Json], event_frames: Frames
) -> None:
    events[-1]["response"] = {**events[-1]["response"], **change}
    assert broken(event_frames(events)) == [f"responses.stream.{row}"]


@pytest.mark.parametrize("type_", ["response.created", "response.in_progress", "response.completed"])
@pytest.mark.parametrize("status", ["failed", None])
def test_a_status_that_is_not_that_of_its_event_is_named_and_hides_nothing(
    type_: str, status: str | None, events: list[Json], event_frames: Frames
) -> None:
    number = at(events, type_)
    events[number] = {**events[number], "response": {**events[number]["response"], "status": status}}
    reading = read_responses(event_frames(events))
    assert [found.requirement for found in reading.violations] == ["responses.stream.status"]
    assert reading.violations[0].place is not None
    assert reading.violations[0].place.frame == number
    (choice,) = reading.answer.choices
    assert (choice.text, choice.finish) == ("Hello, wörld!", "tool_calls")
    assert reading.answer.error is None


@pytest.mark.parametrize("name", ["id", "name", "call_id", "arguments"])
def test_the_items_of_the_terminal_response_are_those_that_were_reported(
    name: str, events: list[Json], event_frames: Frames
) -> None:
    events[-1]["response"]["output"][1][name] = "other"
    assert broken(event_frames(events)) == ["responses.stream.sums"]


def test_the_text_of_the_terminal_response_is_what_was_reported(events: list[Json], event_frames: Frames) -> None:
    events[-1]["response"]["output"][0]["content"][0]["text"] = "other"
    assert broken(event_frames(events)) == ["responses.stream.sums"]


def test_an_item_that_only_the_terminal_response_has_was_never_reported(
    events: list[Json], event_frames: Frames, message_item: Make
) -> None:
    events[-1]["response"]["output"].append(message_item("late", 3))
    assert broken(event_frames(events)) == ["responses.stream.order"]


def test_names_and_numbers_stand_beside_the_content(events: list[Json], event_frames: Frames) -> None:
    nameless = [frame.partition(b"\n")[2] for frame in event_frames(events)]
    reading = read_responses(nameless)
    assert [violation.requirement for violation in reading.violations] == ["responses.stream.event-name"]
    assert reading.answer.choices[0].text == "Hello, wörld!"
    from_one = [{**event, "sequence_number": number + 1} for number, event in enumerate(events)]
    assert broken(event_frames(from_one)) == ["responses.stream.sequence"]
    untyped = [frame.replace(b'"type": "response.output_text.delta", ', b"") for frame in event_frames(events)]
    assert broken(untyped) == ["responses.stream.event-name"]


@pytest.mark.parametrize(
    ("frame", "row"),
    [
        (b"data:\n\n", "schema"),
        (b"event: ping\n\n", "schema"),
        (b"data: {\n\n", "schema"),
        (b"data: [1]\n\n", "schema"),
        (b"data: \xff\n\n", "schema"),
        (b"data: [DONE]\n\n", "order"),
    ],
)
def test_frames_that_are_no_event(frame: bytes, row: str, events: list[Json], event_frames: Frames) -> None:
    frames = event_frames(events)
    assert broken([*frames[:2], frame, *frames[2:]]) == [f"responses.stream.{row}"]


def test_comments_may_stand_anywhere(events: list[Json], event_frames: Frames) -> None:
    frames = [piece for frame in event_frames(events) for piece in (b": keep-alive\n\n", frame)]
    reading = read_responses(frames)
    assert reading.violations == ()
    assert sum(isinstance(event, Comment) for event in reading.events) == len(events)


def test_nothing_follows_the_terminal_event(events: list[Json], event_frames: Frames) -> None:
    assert broken([*event_frames(events), b"data: [DONE]\n\n"]) == ["responses.stream.order"]
    assert broken(event_frames([*events, events[2]])) == ["responses.stream.order"]


def test_a_stream_that_the_client_left_lacks_nothing(events: list[Json], event_frames: Frames) -> None:
    for count in range(len(events)):
        assert broken(event_frames(events)[:count], ended=False) == []
        assert broken(event_frames(events)[:count]) == ["responses.stream.terminal"]


def test_a_failure_may_come_in_the_midst_of_an_item(events: list[Json], event_frames: Frames, response: Make) -> None:
    error = {"code": "server_error", "message": "It broke."}
    failed = {"type": "response.failed", "response": response("failed", error=error)}
    for count in range(2, len(events) - 1):
        reading = read_responses(event_frames([*events[:count], failed]))
        assert reading.violations == ()
        assert reading.answer.error == Failed(frame=0, message="It broke.", type="", code="server_error", param=None)
        assert isinstance(reading.events[-1], Done)


def test_an_error_event_is_reported_and_does_not_end_a_stream(events: list[Json], event_frames: Frames) -> None:
    error = {"type": "error", "message": "Slow.", "code": "slow", "param": None}
    reading = read_responses(event_frames([*events[:2], error]))
    assert [violation.requirement for violation in reading.violations] == ["responses.stream.terminal"]
    assert reading.answer.error == Failed(frame=0, message="Slow.", type="", code="slow", param=None)
    assert broken(event_frames([error])) == ["responses.stream.terminal"]


def test_text_and_arguments_are_received_however_broken_the_stream_is(event_frames: Frames) -> None:
    deltas = [
        {"type": "response.output_text.delta", "delta": "Hel"},
        {"type": "response.function_call_arguments.delta", "delta": "{}"},
    ]
    reading = read_responses(event_frames(deltas))
    assert [(violation.requirement, violation.seen) for violation in reading.violations] == [
        ("responses.stream.order", "an event of an item, before response.created"),
        ("responses.stream.indexes", "output_index is null, it should be 0"),
        (
            "responses.stream.order",
            "response.function_call_arguments.delta (a delta of arguments), in a part of a message",
        ),
        ("responses.stream.terminal", "the end of the body, while the answer runs"),
    ]
    (choice,) = reading.answer.choices
    assert (choice.text, choice.calls) == ("Hel", (ToolCall(id="", name="", arguments="{}"),))


def test_a_refusal_is_a_part_of_a_message(response: Make, event_frames: Frames) -> None:
    part = {"type": "refusal", "refusal": "No."}
    item = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [part]}
    place = {"item_id": "m", "output_index": 0, "content_index": 0}
    begun = response("in_progress")
    all_events = [
        {"type": "response.created", "response": begun},
        {"type": "response.queued", "response": begun},
        {"type": "response.in_progress", "response": begun},
        {"type": "response.output_item.added", "output_index": 0, "item": {**item, "content": []}},
        {"type": "response.content_part.added", **place, "part": {**part, "refusal": ""}},
        {"type": "response.refusal.delta", **place, "delta": "No."},
        {"type": "response.refusal.done", **place, "refusal": "No."},
        {"type": "response.content_part.done", **place, "part": part},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": response("completed", [item])},
    ]
    reading = read_responses(event_frames(all_events))
    assert reading.violations == ()
    assert reading.answer.choices[0].text is None


def test_annotations_stand_in_a_part(events: list[Json], event_frames: Frames) -> None:
    place = at(events, "response.output_text.done")
    note = {
        "type": "response.output_text.annotation.added", "item_id": "msg_0", "output_index": 0, "content_index": 0,
        "annotation_index": 0, "annotation": {},
    }  # fmt: skip
    assert broken(event_frames([*events[:place], note, *events[place:]])) == []
    assert broken(event_frames([*events[: place + 1], note, *events[place + 1 :]])) == []


def test_a_stream_is_read_as_it_comes(events: list[Json], event_frames: Frames) -> None:
    stream = responses_stream()
    frames = event_frames(events)
    assert [stream.feed(frame) for frame in frames[:5]][-1] == [Text(frame=4, choice=0, text="Hello, wörld!")]
    assert list(stream.events) == [Text(frame=4, choice=0, text="Hello, wörld!")]
    assert stream.end() == []
    assert stream.end() == []
    with pytest.raises(ValueError, match="after the end"):
        stream.feed(b"data: {}\n\n")
