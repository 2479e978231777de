from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import pytest

from wireproof_mocks.upstream import service
from wireproof_mocks.upstream.failing import FAILURES, HttpRefusal
from wireproof_mocks.upstream.reply import refused
from wireproof_scripts.steps import Call, Fail, Gate, Hang, Open, Reflect, Say, Template

Make = Callable[..., Any]

S = "[[wireproof:s#n]]"
SEARCH = {"type": "function", "name": "localSearch", "parameters": {"type": "object"}}


def _result(call_id: str, output: str = "found") -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call_id, "output": output}


def test_a_marker_chooses_the_script(model: Any) -> None:
    assert model.play("Please: [[wireproof:text/hello#n]]").text == "Hello, world!"
    assert model.play("[[wireproof:text/repeats#n]]", "[[wireproof:text/hello#n]]").text == "Hello, world!"


def test_without_a_marker_it_is_the_default_answer(model: Any) -> None:
    assert model.play("Good morning").text == "You said: Good morning"
    call = model.play("Use the tool localSearch", tools=[SEARCH]).last["output"][0]
    assert (call["type"], call["name"], call["arguments"]) == ("function_call", "localSearch", "{}")


def test_a_users_script_is_chosen_by_its_text(make_model: Make) -> None:
    model = make_model(Say(("one",)), then=(Say(("two",)),), when="weather")
    assert model.play("The weather?").text == "one"
    assert model.play("The weather?", "And the weather now?").text == "two"


def test_templates_are_filled_with_what_was_asked(make_model: Make) -> None:
    call = Call(id="c", name="n", arguments="{}")
    model = make_model(call, then=(Template("{tool_result} for {user_text}"),), when="look")
    model.play("Please look")
    assert model.play("Please look", _result("c", "42")).text == "42 for Please look"


def test_a_turn_that_begins_plays_the_next_part(make_model: Make) -> None:
    model = make_model(Say(("one",)), then=(Say(("two",)),))
    assert [model.play(f"{S} {number}").text for number in range(3)] == ["one", "two", "two"]


def test_a_request_that_is_sent_again_gets_the_same_part(make_model: Make) -> None:
    model = make_model(Say(("one",)), then=(Say(("two",)),))
    assert [model.play(said).text for said in (S, S, f"{S} On.", S)] == ["one", "one", "two", "one"]


def test_a_request_that_is_sent_again_after_a_failure_gets_the_next_part(make_model: Make) -> None:
    model = make_model(Say(("one",)), Fail("quota"), then=(Say(("two",)),))
    assert [model.play(S).text for _ in range(2)] == ["one", "two"]


def test_results_continue_the_turn(make_model: Make) -> None:
    model = make_model(Call(id="c", name="n", arguments="{}"), then=(Say(("done",)),))
    assert model.play(S).last["output"][0]["type"] == "function_call"
    assert model.play(S, _result("c")).text == "done"


def test_what_the_last_call_brought_is_said(model: Any) -> None:
    assert model.play("[[wireproof:call/one#n]]", _result("call_one", "a note")).text == "The tool said: a note"


def test_choices_take_turns(model: Any) -> None:
    said = [model.play("[[wireproof:choices/text#n]]").text for _ in range(3)]
    assert said == ["The first choice.", "And the second one.", "The first choice."]


def test_what_cannot_be_answered(model: Any) -> None:
    assert model.refuse(stream=False)[0] == 400
    status, message = model.refuse("[[wireproof:text/helo#n]]")
    assert status == 404
    assert message.startswith("The marker asks for the script text/helo, which does not exist; did you mean text/hello")
    assert model.refuse("[[wireproof:fail/garbled#n]]") == (
        501,
        "the script fail/garbled cannot be played by the model's service: Raw: the app-server writes the line",
    )


@pytest.mark.parametrize(
    ("cause", "failure"), [(it, way) for it, way in FAILURES.items() if isinstance(way, HttpRefusal)]
)
def test_an_http_error_comes_instead_of_events(make_model: Make, cause: str, failure: HttpRefusal) -> None:
    sent = make_model(Open(), Fail(cause)).play(S)
    assert sent.outputs == [refused(failure)]
    assert sent.over


def test_a_failure_within_the_stream(make_model: Make) -> None:
    sent = make_model(Fail("quota")).play(S)
    assert sent.types == ["created", "in_progress", "failed"]
    assert sent.last["error"] == {"code": "insufficient_quota", "message": "You exceeded your current quota."}


def test_a_stream_that_is_cut(make_model: Make) -> None:
    sent = make_model(Say(("a",)), Fail("cut")).play(S)
    assert sent.types[-1] == "output_text.delta"
    assert sent.over


def test_a_stream_in_which_nothing_comes_any_more(make_model: Make) -> None:
    model = make_model(Say(("a",)), Fail("idle"))
    played = model.begin(S)
    assert played.on(model.now).waits == math.inf
    again = played.on(model.now + 1000)
    assert (again.waits, len(again.outputs)) == (math.inf, 1)


def test_a_gate_is_opened_by_another_request(make_model: Make) -> None:
    model = make_model(Say(("a",)), Gate(timeout=3), Say(("b",)), then=(Open(), Say(("opened",))))
    first = model.begin(S)
    assert first.on(model.now).waits == model.now + 3
    second = model.begin(f"{S} Open it.")
    before = model.changes
    assert second.on(model.now).text == "opened"
    assert model.changes == before + 2  # the gate, and the end
    after = first.on(model.now)
    assert (after.text, after.over) == ("b", True)


def test_a_block_stands_on_a_line_of_its_own(make_model: Make) -> None:
    call = Call(id="c", name="n", arguments="{}", shape="sentinel")
    block = '<tool_call>{"id": "c", "name": "n", "arguments": "{}"}</tool_call>'
    assert make_model(Say(("Look.",)), call).play(S).text == f"Look.\n{block}"
    assert make_model(Say(("Look.\n",)), call).play(S).text == f"Look.\n{block}"


def test_text_before_a_call_is_commentary(model: Any) -> None:
    message, call = model.play("[[wireproof:call/after-text#n]]").last["output"]
    assert (message["phase"], call["type"]) == ("commentary", "function_call")
    call, message = model.play("[[wireproof:call/tail#n]]").last["output"]
    assert "phase" not in message


def test_what_was_received_is_reported(make_model: Make) -> None:
    developer = {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "Be terse."}]}
    received = json.loads(make_model(Reflect()).play(developer, S, tools=[SEARCH]).text)
    assert received["developer"] == "Be terse."
    assert [tool["name"] for tool in received["tools"]] == ["localSearch"]


def test_how_other_turns_ended_is_reported(model: Any) -> None:
    model.play("[[wireproof:text/hello#n]]")
    model.play("[[wireproof:fail/after-text#n]]")
    model.play("[[wireproof:text/length#n]]")
    gone = model.begin("[[wireproof:text/hang#n]]")
    gone.on(model.now)
    asking = model.begin("[[wireproof:reflect/turns#n]]")
    assert asking.on(model.now).waits == model.now + 1
    gone.reply.close()
    reported = json.loads(asking.on(model.now).text)
    assert [(turn["script"], turn["state"]) for turn in reported["turns"]] == [
        ("text/hello", "completed"),
        ("fail/after-text", "failed"),
        ("text/length", "failed"),
        ("text/hang", "interrupted"),
    ]


def test_a_client_that_leaves_after_the_end_changes_nothing(model: Any) -> None:
    played = model.begin("[[wireproof:text/hello#n]]")
    played.on(model.now)
    before = model.changes
    played.reply.close()
    assert model.changes == before


def test_a_turn_with_calls_is_one(model: Any) -> None:
    model.play("[[wireproof:call/then-text#n]]", prompt_cache_key="t")
    model.play("[[wireproof:call/then-text#n]]", _result("call_search"), prompt_cache_key="t")
    reported = json.loads(model.play("[[wireproof:reflect/turns#n]]").text)
    assert reported["turns"] == [{"script": "call/then-text", "part": 1, "state": "completed"}]


def test_results_in_another_thread_begin_a_turn(model: Any) -> None:
    model.play("[[wireproof:call/then-text#n]]", prompt_cache_key="t")
    assert model.play("[[wireproof:call/then-text#n]]", _result("other"), prompt_cache_key="u").text == "All clear."
    reported = json.loads(model.play("[[wireproof:reflect/turns#n]]").text)
    assert [turn["part"] for turn in reported["turns"]] == [0, 1]


def test_turns_of_threads_that_are_long_gone_are_forgotten(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "KEPT_NONCES", 1)
    for thread in ("t", "u"):
        model.play("[[wireproof:call/then-text#n]]", prompt_cache_key=thread)
    model.play("[[wireproof:call/then-text#n]]", _result("call_search"), prompt_cache_key="t")
    reported = json.loads(model.play("[[wireproof:reflect/turns#n]]").text)
    assert len(reported["turns"]) == 3


def test_hanging_lasts(make_model: Make) -> None:
    assert make_model(Hang()).play(S).types == ["created", "in_progress"]
