"""A conversation as the request that begins a turn."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from google.protobuf.json_format import MessageToDict

from wireproof_proxy.backends.cursor.request import PROVIDER, Opening, opening
from wireproof_surfaces.conversation import (
    AssistantCall,
    Conversation,
    Item,
    Message,
    TextPart,
    Tool,
    ToolResult,
    converse,
)

READ = Tool(
    name="read",
    description="Reads a file",
    parameters={"type": "object", "properties": {"filePath": {"type": "string"}}, "required": ["filePath"]},
)


def said(role: Any, text: str) -> Message:
    return Message(role=role, parts=(TextPart(text),))


def prompt(begun: Opening) -> list[Any]:
    """The messages before the action, as the service reads them."""
    ids = begun.run.conversation_state.root_prompt_messages_json
    return [json.loads(begun.blobs[id_]) for id_ in ids]


def begun(*items: Item, tools: tuple[Tool, ...] = ()) -> Opening:
    return opening(converse(items, tools=tools))


def test_what_the_user_said_last_is_the_action() -> None:
    found = begun(said("system", "Be brief."), said("user", "one"), said("assistant", "two"), said("user", "three"))
    assert found.run.action.user_message_action.user_message.text == "three"
    assert prompt(found) == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "one"},
        {"role": "assistant", "content": [{"type": "text", "text": "two"}]},
    ]


def test_every_blob_is_under_its_sha256() -> None:
    found = begun(said("system", "Be brief."), said("user", "go"))
    [(id_, blob)] = found.blobs.items()
    assert id_ == hashlib.sha256(blob).digest()


def test_the_state_is_there_even_if_it_is_empty() -> None:
    assert begun(said("user", "go")).run.HasField("conversation_state")


def test_a_history_that_ends_with_a_result_is_resumed() -> None:
    call = AssistantCall(id="c1", name="read", arguments='{"filePath": "a.txt"}')
    found = begun(
        said("user", "go"), said("assistant", "I will."), call, ToolResult(id="c1", output="alpha"), tools=(READ,)
    )
    assert found.run.action.WhichOneof("action") == "resume_action"
    assert found.run.action.resume_action.request_context.tools[0].name == "read"
    call_part = {"type": "tool-call", "toolCallId": "c1", "toolName": "read", "args": {"filePath": "a.txt"}}
    result_part = {"type": "tool-result", "toolCallId": "c1", "toolName": "read", "result": "alpha"}
    assert prompt(found) == [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": [{"type": "text", "text": "I will."}, call_part]},
        {"role": "tool", "content": [result_part]},
    ]


def test_arguments_that_are_no_object_stay_the_text_that_they_are() -> None:
    texts = ["[1]", '{"half', '{"a":' * 5000 + "1" + "}" * 5000]
    calls = [AssistantCall(id=text[:8], name="read", arguments=text) for text in texts]
    found = begun(said("user", "go"), *calls, said("user", "on"))
    assert [part["args"] for part in prompt(found)[1]["content"]] == texts


def test_tools_are_declared_in_the_request_and_in_its_context() -> None:
    found = begun(said("user", "go"), tools=(READ,))
    declared = {
        "name": "read",
        "description": "Reads a file",
        "input_schema": dict(READ.parameters),
        "provider_identifier": PROVIDER,
        "tool_name": "read",
    }
    context = found.run.action.user_message_action.request_context
    for tools in (found.run.mcp_tools.mcp_tools, context.tools, found.context.tools):
        assert [MessageToDict(tool, preserving_proto_field_name=True) for tool in tools] == [declared]


def test_every_request_is_a_session_of_its_own() -> None:
    conversation = Conversation(input=(TextPart("go"),))
    assert opening(conversation).run.conversation_id != opening(conversation).run.conversation_id


def test_the_model_is_the_services_choice_unless_one_is_named() -> None:
    assert opening(Conversation()).run.model_details.model_id == "default"
    named = opening(Conversation(model="mock-large")).run
    assert (named.model_details.model_id, named.requested_model.model_id) == ("mock-large", "mock-large")


def test_halves_of_characters_become_text() -> None:
    found = begun(said("system", "\ud83d\ude00"), said("user", "half \ud83d"))
    assert prompt(found) == [{"role": "system", "content": "\U0001f600"}]
    assert found.run.action.user_message_action.user_message.text == "half \ufffd"
    assert found.run.SerializeToString()


def test_nothing_of_this_machine_is_named() -> None:
    assert MessageToDict(begun(said("user", "go")).context.env) == {}
    assert list(opening(Conversation(), "/scratch").context.env.workspace_paths) == ["/scratch"]
