from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from wireproof_scripts.steps import Call, Code, Finish, Hang, Pause, Say, Script, Usage

if TYPE_CHECKING:
    from mocks.tests.codex.conftest import Client, MakeClient

SEARCH = Call(id="call_1", name="search", arguments='{ "n": 1.50 }')
READ = Call(id="call_2", name="read", arguments="{}")


def _library(*parts: Any) -> dict[str, Script]:
    return {"a": Script(name="a", title="", parts=parts)}


def test_a_call_is_awaited_unless_it_came_late(make_client: MakeClient) -> None:
    client = make_client(_library((SEARCH, Finish(), READ), (Say(("Done",)),)))
    received = client.play("[[wireproof:a#1]]", "search", "read")
    assert [asked["params"]["callId"] for asked in received.tool_requests] == ["call_1", "call_2"]
    assert client.answer(0).text_deltas == ["Done"]


def test_older_versions_ask_for_one_call_at_a_time(make_client: MakeClient) -> None:
    client = make_client(_library((SEARCH, READ), (Say(("Done",)),)), version="0.160.0")
    received = client.play("[[wireproof:a#1]]", "search", "read")
    assert [asked["params"]["callId"] for asked in received.tool_requests] == ["call_1"]
    received = client.answer(0)
    assert [asked["params"]["callId"] for asked in received.tool_requests] == ["call_2"]
    assert received.text_deltas == []
    assert client.answer(1).text_deltas == ["Done"]


def test_an_interrupt_drops_the_calls_that_the_client_was_not_asked_for(make_client: MakeClient) -> None:
    client = make_client(_library((SEARCH, READ), (Say(("Done",)),)), version="0.160.0")
    thread = client.start_thread("search", "read", experimentalRawEvents=True)
    turn, _ = client.start_turn(thread, "[[wireproof:a#1]]")
    _, received = client.ask("turn/interrupt", {"threadId": thread, "turnId": turn})
    outputs = [item["output"] for item in received.raw if item["type"] == "function_call_output"]
    assert outputs == ["aborted by user after 0.0s"] * 2
    assert client.answer(0).tool_requests == []


def test_calls_that_nobody_answered_are_cancelled_by_an_interrupt(make_client: MakeClient) -> None:
    client = make_client(_library((SEARCH, Hang())))
    thread = client.start_thread("search", experimentalRawEvents=True)
    turn, _ = client.start_turn(thread, "[[wireproof:a#1]]")
    _, received = client.ask("turn/interrupt", {"threadId": thread, "turnId": turn})
    assert received.params_of("item/completed")[0]["item"]["status"] == "failed"
    assert received.raw[0]["output"] == "dynamic tool call was cancelled before receiving a response"


@pytest.mark.parametrize("version", ["0.113.0", "0.162.0"])
def test_versions_between_inform_the_model_alone_of_calls_that_an_interrupt_cancels(
    make_client: MakeClient, version: Any
) -> None:
    client = make_client(_library((SEARCH, Finish())), version=version)
    thread = client.start_thread("search", experimentalRawEvents=True)
    turn, _ = client.start_turn(thread, "[[wireproof:a#1]]")
    client.wait(1.5)
    _, received = client.ask("turn/interrupt", {"threadId": thread, "turnId": turn})
    assert received.params_of("item/completed") == []
    assert received.raw[0]["output"] == "aborted by user after 1.5s"


def test_results_are_given_to_the_model_in_the_order_of_its_calls_when_its_answer_is_over(
    make_client: MakeClient,
) -> None:
    client = make_client(_library((SEARCH, READ, Pause(10.0)), (Say(("Done",)),)))
    thread = client.start_thread("search", "read", experimentalRawEvents=True)
    client.start_turn(thread, "[[wireproof:a#1]]")
    assert client.answer(1).raw == []
    assert client.wait(11.0).raw == []
    assert [item["call_id"] for item in client.answer(0).raw[:2]] == ["call_1", "call_2"]


def test_a_call_in_another_shape_is_in_the_history_and_waits_for_nobody(make_client: MakeClient) -> None:
    client = make_client(_library((Call(id="c", name="f", arguments="{}", shape="delta-tool-calls"),)))
    thread = client.start_thread("f", experimentalRawEvents=True)
    _, received = client.start_turn(thread, "[[wireproof:a#1]]")
    assert received.tool_requests == []
    assert received.methods[-1] == "turn/completed"
    assert [item["type"] for item in received.raw] == ["message"]
    assert client.thread(thread).history[-1]["call_id"] == "c"


def test_a_call_sent_twice_is_asked_once(client: Client) -> None:
    received = client.play("[[wireproof:textual/structured-wins#a]]", "localSearch", experimentalRawEvents=True)
    assert len(received.tool_requests) == 1
    assert [item["type"] for item in received.raw] == ["message", "message", "function_call"]
    assert "".join(received.text_deltas).startswith("<use_tool>")


PROGRAM = Code(id="call_1", source="text(await tools.search({n: 1}))", tool="search", arguments='{"n": 1}')


def test_a_program_of_the_models_calls_a_tool(make_client: MakeClient) -> None:
    client = make_client(_library((PROGRAM,), (Say(("Done",)),)))
    received = client.play("[[wireproof:a#1]]", "search", experimentalRawEvents=True)
    (asked,) = received.tool_requests
    assert asked["params"]["callId"].startswith("exec-")
    assert asked["params"]["arguments"] == {"n": 1}
    assert received.raw[1]["type"] == "custom_tool_call"
    assert received.raw[1]["input"] == PROGRAM.source
    client.now += 1.25
    received = client.answer(0, "found")
    assert received.raw[0]["type"] == "custom_tool_call_output"
    assert received.raw[0]["call_id"] == "call_1"
    texts = ["Script completed\nWall time 1.2 seconds\nOutput:\n", "found"]
    assert [part["text"] for part in received.raw[0]["output"]] == texts
    assert received.text_deltas == ["Done"]


@pytest.mark.parametrize(
    ("code", "texts"),
    [
        (Code(id="c", source="text(1 + 1)", output="2"), ["Script completed\nWall time 0.0 seconds\nOutput:\n", "2"]),
        (
            Code(id="c", source="tools.nope({})", tool="nope"),
            [
                "Script failed\nWall time 0.0 seconds\nOutput:\n",
                "Script error:\nTypeError: tools.nope is not a function",
            ],
        ),
    ],
)
def test_a_program_that_calls_no_tool_is_over_at_once(make_client: MakeClient, code: Code, texts: Any) -> None:
    received = make_client(_library((code,), (Say(("Done",)),))).play("[[wireproof:a#1]]", experimentalRawEvents=True)
    assert received.tool_requests == []
    assert [part["text"] for part in received.raw[2]["output"]] == texts
    assert received.text_deltas == ["Done"]


def test_the_model_is_sent_how_long_a_program_ran_that_an_interrupt_ends(make_client: MakeClient) -> None:
    client = make_client(_library((PROGRAM,)))
    thread = client.start_thread("search", experimentalRawEvents=True)
    turn, _ = client.start_turn(thread, "[[wireproof:a#1]]")
    client.wait(1.5)
    _, received = client.ask("turn/interrupt", {"threadId": thread, "turnId": turn})
    assert received.params_of("item/completed")[0]["item"]["status"] == "failed"
    assert received.raw[0]["output"] == "aborted by user after 1.5s"


def test_an_answer_of_several_texts_is_what_a_program_prints(make_client: MakeClient) -> None:
    client = make_client(_library((PROGRAM, Usage()), (Say(("Done",)),)))
    client.play("[[wireproof:a#1]]", "search", experimentalRawEvents=True)
    content = [{"type": "inputText", "text": text} for text in ("a", "b")]
    received = client.send({"id": 0, "result": {"contentItems": content, "success": True}})
    assert [part["text"] for part in received.raw[0]["output"][1:]] == ["a", "b"]
