"""Custom tools over the openai SDK: their calls hold a text, free or of a grammar."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import openai
import pytest

from wireproof_endpoint.journal.calls import calls_in

if TYPE_CHECKING:
    from collections.abc import Iterator

MODEL: Any = {"model": "m"}
RUN: Any = {"name": "run", "description": "Runs a command."}
DIGITS = {"syntax": "regex", "definition": "^[0-9]{3}$"}
IN_CHAT: Any = [
    {"type": "custom", "custom": RUN},
    {"type": "custom", "custom": {"name": "digits", "format": {"type": "grammar", "grammar": DIGITS}}},
]
IN_RESPONSES: Any = [
    {"type": "custom", **RUN},
    {"type": "custom", "name": "digits", "format": {"type": "grammar", **DIGITS}},
]
FUNCTION: Any = {"name": "f", "parameters": {"type": "object", "properties": {}}}
SCRIPTED = {"call": {"id": "call_7", "name": "run", "arguments": 'a "b"\n'}}


@pytest.fixture
def client(wireproof_endpoint: Any) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=wireproof_endpoint.url, api_key="k", max_retries=0) as found:
        yield found


def chat(client: openai.OpenAI, text: str, **more: Any) -> list[Any]:
    asked: Any = {"messages": [{"role": "user", "content": text}], "tools": IN_CHAT, **MODEL, **more}
    answer = client.chat.completions.create(**asked)
    assert answer.choices[0].finish_reason == "tool_calls"
    return list(answer.choices[0].message.tool_calls or [])


def respond(client: openai.OpenAI, text: Any, **more: Any) -> Any:
    return client.responses.create(**{"input": text, "tools": IN_RESPONSES, **MODEL, **more})


SHOWN = {
    "Use run with `ls -la`": "ls -la",
    "Use run:\n```sh\nls\npwd\n```": "ls\npwd",
    'Use run to print "hello"': "hello",
    "Use run": "Use run",
}


@pytest.mark.parametrize("text", SHOWN)
def test_a_call_of_chat_holds_the_text_that_is_shown(client: openai.OpenAI, text: str) -> None:
    [call] = chat(client, text)
    assert (call.type, call.custom.name, call.custom.input) == ("custom", "run", SHOWN[text])


@pytest.mark.parametrize("text", SHOWN)
def test_a_call_of_responses_is_an_item_of_its_own(client: openai.OpenAI, text: str) -> None:
    [item] = respond(client, text).output
    assert (item.type, item.name, item.input) == ("custom_tool_call", "run", SHOWN[text])
    assert item.id.startswith("ctc_")


def test_a_script_says_the_text_as_it_is(client: openai.OpenAI, wireproof_endpoint: Any) -> None:
    wireproof_endpoint.play([{"name": "said", "when": "scripted", "parts": [[SCRIPTED]]}])
    [call], [item] = chat(client, "scripted"), respond(client, "scripted").output
    assert (call.custom.input, item.input) == ('a "b"\n', 'a "b"\n')


@pytest.mark.parametrize(
    "choice",
    [
        {"type": "custom", "custom": {"name": "digits"}},
        {
            "type": "allowed_tools",
            "allowed_tools": {"mode": "required", "tools": [{"type": "custom", "custom": {"name": "digits"}}]},
        },
    ],
)
def test_the_tool_that_chat_must_call_is_called_with_a_text_of_its_grammar(client: openai.OpenAI, choice: Any) -> None:
    [call] = chat(client, "Hello", tool_choice=choice)
    assert call.custom.name == "digits"
    assert re.fullmatch("[0-9]{3}", call.custom.input)


@pytest.mark.parametrize(
    "choice",
    [
        {"type": "custom", "name": "digits"},
        {"type": "allowed_tools", "mode": "required", "tools": [{"type": "custom", "name": "digits"}]},
    ],
)
def test_the_tool_that_a_response_must_call_is_called(client: openai.OpenAI, choice: Any) -> None:
    [item] = respond(client, "Hello", tool_choice=choice).output
    assert item.name == "digits"
    assert re.fullmatch("[0-9]{3}", item.input)


def test_functions_and_custom_tools_stand_beside_each_other(client: openai.OpenAI) -> None:
    functions = {"tools": [{"type": "function", "function": FUNCTION}, *IN_CHAT]}
    assert [call.type for call in chat(client, "Call f and run", **functions)] == ["function", "custom"]
    output = respond(client, "Call f and run", tools=[{"type": "function", **FUNCTION}, *IN_RESPONSES]).output
    assert [item.type for item in output] == ["function_call", "custom_tool_call"]


def test_a_loop_of_chat_ends_with_the_result(client: openai.OpenAI) -> None:
    [call] = chat(client, "Use run")
    said = {"role": "assistant", "tool_calls": [call.model_dump()]}
    messages: Any = [
        {"role": "user", "content": "Use run"}, said, {"role": "tool", "tool_call_id": call.id, "content": "done"}
    ]  # fmt: skip
    answer = client.chat.completions.create(messages=messages, tools=IN_CHAT, **MODEL)
    assert answer.choices[0].message.content == "The tool said: done"


@pytest.mark.parametrize("stored", [True, False])
def test_a_loop_of_responses_ends_with_the_result(
    client: openai.OpenAI, wireproof_endpoint: Any, *, stored: bool
) -> None:
    first = respond(client, "Use run")
    [item] = first.output
    result = {"type": "custom_tool_call_output", "call_id": item.call_id, "output": "done"}
    before = {"role": "user", "content": "Use run"}
    given = [result] if stored else [before, item.model_dump(exclude_none=True), result]
    more = {"previous_response_id": first.id} if stored else {}
    second = respond(client, given, **more)
    assert second.output_text == "The tool said: done"
    listed = client.responses.input_items.list(second.id, order="asc").data
    assert [one.type for one in listed] == [one.get("type", "message") for one in given]
    with pytest.raises(openai.BadRequestError, match=item.call_id):
        respond(client, "And now?", previous_response_id=first.id)
    [call] = calls_in(wireproof_endpoint.requests)
    assert (call.name, call.arguments, call.result) == ("run", "Use run", "done")


def test_streams_hold_the_same(client: openai.OpenAI) -> None:
    said: Any = {"messages": [{"role": "user", "content": "Use run"}], "tools": IN_CHAT, "stream": True, **MODEL}
    deltas = [call for one in client.chat.completions.create(**said) for call in one.choices[0].delta.tool_calls or []]
    opened, more = (delta.model_dump(exclude_none=True) for delta in deltas)
    assert (opened["type"], opened["custom"]) == ("custom", {"name": "run", "input": ""})
    assert more == {"index": 0, "custom": {"input": "Use run"}}
    of_the_item = ("response.output_item", "response.custom_tool_call")
    events = [one for one in respond(client, "Use run", stream=True) if one.type.startswith(of_the_item)]
    assert [event.type for event in events] == [
        "response.output_item.added",
        "response.custom_tool_call_input.delta",
        "response.custom_tool_call_input.done",
        "response.output_item.done",
    ]
    assert [events[0].item.input, events[1].delta, events[2].input, events[3].item.input] == ["", *["Use run"] * 3]
