"""Conversations as requests to Messages."""

from __future__ import annotations

from typing import Any

import pytest

from wireproof.requests.messages_body import LIMIT, conversation, spelt, tool_choice

Json = dict[str, Any]

USER: Json = {"role": "user", "content": "Hello."}
CALL: Json = {
    "role": "assistant",
    "content": "I look.",
    "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"q": 1.50}'}}],
}
RESULT: Json = {"role": "tool", "tool_call_id": "c1", "content": "Noon."}
TOOL: Json = {"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object"}}}


def test_instructions_at_the_beginning_are_the_system_and_later_ones_stay_in_their_place() -> None:
    said = conversation([{"role": "system", "content": "A"}, {"role": "developer", "content": "B"}, USER,
                         {"role": "developer", "content": "C"}])  # fmt: skip
    assert said["system"] == [{"type": "text", "text": "A"}, {"type": "text", "text": "B"}]
    assert said["messages"] == [USER, {"role": "system", "content": "C"}]
    assert conversation([USER]) == {"messages": [USER]}


def test_calls_are_blocks_and_results_share_the_users_next_message() -> None:
    _, called, answered = conversation([USER, CALL, RESULT, {"role": "user", "content": "So?"}])["messages"]
    assert called["content"] == [
        {"type": "text", "text": "I look."}, {"type": "tool_use", "id": "c1", "name": "f", "input": {"q": 1.5}},
    ]  # fmt: skip
    assert answered == {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "c1", "content": "Noon."}, {"type": "text", "text": "So?"},
        ],
    }  # fmt: skip


def test_two_texts_of_the_user_stay_two_messages() -> None:
    assert len(conversation([USER, USER])["messages"]) == 2


def test_a_call_without_text_has_no_empty_block() -> None:
    (said,) = conversation([{**CALL, "content": None}])["messages"]
    assert [block["type"] for block in said["content"]] == ["tool_use"]


@pytest.mark.parametrize(
    ("url", "source"),
    [
        ("data:image/png;base64,QUJD", {"type": "base64", "media_type": "image/png", "data": "QUJD"}),
        ("http://a/b.png", {"type": "url", "url": "http://a/b.png"}),
    ],
)
def test_an_image_is_data_or_an_address(url: str, source: Json) -> None:
    parts = [{"type": "text", "text": "Look."}, {"type": "image_url", "image_url": {"url": url}}]
    (said,) = conversation([{"role": "user", "content": parts}])["messages"]
    assert said["content"][1] == {"type": "image", "source": source}


@pytest.mark.parametrize(
    ("choice", "parallel", "wanted"),
    [
        (None, None, {}),
        ("auto", None, {"type": "auto"}),
        ("none", True, {"type": "none"}),
        ("required", None, {"type": "any"}),
        ({"type": "function", "function": {"name": "f"}}, None, {"type": "tool", "name": "f"}),
        (None, False, {"type": "auto", "disable_parallel_tool_use": True}),
        (None, True, {"type": "auto", "disable_parallel_tool_use": False}),
        ("required", False, {"type": "any", "disable_parallel_tool_use": True}),
    ],
)
def test_one_member_says_which_calls_and_how_many(choice: object, parallel: object, wanted: Json) -> None:
    assert tool_choice(choice, parallel) == wanted


def test_what_is_asked_for_besides_is_spelt_as_this_surface_does() -> None:
    schema = {"name": "n", "schema": {"type": "object"}}
    asked = {"tools": [TOOL], "stop": "END", "response_format": {"type": "json_schema", "json_schema": schema}}
    assert spelt(asked) == {
        "max_tokens": LIMIT,
        "tools": [{"name": "f", "description": "d", "input_schema": {"type": "object"}}],
        "stop_sequences": ["END"],
        "output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}},
    }
    assert spelt({"max_tokens": 5}) == {"max_tokens": 5}
