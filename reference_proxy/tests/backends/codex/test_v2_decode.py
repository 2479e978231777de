from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from wireproof_proxy.backends.codex.decode import Decoder
from wireproof_proxy.backends.codex.rpc import Notice, ServerRequest, decode
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
    MessageEnded,
    TextAdded,
    TurnOver,
    UsageReported,
    Working,
)

RECORDINGS = Path(__file__).parents[2] / "recordings" / "0.169.0"


def recorded(name: str, thread: int = 0) -> list[Notice | ServerRequest]:
    """What the real server said of the thread that was started as number `thread`."""
    lines = [json.loads(line) for line in (RECORDINGS / f"{name}.jsonl").read_text().splitlines()]
    messages = [decode(json.dumps(line["msg"]).encode()) for line in lines if line["dir"] == "S->"]
    received = [message for message in messages if isinstance(message, Notice | ServerRequest)]
    started = [message.params["thread"]["id"] for message in received if message.method == "thread/started"]
    return [message for message in received if message.params.get("threadId") == started[thread]]


def play(messages: list[Notice | ServerRequest], *tools: str) -> list[Event]:
    """The events of the first turn, without those that only show work."""
    decoder = Decoder(CodexTurnDecoder(tools=frozenset(tools)))
    events = [event for message in messages for event in decoder.feed(message)]
    return [event for event in events if not isinstance(event, Working | TurnOver)]


def call(id_: str, arguments: str, name: str = "localSearch") -> list[Event]:
    return [CallBegan(id=id_, name=name), ArgumentsAdded(id=id_, text=arguments), CallClosed(id=id_)]


USAGE = UsageReported(prompt=120, completion=30, cached=20, reasoning=5)
STOP = ChoiceFinished(reason="stop")


def test_a_text_turn_as_recorded() -> None:
    texts = [TextAdded(text=piece) for piece in ("Hello", " from", " the", " stub.")]
    assert play(recorded("golden_text_turn")) == [*texts, USAGE, STOP]


def test_a_call_as_recorded_in_the_models_own_characters() -> None:
    events = play(recorded("dyn_raw_events"), "localSearch")
    assert events[:5] == [*call("call_0126_0", '{ "query" :  "späce 😀" , "n":1.50}'), USAGE, CallsEnded()]


def test_an_interrupted_call_as_recorded_ends_before_the_interruption() -> None:
    events = play(recorded("golden_proxy_tool_flow"), "localSearch")
    assert events[:5] == [*call("call_0019_0", '{"query":"weiß 😀","n":1}'), USAGE, CallsEnded()]


def test_a_turn_after_a_tool_result_as_recorded() -> None:
    events = play(recorded("golden_proxy_tool_flow", thread=1), "localSearch")
    assert events == [TextAdded(text="Tool said: "), TextAdded(text='"note A"'), USAGE, STOP]


def test_thoughts_are_work_and_not_text() -> None:
    messages = recorded("raw_events")
    turn_ids = [message.params["turn"]["id"] for message in messages if message.method == "turn/started"]
    decoder = Decoder(CodexTurnDecoder(turn_id=turn_ids[-1]))
    events = [event for message in messages for event in decoder.feed(message)]
    assert Working() in events
    texts = [event.text for event in events if isinstance(event, TextAdded)]
    assert texts == ["after", " thought"]


def test_the_token_count_is_not_added_to_the_raw_count_of_the_same_response() -> None:
    events = play(recorded("raw_events"))
    assert [event for event in events if isinstance(event, UsageReported)] == [USAGE]


@pytest.mark.parametrize(
    ("name", "reason"), [("err_incomplete", "length"), ("err_incomplete_filter", "content_filter")]
)
def test_an_answer_cut_short_as_recorded_is_finished_not_failed(name: str, reason: Any) -> None:
    events = play(recorded(name))
    assert events[-1] == ChoiceFinished(reason=reason)
    assert TextAdded(text="trunc") in events


def test_an_answer_cut_short_as_recorded_still_has_its_usage() -> None:
    assert USAGE in play(recorded("err_incomplete"))


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("err_http_401", FailureReason.CREDENTIALS),
        ("err_http_429", FailureReason.RATE_LIMITED),
        ("err_http_500", FailureReason.FAILED),
        ("err_failed_ctx", FailureReason.CONTEXT),
        ("err_failed_quota", FailureReason.QUOTA),
        ("err_failed_rate", FailureReason.RATE_LIMITED),
        ("err_failed_overloaded", FailureReason.OVERLOADED),
        ("err_idle_timeout", FailureReason.TIMEOUT),
        ("err_conn_refused_bounded", FailureReason.UNREACHABLE),
    ],
)
def test_failures_as_recorded_have_a_cause_and_are_reported_once(name: str, cause: FailureReason) -> None:
    events = play(recorded(name))
    assert [event for event in events if isinstance(event, ChoiceFailed)] == [ChoiceFailed(cause)]


def test_an_interrupted_turn_as_recorded_has_no_answer() -> None:
    assert play(recorded("interrupt"))[-1] == ChoiceFailed(FailureReason.FAILED)


# TextCall by hand: what was not recorded


def started(turn: str = "u") -> Notice:
    return Notice("turn/started", {"threadId": "t", "turn": {"id": turn}})


def notice(method: str, **params: Any) -> Notice:
    return Notice(method, {"threadId": "t", "turnId": "u", **params})


def delta(text: str, item: str = "m") -> Notice:
    return notice("item/agentMessage/delta", itemId=item, delta=text)


def raw_call(id_: str, arguments: str, name: str = "f") -> Notice:
    item = {"type": "function_call", "call_id": id_, "name": name, "arguments": arguments}
    return notice("rawResponseItem/completed", item=item)


def tool_call(id_: str, arguments: Any) -> ServerRequest:
    return ServerRequest(
        0, "item/tool/call", {"threadId": "t", "turnId": "u", "callId": id_, "tool": "f", "arguments": arguments}
    )


def completed(status: str = "completed", **more: Any) -> Notice:
    return Notice("turn/completed", {"threadId": "t", "turn": {"id": "u", "status": status, **more}})


def test_a_message_without_deltas_is_sent_when_it_completes() -> None:
    item = {"type": "agentMessage", "id": "m", "text": "whole"}
    assert play([started(), notice("item/completed", item=item)]) == [TextAdded(text="whole")]


def test_each_of_two_messages_is_sent_once() -> None:
    one = notice("item/completed", item={"type": "agentMessage", "id": "m", "text": "a"})
    two = notice("item/completed", item={"type": "agentMessage", "id": "n", "text": "b"})
    assert play([started(), delta("a"), one, two]) == [TextAdded(text="a"), MessageEnded(), TextAdded(text="b")]


def test_repeats_that_the_model_said_survive_and_empty_deltas_do_not() -> None:
    assert play([started(), delta("ha"), delta(""), delta("ha")]) == [TextAdded(text="ha"), TextAdded(text="ha")]


def test_injected_history_sent_again_is_no_call() -> None:
    echo = Notice("rawResponseItem/completed", {**raw_call("c", "{}").params, "turnId": "auto-compact-0"})
    assert play([echo, started(), echo], "f") == []


def test_nothing_counts_before_the_turn_is_known_or_after_it_is_over() -> None:
    assert play([delta("early"), started(), delta("a"), completed(), delta("late")]) == [TextAdded(text="a"), STOP]


def test_a_call_of_a_tool_that_was_not_offered_is_the_backends_own() -> None:
    assert play([started(), raw_call("c", "{}", name="exec_command")], "f") == []


def test_a_call_without_a_raw_item_is_sent_as_compact_json() -> None:
    events = play([started(), tool_call("c", {"a": [1, "é"]})], "f")
    assert events == call("c", '{"a":[1,"é"]}', name="f")


def test_a_call_whose_arguments_cannot_be_parsed_is_sent_as_it_is() -> None:
    ended = notice("rawResponse/completed", usage=None)
    assert play([started(), raw_call("c", '{"a":'), ended], "f") == [*call("c", '{"a":', name="f"), CallsEnded()]


def test_a_call_sent_twice_is_one_and_two_alike_are_two() -> None:
    messages: list[Notice | ServerRequest] = [started(), raw_call("c", "{}"), tool_call("c", {}), raw_call("d", "{}")]
    assert play(messages, "f") == [*call("c", "{}", name="f"), *call("d", "{}", name="f")]


def test_a_call_after_the_response_ends_the_calls_at_once() -> None:
    ended = notice("rawResponse/completed", usage=None)
    assert play([started(), ended, tool_call("c", {})], "f") == [*call("c", "{}", name="f"), CallsEnded()]


def test_usage_adds_up_over_the_responses_of_a_turn() -> None:
    used = notice("rawResponse/completed", usage={"inputTokens": 1, "outputTokens": 2})
    counted = notice(
        "thread/tokenUsage/updated", tokenUsage={"total": {"inputTokens": 9, "outputTokens": 9}, "last": {}}
    )
    assert play([started(), used, counted, used])[-1] == UsageReported(prompt=2, completion=4)
    assert play([started(), counted, counted])[-1] == UsageReported(prompt=9, completion=9)


@pytest.mark.parametrize("usage", [None, {}, {"inputTokens": "1", "outputTokens": 2}, [1]])
def test_usage_that_says_nothing_is_none(usage: Any) -> None:
    assert play([started(), notice("rawResponse/completed", usage=usage)]) == []
    assert play([started(), notice("thread/tokenUsage/updated", tokenUsage={"total": usage})]) == []


def test_the_count_of_tokens_ends_calls_and_nothing_else() -> None:
    count = notice("thread/tokenUsage/updated", tokenUsage={"total": {"inputTokens": 7, "outputTokens": 2}})
    usage = UsageReported(prompt=7, completion=2)
    assert play([started(), delta("a"), count]) == [TextAdded(text="a"), usage]
    assert play([started(), raw_call("c", "{}"), count], "f")[-2:] == [usage, CallsEnded()]


def retry() -> Notice:
    return notice("error", willRetry=True, error={"message": "Reconnecting... 1/2"})


def test_a_retry_before_any_text_is_waited_for() -> None:
    assert play([started(), retry(), delta("a"), completed()]) == [TextAdded(text="a"), STOP]


def test_a_retry_that_repeats_what_was_sent_adds_only_the_rest() -> None:
    again = [delta("a", item="n"), delta("bc", item="n")]
    assert play([started(), delta("ab"), retry(), *again, completed()]) == [
        TextAdded(text="ab"),
        TextAdded(text="c"),
        STOP,
    ]


def test_a_retry_that_says_something_else_cannot_take_back_what_was_sent() -> None:
    assert play([started(), delta("a"), retry(), delta("b", item="n")]) == [
        TextAdded(text="a"),
        ChoiceFailed(FailureReason.FAILED),
    ]


def test_a_retry_after_a_complete_message_repeats_nothing() -> None:
    whole = notice("item/completed", item={"type": "agentMessage", "id": "m", "text": "a"})
    assert play([started(), delta("a"), whole, retry(), completed()]) == [TextAdded(text="a"), STOP]
