"""What each fault does to the frames, bodies and requests that it is given; that it is killed is shown by the suite."""

from __future__ import annotations

import json
from typing import Any

import pytest

from wireproof_mocks.miniatures.fault import RESPONSES, Fault, FaultHead, SentRequest
from wireproof_mocks.miniatures.responses_faults import RESPONSES_FAULTS

Json = dict[str, Any]
NAMED = {fault.name: fault for fault in RESPONSES_FAULTS}
HEAD = FaultHead(status="200 OK", headers=[("Content-Type", "text/event-stream"), ("X-Accel-Buffering", "no")])
USAGE = {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}
PART: Json = {"type": "output_text", "text": " Hi. ", "annotations": []}
MESSAGE: Json = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [PART]}
CALL: Json = {
    "type": "function_call", "id": "fc_1", "call_id": "c", "name": "readNote", "arguments": '{ "a":1}',
    "status": "completed",
}  # fmt: skip
RESPONSE: Json = {
    "object": "response", "id": "resp_1", "status": "completed", "incomplete_details": None, "error": None,
    "output": [MESSAGE, CALL], "tools": [{"name": "x"}], "usage": USAGE, "metadata": {"run": "1"},
}  # fmt: skip
PLACE: Json = {"item_id": "fc_1", "output_index": 1}
EVENTS: list[Json] = [
    {"type": "response.created", "response": {**RESPONSE, "status": "in_progress", "output": []}},
    {"type": "response.in_progress", "response": {**RESPONSE, "status": "in_progress", "output": []}},
    {"type": "response.output_item.added", "output_index": 1, "item": {**CALL, "arguments": ""}},
    {"type": "response.function_call_arguments.delta", **PLACE, "delta": '{ "a"'},
    {"type": "response.function_call_arguments.delta", **PLACE, "delta": ":1}"},
    {"type": "response.function_call_arguments.done", **PLACE, "arguments": '{ "a":1}'},
    {"type": "response.output_item.done", "output_index": 1, "item": CALL},
    {"type": "response.completed", "response": RESPONSE},
]
NUMBERED = [{**event, "sequence_number": number} for number, event in enumerate(EVENTS)]


def asked(body: Json | None = None, **headers: str) -> SentRequest:
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    return SentRequest(method="POST", path="/v1/responses", body=json.dumps(body or {}).encode(), key="", headers=sent)


def streamed(name: str, events: list[Json] | None = None) -> list[Any]:
    change = NAMED[name].frames
    assert change is not None
    return [*change([*(NUMBERED if events is None else events)], asked())]


def whole(name: str, body: Json, request: SentRequest | None = None) -> Json:
    change = NAMED[name].whole
    assert change is not None
    return change(body, request or asked(), HEAD)


def test_they_show_in_responses_alone() -> None:
    assert {fault.dialects for fault in RESPONSES_FAULTS} == {(RESPONSES,)}


@pytest.mark.parametrize(
    "fault", [one for one in RESPONSES_FAULTS if one.frames and not one.whole], ids=lambda f: f.name
)
def test_a_fault_of_streams_changes_one(fault: Fault) -> None:
    incomplete = [*NUMBERED[:-1], {**NUMBERED[-1], "type": "response.incomplete"}]
    failed = [*NUMBERED[:-1], {**NUMBERED[-1], "type": "response.failed"}]
    text = [{"type": "response.output_text.delta", "item_id": "m", "content_index": 0, "delta": "x"}]
    parts = [{"type": "response.content_part.added", "item_id": "m", "content_index": 0}]
    comment: list[Any] = [b": hm\n\n", *NUMBERED, b": hm\n\n"]
    sent = [NUMBERED, incomplete, failed, [*NUMBERED, *text], [*NUMBERED, *parts], comment]
    assert any(streamed(fault.name, events) != events for events in sent)


def test_deltas_may_be_sent_over_and_over() -> None:
    sent = streamed("arguments-repeated-from-start")
    assert [event["delta"] for event in sent if "delta" in event] == ['{ "a"', '{ "a":1}']


def test_a_stray_event_is_numbered_like_the_others() -> None:
    sent = streamed("events-of-the-backend-passed-on")
    assert [event["sequence_number"] for event in sent] == list(range(len(NUMBERED) + 1))
    assert sent[2]["type"] == "codex.rate_limits"


def test_event_lines_may_say_nothing_or_the_same() -> None:
    assert streamed("no-event-lines-at-all")[0].startswith(b"data: {")
    assert streamed("every-event-is-a-message")[0].startswith(b"event: message\ndata: {")
    comment: list[Any] = [b": hm\n\n"]
    for name in ("no-event-lines-at-all", "every-event-is-a-message", "numbered-from-one", "events-without-numbers"):
        assert streamed(name, comment) == comment


def test_names_are_lowered_wherever_they_stand() -> None:
    sent = json.dumps(streamed("tool-names-lowered"))
    assert "readnote" in sent
    assert "readNote" not in sent


def test_failures_become_ordinary_ends() -> None:
    failed = {"type": "response.failed", "response": {**RESPONSE, "status": "failed", "error": {"message": "No."}}}
    (sent,) = streamed("response-failure-hushed-up", [failed])
    assert (sent["type"], sent["response"]["status"], sent["response"]["error"]) == (
        "response.completed", "completed", None,
    )  # fmt: skip
    (sent,) = streamed("always-completed", [{**failed, "type": "response.incomplete"}])
    assert (sent["type"], sent["response"]["status"]) == ("response.completed", "completed")


def test_an_early_failure_becomes_a_stream() -> None:
    fault = NAMED["early-failure-as-stream"]
    assert fault.head is not None
    assert fault.salvage is not None
    bad = FaultHead(status="502 Bad Gateway", headers=[])
    assert fault.head(bad, asked({"stream": True})).code == 200
    assert fault.head(bad, asked()).code == 502
    assert fault.head(FaultHead(status="404 Not Found", headers=[]), asked({"stream": True})).code == 404
    sent = fault.salvage({"error": {"message": "No."}})
    assert [one["type"] for one in sent if isinstance(one, dict)][-1] == "response.failed"


def test_a_header_is_forgotten() -> None:
    change = NAMED["responses-may-be-buffered"].head
    assert change is not None
    assert change(HEAD, asked()).headers == [("Content-Type", "text/event-stream")]


@pytest.mark.parametrize(
    ("name", "member"),
    [
        ("response-without-tools", "tools"),
        ("response-with-the-id-of-a-chat", "id"),
        ("response-usage-named-as-in-chat", "usage"),
        ("response-text-trimmed", "output"),
        ("response-without-call-ids", "output"),
        ("response-call-id-is-item-id", "output"),
        ("response-arguments-reserialised", "output"),
        ("calls-never-completed", "output"),
        ("metadata-forgotten", "metadata"),
        ("declared-tools-forgotten", "tools"),
    ],
)
def test_a_fault_of_whole_answers_changes_one_member(name: str, member: str) -> None:
    sent = whole(name, RESPONSE)
    assert {key for key in RESPONSE if sent.get(key) != RESPONSE[key]} == {member}
    assert whole(name, {"error": {}}) == {"error": {}}


def test_arguments_that_are_no_json_stay() -> None:
    broken = {**RESPONSE, "output": [{**CALL, "arguments": "{"}]}
    assert whole("response-arguments-reserialised", broken) == broken


def test_an_incomplete_response_is_said_to_be_complete() -> None:
    incomplete = {**RESPONSE, "status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    assert whole("response-always-completed", incomplete) == RESPONSE
