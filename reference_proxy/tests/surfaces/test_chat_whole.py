from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from wireproof_surfaces.errors import ApiError
from wireproof_surfaces.events import (
    ArgumentsAdded,
    CallBegan,
    CallClosed,
    ChoiceFailed,
    ChoiceFinished,
    FailureReason,
    Quiet,
    TextAdded,
    TurnEvent,
    UsageReported,
)
from wireproof_surfaces.surfaces.chat_answer import ChatHead, ChatWhole
from wireproof_surfaces.surfaces.chat_dialect import CallFormat, ChatFormat
from wireproof_surfaces.surfaces.writer import pieces
from wireproof_surfaces.tools import use_tool

if TYPE_CHECKING:
    from collections.abc import Iterable

HEAD = ChatHead(id="chatcmpl-1", created=7, model="m", prompt_bytes=lambda: 40)


def collect(said: Iterable[TurnEvent], head: ChatHead) -> Any:
    """The whole answer of these events."""
    return json.loads(b"".join(pieces(said, ChatWhole(head))))


def test_a_text_is_one_message() -> None:
    said: list[TurnEvent] = [
        TextAdded(text="Hel"),
        Quiet(1),
        TextAdded(text="lo"),
        UsageReported(prompt=1, completion=2),
        ChoiceFinished(reason="length"),
    ]
    answer = collect(said, HEAD)
    assert answer["choices"] == [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "Hello", "refusal": None, "annotations": []},
            "logprobs": None,
            "finish_reason": "length",
        }
    ]
    assert (answer["id"], answer["object"], answer["created"], answer["model"]) == (
        "chatcmpl-1",
        "chat.completion",
        7,
        "m",
    )
    assert answer["usage"]["total_tokens"] == 3


def test_an_empty_text_stays_empty() -> None:
    assert collect([ChoiceFinished(reason="stop")], HEAD)["choices"][0]["message"]["content"] == ""


def test_calls_have_no_content_beside_them() -> None:
    said: list[Any] = [TextAdded(text="Let me see.")]
    for id_ in ("a", "b"):
        said += [CallBegan(id=id_, name="f"), ArgumentsAdded(id=id_, text="{ "), ArgumentsAdded(id=id_, text="}")]
        said.append(CallClosed(id=id_))
    message = collect([*said, ChoiceFinished(reason="tool_calls")], HEAD)["choices"][0]["message"]
    assert message["content"] is None
    assert message["tool_calls"] == [
        {"id": id_, "type": "function", "function": {"name": "f", "arguments": "{ }"}} for id_ in ("a", "b")
    ]


def test_usage_that_was_not_reported_is_estimated() -> None:
    said: list[TurnEvent] = [
        TextAdded(text="12345"),
        CallBegan(id="a", name="f"),
        ArgumentsAdded(id="a", text="{}"),
        ChoiceFinished(reason="stop"),
    ]
    usage = collect(said, HEAD)["usage"]
    assert (usage["prompt_tokens"], usage["completion_tokens"]) == (10, 2)


def test_a_failure_is_an_http_error_whatever_was_said_before() -> None:
    with pytest.raises(ApiError):
        collect([TextAdded(text="a"), ChoiceFailed(FailureReason.TIMEOUT)], HEAD)


def calls(*ids: str) -> list[Any]:
    return [
        event
        for id_ in ids
        for event in (CallBegan(id=id_, name="f"), ArgumentsAdded(id=id_, text=f'{{"q":"{id_}"}}'), CallClosed(id=id_))
    ]


def message(call_format: CallFormat, *said: Any) -> Any:
    head = ChatHead(id="chatcmpl-1", created=7, model="m", call_format=call_format)
    return collect([*said, ChoiceFinished(reason="tool_calls")], head)["choices"][0]["message"]


def block(id_: str) -> str:
    return use_tool.write("f", f'{{"q":"{id_}"}}')


def test_the_first_block_is_the_content_and_all_calls_stand_beside_it() -> None:
    sent = message(CallFormat(dialect=ChatFormat.OBSIDIAN_XML), TextAdded(text="Let me see."), *calls("a", "b"))
    assert sent["content"] == block("a")
    assert [call["id"] for call in sent["tool_calls"]] == ["a", "b"]


def test_a_burst_shows_all_blocks_in_the_order_of_their_completion() -> None:
    call_format = CallFormat(dialect=ChatFormat.OBSIDIAN_XML, policy="burst", delimiter="--")
    one, two = calls("a"), calls("b")
    sent = message(call_format, one[0], *two, *one[1:])
    assert sent["content"] == f"{block('b')}--{block('a')}"
    assert [call["id"] for call in sent["tool_calls"]] == ["a", "b"]


def test_the_function_call_dialect_shows_one_call_without_an_id() -> None:
    sent = message(CallFormat(dialect=ChatFormat.FUNCTION_CALL), *calls("a"))
    assert sent["function_call"] == {"name": "f", "arguments": '{"q":"a"}'}
    assert sent["content"] is None
    assert "tool_calls" not in sent
    head = ChatHead(id="chatcmpl-1", created=7, model="m", call_format=CallFormat(dialect=ChatFormat.FUNCTION_CALL))
    assert (
        collect([*calls("a"), ChoiceFinished(reason="tool_calls")], head)["choices"][0]["finish_reason"]
        == "function_call"
    )


def test_a_tail_that_was_let_through_stands_behind_the_calls() -> None:
    tail = TextAdded(text=" tail")
    assert message(CallFormat(), *calls("a"), tail)["content"] == " tail"
    assert message(CallFormat(dialect=ChatFormat.OBSIDIAN_XML), *calls("a"), tail)["content"] == f"{block('a')} tail"


def test_choices_stand_in_order_and_each_says_its_own() -> None:
    said: list[Any] = [
        TextAdded(choice=1, text="one"),
        TextAdded(text="zero"),
        ChoiceFinished(choice=1, reason="length"),
        ChoiceFinished(reason="stop"),
    ]
    sent = collect(said, ChatHead(id="chatcmpl-1", created=7, model="m", choices=3))["choices"]
    assert [(one["index"], one["message"]["content"], one["finish_reason"]) for one in sent] == [
        (0, "zero", "stop"),
        (1, "one", "length"),
        (2, "", "stop"),
    ]


def test_an_incomplete_call_is_not_shown_as_a_block() -> None:
    sent = message(CallFormat(dialect=ChatFormat.OBSIDIAN_XML), *calls("a"), *calls("b")[:2])
    assert sent["content"] == block("a")
    assert collect([Quiet(1), *calls("a")], HEAD)["choices"][0]["finish_reason"] == "stop"


def test_what_a_service_says_of_itself_stands_beside_the_answer() -> None:
    said: list[TurnEvent] = [TextAdded(text="Hi"), ChoiceFinished(reason="stop")]
    assert collect(said, replace(HEAD, service={"service_tier": "default"}))["service_tier"] == "default"
    assert "service_tier" not in collect(said, HEAD)
