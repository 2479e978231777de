from __future__ import annotations

from typing import Any

from wireproof_mocks.miniatures.fault import FaultHead, SentRequest
from wireproof_mocks.miniatures.responses_rewriting import (
    at_end,
    each_event,
    in_response,
    in_stream,
    in_whole,
    numbered,
    respelled,
)

Json = dict[str, Any]
ASKED = SentRequest(method="POST", path="/v1/responses", body=b"{}", key="")
HEAD = FaultHead(status="200 OK", headers=[])
MESSAGE: Json = {
    "type": "message",
    "id": "msg_1",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "Hi.", "annotations": []}],
}
CALL: Json = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "c",
    "name": "f",
    "arguments": "{}",
    "status": "completed",
}
RESPONSE: Json = {"object": "response", "id": "resp_1", "status": "completed", "output": [MESSAGE]}
EVENTS: list[Json] = [
    {"type": "response.created", "sequence_number": 0, "response": {"id": "resp_1"}},
    {"type": "response.in_progress", "sequence_number": 1, "response": {"id": "resp_1"}},
    {"type": "response.completed", "sequence_number": 9, "response": RESPONSE},
]


def test_events_are_numbered_and_comments_are_not() -> None:
    sent: list[Any] = [{"type": "a"}, b": hm\n\n", {"type": "b", "sequence_number": 7}]
    assert [*numbered(sent)] == [
        {"type": "a", "sequence_number": 0},
        b": hm\n\n",
        {"type": "b", "sequence_number": 1},
    ]


def test_an_event_may_be_dropped() -> None:
    change = each_event(lambda event: () if event["type"] == "a" else (event,))
    sent: list[Any] = [{"type": "a"}, b": hm\n\n", {"type": "b"}]
    assert [*change(sent, ASKED)] == [b": hm\n\n", {"type": "b", "sequence_number": 0}]


def test_only_the_last_response_is_changed() -> None:
    changed = [*at_end(lambda response: {**response, "status": "odd"})(EVENTS, ASKED)]
    assert [event["response"].get("status") for event in changed if isinstance(event, dict)] == [None, None, "odd"]


def test_a_stream_is_sent_again_from_another_output() -> None:
    sent = [one for one in in_stream(lambda output, _: [*output, CALL])(EVENTS, ASKED) if isinstance(one, dict)]
    assert [one["sequence_number"] for one in sent] == list(range(len(sent)))
    assert [one["type"].removeprefix("response.") for one in sent] == [
        "created",
        "in_progress",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "output_item.added",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "output_item.done",
        "completed",
    ]
    assert [one["output_index"] for one in sent if one["type"] == "response.output_item.done"] == [0, 1]
    assert sent[-1]["response"]["output"] == [MESSAGE, CALL]


def test_what_is_empty_has_no_delta() -> None:
    empty = {**MESSAGE, "content": [{"type": "output_text", "text": "", "annotations": []}]}
    sent = in_stream(lambda *_: [empty, {**CALL, "arguments": ""}])(EVENTS, ASKED)
    assert not [one for one in sent if isinstance(one, dict) and one["type"].endswith(".delta")]


def test_only_responses_are_changed() -> None:
    error = {"error": {"message": "No."}}
    for change in (in_whole(lambda *_: []), in_response(lambda body: {**body, "output": []})):
        assert change(error, ASKED, HEAD) == error
        assert change(RESPONSE, ASKED, HEAD) == {**RESPONSE, "output": []}


def test_arguments_are_spelled_again_where_they_are_json() -> None:
    assert respelled({**CALL, "arguments": '{ "a":1}'})["arguments"] == '{"a": 1}'
    assert respelled({**CALL, "arguments": "{"})["arguments"] == "{"
    assert respelled(MESSAGE) == MESSAGE
