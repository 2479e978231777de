from __future__ import annotations

from typing import Any

from wireproof_scripts.library import LIBRARY
from wireproof_scripts.steps import Call, Fail, Finish, Say, Script, Step, Think, Usage

SEARCH = Call(id="call_1", name="search", arguments="{}")
RAW = {"experimentalRawEvents": True}


def _story(*parts: tuple[Step, ...]) -> dict[str, Script]:
    return {"a": Script(name="a", title="", parts=parts, notifications="story")}


def test_text_is_sent_in_deltas_and_once_whole(make_client: Any) -> None:
    thread_id = (client := make_client(_story((Say(("Hel", "lo")), Usage(input=5, output=2, cached=1))))).start_thread()
    _, heard = client.start_turn(thread_id, "[[wireproof:a#1]]")
    assert heard.told("agentMessageDelta") == [{"threadId": thread_id, "delta": piece} for piece in ("Hel", "lo")]
    assert heard.told("agentMessage") == [{"threadId": thread_id, "message": {"role": "assistant", "content": "Hello"}}]
    (counted,) = heard.told("tokenCount")
    assert counted["finish_reason"] == "stop"
    assert counted["usage"] == {
        "prompt_tokens": 5,
        "completion_tokens": 2,
        "total_tokens": 7,
        "prompt_tokens_details": {"cached_tokens": 1},
        "completion_tokens_details": {"reasoning_tokens": 0},
    }
    assert heard.told("turn/completed")[0]["turn"]["status"] == "completed"
    assert not {"item/agentMessage/delta", "thread/tokenUsage/updated"} & set(heard.methods)


def test_what_was_said_is_in_the_history(make_client: Any) -> None:
    client = make_client(_story((Say(("Hi",)),)))
    thread = client.start_thread()
    client.start_turn(thread, "[[wireproof:a#1]]")
    assert client.server.threads.get(thread).history[-1]["content"][0]["text"] == "Hi"


def test_a_cut_off_answer_is_no_failure(make_client: Any) -> None:
    heard = make_client(_story((Say(("x",)), Finish("length")))).play("[[wireproof:a#1]]")
    assert heard.told("tokenCount")[0]["finish_reason"] == "length"
    assert heard.told("turn/completed")[0]["turn"]["status"] == "completed"


def test_calls_win_over_other_reasons(make_client: Any) -> None:
    call = Call(id="c", name="f", arguments="{}", shape="delta-tool-calls")
    heard = make_client(_story((Say(("x",)), call, Say(("y",)), Finish("length")))).play("[[wireproof:a#1]]")
    assert heard.told("tokenCount")[0]["finish_reason"] == "tool_calls"
    assert [message["message"]["content"] for message in heard.told("agentMessage")] == ["xy"]


def test_choices_bear_their_index_and_end_one_by_one(make_client: Any) -> None:
    heard = make_client(LIBRARY).play("[[wireproof:choices/indexed#1]]")
    whole = [(told["message"]["content"], told["choice_index"]) for told in heard.told("agentMessage")]
    assert whole == [("Zero begins, goes on, and ends.", 0), ("One begins, goes on, and is cut", 1)]
    ends = [(told.get("finish_reason"), told.get("choice_index")) for told in heard.told("tokenCount")]
    assert ends == [("stop", 0), ("length", 1), (None, None)]
    assert [told.get("choice_index") for told in heard.told("agentMessageDelta")] == [0, 0, 1, 1, None, 1, 0, 1]


def test_a_call_of_a_choice_makes_its_reason(make_client: Any) -> None:
    call = Call(id="c", name="f", arguments="{}", shape="delta-tool-calls", choice=1)
    part = (Say(("x",), choice=0), call, Finish("stop", choice=0), Finish("stop", choice=1))
    heard = make_client(_story(part)).play("[[wireproof:a#1]]")
    assert [told.get("finish_reason") for told in heard.told("tokenCount")] == ["stop", "tool_calls", None]
    assert [told["delta"]["tool_calls"][0]["index"] for told in heard.told("agentMessageDelta")[1:]] == [0, 0]


def test_a_native_call_is_sent_natively(make_client: Any) -> None:
    client = make_client(_story((Say(("Let me",)), SEARCH), (Say(("Found",)),)))
    heard = client.play("[[wireproof:a#1]]", "search", **RAW)
    assert heard.asked[0]["params"]["tool"] == "search"
    assert heard.methods[-1] == "rawResponse/completed"
    assert heard.told("tokenCount") == []
    heard = client.answer(heard.asked[0]["id"])
    assert [told["finish_reason"] for told in heard.told("tokenCount")] == ["tool_calls", "stop"]
    assert heard.deltas == ["Found"]


def test_without_a_native_call_no_raw_response_counts_a_second_time(make_client: Any) -> None:
    heard = make_client(_story((Say(("x",)),))).play("[[wireproof:a#1]]", **RAW)
    assert "rawResponse/completed" not in heard.methods
    assert [item["role"] for item in heard.raw] == ["user"]


def test_a_failure_completes_no_message(make_client: Any) -> None:
    heard = make_client(_story((Say(("x",)), Fail("cut")))).play("[[wireproof:a#1]]")
    assert heard.told("agentMessage") == []
    assert heard.told("error")[0]["error"]["message"].startswith("stream disconnected")


def test_thoughts_are_sent_as_ever(make_client: Any) -> None:
    heard = make_client(_story((Think("hm"), Say(("x",))))).play("[[wireproof:a#1]]")
    assert heard.told("item/reasoning/summaryTextDelta")[0]["delta"] == "hm"


def test_a_conversation_is_named_so(make_client: Any) -> None:
    client = make_client(_story((Say(("x",)),)), version="0.89.0")
    conversation, _ = client.ask("newConversation", {})
    client.ask("addConversationListener", {"conversationId": conversation["conversationId"]})
    items = [{"type": "text", "data": {"text": "[[wireproof:a#1]]"}}]
    _, heard = client.ask("sendUserMessage", {"conversationId": conversation["conversationId"], "items": items})
    (delta,) = heard.told("agentMessageDelta")
    assert delta == {"conversationId": conversation["conversationId"], "delta": "x"}
    assert heard.told("tokenCount")[0]["finish_reason"] == "stop"
    assert heard.events("agent_message_delta") == []
    assert heard.methods[-2:] == ["codex/event/task_complete", "turn/completed"]


def test_text_without_deltas_is_sent_in_the_message_alone(make_client: Any) -> None:
    steps = (Say(("Hel", "lo"), whole=True), Say(("!",), whole=True, choice=0), Usage(unknown=True))
    heard = make_client(_story(steps)).play("[[wireproof:a#1]]")
    assert heard.deltas == []
    (told,) = heard.told("agentMessage")
    assert (told["message"]["content"], told["choice_index"]) == ("Hello!", 0)
    (counted,) = heard.told("tokenCount")
    assert (counted["finish_reason"], "usage" in counted) == ("stop", False)


def test_all_but_the_thread_may_be_nested(make_client: Any) -> None:
    call = Call(id="c", name="f", arguments="{}", shape="delta-tool-calls")
    parts = ((Say(("x",)), call, Finish("stop")),)
    flat, nested = (
        make_client({"a": Script(name="a", title="", parts=parts, notifications=kind)}).play("[[wireproof:a#1]]")
        for kind in ("story", "nested")
    )
    for method in ("agentMessageDelta", "agentMessage", "tokenCount"):
        inside = [{"threadId": told["threadId"], **told["msg"]} for told in nested.told(method)]
        beside = [{**told, "threadId": inside[0]["threadId"]} for told in flat.told(method)]
        assert inside == beside
        assert all(told.keys() == {"threadId", "msg"} for told in nested.told(method))
