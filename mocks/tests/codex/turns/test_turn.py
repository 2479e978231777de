from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from wireproof_codex.protocol.outputs import GarbageLine
from wireproof_codex.versions.version import NEWEST
from wireproof_scripts.files.errors import ScriptError
from wireproof_scripts.library import LIBRARY
from wireproof_scripts.library.calls import TOOLS_NAMED
from wireproof_scripts.steps import (
    Call,
    Crash,
    Cut,
    Fail,
    Finish,
    Gate,
    Hang,
    Pause,
    Retry,
    Say,
    Script,
    Step,
    Template,
    Usage,
    cursor,
)

if TYPE_CHECKING:
    from mocks.tests.codex.conftest import Client, MakeClient


def _library(*parts: tuple[Step, ...]) -> dict[str, Script]:
    return {"a": Script(name="a", title="", parts=parts)}


SEARCH = Call(id="call_1", name="search", arguments='{ "n": 1.50 }')
READ = Call(id="call_2", name="read", arguments="{}")
ALL_RAW = {"experimentalRawEvents": True}


def test_a_text_turn_is_sent_from_its_start_to_its_end(client: Client) -> None:
    received = client.play("[[wireproof:text/hello#a]]")
    assert received.text_deltas == ["Hello", ",", " ", "world", "!"]
    assert [method for method in received.methods if method != "item/agentMessage/delta"] == [
        "thread/status/changed",
        "turn/started",
        "response",
        "item/started",
        "item/completed",
        "item/started",
        "item/completed",
        "thread/tokenUsage/updated",
        "account/rateLimits/updated",
        "thread/status/changed",
        "turn/completed",
    ]
    (ended,) = received.params_of("turn/completed")
    assert (ended["turn"]["status"], ended["turn"]["items"][0]["text"]) == ("completed", "Hello, world!")


def test_a_turn_may_say_nothing(client: Client) -> None:
    received = client.play("[[wireproof:text/empty#a]]")
    assert received.text_deltas == []
    assert received.params_of("turn/completed")[0]["turn"]["items"] == []


def test_thoughts_are_sent_apart_from_the_text(client: Client) -> None:
    received = client.play("[[wireproof:text/thinking#a]]", **ALL_RAW)
    assert received.params_of("item/reasoning/summaryTextDelta")[0]["delta"] == "The user wants a short answer."
    assert received.text_deltas == ["Short", " answer."]
    assert [item["type"] for item in received.raw] == ["message", "reasoning", "message"]


def test_the_tokens_are_those_of_the_script_and_add_up_on_a_thread(client: Client) -> None:
    thread = client.start_thread()
    counts = [
        client.start_turn(thread, f"[[wireproof:{name}#a]]")[1].params_of("thread/tokenUsage/updated")[0]["tokenUsage"]
        for name in ("text/usage", "text/hello")
    ]
    assert [count["last"]["totalTokens"] for count in counts] == [1234 + 56, 11 + 7]
    assert counts[1]["total"] == {
        "totalTokens": 1308,
        "inputTokens": 1245,
        "cachedInputTokens": 1000,
        "cacheWriteInputTokens": 0,
        "outputTokens": 63,
        "reasoningOutputTokens": 7,
    }


@pytest.mark.parametrize(
    ("script", "reason", "counted"),
    [("text/length", "max_output_tokens", 1), ("text/filter", "content_filter", 0)],
)
def test_an_incomplete_answer_is_text_and_then_a_failure(
    client: Client, script: str, reason: str, counted: int
) -> None:
    received = client.play(f"[[wireproof:{script}#a]]", **ALL_RAW)
    assert received.params_of("item/completed")[-1]["item"]["type"] == "agentMessage"
    assert received.params_of("turn/completed")[0]["turn"]["error"]["message"].endswith(f"reason: {reason}")
    assert len(received.params_of("thread/tokenUsage/updated")) == counted
    assert received.params_of("rawResponse/completed") == []


def test_a_failure_after_text_leaves_the_text_unfinished(client: Client) -> None:
    received = client.play("[[wireproof:fail/after-text#a]]")
    assert received.text_deltas == ["Half an", " answer"]
    assert [params["item"]["type"] for params in received.params_of("item/completed")] == ["userMessage"]
    assert received.methods[-4:] == ["account/rateLimits/updated", "thread/status/changed", "error", "turn/completed"]
    assert received.params_of("error")[0]["willRetry"] is False


def test_the_next_turn_works_after_a_failure(client: Client) -> None:
    thread = client.start_thread()
    client.start_turn(thread, "[[wireproof:fail/first#a]]")
    _, received = client.start_turn(thread, "[[wireproof:text/hello#a]]")
    assert received.params_of("thread/status/changed")[-1]["status"] == {"type": "idle"}


def test_late_events_are_sent_after_the_end(client: Client) -> None:
    received = client.play("[[wireproof:text/late#a]]")
    end = received.methods.index("turn/completed")
    assert received.methods[end + 1 :] == [
        "item/started",
        "item/agentMessage/delta",
        "item/agentMessage/delta",
        "item/completed",
    ]


def test_a_second_end_is_sent_like_the_first(make_client: MakeClient) -> None:
    received = make_client(_library((Say(("x",)), Finish(), Fail("cut"), Finish()))).play("[[wireproof:a#1]]")
    assert [params["turn"]["status"] for params in received.params_of("turn/completed")] == [
        "completed",
        "failed",
        "completed",
    ]


def test_late_events_may_come_late(make_client: MakeClient) -> None:
    client = make_client(_library((Finish(), Pause(2.0), Say(("late",)))))
    assert client.play("[[wireproof:a#1]]").methods[-1] == "turn/completed"
    assert client.wait(1.0) == []
    assert client.wait(1.0).text_deltas == ["late"]


# Calls


def test_a_call_is_sent_raw_and_parsed(client: Client) -> None:
    received = client.play("[[wireproof:call/one#a]]", "localSearch", **ALL_RAW)
    ((asked,), raw) = (received.tool_requests, received.raw[-1])
    assert (raw["name"], raw["call_id"]) == ("localSearch", "call_one")
    assert json.loads(raw["arguments"]) == asked["params"]["arguments"]
    assert '"n":1.50' in raw["arguments"]
    assert received.methods[-3:] == ["item/started", "item/tool/call", "rawResponse/completed"]


def test_when_a_call_is_answered_the_turn_plays_the_next_part(client: Client) -> None:
    asked = client.play("[[wireproof:call/steps#a]]", "localSearch", "readNote", **ALL_RAW).tool_requests
    assert asked[0]["params"]["tool"] == "localSearch"
    received = client.answer(asked[0]["id"])
    assert received.methods[:4] == [
        "item/completed",
        "rawResponseItem/completed",
        "thread/tokenUsage/updated",
        "account/rateLimits/updated",
    ]
    assert received.tool_requests[0]["params"]["tool"] == "readNote"
    received = client.answer(received.tool_requests[0]["id"])
    assert received.text_deltas == ["Both", " steps", " done."]
    assert received.params_of("turn/completed")[0]["turn"]["status"] == "completed"


def test_the_next_part_waits_for_all_calls(make_client: MakeClient) -> None:
    client = make_client(_library((SEARCH, READ), (Say(("done",)),)))
    asked = client.play("[[wireproof:a#1]]", "search", "read").tool_requests
    assert [call["id"] for call in asked] == [0, 1]
    assert client.answer(1).methods == ["item/completed"]
    assert client.answer(0).text_deltas == ["done"]


def test_beyond_the_last_part_the_turn_says_what_the_tool_said(client: Client) -> None:
    client.play("[[wireproof:call/one#a]]", "localSearch")
    received = client.answer(0, "three notes")
    assert "".join(received.text_deltas) == "The tool said: three notes"
    assert received.methods[-1] == "turn/completed"


def test_text_after_a_call_comes_before_its_result(client: Client) -> None:
    received = client.play("[[wireproof:call/tail#a]]", "localSearch", **ALL_RAW)
    assert "".join(received.text_deltas) == "This tail is dropped."
    assert received.methods[-1] == "rawResponse/completed"


def test_text_before_a_call_is_commentary(client: Client) -> None:
    received = client.play("[[wireproof:call/after-text#a]]", "localSearch")
    phases = [params["item"]["phase"] for params in received.params_of("item/completed")[1:]]
    assert phases == ["commentary"]


def test_a_late_call_comes_after_the_answer_and_nobody_waits_for_it(client: Client) -> None:
    received = client.play("[[wireproof:call/late#a]]", "localSearch", "readNote", **ALL_RAW)
    assert [call["params"]["callId"] for call in received.tool_requests] == ["call_search", "call_late"]
    assert received.methods.index("rawResponse/completed") < received.methods.index("item/tool/call", -2)
    assert client.answer(0).params_of("turn/completed")


@pytest.mark.parametrize(
    ("call", "output"),
    [
        (Call(id="1", name="search", arguments="{"), "failed to parse function arguments: "),
        (Call(id="1", name="unknown", arguments="{}"), "unsupported call: unknown"),
    ],
)
def test_a_call_that_cannot_be_made_is_sent_to_the_model_alone(
    make_client: MakeClient, call: Call, output: str
) -> None:
    received = make_client(_library((call,), (Say(("next",)),))).play("[[wireproof:a#1]]", "search", **ALL_RAW)
    assert received.tool_requests == []
    assert [item["type"] for item in received.raw] == ["message", "function_call", "function_call_output", "message"]
    assert received.raw[2]["output"].startswith(output)
    assert received.text_deltas == ["next"]


def test_requests_are_numbered_from_0_as_those_of_clients_are_so_that_their_ids_are_the_same(client: Client) -> None:
    first = client.play("[[wireproof:call/then-text#a]]", "localSearch")
    second = client.play("[[wireproof:call/then-text#b]]", "localSearch")
    assert [message["id"] for message in (*first.tool_requests, *second.tool_requests)] == [0, 1]


def test_a_failed_answer_fails_the_item_and_the_turn_goes_on(client: Client) -> None:
    client.play("[[wireproof:call/then-text#a]]", "localSearch")
    received = client.send({"id": 0, "error": {"code": -32601, "message": "Method not found"}})
    item = received.params_of("item/completed")[0]["item"]
    assert (item["status"], item["success"]) == ("failed", False)
    assert received.text_deltas == ["All", " clear", "."]


def test_a_call_in_an_incomplete_answer_was_made_all_the_same(client: Client) -> None:
    received = client.play("[[wireproof:text/length-call#a]]", "localSearch", **ALL_RAW)
    assert len(received.tool_requests) == 1
    assert received.methods[-1] == "item/tool/call"
    received = client.answer(0)
    assert received.methods[:3] == ["item/completed", "rawResponseItem/completed", "thread/tokenUsage/updated"]
    assert received.params_of("thread/tokenUsage/updated")[0]["tokenUsage"]["last"]["totalTokens"] == 0
    assert received.methods[-1] == "turn/completed"


def test_a_failure_in_the_same_breath_as_a_call_is_sent_when_that_is_answered(client: Client) -> None:
    received = client.play("[[wireproof:fail/after-call#a]]", "localSearch", **ALL_RAW)
    assert received.methods[-1] == "item/tool/call"
    assert client.wait(1e6) == []
    received = client.answer(0)
    assert received.methods[:4] == [
        "item/completed",
        "rawResponseItem/completed",
        "account/rateLimits/updated",
        "thread/status/changed",
    ]
    assert received.params_of("turn/completed")[0]["turn"]["status"] == "failed"


def test_older_versions_fail_without_an_answer(make_client: MakeClient) -> None:
    client = make_client(LIBRARY, version="0.118.0")
    received = client.play("[[wireproof:fail/after-call#a]]", "localSearch", **ALL_RAW)
    assert received.methods.index("item/tool/call") < received.methods.index("error")
    assert received.params_of("turn/completed")[0]["turn"]["status"] == "failed"
    assert client.answer(0).raw == []


def test_a_failed_answer_whose_call_waits_can_be_interrupted(client: Client) -> None:
    thread = client.start_thread("localSearch", **ALL_RAW)
    turn, _ = client.start_turn(thread, "[[wireproof:fail/after-call#a]]")
    _, received = client.ask("turn/interrupt", {"threadId": thread, "turnId": turn})
    assert received.params_of("turn/completed")[0]["turn"]["status"] == "interrupted"
    assert "error" not in received.methods
    assert [item["type"] for item in received.raw] == ["function_call_output", "message"]


def test_a_turn_whose_answer_failed_goes_on_with_more_input(client: Client) -> None:
    thread = client.start_thread("localSearch")
    client.start_turn(thread, "[[wireproof:fail/after-call#a]]")
    client.start_turn(thread, "[[wireproof:text/hello#a]]")
    received = client.answer(0)
    assert "error" not in received.methods
    assert received.params_of("turn/completed")[0]["turn"]["status"] == "completed"


def test_a_turn_whose_call_is_answered_goes_on_with_more_input(client: Client) -> None:
    thread = client.start_thread("localSearch")
    client.start_turn(thread, "[[wireproof:call/then-text#a]]")
    client.start_turn(thread, "[[wireproof:text/hello#a]]")
    received = client.answer(0)
    assert [it["item"]["type"] for it in received.params_of("item/started")] == ["userMessage", "agentMessage"]
    assert received.text_deltas[:1] == ["Hello"]


# Interrupts


def test_an_interrupt_ends_a_hang(client: Client) -> None:
    thread = client.start_thread()
    turn, received = client.start_turn(thread, "[[wireproof:text/hang#a]]")
    assert received.methods[-1] == "item/agentMessage/delta"
    _, received = client.ask("turn/interrupt", {"threadId": thread, "turnId": turn})
    assert received.methods == ["account/rateLimits/updated", "response", "thread/status/changed", "turn/completed"]
    assert received.params_of("turn/completed")[0]["turn"]["status"] == "interrupted"
    assert client.wait(1e6) == []


def test_an_interrupt_cancels_the_calls_that_wait(client: Client) -> None:
    thread = client.start_thread("localSearch", **ALL_RAW)
    turn, _ = client.start_turn(thread, "[[wireproof:call/one#a]]")
    _, received = client.ask("turn/interrupt", {"threadId": thread, "turnId": turn})
    assert received.methods == [
        "item/completed",
        "rawResponseItem/completed",
        "thread/tokenUsage/updated",
        "account/rateLimits/updated",
        "rawResponseItem/completed",
        "response",
        "thread/status/changed",
        "turn/completed",
    ]
    assert client.answer(0) == []


def test_an_interrupt_stops_late_events_too(make_client: MakeClient) -> None:
    client = make_client(_library((Finish(), Gate()), (Gate(timeout=9.0),)))
    thread = client.start_thread()
    client.start_turn(thread, "[[wireproof:a#1]]")
    turn, _ = client.start_turn(thread, "[[wireproof:a#1]]")
    client.ask("turn/interrupt", {"threadId": thread, "turnId": turn})
    assert client.wait(100.0) == []


# Gates and reflections


def test_a_gate_is_opened_by_another_thread_under_the_same_nonce(client: Client) -> None:
    assert client.play("[[wireproof:text/gate#a]]").text_deltas == ["first"]
    assert client.play("[[wireproof:open/gate#b]]").text_deltas == ["opened"]
    assert client.wait(1.0) == []
    assert sorted(client.play("[[wireproof:open/gate#a]]").text_deltas) == ["opened", "second"]


def test_a_gate_that_was_opened_before_is_open(client: Client) -> None:
    client.play("[[wireproof:open/gate#a]]")
    assert client.play("[[wireproof:text/gate#a]]").text_deltas == ["first", "second"]


def test_a_gate_that_nobody_opens_says_so(make_client: MakeClient) -> None:
    client = make_client(_library((Gate(timeout=5.0), Say(("after the silence",)))))
    client.play("[[wireproof:a#1]]")
    assert client.wait(4.75) == []
    assert client.wait(0.25).text_deltas == ["(the gate was not opened in time)", "after the silence"]


def test_reflect_says_what_the_turn_received(client: Client) -> None:
    tool = {"name": "f", "description": "d", "inputSchema": {"type": "object"}}
    thread = client.start_thread(developerInstructions="Be brief.", model="m", dynamicTools=[tool])
    items = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "é"}]}]
    client.ask("thread/inject_items", {"threadId": thread, "items": items})
    _, received = client.start_turn(thread, "[[wireproof:reflect/received#a]]")
    assert json.loads(received.text_deltas[0]) == {
        "developer": "Be brief.",
        "base": None,
        "model": "m",
        "history": items,
        "input": [{"type": "text", "text": "[[wireproof:reflect/received#a]]"}],
        "tools": [tool],
        "schema": None,
    }


def test_reflect_tells_the_schema_of_the_answer(client: Client) -> None:
    schema = {"type": "object", "properties": {"word": {"type": "string"}}}
    given = [{"type": "text", "text": "[[wireproof:reflect/received#a]]"}]
    asked = {"threadId": client.start_thread(), "input": given, "outputSchema": schema}
    _, received = client.ask("turn/start", asked)
    assert json.loads(received.text_deltas[0])["schema"] == schema


def test_the_history_of_a_later_turn_holds_the_earlier_ones(client: Client) -> None:
    thread = client.start_thread()
    client.start_turn(thread, "[[wireproof:text/hello#a]]")
    _, received = client.start_turn(thread, "[[wireproof:reflect/received#a]]")
    history = json.loads(received.text_deltas[0])["history"]
    assert [(item["role"], item["content"][0]["text"]) for item in history] == [
        ("user", "[[wireproof:text/hello#a]]"),
        ("assistant", "Hello, world!"),
    ]


def test_reflect_says_how_the_other_turns_ended(client: Client) -> None:
    thread = client.start_thread()
    turn, _ = client.start_turn(thread, "[[wireproof:text/hang#a]]")
    client.ask("turn/interrupt", {"threadId": thread, "turnId": turn})
    for script in ("text/hello", "fail/first", "text/hello"):
        client.play(f"[[wireproof:{script}#a]]")
    client.play("[[wireproof:text/hello#b]]")
    assert json.loads(client.play("[[wireproof:reflect/turns#a]]").text_deltas[0]) == {
        "turns": [
            {"script": "text/hang", "part": 0, "state": "interrupted"},
            {"script": "text/hello", "part": 0, "state": "completed"},
            {"script": "fail/first", "part": 0, "state": "failed"},
            {"script": "text/hello", "part": 0, "state": "completed"},
        ]
    }


def test_reflect_waits_for_a_turn_that_is_running(client: Client) -> None:
    thread = client.start_thread()
    turn, _ = client.start_turn(thread, "[[wireproof:text/hang#a]]")
    assert client.play("[[wireproof:reflect/turns#a]]").text_deltas == []
    _, received = client.ask("turn/interrupt", {"threadId": thread, "turnId": turn})
    assert json.loads(received.text_deltas[0])["turns"][0]["state"] == "interrupted"


def test_reflect_does_not_wait_for_ever(client: Client) -> None:
    client.play("[[wireproof:text/hang#a]]")
    assert client.play("[[wireproof:reflect/turns#a]]").text_deltas == []
    assert client.wait(0.75) == []
    assert json.loads(client.wait(0.25).text_deltas[0])["turns"][0]["state"] == "running"


# Other ends


def test_a_crash_comes_after_what_was_said(client: Client) -> None:
    assert client.play("[[wireproof:fail/crash-text#a]]").text_deltas == ["Last", " words"]
    assert client.exit == 101


def test_a_crash_has_the_scripts_status(make_client: MakeClient) -> None:
    client = make_client(_library((Crash(7),)))
    client.play("[[wireproof:a#1]]")
    assert client.exit == 7


def test_scripts_are_looked_up_anew_for_each_turn_and_what_is_wrong_with_them_fails_it(
    make_client: MakeClient,
) -> None:
    libraries = iter(
        [_library((Say(("one",)),)), ScriptError("line 3", "no YAML", "s.yaml"), _library((Say(("two",)),))]
    )
    client = make_client(lambda: next(libraries))
    assert client.play("[[wireproof:a#1]]").text_deltas == ["one"]
    error = client.play("[[wireproof:a#2]]").params_of("turn/completed")[0]["turn"]["error"]
    assert (error["message"], error["codexErrorInfo"]) == ("s.yaml: line 3: no YAML", "badRequest")
    assert client.notes == ["s.yaml: line 3: no YAML"]
    assert client.play("[[wireproof:a#3]]").text_deltas == ["two"]


def test_threads_start_although_the_scripts_cannot_be_read(make_client: MakeClient) -> None:
    client = make_client(lambda: ScriptError("", "cannot be read", "s.yaml"))
    assert client.start_thread(developerInstructions="[[wireproof:fail/crash-thread#1]]")
    assert client.exit is None


def test_an_unknown_script_fails_the_turn_with_its_name(client: Client) -> None:
    received = client.play("[[wireproof:text/helo#a]]")
    error = received.params_of("turn/completed")[0]["turn"]["error"]
    assert "text/helo" in error["message"]
    assert "text/hello" in error["message"]
    assert error["codexErrorInfo"] == "badRequest"
    assert client.notes == [error["message"]]


def test_a_script_with_a_step_of_cursors_fails_the_turn_and_says_why(make_client: MakeClient) -> None:
    client = make_client(_library((Say(("one",)), cursor.Read(id="c", path="a"))))
    received = client.play("[[wireproof:a#1]]")
    error = received.params_of("turn/completed")[0]["turn"]["error"]
    why = "Read: it is a tool of Cursor's service, which the client runs"
    assert error["message"] == f"The script a is played by wireproof-cursor alone: {why}."
    assert received.text_deltas == []


# Steering


def test_a_second_turn_on_a_busy_thread_steers_the_first(client: Client) -> None:
    thread = client.start_thread()
    turn, _ = client.start_turn(thread, "[[wireproof:text/silent#a]]")
    same, received = client.start_turn(thread, "and [[wireproof:reflect/received#a]]")
    assert same == turn
    assert received.methods[:4] == ["response", "account/rateLimits/updated", "item/started", "item/completed"]
    assert [item["text"] for item in json.loads(received.text_deltas[0])["input"]][1:] == [
        "and [[wireproof:reflect/received#a]]"
    ]
    assert [params["turn"]["id"] for params in received.params_of("turn/completed")] == [turn]


def test_the_usage_of_every_part_is_its_own(make_client: MakeClient) -> None:
    client = make_client(_library((SEARCH, Usage(input=5, output=1)), (Say(("x",)),)))
    client.play("[[wireproof:a#1]]", "search")
    received = client.answer(0)
    assert [
        params["tokenUsage"]["last"]["inputTokens"] for params in received.params_of("thread/tokenUsage/updated")
    ] == [
        5,
        11,
    ]


def test_a_finished_turn_leaves_one_item_not_its_deltas(client: Client) -> None:
    thread = client.start_thread()
    client.start_turn(thread, "[[wireproof:text/long#a]]")
    history = client.thread(thread).history
    assert [item["role"] for item in history] == ["user", "assistant"]
    assert client.thread(thread).turn is None


def test_a_call_may_be_cut_off_in_the_middle(client: Client) -> None:
    received = client.play("[[wireproof:fail/mid-arguments#a]]")
    assert [delta["tool_calls"][0]["function"]["arguments"] for delta in received.deltas] == [
        "",
        '{"query": ',
        '"never',
    ]
    assert received.params_of("turn/completed")[0]["turn"]["status"] == "failed"


def test_an_error_may_be_all_that_is_sent(client: Client) -> None:
    thread = client.start_thread()
    turn, received = client.start_turn(thread, "[[wireproof:fail/notice#a]]")
    assert received.methods[-1] == "error"
    assert client.wait(1000.0) == []
    _, received = client.ask("turn/interrupt", {"threadId": thread, "turnId": turn})
    assert received.params_of("turn/completed")[0]["turn"]["status"] == "interrupted"


def test_lines_that_are_no_messages_come_between(client: Client) -> None:
    received = client.play("[[wireproof:fail/garbled#a]]")
    assert "".join(received.text_deltas) == "Half an answer"
    (garbage,) = client.outputs
    assert isinstance(garbage, GarbageLine)
    assert b"\xff\xfe" in garbage.line


def test_output_is_cut_until_the_turn_is_over(client: Client) -> None:
    client.play("[[wireproof:text/cut-bytes#a]]")
    assert client.cuts == [(40, 1, 1, 1, 2, 3), ()]


def test_a_turn_that_is_left_cuts_nothing_more(make_client: MakeClient) -> None:
    client = make_client(_library((Cut((1,)), Hang())))
    thread = client.start_thread()
    turn, _ = client.start_turn(thread, "[[wireproof:a#1]]")
    client.ask("turn/interrupt", {"threadId": thread, "turnId": turn})
    assert client.cuts == [(1,), ()]


def test_without_choices_in_the_words_the_end_of_one_is_not_sent(make_client: MakeClient) -> None:
    received = make_client(_library((Say(("a",), choice=1), Finish("length", choice=1)))).play("[[wireproof:a#1]]")
    assert received.text_deltas == ["a"]
    assert received.params_of("turn/completed")[0]["turn"]["status"] == "completed"


def test_in_older_versions_the_counts_come_when_the_model_begins_to_answer(older: Client) -> None:
    thread = older.start_thread()
    _, received = older.start_turn(thread, "[[wireproof:text/hello#a]]")
    counts = [
        message["info"] and message["info"]["total_token_usage"]["total_tokens"]
        for message in received.events("token_count")
    ]
    assert counts == [None, 18]
    _, received = older.start_turn(thread, "[[wireproof:fail/after-text#a]]")
    assert [message["info"]["total_token_usage"]["total_tokens"] for message in received.events("token_count")] == [18]
    _, received = older.start_turn(thread, "[[wireproof:fail/first#a]]")
    assert received.events("token_count") == []
    _, received = older.start_turn(thread, "[[wireproof:fail/context#a]]")
    assert [message["info"] and True for message in received.events("token_count")] == [True, None]


def test_in_older_versions_nothing_is_counted_of_an_answer_that_was_cut_off(older: Client) -> None:
    received = older.play("[[wireproof:text/length#a]]")
    assert received.params_of("error")[0]["error"]["message"].endswith("stream closed before response.completed")
    assert received.params_of("thread/tokenUsage/updated") == []


@pytest.mark.parametrize("version", ["0.89.0", "0.107.0", "0.125.0", NEWEST.number])
@pytest.mark.each("script", [name for name in LIBRARY if name != "act/overload"])  # begins no turn
def test_every_script_of_the_library_can_be_played_in_every_version(
    make_client: MakeClient, script: str, version: str
) -> None:
    client = make_client(version=version)
    received = client.play(f"[[wireproof:{script}#a]]", *TOOLS_NAMED, **ALL_RAW)
    for asked in received.tool_requests:
        client.answer(asked["id"])
    # Longer than the longest silence of a script.
    client.wait(301.0)
    assert client.context.wake_at() is None
    assert received.params_of("turn/started")


def _counts(received: Any) -> list[tuple[int, int]]:
    """The input tokens that are sent: of the thread, and of the last answer."""
    usages = [params["tokenUsage"] for params in received.params_of("thread/tokenUsage/updated")]
    return [(usage["total"]["inputTokens"], usage["last"]["inputTokens"]) for usage in usages]


@pytest.mark.parametrize(
    ("end", "counts"), [(Fail("cut"), (100, 100)), (Finish("length"), (103, 100)), (Hang(), (100, 100))]
)
def test_an_answer_that_is_broken_off_says_the_counts_up_to_then(
    make_client: MakeClient, end: Step, counts: tuple[int, int]
) -> None:
    counted = (Say(("a",)), Usage(input=100, output=1))
    client = make_client(_library(counted, (Say(("b",)), Usage(input=3, output=1), end)))
    thread = client.start_thread()
    client.start_turn(thread, "[[wireproof:a#n]]")
    turn, received = client.start_turn(thread, "[[wireproof:a#n]]")
    if end == Hang():
        _, received = client.ask("turn/interrupt", {"threadId": thread, "turnId": turn})
    assert _counts(received) == [counts]


def test_a_turn_that_fails_is_unread_and_one_without_words_is_not(make_client: MakeClient) -> None:
    client = make_client(_library((Fail("http-500"),), ()))
    assert client.play("[[wireproof:a#n]]", ephemeral=False).methods[-3:] == [
        "error", "thread/readState/changed", "turn/completed",
    ]  # fmt: skip
    received = client.play("[[wireproof:a#n]]", ephemeral=False)
    assert received.params_of("thread/readState/changed") == []
    assert received.params_of("turn/completed")[0]["turn"]["itemsView"] == "notLoaded"


def test_what_was_held_back_is_sent_when_the_answer_is_broken_off(make_client: MakeClient) -> None:
    client = make_client(_library((Say(("a <", "oai")), Fail("cut"))))
    assert client.play("[[wireproof:a#n]]").text_deltas == ["a ", "<oai"]
    older = make_client(_library((Say(("a <", "oai", "")), Fail("cut"))), version="0.89.0")
    assert older.play("[[wireproof:a#n]]").text_deltas == ["a <", "oai", ""]


def test_a_citation_is_kept_from_the_client(make_client: MakeClient) -> None:
    client = make_client(_library((Say(("a <oai-mem-citation>", "x</oai-mem-citation>", " b")),)))
    received = client.play("[[wireproof:a#n]]")
    assert received.text_deltas == ["a ", " b"]
    assert received.params_of("item/completed")[-1]["item"]["text"] == "a  b"


@pytest.mark.parametrize("version", ["0.89.0", NEWEST.number])
def test_an_answer_that_is_tried_again_repeats_its_text_under_a_new_id(make_client: MakeClient, version: str) -> None:
    steps = (Say(("par", "tial")), Retry(attempt=1, attempts=2), Say(("par", "tial", " answer")))
    client = make_client({"a": Script(name="a", title="", parts=(steps,))}, version=version)
    received = client.play("[[wireproof:a#1]]")
    assert received.text_deltas == ["par", "tial", "par", "tial", " answer"]
    assert len({params["itemId"] for params in received.params_of("item/agentMessage/delta")}) == 2
    (error,) = received.params_of("error")
    assert (error["willRetry"], error["error"]["message"]) == (True, "Reconnecting... 1/2")
    assert error["error"]["codexErrorInfo"] == {"responseStreamDisconnected": {"httpStatusCode": None}}
    texts = [
        params["item"]["text"]
        for params in received.params_of("item/completed")
        if params["item"]["type"] == "agentMessage"
    ]
    assert texts == ["partial answer"]
    assert [params["turn"]["status"] for params in received.params_of("turn/completed")] == ["completed"]


def test_text_without_deltas_is_there_from_the_start(make_client: MakeClient) -> None:
    steps = (Say(("On", "e."), whole=True), Say(("Tw", "o.")))
    received = make_client({"a": Script(name="a", title="", parts=(steps,))}).play("[[wireproof:a#1]]")
    params = [*received.params_of("item/started"), *received.params_of("item/completed")]
    texts = [it["item"]["text"] for it in params if it["item"]["type"] == "agentMessage"]
    assert texts == ["One.", "", "One.", "Two."]
    assert received.text_deltas == ["Tw", "o."]


@pytest.mark.parametrize(("version", "limits"), [("0.89.0", 2), (NEWEST.number, 1)])
def test_an_answer_whose_cost_is_unknown_counts_nothing(make_client: MakeClient, version: str, limits: int) -> None:
    part = (Say(("x",)), Usage(unknown=True))
    received = make_client({"a": Script(name="a", title="", parts=(part,))}, version=version).play("[[wireproof:a#1]]")
    assert received.params_of("thread/tokenUsage/updated") == []
    assert len(received.params_of("account/rateLimits/updated")) == limits


# A service that is not reached


def test_a_service_that_is_not_reached_is_tried_again_and_again(make_client: MakeClient) -> None:
    client = make_client(_library((Fail("no-network"),)))
    thread = client.start_thread()
    turn, received = client.start_turn(thread, "[[wireproof:a#1]]")
    (params,) = received.params_of("error")
    assert params["willRetry"] is True
    assert params["error"]["message"] == "Reconnecting... waiting for network"
    assert params["error"]["additionalDetails"] == "Connection failed: error sending request"
    _, received = client.ask("turn/interrupt", {"threadId": thread, "turnId": turn})
    assert received.methods == ["response", "thread/status/changed", "turn/completed"]


def test_how_long_it_waits_between_two_tries_doubles_up_to_a_minute(make_client: MakeClient) -> None:
    client = make_client(_library((Fail("no-network"),)))
    client.play("[[wireproof:a#1]]")
    for seconds in (5.0, 10.0, 20.0, 40.0, 60.0, 60.0):
        assert client.wait(seconds - 0.1) == []
        assert client.wait(0.1).methods == ["error"]


def test_older_versions_fail_where_the_service_is_not_reached(make_client: MakeClient) -> None:
    client = make_client(_library((Fail("no-network"),)), version="0.142.0")
    received = client.play("[[wireproof:a#1]]")
    assert "error sending request" in received.params_of("turn/completed")[0]["turn"]["error"]["message"]


def test_templates_are_filled_with_the_input_of_the_turn_and_the_results_before_it(
    make_client: MakeClient,
) -> None:
    call = Call(id="c", name="search", arguments='{"q": "{user_text}"}', fill=True)
    script = Script(name="a", title="", when="look", parts=((call,), (Template("{tool_result} for {user_text}"),)))
    client = make_client({"a": script})
    received = client.play("Please look", "search")
    [asked] = received.params_of("item/tool/call")
    assert asked["arguments"] == {"q": "Please look"}
    assert "".join(client.answer(0, "42").text_deltas) == "42 for Please look"
