from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

from wireproof.model.dialect import Dialect
from wireproof.model.scenario import ConversationScenario, Form, Mode, Turn
from wireproof.requests.conversation import Message, can_follow, marker, prepare, remember
from wireproof.scenarios import CONVERSATIONS
from wireproof.wire.events import Choice, ToolCall
from wireproof_scripts.markers import Marker, find_marker

NAMED = {scenario.name: scenario for scenario in CONVERSATIONS}
SAID = Choice(index=0, role="assistant", text="é", calls=(), finish="stop")
CALLED = Choice(
    index=0,
    role="assistant",
    text=None,
    calls=(ToolCall(id="c1", name="search", arguments='{"q": 1.50}'), ToolCall(id="c2", name="read", arguments="")),
    finish="tool_calls",
)


STREAM, WHOLE = Form(Dialect.OPENAI_JSON, Mode.STREAM), Form(Dialect.OPENAI_JSON, Mode.WHOLE)
LEGACY = Form(Dialect.FUNCTION_CALL, Mode.WHOLE)
RESPONSE = Form(Dialect.RESPONSES, Mode.WHOLE)


def body(scenario: ConversationScenario, form: Form = WHOLE, number: int = 0, history: tuple[Message, ...] = ()) -> Any:
    turn = scenario.turns[number]
    return json.loads(prepare(scenario, turn, form=form, model="m", nonce="n", history=history).body)


def test_the_marker_is_what_the_mock_looks_for() -> None:
    assert find_marker(f"Look: {marker('text/hello', 'a-B_1')}!") == Marker("text/hello", "a-B_1")


def test_a_whole_answer_is_asked_for_with_model_and_messages_only() -> None:
    assert body(NAMED["text-hello"]) == {
        "model": "m",
        "messages": [{"role": "user", "content": "[[wireproof:text/hello#n]] Say hello."}],
    }


def test_a_stream_is_asked_for_and_usage_only_where_the_scenario_wants_it() -> None:
    assert body(NAMED["text-hello"], STREAM)["stream"] is True
    assert "stream_options" not in body(NAMED["text-hello"], STREAM)
    assert body(NAMED["usage-asked"], STREAM)["stream_options"] == {"include_usage": True}
    assert "stream_options" not in body(NAMED["usage-asked"])


def test_tools_and_request_fields_are_added_and_the_turn_has_the_last_word() -> None:
    sent = body(NAMED["calls-first"])
    assert [tool["function"]["name"] for tool in sent["tools"]] == ["localSearch", "readNote"]
    assert sent["parallel_tool_calls"] is False
    turn = Turn(say="x", body={"n": 2})
    scenario = ConversationScenario(
        name="n", title="t", exercises=(), script="s", turns=(turn,), body={"n": 1, "seed": 3}
    )
    assert (body(scenario)["n"], body(scenario)["seed"]) == (2, 3)


def test_text_is_sent_as_utf8() -> None:
    sent = prepare(NAMED["history"], NAMED["history"].turns[0], form=WHOLE, model="m", nonce="n", history=())
    assert "naïve bisons 🦬".encode() in sent.body


def test_a_scenarios_history_comes_first_and_the_marker_with_what_is_said_then() -> None:
    messages = body(NAMED["history"])["messages"]
    assert messages[:-1] == list(NAMED["history"].history)
    assert messages[-1]["content"].startswith("[[wireproof:reflect/received#n]] Third question")


def test_results_are_sent_for_every_call_of_the_answer_before() -> None:
    scenario = ConversationScenario(
        name="n", title="t", exercises=(), script="s", turns=(Turn(say="a"), Turn(results={"search": "found"}, say="b"))
    )
    history = remember(({"role": "user", "content": "a"},), CALLED)
    assert body(scenario, number=1, history=history)["messages"] == [
        {"role": "user", "content": "a"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"q": 1.50}'}},
                {"id": "c2", "type": "function", "function": {"name": "read", "arguments": ""}},
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "found"},
        {"role": "tool", "tool_call_id": "c2", "content": ""},
        {"role": "user", "content": "b"},
    ]


def test_a_turn_with_a_script_of_its_own_is_a_conversation_of_its_own() -> None:
    history = remember(({"role": "user", "content": "a"},), SAID)
    messages = body(NAMED["disconnect"], number=1, history=history)["messages"]
    assert messages == [{"role": "user", "content": "[[wireproof:reflect/turns#n]] How did the other turn end?"}]


def test_what_was_prepared_is_what_is_remembered() -> None:
    scenario = NAMED["text-hello"]
    sent = prepare(scenario, scenario.turns[0], form=WHOLE, model="m", nonce="n", history=())
    assert remember(sent.messages, SAID) == (*sent.messages, {"role": "assistant", "content": "é"})


def test_an_answer_without_a_word_is_remembered_as_an_empty_text() -> None:
    silent = Choice(index=0, role="assistant", text=None, calls=(), finish="stop")
    assert remember((), silent) == ({"role": "assistant", "content": ""},)


@pytest.mark.parametrize(
    ("turn", "choice", "possible"),
    [
        (Turn(say="x"), SAID, True),
        (Turn(say="x"), None, False),
        (Turn(results={"f": "r"}), CALLED, True),
        (Turn(results={"f": "r"}), SAID, False),
        (Turn(say="x", script="text/hello"), None, True),
    ],
)
def test_a_turn_follows_an_answer_and_results_follow_calls(
    turn: Turn, choice: Choice | None, *, possible: bool
) -> None:
    assert can_follow(turn, choice) is possible


# Dialects and choices


def test_obsidian_xml_is_asked_for_as_openais_own_dialect_is() -> None:
    scenario = NAMED["call-one"]
    assert body(scenario, Form(Dialect.OBSIDIAN_XML, Mode.STREAM)) == body(scenario, STREAM)


def test_the_legacy_dialect_declares_functions() -> None:
    sent = body(NAMED["calls-first"], LEGACY)
    assert "tools" not in sent
    assert sent["functions"] == [tool["function"] for tool in NAMED["calls-first"].tools]
    assert "functions" not in body(NAMED["text-hello"], LEGACY)


def test_the_legacy_dialect_says_calls_and_results_by_the_functions_name() -> None:
    turns = (Turn(say="a"), Turn(results={"search": "found"}, say="b"))
    scenario = ConversationScenario(name="n", title="t", exercises=(), script="s", turns=turns)
    called = dataclasses.replace(CALLED, calls=(dataclasses.replace(CALLED.calls[0], id=""),))
    history = remember(({"role": "user", "content": "a"},), called)
    assert body(scenario, LEGACY, number=1, history=history)["messages"] == [
        {"role": "user", "content": "a"},
        {
            "role": "assistant",
            "content": None,
            "function_call": {"name": "search", "arguments": '{"q": 1.50}'},
        },
        {"role": "function", "name": "search", "content": "found"},
        {"role": "user", "content": "b"},
    ]


def test_a_call_without_an_id_is_given_one_for_the_history() -> None:
    nameless = tuple(dataclasses.replace(call, id="") for call in CALLED.calls)
    (said,) = remember((), dataclasses.replace(CALLED, calls=nameless))
    assert [call["id"] for call in said["tool_calls"]] == ["call_0", "call_1"]


def test_several_choices_are_asked_for_with_n() -> None:
    assert body(NAMED["choices-text"])["n"] == 2
    assert "n" not in body(NAMED["text-hello"])


def test_a_response_is_asked_for_with_items_and_flat_tools() -> None:
    written = body(NAMED["tool-results"], RESPONSE)
    assert set(written) == {"model", "input", "tools"}
    assert [tool["name"] for tool in written["tools"]] == ["localSearch", "readNote"]
    assert {tool["type"] for tool in written["tools"]} == {"function"}
    kinds = ["message", "function_call", "function_call", "function_call_output", "function_call_output", "message"]
    assert [item["type"] for item in written["input"]] == kinds
    assert written["input"][1] == {
        "type": "function_call",
        "call_id": "call_kiwi",
        "name": "localSearch",
        "arguments": '{"query": "kiwi"}',
    }
    assert written["input"][3] == {
        "type": "function_call_output", "call_id": "call_moa", "output": "The moa is extinct.",
    }  # fmt: skip
    assert written["input"][5]["content"].startswith("[[wireproof:reflect/received#n]]")


def test_parts_are_called_as_responses_call_them() -> None:
    parts = body(NAMED["images"], RESPONSE)["input"][-1]["content"]
    assert [part["type"] for part in parts] == ["input_text", "input_image"]
    assert parts[1]["image_url"].startswith("data:image/png")
    history = body(NAMED["history"], RESPONSE)["input"]
    assert [item["role"] for item in history] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert history[3]["content"] == [{"type": "input_text", "text": "Second question, about naïve bisons 🦬."}]
    said = {"role": "assistant", "content": [{"type": "text", "text": "Hm."}]}
    one = dataclasses.replace(NAMED["text-hello"], history=(said,))
    assert body(one, RESPONSE)["input"][0]["content"] == [{"type": "output_text", "text": "Hm."}]


def test_a_streamed_response_has_its_usage_unasked() -> None:
    written = body(NAMED["usage-asked"], Form(Dialect.RESPONSES, Mode.STREAM))
    assert set(written) == {"model", "input", "stream"}


def test_what_a_response_said_is_replayed_as_items() -> None:
    scenario = NAMED["tool-loop"]
    sent = prepare(scenario, scenario.turns[0], form=RESPONSE, model="m", nonce="n", history=())
    answered = dataclasses.replace(CALLED, text="Let me look.", calls=CALLED.calls[:1])
    items = body(scenario, RESPONSE, 1, remember(sent.messages, answered))["input"]
    assert [item["type"] for item in items] == ["message", "message", "function_call", "function_call_output"]
    assert items[1] == {"type": "message", "role": "assistant", "content": "Let me look."}
    assert items[2]["call_id"] == items[3]["call_id"] == "c1"
