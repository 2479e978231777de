"""Answers as frames, and what the anthropic SDK makes of those bytes however they are cut."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import anthropic
import httpx2
import pytest

from wireproof_surfaces.answers.event_writers import EventStream, EventsWhole
from wireproof_surfaces.errors import ApiError
from wireproof_surfaces.events import (
    ArgumentsAdded,
    CallBegan,
    CallClosed,
    ChoiceFailed,
    ChoiceFinished,
    FailureReason,
    TextAdded,
    Texts,
    Thought,
    UsageReported,
)
from wireproof_surfaces.messages.content_blocks import signature
from wireproof_surfaces.messages.message_answer import PING, MessageEvents
from wireproof_surfaces.messages.message_object import MessageHead
from wireproof_surfaces.surfaces.writer import pieces

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

SIGNED = signature("Hm, so.")
COUNTED = UsageReported(prompt=40, cached=30, completion=9, reasoning=2)


def head(**more: Any) -> MessageHead:
    return MessageHead(id="msg_1", model="m", **more)


def streamed(events: Sequence[Any], **more: Any) -> bytes:
    return b"".join(pieces(events, EventStream(MessageEvents(head(**more)), lambda _message: None)))


def whole(events: Sequence[Any], **more: Any) -> Any:
    return json.loads(b"".join(pieces(events, EventsWhole(MessageEvents(head(**more)), lambda _message: None))))


def kinds(data: bytes) -> list[str]:
    """The events, by the name lines; a frame whose data says another type fails."""
    found = []
    for frame in data.decode().split("\n\n")[:-1]:
        name, line = frame.split("\n")
        kind = json.loads(line.removeprefix("data: "))["type"]
        assert name == f"event: {kind}"
        found.append(kind)
    return found


def call(id_: str, name: str, *fragments: str) -> list[Any]:
    return [
        CallBegan(id=id_, name=name),
        *(ArgumentsAdded(id=id_, text=text) for text in fragments),
        CallClosed(id=id_),
    ]


STOP, CALLS = ChoiceFinished(reason="stop"), ChoiceFinished(reason="tool_calls")
TEXT = {"type": "text", "text": "Hello, größe 🎉"}
ANSWERS: dict[str, tuple[list[Any], list[Any], str]] = {
    "text": ([TextAdded(text="Hello, "), TextAdded(text="größe 🎉"), STOP], [TEXT], "end_turn"),
    "texts": ([Texts(texts=("Hello", ", ")), Texts(texts=("größe ", "🎉")), STOP], [TEXT], "end_turn"),
    "nothing": ([STOP], [], "end_turn"),
    "an empty text": ([TextAdded(text=""), STOP], [], "end_turn"),
    "length": ([TextAdded(text="Hello, größe 🎉"), ChoiceFinished(reason="length")], [TEXT], "max_tokens"),
    "refusal": ([TextAdded(text="Hello, größe 🎉"), ChoiceFinished(reason="content_filter")], [TEXT], "refusal"),
    "stop": (
        [TextAdded(text="Hello, größe 🎉"), ChoiceFinished(reason="stop", stop="END")],
        [TEXT],
        "stop_sequence",
    ),
    "a call": (
        [TextAdded(text="Hello, größe 🎉"), *call("c1", "f", '{"a": ', '"é"}'), CALLS],
        [TEXT, {"type": "tool_use", "id": "c1", "name": "f", "input": {"a": "é"}}],
        "tool_use",
    ),
    "calls that interleave": (
        [
            CallBegan(id="c1", name="f"),
            ArgumentsAdded(id="c1", text='{"a":'),
            CallBegan(id="c2", name="g"),
            ArgumentsAdded(id="c2", text="{}"),
            ArgumentsAdded(id="c1", text="1}"),
            CallClosed(id="c1"),
            CallClosed(id="c2"),
            CALLS,
        ],
        [
            {"type": "tool_use", "id": "c1", "name": "f", "input": {"a": 1}},
            {"type": "tool_use", "id": "c2", "name": "g", "input": {}},
        ],
        "tool_use",
    ),
    "a call without arguments": (
        [*call("c1", "f"), CALLS],
        [{"type": "tool_use", "id": "c1", "name": "f", "input": {}}],
        "tool_use",
    ),
    "thoughts": (
        [
            Thought(summary=("Hm,", " so.")),
            TextAdded(text="Hello, größe 🎉"),
            Thought(raw=("Hm, so.",), summary=("In short",)),
            Thought(encrypted="gAAA"),
            TextAdded(text="More"),
            STOP,
        ],
        [
            {"type": "thinking", "thinking": "Hm, so.", "signature": SIGNED},
            TEXT,
            {"type": "thinking", "thinking": "Hm, so.", "signature": SIGNED},
            {"type": "redacted_thinking", "data": "gAAA"},
            {"type": "text", "text": "More"},
        ],
        "end_turn",
    ),
}


class Cut(httpx2.SyncByteStream):
    """A body in two pieces."""

    def __init__(self, data: bytes, at: int) -> None:
        self._pieces = (data[:at], data[at:])

    def __iter__(self) -> Iterator[bytes]:
        yield from filter(None, self._pieces)


@pytest.fixture(scope="module")
def folded() -> Iterator[Callable[[bytes, int], Any]]:
    """Gives the message that the SDK makes of a body that comes cut at a place."""
    body = [Cut(b"", 0)]

    def answer(_request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, stream=body[0])

    http_client = httpx2.Client(transport=httpx2.MockTransport(answer))
    asked: Any = [{"role": "user", "content": "Hi"}]
    # One for all: it costs more than what it reads.
    with anthropic.Anthropic(api_key="k", base_url="http://x", http_client=http_client, max_retries=0) as client:

        def fold(data: bytes, at: int) -> Any:
            body[0] = Cut(data, at)
            with client.messages.stream(model="m", max_tokens=9, messages=asked) as stream:
                return stream.get_final_message().model_dump(exclude_none=True)

        yield fold


@pytest.mark.each("name", list(ANSWERS))
def test_an_answer_says_the_same_in_both_forms(name: str, folded: Callable[[bytes, int], Any]) -> None:
    events, content, reason = ANSWERS[name]
    body = whole([*events, COUNTED])
    assert (body["content"], body["stop_reason"]) == (content, reason)
    assert body["usage"] == {
        "input_tokens": 10,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 30,
        "output_tokens": 9,
        "output_tokens_details": {"thinking_tokens": 2},
    }
    assert body["stop_sequence"] == ("END" if name == "stop" else None)
    data = streamed([*events, COUNTED])
    assert kinds(data)[0] == "message_start"
    assert kinds(data)[-2:] == ["message_delta", "message_stop"]
    # The step is shorter than a frame, and no multiple of anything: each is cut, and in all kinds of places.
    for at in range(0, len(data), 31):
        found = folded(data, at)
        assert [
            {key: block[key] for key in want} for block, want in zip(found["content"], content, strict=True)
        ] == content
        assert found["stop_reason"] == reason
        assert found.get("stop_sequence") == body["stop_sequence"]
        assert {key: found["usage"][key] for key in body["usage"]} == body["usage"]


def test_thoughts_that_are_not_to_be_shown_have_their_signature_alone() -> None:
    events = [Thought(summary=("Hm,", " so.")), STOP]
    [block] = whole(events, thoughts_shown=False)["content"]
    assert block == {"type": "thinking", "thinking": "", "signature": SIGNED}
    assert b"thinking_delta" not in streamed(events, thoughts_shown=False)


CUT = (CallBegan(id="c1", name="f"), ArgumentsAdded(id="c1", text='{"city": "Be'), ChoiceFinished(reason="length"))


def test_a_call_that_a_limit_cut_is_closed_and_its_input_is_empty() -> None:
    sent = streamed(CUT)
    assert kinds(sent)[1:] == [
        "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "message_stop",
    ]  # fmt: skip
    assert b'"partial_json":"{\\"city\\": \\"Be"' in sent
    assert b'"stop_reason":"max_tokens"' in sent
    message = whole(CUT)
    assert message["content"] == [{"type": "tool_use", "id": "c1", "name": "f", "input": {}}]
    assert message["stop_reason"] == "max_tokens"


def test_arguments_that_are_no_object_are_streamed_as_they_are_where_nothing_looks_at_them() -> None:
    called = (CallBegan(id="c1", name="f"), ArgumentsAdded(id="c1", text="{x"), CallClosed(id="c1"))
    sent = streamed([*called, ChoiceFinished(reason="tool_calls")], inputs_checked=False)
    assert b'"partial_json":"{x"' in sent
    assert kinds(sent)[-1] == "message_stop"


def test_names_and_ids_are_the_clients_own() -> None:
    events = [*call("functions.Read:0", "short", "{}"), CALLS]
    [block] = whole(events, names={"short": "the-long-name"})["content"]
    assert block["name"] == "the-long-name"
    assert block["id"].startswith("call_")
    assert block["id"].encode() in streamed(events)


def test_the_beginning_has_the_counts_that_are_known_then() -> None:
    for known, tokens in ((True, 10), (False, 3)):
        answer = MessageEvents(head(prompt_bytes=lambda: 12))
        if known:
            answer.expect(COUNTED)
        begun = EventStream(answer, lambda _message: None).feed(TextAdded(text="x")).decode().split("\n\n")[0]
        usage = json.loads(begun.split("data: ")[1])["message"]["usage"]
        assert (usage["input_tokens"], usage["output_tokens"]) == (tokens, 1)


@pytest.mark.parametrize("arguments", ["[1]", '{"a"', "x", "1"])
def test_arguments_that_are_no_object_fail_the_answer(arguments: str) -> None:
    events = [TextAdded(text="x"), *call("c1", "f", arguments), CALLS]
    with pytest.raises(ApiError) as raised:
        whole(events)
    assert raised.value.problem.status == 502
    assert kinds(streamed(events))[-2:] == ["content_block_delta", "error"]


@pytest.mark.parametrize(
    ("cause", "kind"),
    [
        (FailureReason.OVERLOADED, "overloaded_error"),
        (FailureReason.RATE_LIMITED, "rate_limit_error"),
        (FailureReason.TIMEOUT, "timeout_error"),
        (FailureReason.FAILED, "api_error"),
        (FailureReason.CONTEXT, "invalid_request_error"),
    ],
)
def test_a_failure_ends_a_stream_with_its_type(cause: FailureReason, kind: str) -> None:
    data = streamed([TextAdded(text="x"), ChoiceFailed(cause), TextAdded(text="y")])
    assert kinds(data) == ["message_start", "content_block_start", "content_block_delta", "error"]
    assert f'"error":{{"type":"{kind}","message":'.encode() in data


def test_a_message_is_kept_when_it_is_whole_and_not_when_it_failed() -> None:
    kept: list[Any] = []
    for writer in (EventStream(MessageEvents(head()), kept.append), EventsWhole(MessageEvents(head()), kept.append)):
        b"".join(pieces([TextAdded(text="x"), STOP], writer))
    assert [message["content"] for message in kept] == [[{"type": "text", "text": "x"}]] * 2
    b"".join(
        pieces(
            [TextAdded(text="x"), ChoiceFailed(FailureReason.FAILED)], EventStream(MessageEvents(head()), kept.append)
        )
    )
    assert len(kept) == 2


def test_the_keep_alive_is_an_event_of_its_own() -> None:
    assert kinds(PING) == ["ping"]
