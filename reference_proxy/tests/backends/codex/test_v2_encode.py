from __future__ import annotations

from wireproof_proxy.backends.codex.v2 import INITIALIZE, inject_items, thread_resume, thread_start, turn_start
from wireproof_surfaces.conversation import AssistantCall, Conversation, ImagePart, Message, TextPart, Tool, ToolResult

TOOL = Tool(name="f", description="does f", parameters={"type": "object"})


def test_the_handshake_asks_for_the_experimental_protocol() -> None:
    assert INITIALIZE["capabilities"] == {"experimentalApi": True}


def test_a_thread_gets_the_tools_and_the_developer_text_and_never_base_instructions() -> None:
    params = thread_start(Conversation(developer="Be brief.", tools=(TOOL,), model="gpt"), {})
    assert params == {
        "ephemeral": True,
        "environments": [],
        "approvalPolicy": "never",
        "sandbox": "read-only",
        "experimentalRawEvents": True,
        "dynamicTools": [{"type": "function", "name": "f", "description": "does f", "inputSchema": {"type": "object"}}],
        "developerInstructions": "Be brief.",
        "model": "gpt",
    }
    assert "baseInstructions" not in params


def test_a_thread_gets_the_config_of_its_version() -> None:
    assert thread_start(Conversation(), {"agents.enabled": False})["config"] == {"agents.enabled": False}


def test_a_thread_is_resumed_with_its_history_and_nothing_that_only_a_new_one_takes() -> None:
    conversation = Conversation(
        developer="Be brief.", model="gpt", history=(Message(role="user", parts=(TextPart("u"),)),)
    )
    assert thread_resume(conversation, {"a.b": False}) == {
        "threadId": "00000000-0000-0000-0000-000000000000",
        "approvalPolicy": "never",
        "sandbox": "read-only",
        "history": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "u"}]}],
        "config": {"a.b": False},
        "developerInstructions": "Be brief.",
        "model": "gpt",
    }


def test_tools_in_the_text_are_not_declared_again() -> None:
    assert "dynamicTools" not in thread_start(Conversation(tools=(TOOL,), tools_in_text=True), {})


def test_a_result_with_images_is_sent_in_parts() -> None:
    (item,) = inject_items("t", [ToolResult(id="c", output="done", images=(ImagePart("data:x"),))])["items"]
    assert item["output"] == [{"type": "input_text", "text": "done"}, {"type": "input_image", "image_url": "data:x"}]


def test_what_was_not_said_is_not_sent() -> None:
    params = thread_start(Conversation(), {})
    assert "developerInstructions" not in params
    assert "model" not in params


def test_history_becomes_responses_items_with_their_roles() -> None:
    history = (
        Message(role="system", parts=(TextPart("s"),)),
        Message(role="user", parts=(TextPart("u"), ImagePart("data:x"))),
        Message(role="assistant", parts=(TextPart("a"),)),
        AssistantCall(id="c", name="f", arguments="{ }"),
        ToolResult(id="c", output="done"),
    )
    assert inject_items("t", history) == {
        "threadId": "t",
        "items": [
            {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "s"}]},
            {
                "type": "message",
                "role": "user",
                "content": [{"type": "input_text", "text": "u"}, {"type": "input_image", "image_url": "data:x"}],
            },
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "a"}]},
            {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{ }"},
            {"type": "function_call_output", "call_id": "c", "output": "done"},
        ],
    }


def test_a_turn_starts_with_the_input() -> None:
    conversation = Conversation(input=(TextPart("hi"), ImagePart("data:x")), schema={"type": "object"})
    assert turn_start("t", conversation) == {
        "threadId": "t",
        "input": [{"type": "text", "text": "hi"}, {"type": "image", "url": "data:x"}],
        "outputSchema": {"type": "object"},
    }


def test_a_turn_may_start_without_any() -> None:
    assert turn_start("t", Conversation()) == {"threadId": "t", "input": []}
