from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wireproof_codex.legacy.codex_events import notification, token_count, twins
from wireproof_scripts.steps import Call, Fail, Hang, Say, Script, Think

if TYPE_CHECKING:
    from mocks.tests.codex.conftest import Client, MakeClient

SEARCH = Call(id="call_1", name="search", arguments="{}")


def _double(*steps: Any) -> dict[str, Script]:
    return {"a": Script(name="a", title="", parts=(steps, ()), notifications="double")}


def test_a_message_is_sent_under_its_type() -> None:
    assert notification("t", "c", {"type": "x"}) == (
        "codex/event/x",
        {"id": "t", "msg": {"type": "x"}, "conversationId": "c"},
    )


def test_what_has_no_older_form_has_no_twin() -> None:
    assert twins("thread/status/changed", {}) == ((), ())
    assert token_count(None)["info"] is None


def test_a_delta_of_text_is_three_lines(make_client: MakeClient) -> None:
    received = make_client(_double(Say(("a", "a")))).play("[[wireproof:a#1]]")
    text = [method for method in received.methods if "delta" in method]
    assert text == 2 * [
        "codex/event/agent_message_content_delta",
        "item/agentMessage/delta",
        "codex/event/agent_message_delta",
    ]
    assert [message["delta"] for message in received.events("agent_message_delta")] == ["a", "a"]
    assert received.events("agent_message") == [{"type": "agent_message", "message": "aa", "phase": None}]
    assert received.events("task_complete")[0]["last_agent_message"] == "aa"


def test_thoughts_are_sent_in_both_families(make_client: MakeClient) -> None:
    received = make_client(_double(Think("hm"))).play("[[wireproof:a#1]]")
    assert received.events("agent_reasoning") == [{"type": "agent_reasoning", "text": "hm"}]
    assert received.events("reasoning_content_delta")[0]["summary_index"] == 0
    assert received.events("agent_reasoning_section_break")[0]["item_id"]


def test_thoughts_themselves_are_sent_in_both_families(make_client: MakeClient) -> None:
    received = make_client(_double(Think("hm, so", ("hm, ", "so"), ("a", "b"), "e"))).play("[[wireproof:a#1]]")
    assert [event["delta"] for event in received.events("agent_reasoning_delta")] == ["hm, ", "so"]
    assert [event["delta"] for event in received.events("agent_reasoning_raw_content_delta")] == ["a", "b"]
    assert [event["content_index"] for event in received.events("reasoning_raw_content_delta")] == [0, 0]
    assert received.params_of("item/completed")[1]["item"]["content"] == ["ab"]


def test_a_native_call_is_sent_in_both_families(make_client: MakeClient) -> None:
    client = make_client(_double(SEARCH))
    received = client.play("[[wireproof:a#1]]", "search")
    (asked,) = received.events("dynamic_tool_call_request")
    assert (asked["callId"], asked["tool"], asked["arguments"]) == ("call_1", "search", {})
    client.now += 1.25
    (answered,) = client.answer(0, "found").events("dynamic_tool_call_response")
    assert answered["content_items"] == [{"type": "inputText", "text": "found"}]
    assert answered["duration"] == {"secs": 1, "nanos": 250_000_000}


def test_a_failure_is_sent_in_both_families(make_client: MakeClient) -> None:
    received = make_client(_double(Fail("http-429"))).play("[[wireproof:a#1]]")
    assert received.events("error")[0]["codex_error_info"] == {
        "response_too_many_failed_attempts": {"http_status_code": 429}
    }
    assert received.events("task_complete")[0]["last_agent_message"] is None


def test_an_unknown_status_stays_unknown(make_client: MakeClient) -> None:
    received = make_client(_double(Fail("connection"))).play("[[wireproof:a#1]]")
    assert received.events("error")[0]["codex_error_info"] == {"http_connection_failed": {"http_status_code": None}}


def test_an_interrupt_is_sent_in_both_families(make_client: MakeClient) -> None:
    client = make_client(_double(Hang()))
    thread = client.start_thread()
    turn, _ = client.start_turn(thread, "[[wireproof:a#1]]")
    _, received = client.ask("turn/interrupt", {"threadId": thread, "turnId": turn})
    assert received.events("turn_aborted") == [{"type": "turn_aborted", "turn_id": turn, "reason": "interrupted"}]
    assert received.events("task_complete") == []


def test_images_are_named_beside_the_text(older: Client) -> None:
    thread = older.start_thread()
    given = [
        {"type": "text", "text": "look"},
        {"type": "image", "url": "https://example.invalid/x.png"},
        {"type": "localImage", "path": "/x.png"},
    ]
    _, received = older.ask("turn/start", {"threadId": thread, "input": given})
    (message,) = received.events("user_message")
    assert (message["message"], message["images"], message["local_images"]) == (
        "look",
        ["https://example.invalid/x.png"],
        ["/x.png"],
    )
