from __future__ import annotations

from typing import Any

import pytest

from wireproof_proxy.backends.codex.decode import Decoder
from wireproof_proxy.backends.codex.rpc import Notice
from wireproof_proxy.backends.codex.turn_decoder import CodexTurnDecoder
from wireproof_surfaces.events import (
    ArgumentsAdded,
    CallBegan,
    CallClosed,
    CallsEnded,
    ChoiceFailed,
    ChoiceFinished,
    Event,
    FailureReason,
    TextAdded,
    TurnOver,
    UsageReported,
    Working,
)


def sent(kind: str, turn: str = "0", **msg: Any) -> Notice:
    return Notice(f"codex/event/{kind}", {"id": turn, "msg": {"type": kind, **msg}, "conversationId": "t"})


def play(*received: Notice, tools: str = "") -> list[Event]:
    decoder = Decoder(CodexTurnDecoder(tools=frozenset(tools)))
    events = [event for one in (sent("task_started"), *received) for event in decoder.feed(one)]
    return [event for event in events if not isinstance(event, Working | TurnOver)]


def test_text_is_received_in_one_of_its_two_types() -> None:
    first = sent("agent_message_content_delta", delta="ha", item_id="m")
    second = sent("agent_message_delta", delta="ha")
    whole = sent("agent_message", message="haha")
    assert play(first, second, first, second, whole) == [TextAdded(text="ha"), TextAdded(text="ha")]
    assert play(second, second, whole) == [TextAdded(text="ha"), TextAdded(text="ha")]
    assert play(whole) == [TextAdded(text="haha")]


def test_the_end_has_the_last_message_if_nothing_was_sent_before() -> None:
    stop = ChoiceFinished(reason="stop")
    assert play(sent("task_complete", last_agent_message="a")) == [TextAdded(text="a"), stop]
    assert play(sent("agent_message", message="a"), sent("task_complete", last_agent_message="a")) == [
        TextAdded(text="a"),
        stop,
    ]
    assert play(sent("task_complete", last_agent_message=None)) == [stop]


def test_usage_is_the_total() -> None:
    info = {"total_token_usage": {"input_tokens": 5, "output_tokens": 3}}
    assert play(sent("token_count", info=None), sent("token_count", info=info)) == [
        UsageReported(prompt=5, completion=3)
    ]


def test_a_raw_call_of_a_tool_that_was_offered_is_one() -> None:
    item = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{ }"}
    call = [CallBegan(id="c", name="f"), ArgumentsAdded(id="c", text="{ }"), CallClosed(id="c")]
    assert play(sent("raw_response_item", item=item), tools="f") == call
    assert play(sent("raw_response_item", item=item)) == []


def test_a_count_of_tokens_ends_the_calls_that_wait() -> None:
    item = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{ }"}
    info = {"total_token_usage": {"input_tokens": 5, "output_tokens": 3}}
    sent_twice = [sent("token_count", info=None), sent("raw_response_item", item=item), sent("token_count", info=None)]
    *before, closed = play(*sent_twice, tools="f")
    assert closed == CallClosed(id="c")
    assert play(*sent_twice, sent("token_count", info=info), tools="f") == [
        *before,
        closed,
        UsageReported(prompt=5, completion=3),
        CallsEnded(),
    ]


@pytest.mark.parametrize(
    ("end", "cause"),
    [
        (sent("error", message="no", codex_error_info="usage_limit_exceeded"), FailureReason.QUOTA),
        (sent("turn_aborted", reason="interrupted"), FailureReason.FAILED),
    ],
)
def test_failures_end_the_turn(end: Notice, cause: FailureReason) -> None:
    assert play(end, sent("task_complete")) == [ChoiceFailed(cause)]


def test_a_stream_that_starts_again_adds_only_what_was_not_sent_before() -> None:
    again = sent("stream_error", message="Reconnecting... 1/2")
    first, whole = sent("agent_message_delta", delta="a"), sent("agent_message_delta", delta="ab")
    assert play(again, first, again, whole) == [TextAdded(text="a"), TextAdded(text="b")]


def test_other_turns_and_other_types_are_not_received() -> None:
    assert (
        play(sent("agent_message", turn="9", message="a"), sent("exec_command_begin"), sent("task_started", turn="9"))
        == []
    )
    assert Decoder().feed(sent("mcp_startup_complete", turn="")) == []
