"""The forms of Messages answers that rows say break clients: each is seen where it is, and none in a right answer."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from wireproof.model.asks import Anything
from wireproof.model.catalogue import load
from wireproof.model.dialect import Dialect
from wireproof.model.scenario import ConversationScenario, Form, Mode, Turn
from wireproof.model.target import Target
from wireproof.model.transcript import End, Piece, Transcript
from wireproof.reading import recorded
from wireproof.report.effects import seen_effects, shows
from wireproof.report.messages_effects import FORMS_OF_MESSAGES

if TYPE_CHECKING:
    from wireproof.reading.exchange import Exchange

Json = dict[str, Any]
TARGET = Target(base_url="http://x/v1", model="m")
ONE = ConversationScenario(
    name="one", title="t", exercises=("messages.stream.text",), turns=(Turn(say="p", asks=Anything()),)
)
COUNTS = {"input_tokens": 3, "output_tokens": 5}
MESSAGE: Json = {
    "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": None,
    "stop_sequence": None, "usage": COUNTS,
}  # fmt: skip
START: Json = {"type": "message_start", "message": MESSAGE}
STOP: Json = {"type": "message_stop"}


CALLING = ConversationScenario(
    name="calling", title="t", script="call/two", exercises=("messages.stream.arguments",), turns=(Turn(say="p"),)
)


def answer(mode: Mode, body: bytes, scenario: ConversationScenario = ONE) -> Exchange:
    kind = "text/event-stream" if mode is Mode.STREAM else "application/json"
    transcript = Transcript(
        method="POST", url="http://x", request_headers=(), request_body=b"{}", status=200,
        headers=(("content-type", kind),), pieces=(Piece(at=0.1, data=body),), end=End.COMPLETE, seconds=0.1,
    )  # fmt: skip
    return recorded.of_turn(scenario, 0, Form(Dialect.MESSAGES, mode), TARGET, transcript)


def frame(event: Json, *, named: bool = True) -> bytes:
    return (f"event: {event['type']}\n" if named else "").encode() + f"data: {json.dumps(event)}\n\n".encode()


def stream(*events: Json, named: bool = True) -> Exchange:
    return answer(Mode.STREAM, b"".join(frame(event, named=named) for event in events))


def whole(*content: Json, reason: str | None = "end_turn") -> Exchange:
    return answer(Mode.WHOLE, json.dumps({**MESSAGE, "content": content, "stop_reason": reason}).encode())


def opened(kind: str = "text", index: Any = 0, **members: Any) -> Json:
    return {"type": "content_block_start", "index": index, "content_block": {"type": kind, **members}}


def delta(kind: str, index: Any = 0, **members: Any) -> Json:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **members}}


def words(text: str, index: int = 0) -> Json:
    return delta("text_delta", index, text=text)


def fragment(text: str) -> Json:
    return delta("input_json_delta", partial_json=text)


def closed(index: int = 0) -> Json:
    return {"type": "content_block_stop", "index": index}


def ended(reason: str | None = "end_turn", **counts: int) -> Json:
    usage = counts or COUNTS
    return {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage}


def text(*deltas: Json, opening: Json | None = None) -> Exchange:
    """A stream with a text block, that ends as it should."""
    return stream(START, opening or opened(text=""), *(deltas or (words("Hi"),)), closed(), ended(), STOP)


def call(*fragments: Json, reason: str | None = "tool_use", **members: Any) -> Exchange:
    """A stream with a call."""
    opening = opened("tool_use", id="toolu_1", name="f", **{"input": {}, **members})
    return stream(START, opening, *fragments, closed(), ended(reason), STOP)


def without(event: Json, name: str) -> Json:
    return {key: value for key, value in event.items() if key != name}


def with_message(name: str) -> Json:
    return {**START, "message": without(MESSAGE, name)}


CALL: Json = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"a": 1}}
OPENED = opened("tool_use", id="call_search", name="localSearch", input={})
ERROR = b'data: {"type": "error", "error": {"type": "api_error", "message": "m"}}\n\n'
BEGUN = frame(START) + frame(opened(text="")) + frame(words("Hi"))
REST = (opened(text=""), words("Hi"), closed(), ended(), STOP)
SHOWN: dict[str, Exchange] = {
    "when input is a text": whole({**CALL, "input": '{"a": 1}'}, reason="tool_use"),
    "when the data is no JSON": answer(Mode.STREAM, BEGUN + b'event: content_block_stop\ndata: {"type": "cont\n\n'),
    "when chunks of chat completions come": answer(
        Mode.STREAM, b'data: {"object": "chat.completion.chunk", "choices": []}\n\n'
    ),
    "when message_start has no content": stream(with_message("content"), *REST),
    "when a block has an unknown type": text(opening=opened("output_text", text="")),
    "when there are no event lines": stream(START, *REST, named=False),
    "when [DONE] has an event name": answer(Mode.STREAM, BEGUN + b"event: done\ndata: [DONE]\n\n"),
    "when the last frame is not closed": answer(Mode.STREAM, BEGUN + frame(STOP).removesuffix(b"\n")),
    "without message_start": stream(*REST),
    "when message_start comes twice": stream(START, START, *REST),
    "without content_block_start": stream(START, *REST[1:]),
    "without content_block_stop": stream(START, opened(text=""), words("Hi"), ended(), STOP),
    "when indexes start at 1": stream(START, opened(index=1, text=""), words("Hi", 1), closed(1), ended(), STOP),
    "when there is no index": stream(
        START, without(opened(text=""), "index"), without(words("Hi"), "index"), without(closed(), "index"), ended(),
        STOP,
    ),
    "when it stands in content_block_start": text(opening=opened(text="Hi")),
    "when a text_delta is in a tool_use block": call(fragment("{}"), words("Hi")),
    "when a thinking_delta is in a text block": text(delta("thinking_delta", thinking="Hm")),
    "when deltas repeat the text so far": text(words("a"), words("ab"), words("abc")),
    "when the input stands in content_block_start": call(input={"a": 1}),
    "when the input stands in content_block_start and in deltas": call(fragment('{"a": 1}'), input={"a": 1}),
    "when all fragments of a call are missing": answer(
        Mode.STREAM, b"".join(map(frame, (START, OPENED, closed(), ended("tool_use"), STOP))), CALLING
    ),
    "when a tool_use block has no name": stream(START, opened("tool_use", id="t", input={}), closed(), ended(), STOP),
    "when the fragments are no JSON": call(fragment('{"a')),
    "when the fragments are a list": call(fragment("[1]")),
    "when stop_reason is end_turn beside a call": call(fragment("{}"), reason="end_turn"),
    "when stop_reason is null": stream(START, opened(text=""), words("Hi"), closed(), ended(None), STOP),
    "when stop_reason is no published word": stream(START, opened(text=""), words("Hi"), closed(), ended("stop"), STOP),
    "when stop_reason is tool_use without a call": whole({"type": "text", "text": "Hi"}, reason="tool_use"),
    "when message_start has no usage": stream(with_message("usage"), *REST),
    "when message_delta has no usage": stream(START, *REST[:3], without(ended(), "usage"), STOP),
    "without message_stop": stream(START, *REST[:4]),
    "when the stream ends in its middle": answer(Mode.STREAM, BEGUN),
    "when the error has no event line": answer(Mode.STREAM, BEGUN + ERROR),
}  # fmt: skip
"""Form → an answer that has it."""
RIGHT: tuple[Exchange, ...] = (
    text(words("a"), words("b")),
    call(fragment('{"a"'), fragment(": 1}")),
    whole({"type": "text", "text": "Hi"}),
    whole(CALL, reason="tool_use"),
    answer(Mode.STREAM, BEGUN + b"event: error\n" + ERROR),
)


@pytest.mark.parametrize("form", FORMS_OF_MESSAGES)
def test_a_form_is_seen_where_it_is(form: str) -> None:
    assert FORMS_OF_MESSAGES[form](SHOWN[form])


@pytest.mark.parametrize("deep", ["[" * 100_000, '{"a":' * 100_000], ids=["lists", "objects"])
def test_what_is_nested_without_end_is_no_json(deep: str) -> None:
    assert FORMS_OF_MESSAGES["when the data is no JSON"](answer(Mode.STREAM, BEGUN + f"data: {deep}\n\n".encode()))
    assert FORMS_OF_MESSAGES["when the fragments are no JSON"](call(fragment(deep)))


def test_an_answer_that_cannot_be_read_has_no_form() -> None:
    """Of what is no answer nothing is read: a violation of HTTP, say, may be all that there is."""
    unread = replace(answer(Mode.STREAM, BEGUN), reading=None)
    assert unread.wanted
    assert not FORMS_OF_MESSAGES["when all fragments of a call are missing"](unread)


@pytest.mark.parametrize("right", RIGHT, ids=["text", "call", "whole text", "whole call", "error"])
def test_a_right_answer_has_none_of_those_of_its_rows(right: Exchange) -> None:
    of_rows = (row for row in load().requirements if row.breaks and row.speaks_of(right.form))
    lines = (line for row in of_rows for line in seen_effects(row, [right]))
    assert [line for line in lines if shows(line) in FORMS_OF_MESSAGES.values()] == []


@pytest.mark.parametrize(("script", "told"), [("text/length", False), ("text/hello", True)])
def test_how_a_text_ends_that_was_cut_says_nothing_of_calls(script: str, told: bool) -> None:  # noqa: FBT001
    scenario = replace(CALLING, script=script)
    events = (START, opened(text=""), words("Hi"), ended("max_tokens"), STOP)
    left_open = answer(Mode.STREAM, b"".join(map(frame, events)), scenario)
    lines = seen_effects(load().find("messages.stream.order"), [left_open])
    assert [line.partition(":")[0] for line in lines] == [*(["@ai-sdk/anthropic"] if told else []), "Claude Code"]
