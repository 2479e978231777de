"""What a run request says: history in blobs, or written into the user's text; tools; instructions."""

from __future__ import annotations

import json
from typing import Any

import pytest
from google.protobuf.json_format import ParseDict
from google.protobuf.struct_pb2 import Value

from wireproof_cursor.runs.blobs import blob_id
from wireproof_cursor.runs.conversation import read, tools_of
from wireproof_cursor_protos import agent_pb2 as pb

Json = dict[str, Any]


def conversation(*messages: Json | bytes, text: str = "", **fields: Any) -> Any:
    blobs = [message if isinstance(message, bytes) else json.dumps(message).encode() for message in messages]
    state = pb.ConversationStateStructure(root_prompt_messages_json=[blob_id(blob) for blob in blobs])
    request = pb.AgentRunRequest(conversation_state=state, **fields)
    if text:
        request.action.user_message_action.user_message.text = text
    return read(request, {blob_id(blob): blob for blob in blobs})


CALL = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": '{"a": 1}'}
RESULT = {"type": "function_call_output", "call_id": "c1", "output": "out"}


def message(role: str, text: str) -> Json:
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def test_messages_are_in_blobs() -> None:
    parts = [
        {"type": "text", "text": "I look."},
        {"type": "tool-call", "toolCallId": "c1", "toolName": "f", "args": {"a": 1}},
    ]
    found = conversation(
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "hi"}]},
        {"role": "assistant", "content": parts},
        {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "c1", "toolName": "f", "result": "out"}]},
        text="and now?",
    )
    assert found.developer == ["Be brief."]
    assert found.history == [message("user", "hi"), message("assistant", "I look."), CALL, RESULT]
    assert found.given == [{"type": "text", "text": "and now?"}]
    assert found.items() == [*found.history, message("user", "and now?")]


@pytest.mark.parametrize("key", ["args", "input", "arguments"])
@pytest.mark.parametrize("arguments", [{"a": 1}, '{"a": 1}'])
def test_arguments_have_several_names_and_forms(key: str, arguments: object) -> None:
    part = {"type": "tool-call", "toolCallId": "c1", "toolName": "f", key: arguments}
    assert conversation({"role": "assistant", "content": [part]}).history == [CALL]


@pytest.mark.parametrize(
    "result",
    [
        {"result": "out"},
        {"output": "out"},
        {"output": {"type": "text", "value": "out"}},
        {"result": [{"type": "text", "text": "out"}]},
    ],
)
def test_results_have_several_names_and_forms(result: Json) -> None:
    part = {"type": "tool-result", "toolCallId": "c1", "toolName": "f", **result}
    assert conversation({"role": "tool", "content": [part]}).history == [RESULT]


def test_a_result_of_another_form_is_its_json() -> None:
    part = {"type": "tool-result", "toolCallId": "c1", "result": {"a": 1}}
    assert conversation({"role": "tool", "content": [part]}).history[0]["output"] == '{"a": 1}'


@pytest.mark.parametrize(
    "blob", [b"\xff", b"no JSON", b"[]", b"{}", b'{"role": "user"}', b'{"role": "user", "content": 1}']
)
def test_a_blob_that_is_no_message_is_passed_over(blob: bytes) -> None:
    assert conversation(blob, text="hi").items() == [message("user", "hi")]


def test_calls_and_results_in_the_users_text_follow_it() -> None:
    text = (
        'Be brief.\n\nUser: go\n\nAssistant: I look.\n[Called tool: f({"a": 1})]\n[Called tool: g({})]\n\n'
        "[Tool result for c1]: out\n\n[Tool result for c2]: two\nlines\n\nPlease continue."
    )
    found = conversation(text=text)
    second = [
        {**CALL, "call_id": "c2", "name": "g", "arguments": "{}"},
        {**RESULT, "call_id": "c2", "output": "two\nlines"},
    ]
    assert found.items() == [message("user", text), CALL, RESULT, *second]


def test_instructions_come_from_everywhere() -> None:
    request = pb.AgentRunRequest(custom_system_prompt="one")
    request.action.user_message_action.request_context.cloud_rule = "two"
    assert read(request, {}).instructions == "one\n\ntwo"


def test_the_model_has_two_places() -> None:
    assert conversation(model_details=pb.ModelDetails(model_id="m")).model == "m"
    assert conversation(requested_model=pb.RequestedModel(model_id="m")).model == "m"


def test_a_tool_that_is_declared_in_two_places_is_one() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1.5, "maximum": 3}}}
    tool = pb.McpToolDefinition(name="own-f", tool_name="f", description="d", input_schema=ParseDict(schema, Value()))
    request = pb.AgentRunRequest(mcp_tools=pb.McpTools(mcp_tools=[tool]))
    request.action.resume_action.request_context.tools.append(tool)
    (declared,) = read(request, {}).declared()
    assert declared == {"name": "f", "description": "d", "inputSchema": schema}
    # A number of the protocol is a double; a whole one is meant as such.
    assert json.dumps(declared["inputSchema"]["properties"]["n"]["maximum"]) == "3"


def test_a_tool_without_a_name_of_its_own_or_a_schema_is_declared_too() -> None:
    (tool,) = tools_of([pb.McpToolDefinition(name="f")])
    assert tool.declared() == {"name": "f", "description": "", "inputSchema": {"type": "object"}}
