from __future__ import annotations

from typing import Any

import pytest

from wireproof_surfaces.conversation import AssistantCall, ImagePart, Message, TextPart, ToolResult
from wireproof_surfaces.errors import ApiError
from wireproof_surfaces.surfaces.chat_messages import items, messages

USER = {"role": "user", "content": "hi"}


def called(id_: Any = "c", name: Any = "f", arguments: Any = "{}") -> dict[str, Any]:
    call = {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


RESULT = {"role": "tool", "tool_call_id": "c", "content": "done"}


@pytest.mark.parametrize(
    ("sent", "param"),
    [
        (None, "messages"),
        ([], "messages"),
        ("hi", "messages"),
        ({}, "messages"),
        (["hi"], "messages[0]"),
        ([{"content": "x"}], "messages[0].role"),
        ([USER, {"role": "robot", "content": "x"}], "messages[1].role"),
        ([{"role": ["user"], "content": "x"}], "messages[0].role"),
        ([{"role": "user"}], "messages[0].content"),
        ([{"role": "user", "content": None}], "messages[0].content"),
        ([{"role": "user", "content": 1}], "messages[0].content"),
        ([{"role": "user", "content": []}], "messages[0].content"),
        ([{"role": "user", "content": [{"type": "input_audio"}]}], "messages[0].content"),
        ([{"role": "user", "content": [{"type": "text"}]}], "messages[0].content"),
        ([{"role": "user", "content": [{"type": "image_url", "image_url": {"url": ""}}]}], "messages[0].content"),
        ([{"role": "user", "content": [{"type": "file", "file": {"file_data": "data:x"}}]}], "messages[0].content"),
        ([{"role": "system", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}], "messages[0].content"),
        ([{"role": "user", "content": [{"type": "refusal", "refusal": "x"}]}], "messages[0].content"),
        ([{"role": "assistant", "content": None}], "messages[0].content"),
        ([{"role": "assistant", "content": None, "tool_calls": []}], "messages[0].content"),
        ([{"role": "assistant", "content": "x", "tool_calls": {}}], "messages[0].tool_calls"),
        ([called(id_=1)], "messages[0].tool_calls[0]"),
        ([called(id_="")], "messages[0].tool_calls[0]"),
        ([called(arguments={})], "messages[0].tool_calls[0]"),
        ([{"role": "assistant", "function_call": {"name": "f"}}], "messages[0].function_call"),
        ([USER, RESULT], "messages[1].tool_call_id"),
        ([called(), {**RESULT, "tool_call_id": None}], "messages[1].tool_call_id"),
        ([called(), {**RESULT, "tool_call_id": ["c"]}], "messages[1].tool_call_id"),
        ([called(), {**RESULT, "tool_call_id": "d"}], "messages[1].tool_call_id"),
        ([called(), {**RESULT, "content": None}], "messages[1].content"),
        ([{"role": "function", "content": "x"}], "messages[0].name"),
    ],
)
def test_the_first_fault_is_at_its_place(sent: Any, param: str) -> None:
    with pytest.raises(ApiError) as raised:
        messages({"messages": sent})
    assert raised.value.param == param


def test_what_real_clients_send_has_no_fault() -> None:
    sent: list[Any] = [
        {"role": "system", "content": [{"type": "text", "text": "s"}]},
        {
            "role": "user",
            "content": [{"type": "text", "text": "u"}, {"type": "image_url", "image_url": {"url": "data:"}}],
        },
        called(),
        RESULT,
        {"role": "assistant", "content": "", "tool_calls": None},
        {"role": "assistant", "content": None, "refusal": "no"},
        {"role": "assistant", "content": None, "function_call": {"name": "g", "arguments": "{}"}},
        {"role": "function", "name": "g", "content": "x"},
        {"role": "user", "name": "someone", "content": ""},
    ]
    messages({"messages": sent})


@pytest.mark.parametrize(
    "member", [{"function_call": True}, {"tool_calls": ["a"]}, {"tool_calls": called()["tool_calls"]}]
)
def test_only_an_assistant_calls(member: dict[str, Any]) -> None:
    sent = [{"role": "user", "content": "", **member}]
    messages({"messages": sent})
    assert list(items(sent)) == [Message(role="user", parts=(TextPart(""),))]


def test_messages_become_items_in_order() -> None:
    sent: list[Any] = [
        {"role": "developer", "content": "d"},
        {
            "role": "user",
            "content": [{"type": "text", "text": "u"}, {"type": "image_url", "image_url": {"url": "data:x"}}],
        },
        {**called(arguments="{ }"), "content": "Let me see."},
        {**RESULT, "content": [{"type": "text", "text": "do"}, {"type": "text", "text": "ne"}]},
        {"role": "assistant", "content": None, "refusal": "no"},
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "never"}]},
    ]
    assert list(items(sent)) == [
        Message(role="developer", parts=(TextPart("d"),)),
        Message(role="user", parts=(TextPart("u"), ImagePart("data:x"))),
        Message(role="assistant", parts=(TextPart("Let me see."),)),
        AssistantCall(id="c", name="f", arguments="{ }"),
        ToolResult(id="c", output="done"),
        Message(role="assistant", parts=(TextPart("no"),)),
        Message(role="assistant", parts=(TextPart("never"),)),
    ]


@pytest.mark.parametrize("content", [None, ""])
def test_an_assistant_that_only_calls_says_nothing(content: Any) -> None:
    assert list(items([{**called(), "content": content}])) == [AssistantCall(id="c", name="f", arguments="{}")]


def test_an_empty_text_is_still_a_message() -> None:
    assert list(items([{"role": "user", "content": ""}])) == [Message(role="user", parts=(TextPart(""),))]


def test_legacy_calls_and_their_results_are_paired_by_name() -> None:
    sent: list[Any] = []
    for name in ("f", "g"):
        sent += [{"role": "assistant", "content": None, "function_call": {"name": name, "arguments": "{}"}}]
    sent += [{"role": "function", "name": name, "content": name} for name in ("f", "g", "h")]
    calls = [item for item in items(sent) if isinstance(item, AssistantCall)]
    results = [item for item in items(sent) if isinstance(item, ToolResult)]
    assert [call.id for call in calls] == [result.id for result in results[:2]]
    assert len({result.id for result in results}) == 3


def test_a_legacy_result_under_another_name_answers_the_call_that_waits() -> None:
    def call(name: str) -> dict[str, Any]:
        return {"role": "assistant", "content": None, "function_call": {"name": name, "arguments": "{}"}}

    result = {"role": "function", "name": "f", "content": "x"}
    sent = list(items([call("f"), result, call("g"), result, call("f"), call("f"), result, result]))
    calls = [item.id for item in sent if isinstance(item, AssistantCall)]
    assert len(set(calls)) == 4
    assert [item.id for item in sent if isinstance(item, ToolResult)] == [calls[0], calls[1], calls[3], calls[2]]
