from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof_scripts.library import LIBRARY
from wireproof_scripts.steps import Call, Fail, Finish, Say, Script, Step, Think, Usage

if TYPE_CHECKING:
    from mocks.tests.codex.conftest import MakeClient

SEARCH = Call(id="call_1", name="search", arguments="{}")
RAW = {"experimentalRawEvents": True}


def _story(*parts: tuple[Step, ...]) -> dict[str, Script]:
    return {"a": Script(name="a", title="", parts=parts, notifications="story")}


def test_text_is_sent_in_deltas_and_once_whole(make_client: MakeClient) -> None:
    thread_id = (client := make_client(_story((Say(("Hel", "lo")), Usage(input=5, output=2, cached=1))))).start_thread()
    _, received = client.start_turn(thread_id, "[[wireproof:a#1]]")
    assert received.params_of("agentMessageDelta") == [
        {"threadId": thread_id, "delta": piece} for piece in ("Hel", "lo")
    ]
    assert received.params_of("agentMessage") == [
        {"threadId": thread_id, "message": {"role": "assistant", "content": "Hello"}}
    ]
    (counted,) = received.params_of("tokenCount")
    assert counted["finish_reason"] == "stop"
    assert counted["usage"] == {
        "prompt_tokens": 5,
        "completion_tokens": 2,
        "total_tokens": 7,
        "prompt_tokens_details": {"cached_tokens": 1},
        "completion_tokens_details": {"reasoning_tokens": 0},
    }
    assert received.params_of("turn/completed")[0]["turn"]["status"] == "completed"
    assert not {"item/agentMessage/delta", "thread/tokenUsage/updated"} & set(received.methods)


def test_what_was_said_is_in_the_history(make_client: MakeClient) -> None:
    client = make_client(_story((Say(("Hi",)),)))
    thread = client.start_thread()
    client.start_turn(thread, "[[wireproof:a#1]]")
    assert client.thread(thread).history[-1]["content"][0]["text"] == "Hi"


def test_a_cut_off_answer_is_no_failure(make_client: MakeClient) -> None:
    received = make_client(_story((Say(("x",)), Finish("length")))).play("[[wireproof:a#1]]")
    assert received.params_of("tokenCount")[0]["finish_reason"] == "length"
    assert received.params_of("turn/completed")[0]["turn"]["status"] == "completed"


def test_calls_win_over_other_reasons(make_client: MakeClient) -> None:
    call = Call(id="c", name="f", arguments="{}", shape="delta-tool-calls")
    received = make_client(_story((Say(("x",)), call, Say(("y",)), Finish("length")))).play("[[wireproof:a#1]]")
    assert received.params_of("tokenCount")[0]["finish_reason"] == "tool_calls"
    assert [message["message"]["content"] for message in received.params_of("agentMessage")] == ["xy"]


def test_choices_bear_their_index_and_end_one_by_one(make_client: MakeClient) -> None:
    received = make_client(LIBRARY).play("[[wireproof:choices/indexed#1]]")
    whole = [(params["message"]["content"], params["choice_index"]) for params in received.params_of("agentMessage")]
    assert whole == [("Zero begins, goes on, and ends.", 0), ("One begins, goes on, and is cut", 1)]
    ends = [(params.get("finish_reason"), params.get("choice_index")) for params in received.params_of("tokenCount")]
    assert ends == [("stop", 0), ("length", 1), (None, None)]
    assert [params.get("choice_index") for params in received.params_of("agentMessageDelta")] == [
        0,
        0,
        1,
        1,
        None,
        1,
        0,
        1,
    ]


def test_a_call_of_a_choice_makes_its_reason(make_client: MakeClient) -> None:
    call = Call(id="c", name="f", arguments="{}", shape="delta-tool-calls", choice=1)
    part = (Say(("x",), choice=0), call, Finish("stop", choice=0), Finish("stop", choice=1))
    received = make_client(_story(part)).play("[[wireproof:a#1]]")
    assert [params.get("finish_reason") for params in received.params_of("tokenCount")] == ["stop", "tool_calls", None]
    assert [params["delta"]["tool_calls"][0]["index"] for params in received.params_of("agentMessageDelta")[1:]] == [
        0,
        0,
    ]


def test_a_native_call_is_sent_natively(make_client: MakeClient) -> None:
    client = make_client(_story((Say(("Let me",)), SEARCH), (Say(("Found",)),)))
    received = client.play("[[wireproof:a#1]]", "search", **RAW)
    assert received.tool_requests[0]["params"]["tool"] == "search"
    assert received.methods[-1] == "rawResponse/completed"
    assert received.params_of("tokenCount") == []
    received = client.answer(received.tool_requests[0]["id"])
    assert [params["finish_reason"] for params in received.params_of("tokenCount")] == ["tool_calls", "stop"]
    assert received.deltas == ["Found"]


def test_without_a_native_call_no_raw_response_counts_a_second_time(make_client: MakeClient) -> None:
    received = make_client(_story((Say(("x",)),))).play("[[wireproof:a#1]]", **RAW)
    assert "rawResponse/completed" not in received.methods
    assert [item["role"] for item in received.raw] == ["user"]


def test_a_failure_completes_no_message(make_client: MakeClient) -> None:
    received = make_client(_story((Say(("x",)), Fail("cut")))).play("[[wireproof:a#1]]")
    assert received.params_of("agentMessage") == []
    assert received.params_of("error")[0]["error"]["message"].startswith("stream disconnected")


def test_thoughts_are_sent_as_ever(make_client: MakeClient) -> None:
    received = make_client(_story((Think("hm"), Say(("x",))))).play("[[wireproof:a#1]]")
    assert received.params_of("item/reasoning/summaryTextDelta")[0]["delta"] == "hm"


def test_a_conversation_is_named_so(make_client: MakeClient) -> None:
    client = make_client(_story((Say(("x",)),)), version="0.89.0")
    conversation, _ = client.ask("newConversation", {})
    client.ask("addConversationListener", {"conversationId": conversation["conversationId"]})
    items = [{"type": "text", "data": {"text": "[[wireproof:a#1]]"}}]
    _, received = client.ask("sendUserMessage", {"conversationId": conversation["conversationId"], "items": items})
    (delta,) = received.params_of("agentMessageDelta")
    assert delta == {"conversationId": conversation["conversationId"], "delta": "x"}
    assert received.params_of("tokenCount")[0]["finish_reason"] == "stop"
    assert received.events("agent_message_delta") == []
    assert received.methods[-2:] == ["codex/event/task_complete", "turn/completed"]


def test_text_without_deltas_is_sent_in_the_message_alone(make_client: MakeClient) -> None:
    steps = (Say(("Hel", "lo"), whole=True), Say(("!",), whole=True, choice=0), Usage(unknown=True))
    received = make_client(_story(steps)).play("[[wireproof:a#1]]")
    assert received.deltas == []
    (params,) = received.params_of("agentMessage")
    assert (params["message"]["content"], params["choice_index"]) == ("Hello!", 0)
    (counted,) = received.params_of("tokenCount")
    assert (counted["finish_reason"], "usage" in counted) == ("stop", False)


def test_all_but_the_thread_may_be_nested(make_client: MakeClient) -> None:
    call = Call(id="c", name="f", arguments="{}", shape="delta-tool-calls")
    parts = ((Say(("x",)), call, Finish("stop")),)
    flat, nested = (
        make_client({"a": Script(name="a", title="", parts=parts, notifications=kind)}).play("[[wireproof:a#1]]")
        for kind in ("story", "nested")
    )
    for method in ("agentMessageDelta", "agentMessage", "tokenCount"):
        inside = [{"threadId": params["threadId"], **params["msg"]} for params in nested.params_of(method)]
        beside = [{**params, "threadId": inside[0]["threadId"]} for params in flat.params_of(method)]
        assert inside == beside
        assert all(params.keys() == {"threadId", "msg"} for params in nested.params_of(method))
