"""The forms of answers that rows say break clients: each is seen where it is, and none in a right answer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from wireproof.judging.checks.shared_ids import CALL_AGAIN
from wireproof.model.asks import Anything
from wireproof.model.catalogue import load
from wireproof.model.dialect import Dialect
from wireproof.model.scenario import ConversationScenario, Form, Mode, Turn
from wireproof.model.target import Target
from wireproof.model.transcript import End, Piece, Transcript
from wireproof.reading import recorded
from wireproof.report.effects import FORMS, KINDS, seen_effects, shows
from wireproof.report.messages_effects import FORMS_OF_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wireproof.reading.exchange import Exchange

Json = dict[str, Any]
TARGET = Target(base_url="http://x/v1", model="m")
ONE = ConversationScenario(
    name="one",
    title="t",
    exercises=("chat.whole.text",),
    turns=(Turn(say="p", asks=Anything()),),
    tools=({"type": "function", "function": {"name": "f"}},),
)
WHOLE, STREAM = Form(Dialect.OPENAI_JSON, Mode.WHOLE), Form(Dialect.OPENAI_JSON, Mode.STREAM)
RESPONSE, EVENTS = Form(Dialect.RESPONSES, Mode.WHOLE), Form(Dialect.RESPONSES, Mode.STREAM)
HEAD = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_700_000_000, "model": "m"}
DONE = b"data: [DONE]\n\n"
CALL: Json = {"index": 0, "id": "c1", "type": "function", "function": {"name": "f", "arguments": ""}}
ITEM: Json = {
    "type": "function_call", "id": "fc_1", "call_id": "c1", "name": "f", "arguments": "{}", "status": "completed",
}  # fmt: skip
COUNTED = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}


def answer(form: Form, body: bytes, kind: str = "", end: End = End.COMPLETE, status: int = 200) -> Exchange:
    kind = kind or ("text/event-stream" if form.mode is Mode.STREAM else "application/json")
    transcript = Transcript(
        method="POST", url="http://x", request_headers=(), request_body=b"{}", status=status,
        headers=(("content-type", kind),), pieces=(Piece(at=0.1, data=body),), end=end, seconds=0.1,
    )  # fmt: skip
    return recorded.of_turn(ONE, 0, form, TARGET, transcript)


def frames(*payloads: Json) -> bytes:
    return b"".join(f"data: {json.dumps(one)}\n\n".encode() for one in payloads)


def chunk(delta: Any, finish: str | None = None, **members: Any) -> Json:
    return {**HEAD, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **members}


def chunks(*those: Json, end: str | None = "stop") -> Exchange:
    """A stream that begins with a role, with these chunks, that ends as it should."""
    last = [chunk({}, end)] if end else []
    return answer(STREAM, frames(chunk({"role": "assistant"}), *those, *last) + DONE)


def deltas(*those: Any) -> Exchange:
    """A stream of deltas of calls."""
    return chunks(*(chunk({"tool_calls": [one]}) for one in those), end="tool_calls")


def more(text: Any = None, index: Any = 0, **function: Any) -> Json:
    """A later delta of a call."""
    return {"index": index, "function": {"arguments": text, **function}}


def whole(message: Any = None, finish: str | None = "stop", **members: Any) -> Exchange:
    said = {"role": "assistant", "content": "x"} if message is None else message
    choice = {"index": 0, "message": said, "finish_reason": finish}
    return answer(WHOLE, json.dumps({**HEAD, "choices": [choice], **members}).encode())


def calling(call: Json) -> Exchange:
    return whole({"role": "assistant", "content": None, "tool_calls": [call]}, "tool_calls")


def response(*items: Json, usage: Json = COUNTED) -> Exchange:
    return answer(
        RESPONSE, json.dumps({"id": "resp_1", "object": "response", "output": items, "usage": usage}).encode()
    )


def events(*those: Json, end: Json | None = None) -> Exchange:
    """A stream of a response that is created, with these events, that ends as it should."""
    created = {"type": "response.created", "response": {"id": "resp_1", "status": "in_progress", "output": []}}
    last = end or {"type": "response.completed", "response": {"id": "resp_1", "output": [ITEM], "usage": COUNTED}}
    return answer(EVENTS, frames(created, *those, last))


def without(value: Json, *names: str) -> Json:
    return {name: one for name, one in value.items() if name not in names}


def item_events(added: Json, *between: Json, done: Json = ITEM) -> Exchange:
    return events(
        {"type": "response.output_item.added", "item": added},
        *between,
        {"type": "response.output_item.done", "item": done},
    )


OPEN = {**ITEM, "arguments": ""}
TEXT = {"type": "response.output_text.delta", "item_id": "i", "output_index": 0, "content_index": 0, "delta": "x"}


def argument(text: str) -> Json:
    return {"type": "response.function_call_arguments.delta", "item_id": "fc_1", "output_index": 0, "delta": text}


def frame(text: bytes) -> Exchange:
    """A stream with a frame of these bytes in it."""
    return answer(
        STREAM, frames(chunk({"role": "assistant", "content": "x"})) + text + frames(chunk({}, "stop")) + DONE
    )


SHOWN: dict[str, Exchange] = {
    "when only choices is sent": answer(WHOLE, b'{"choices": []}'),
    "when a chunk holds only choices": chunks({"choices": [{"index": 0, "delta": {"content": "x"}}]}),
    "when the message has no role": whole({"content": "x"}),
    "when the body is an event stream although stream is false": answer(WHOLE, frames(chunk({"content": "x"}))),
    "when the Content-Type is not application/json": answer(WHOLE, b"{}", "text/plain"),
    "when finish_reason is null": whole(finish=None),
    "when a call has no id": calling(without(CALL, "id")),
    "when a call has no type": calling(without(CALL, "type")),
    "when arguments is an object": deltas({**CALL, "function": {"name": "f", "arguments": {}}}),
    "when the call is sent as the old function_call": whole(
        {"role": "assistant", "function_call": {"name": "f", "arguments": "{}"}}
    ),
    "when it is sent as function_call and tool_calls at once": chunks(
        chunk({"tool_calls": [CALL], "function_call": {"name": "f"}})
    ),
    "when one newline alone separates frames": answer(
        STREAM, frames(chunk({"role": "assistant"}), chunk({"content": "x"})).replace(b"\n\n", b"\n") + DONE
    ),
    "when a choice has no index": chunks({**HEAD, "choices": [{"delta": {"content": "x"}}]}),
    "when the finish chunk has no delta or a null one": chunks(
        {**HEAD, "choices": [{"index": 0, "finish_reason": "stop"}]}, end=None
    ),
    "when a chunk has no choices": chunks(HEAD),
    "when no role comes": answer(STREAM, frames(chunk({"content": "x"}), chunk({}, "stop")) + DONE),
    "when no finish chunk comes": chunks(chunk({"content": "x"}), end=None),
    "when two finish chunks come": chunks(chunk({"content": "a"}), chunk({}, "stop")),
    "when a tool is called that the request does not declare": calling(
        {**CALL, "function": {"name": "functions.f", "arguments": "{}"}}
    ),
    "when the refusal is sent as HTTP 200": answer(WHOLE, b'{"error": {"message": "no"}}'),
    "when the refusal is sent as HTTP 500 or above": answer(WHOLE, b"no", status=500),
    "when finish_reason is tool_calls and no tool_calls were sent": chunks(chunk({"content": "x"}), end="tool_calls"),
    "when content follows the finish chunk": chunks(chunk({}, "stop"), chunk({"content": "late"}), end=None),
    "at a chunk with empty choices": chunks({**HEAD, "choices": []}),
    "when the usage chunk has no choices": chunks({**HEAD, "usage": {"total_tokens": 1}}),
    "when frames follow [DONE]": frame(DONE),
    "the answer waits for the end of the body": answer(STREAM, frames(chunk({}, "stop")) + DONE, end=End.OPEN),
    "at an empty data: line": frame(b"data:\n\n"),
    "at an event: block without data": frame(b"event: ping\n\n"),
    "at a retry: block": frame(b"retry: 3\n\n"),
    "at an event: ping with data: {}": frame(b"event: ping\ndata: {}\n\n"),
    "when two choices come and one was asked for": chunks(
        {**HEAD, "choices": [{"index": 1, "delta": {"content": "x"}}]}
    ),
    "so an array with escaped quotes does not parse": chunks(chunk({"content": "<a>[&quot;x&quot;]</a>"})),
    "when index is missing": deltas(without(CALL, "index")),
    "when the only call has index 1": deltas({**CALL, "index": 1}),
    "when index is a string": deltas({**CALL, "index": "0"}),
    "when two calls share one index": deltas(CALL, {**CALL, "id": "c2"}),
    "when id is missing": deltas(without(CALL, "id")),
    "when type is missing": deltas(without(CALL, "type")),
    "when later deltas repeat the name": deltas(CALL, more("{}", name="f")),
    "when id and name are repeated": deltas(CALL, {**CALL, "function": {"name": "f", "arguments": "{}"}}),
    "when later deltas carry id, type and name as null": deltas(
        CALL, {**more("{}", name=None), "id": None, "type": None}
    ),
    "when the first delta has no arguments or null ones": deltas({**CALL, "function": {"name": "f"}}, more("{}")),
    "when each delta repeats the arguments so far": deltas(CALL, more('{"a"'), more('{"a": 1'), more('{"a": 1}')),
    "when the deltas are cumulative": item_events(OPEN, argument("{"), argument('{"a": 1}')),
    "when a last delta sends the whole again": deltas(CALL, more('{"a"'), more(": 1}"), more('{"a": 1}')),
    "when only id, status and output are sent": answer(
        RESPONSE, b'{"id": "resp_1", "status": "completed", "output": []}'
    ),
    "when the usage has the field names of chat": response(ITEM, usage={"prompt_tokens": 1, "completion_tokens": 1}),
    "without call_id": response(without(ITEM, "call_id")),
    "when the item has no id": response(without(ITEM, "id")),
    "when it is a part of a message": response({"type": "message", "content": [{"type": "tool_call"}]}),
    "at an event of an unknown type": events({"type": "keepalive"}),
    "when the deltas are called response.function_call.delta": events({"type": "response.function_call.delta"}),
    "when response.created holds only id and status": answer(
        EVENTS, frames({"type": "response.created", "response": {"id": "r", "status": "in_progress"}})
    ),
    "when the item in output_item.added has no arguments": item_events(without(ITEM, "arguments"), argument("{}")),
    "without response.created": answer(EVENTS, frames({"type": "response.completed", "response": {}})),
    "at text without item and part": events(TEXT),
    "without output_item.done": events({"type": "response.output_item.added", "item": OPEN}),
    "when the data has no type": events(without(TEXT, "type")),
    "when the call's item has no id": item_events(without(OPEN, "id"), argument("{}")),
    "when arguments come without deltas": item_events(OPEN, done={**ITEM, "arguments": '{"a": 1}'}),
    "when output_item.added already has them": item_events(ITEM, argument("{}")),
    "when output_item.done has empty arguments": item_events(OPEN, argument("{}"), done=OPEN),
    "when response.completed has no output": events(
        {"type": "response.output_item.done", "item": ITEM}, end={"type": "response.completed", "response": {"id": "r"}}
    ),
    "without a terminal event": answer(EVENTS, frames({"type": "response.created", "response": {}})),
    "at response.failed": events(end={"type": "response.failed", "response": {"id": "r"}}),
}
"""Form → an answer that has it."""
RIGHT: tuple[Exchange, ...] = (
    chunks(chunk({"content": "a"}), chunk({"content": "b"})),
    deltas(CALL, more('{"a"'), more(": 1}")),
    whole(),
    calling({**CALL, "function": {"name": "f", "arguments": "{}"}}),
    response(ITEM),
    item_events(OPEN, argument("{"), argument("}")),
)


@pytest.mark.parametrize("form", [form for form in FORMS if form not in FORMS_OF_MESSAGES])
def test_a_form_is_seen_where_it_is(form: str) -> None:
    assert FORMS[form](SHOWN[form])


@pytest.mark.parametrize("right", RIGHT, ids=["text", "call", "whole text", "whole call", "response", "events"])
def test_a_right_answer_has_none_of_those_of_its_rows(right: Exchange) -> None:
    of_rows = (row for row in load().requirements if row.breaks and row.speaks_of(right.form))
    lines = (line for row in of_rows for line in seen_effects(row, [right]) if shows(line) in FORMS.values())
    assert list(lines) == []


def endings() -> Iterable[tuple[str, list[str]]]:
    for row in load().requirements:
        for line in row.breaks:
            yield line, [form for form in (*FORMS, *KINDS) if line.endswith(form)]


def test_every_line_of_a_row_names_a_form_or_a_kind_or_is_of_every_violation() -> None:
    without_form = {line for line, forms in endings() if not forms}
    assert without_form == {"opencode: repeats the request without end"}


def test_every_form_is_that_of_a_line() -> None:
    assert {form for _, forms in endings() for form in forms} == {*FORMS, *KINDS}


def test_a_line_about_several_answers_counts_where_a_violation_is_of_its_kind() -> None:
    row, right = load().find("chat.whole.calls-all-in-order"), RIGHT[3]
    assert seen_effects(row, [right]) == ()
    (line,) = seen_effects(row, [right], {CALL_AGAIN})
    assert line == f"openai-agents: exception {CALL_AGAIN}"


def test_lines_count_where_one_of_the_answers_has_their_form() -> None:
    row = load().find("chat.stream.call-opening")
    no_index, no_type = SHOWN["when index is missing"], SHOWN["when type is missing"]
    lines = seen_effects(row, [no_index, no_type])
    assert {line for line in row.breaks if line.endswith(("index is missing", "type is missing"))} <= set(lines)
    assert not any("repeat" in line for line in lines)
    assert seen_effects(row, []) == ()
