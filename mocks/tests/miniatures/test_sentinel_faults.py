"""What each fault makes of an output or a request; that it is killed is shown by the suite."""

from __future__ import annotations

import json
from typing import Any

from wireproof_mocks.miniatures.fault import RESPONSES, FaultHead, SentRequest
from wireproof_mocks.miniatures.sentinel_faults import SENTINEL_FAULTS

Json = dict[str, Any]
NAMED = {fault.name: fault for fault in SENTINEL_FAULTS}
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
    "output": [MESSAGE, CALL], "tools": [], "usage": USAGE,
}  # fmt: skip


def asked(body: Json | None = None, **headers: str) -> SentRequest:
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    return SentRequest(method="POST", path="/v1/responses", body=json.dumps(body or {}).encode(), key="", headers=sent)


def whole(name: str, body: Json, request: SentRequest | None = None) -> Json:
    change = NAMED[name].whole
    assert change is not None
    return change(body, request or asked(), HEAD)


def changed(name: str, body: Json) -> Json:
    change = NAMED[name].request
    assert change is not None
    return change(body)


def test_they_show_in_responses_alone() -> None:
    assert {fault.dialects for fault in SENTINEL_FAULTS} == {(RESPONSES,)}


def text_of(sent: Json) -> str:
    return "".join(part["text"] for item in sent["output"] for part in item.get("content", ()))


def test_calls_and_text_change_places() -> None:
    left = whole("halves-of-tags-are-text", RESPONSE)
    assert text_of(left) == ' Hi. <tool_call>{"id": "c", "name": "readNote", "arguments": "{ \\"a\\":1}"}</tool_call>'
    assert len(left["output"]) == 1
    found = whole("fences-not-seen", left)
    assert [item["type"] for item in found["output"]] == ["message", "function_call"]
    assert whole("fences-not-seen", RESPONSE) == RESPONSE
    assert text_of(whole("invalid-blocks-dropped", left)) == " Hi. "


def test_only_declared_tools_are_called() -> None:
    declared = asked({"tools": [{"name": "readNote"}]})
    assert whole("undeclared-tools-dropped", RESPONSE, declared) == RESPONSE
    assert whole("undeclared-tools-dropped", RESPONSE)["output"] == [MESSAGE]
    alone = whole("undeclared-tools-dropped", {**RESPONSE, "output": [CALL]})
    assert text_of(alone) == ""
    assert len(alone["output"]) == 1


def test_blocks_and_items_stand_together_where_blocks_were_asked_for() -> None:
    assert whole("block-and-item", RESPONSE) == RESPONSE
    both = whole("block-and-item", RESPONSE, asked(x_proxy_output_mode="obsidian-xml"))
    assert len(both["output"]) == 3
    assert whole("sentinel-arguments-respelled", RESPONSE)["output"][1]["arguments"] == '{"a": 1}'


def test_of_parts_the_first_is_received() -> None:
    assert changed("first-part-of-outputs-only", {"input": "x"}) == {"input": "x"}
    parts = {"input": [{"output": [1, 2]}, {"output": "x"}, "y"]}
    assert changed("first-part-of-outputs-only", parts) == {"input": [{"output": [1]}, {"output": "x"}, "y"]}


def test_what_is_kept_is_not_what_was_said() -> None:
    found = SentRequest(method="GET", path="/v1/responses/resp_1", body=b"", key="")
    assert whole("response-kept-without-output", RESPONSE, found)["output"] == []
    assert whole("response-kept-without-output", RESPONSE) == RESPONSE
    said = {"instructions": "Be kind.", "input": "x"}
    assert changed("instructions-lost-when-continued", said) == said
    continued = {"previous_response_id": "resp_1", "input": "x"}
    assert changed("instructions-lost-when-continued", {**continued, "instructions": "Be kind."}) == continued
    change = NAMED["streams-not-kept"].frames
    assert change is not None
    created, other = change([{"type": "response.created", "response": RESPONSE}, {"type": "x"}], asked())
    assert isinstance(created, dict)
    assert created["response"] == {**RESPONSE, "id": "resp_10"}
    assert other == {"type": "x", "sequence_number": 1}


def test_a_response_does_not_name_the_one_that_it_continues() -> None:
    named = {**RESPONSE, "previous_response_id": "resp_0"}
    assert whole("previous-response-not-named", named) == {**RESPONSE, "previous_response_id": None}


def test_requests_are_received_otherwise() -> None:
    parts = {"input": [{"type": "function_call_output", "output": [1]}, {"output": "x"}, "y"]}
    assert changed("output-parts-lost", parts)["input"][0]["output"] == ""
    assert changed("output-parts-lost", parts)["input"][1:] == parts["input"][1:]
    assert changed("output-parts-lost", {"input": "x"}) == {"input": "x"}
    reference = {"input": [{"type": "item_reference", "id": "x"}, {"role": "user", "content": "y"}]}
    assert changed("references-taken-for-words", reference)["input"][0]["content"] == "Hello."
    assert changed("references-taken-for-words", {"input": "x"}) == {"input": "x"}
    said: Json = {"role": "assistant", "content": [PART]}
    assert changed("untyped-answers-refused", {"input": [said]}) == {"input": []}
    assert changed("untyped-answers-refused", {"input": [MESSAGE]}) == {"input": [MESSAGE]}
    assert changed("untyped-answers-refused", {"input": "x"}) == {"input": "x"}
    assert changed("tools-of-codex-refused", {"tools": [{"type": "namespace"}]}) == {"tools": "none of these"}
    assert changed("tools-of-codex-refused", {"tools": [{"type": "function"}]}) == {"tools": [{"type": "function"}]}
    assert changed("tools-of-codex-refused", {"input": "x"}) == {"input": "x"}
    assert changed("previous-response-forgotten", {"previous_response_id": "x", "input": "y"}) == {"input": "y"}
    assert changed("empty-input-is-a-greeting", {"input": []}) == {"input": "Hello."}
    assert changed("empty-input-is-a-greeting", {"input": "x"}) == {"input": "x"}
