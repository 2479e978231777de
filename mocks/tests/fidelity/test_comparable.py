from __future__ import annotations

import json
from typing import Any

from wireproof_fidelity.comparable import by_thread, comparable

FIRST, SECOND = (f"01a1ffe5-b731-71f3-9a2c-00000000000{digit}" for digit in "12")


def one(message: dict[str, Any], **left_out: Any) -> Any:
    (line,) = comparable([message], **left_out)
    return json.loads(line)


def test_ids_are_named_in_the_order_in_which_they_appear() -> None:
    said = {"method": "m", "params": {"threadId": SECOND, "turnId": FIRST, "itemId": "msg_0007", "of": SECOND}}
    named = {"threadId": "<id 0>", "turnId": "<id 1>", "itemId": "<id 2>", "of": "<id 0>"}
    assert one(said)["params"] == named


def test_times_are_compared_by_their_type() -> None:
    said = {"params": {"startedAtMs": 5, "completedAt": None, "create_time": 1.5}, "emittedAtMs": 7}
    params = {"startedAtMs": "<time>", "completedAt": None, "create_time": "<fraction of a time>"}
    assert one(said) == {"params": params, "emittedAtMs": "<time>"}


def test_values_of_the_installation_and_words_of_the_service_are_put_aside() -> None:
    said = {"params": {"path": "/home/a", "none": None, "model": "stub-model"}}
    assert one(said, own={"path"}, words={"stub": "mock"}) == {
        "params": {"path": "<path>", "none": None, "model": "mock-model"}
    }
    assert one({"params": {"path": None}}, own={"path"}) == {"params": {"path": None}}


def test_a_list_of_models_is_compared_by_the_fields_of_one() -> None:
    assert one({"result": {"data": [{"displayName": "A", "id": "a"}, {"displayName": "B"}]}}) == {
        "result": {"data": ["id"]}
    }


def test_the_order_of_keys_counts() -> None:
    assert comparable([{"id": 1, "result": {}}]) != comparable([{"result": {}, "id": 1}])


def test_notifications_that_are_unsent_and_raw_context_are_passed_over() -> None:
    context = {"type": "message", "role": "developer", "content": []}
    messages = [
        {"method": "warning", "params": {}},
        {"method": "rawResponseItem/completed", "params": {"item": context}},
        {"method": "rawResponseItem/completed", "params": {"item": {"type": "message", "role": "user"}}},
    ]
    assert len(comparable(messages, unsent={"warning"})) == 1


def methods(*messages: dict[str, Any]) -> list[str]:
    return [json.loads(line).get("method", "response") for line in comparable(messages)]


def test_messages_that_race_stand_in_one_order() -> None:
    answer: dict[str, Any] = {"id": 1, "result": {"turn": {}}}
    status, started = {"method": "thread/status/changed"}, {"method": "turn/started"}
    assert methods(status, started, answer) == methods(answer, status, started)
    thread = {"method": "thread/started", "params": {"thread": {"id": "t"}}}
    servers = {"method": "codex/event/mcp_startup_complete", "params": {"conversationId": "t"}}
    assert methods(servers, status, thread) == methods(status, thread, servers)
    assert methods(servers, status) == methods(status, servers)
    over, item, call = {"method": "rawResponse/completed"}, {"method": "item/started"}, {"method": "item/tool/call"}
    assert methods(over, item, call) == methods(item, call, over)


def test_counts_may_race_with_calls() -> None:
    call = {"method": "item/started", "params": {"item": {"type": "dynamicToolCall"}}}
    counts, text = (
        {"method": "thread/tokenUsage/updated", "params": {}},
        {"method": "item/agentMessage/delta", "params": {}},
    )
    messages = [counts, call, text, counts]
    assert comparable(messages, counts_race=True) == comparable([call, counts, text, counts])
    assert comparable(messages) != comparable([call, counts, text, counts])


def test_threads_can_be_compared_each_for_itself() -> None:
    def message(thread: str, method: str = "m") -> Any:
        return {"method": method, "params": {"threadId": thread} if thread else {}}

    started = {"method": "thread/started", "params": {"thread": {"id": "b"}}}
    received = [message("a"), started, message(""), {"id": 1, "result": {}}, message("a", "n"), message("b")]
    assert by_thread(received) == [received[3], received[0], received[4], received[1], received[5], received[2]]
