"""Assertions over what came: they pass on what is there, and say what came instead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import openai
import pytest

from wireproof_endpoint.journal.requests import SeenRequests

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wireproof_endpoint.fixture import EndpointFixture

WEATHER = {
    "name": "weather",
    "when": "weather",
    "parts": [
        [
            {
                "call": {
                    "id": "call_1",
                    "name": "get_weather",
                    "arguments": '{"city": "Paris"}',
                    "pieces": ['{"ci', 'ty": "Pa', 'ris"}'],
                }
            },
            {"call": {"id": "call_2", "name": "get_time", "arguments": "{"}},
        ],
        [{"say": "Sunny."}],
    ],
}
HELLO = {"name": "hello", "when": "hello", "parts": [[{"say": "Hi."}]]}
FUNCTIONS = [{"name": name, "parameters": {"type": "object"}} for name in ("get_weather", "get_time")]
CHAT_TOOLS: Any = [{"type": "function", "function": function} for function in FUNCTIONS]
TOOLS: Any = [{"type": "function", **function} for function in FUNCTIONS]


@pytest.fixture
def client(wireproof_endpoint: EndpointFixture) -> Iterator[openai.OpenAI]:
    wireproof_endpoint.play([WEATHER, HELLO])
    with openai.OpenAI(base_url=wireproof_endpoint.url, api_key=wireproof_endpoint.key, max_retries=0) as found:
        yield found


def ask(client: openai.OpenAI, messages: Any, **more: Any) -> Any:
    return client.chat.completions.create(model="m", messages=messages, **more)


def user(text: str) -> Any:
    return [{"role": "user", "content": text}]


@pytest.mark.parametrize("stream", [True, False])
def test_the_calls_of_a_chat_with_what_the_client_returned(
    client: openai.OpenAI,
    wireproof_endpoint: EndpointFixture,
    stream: bool,  # noqa: FBT001 - a case
) -> None:
    for _ in ask(client, user("weather"), tools=CHAT_TOOLS, stream=stream):
        pass
    assert [(call.name, call.result) for call in wireproof_endpoint.requests.calls()] == [
        ("get_weather", None), ("get_time", None),
    ]  # fmt: skip
    made = [
        {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": "{}"}}
        for number, name in ((1, "get_weather"), (2, "get_time"))
    ]
    results = [
        {"role": "tool", "tool_call_id": "call_1", "content": "24"},
        {"role": "tool", "tool_call_id": "call_2", "content": [{"type": "text", "text": "noon"}]},
    ]
    ask(client, [*user("weather"), {"role": "assistant", "tool_calls": made}, *results], tools=CHAT_TOOLS)
    call = wireproof_endpoint.requests.call("get_weather")
    assert (call.id, call.arguments, call.result) == ("call_1", {"city": "Paris"}, "24")
    [time] = wireproof_endpoint.requests.calls("get_time")
    assert (time.arguments, time.result) == ("{", "noon")
    assert wireproof_endpoint.requests.one(part=1).script == "weather"


@pytest.mark.parametrize("stream", [True, False])
def test_the_calls_of_a_response_with_what_the_client_returned(
    client: openai.OpenAI,
    wireproof_endpoint: EndpointFixture,
    stream: bool,  # noqa: FBT001 - a case
) -> None:
    for _ in client.responses.create(model="m", input="weather", tools=TOOLS, stream=stream):
        pass
    results: Any = [{"type": "function_call_output", "call_id": f"call_{one}", "output": f"{one}"} for one in (1, 2)]
    calls: Any = [
        {"type": "function_call", "call_id": f"call_{one}", "name": "any", "arguments": "{}"} for one in (1, 2)
    ]
    client.responses.create(model="m", input=[{"role": "user", "content": "weather"}, *calls, *results], tools=TOOLS)
    assert [(call.id, call.name, call.result) for call in wireproof_endpoint.requests.calls()] == [
        ("call_1", "get_weather", "1"), ("call_2", "get_time", "2"),
    ]  # fmt: skip


def test_what_did_not_come_is_said_with_what_did(client: openai.OpenAI, wireproof_endpoint: EndpointFixture) -> None:
    with pytest.raises(AssertionError, match=r"^no requests came, not one; no request came at all$"):
        wireproof_endpoint.requests.one()
    ask(client, user("hello"))
    with pytest.raises(openai.BadRequestError):
        ask(client, user("good bye"))
    assert wireproof_endpoint.requests.one(script="hello").status == 200
    with pytest.raises(AssertionError) as raised:
        wireproof_endpoint.requests.one(script="weather")
    first, *lines = str(raised.value).splitlines()
    assert first == "no requests with script='weather' came, not one; what came:"
    assert lines[0] == "  1. POST /v1/chat/completions, script hello, part 0, 200 completed"
    assert lines[1].startswith("  2. POST /v1/chat/completions, 400 refused: No script matches 'good bye'")
    with pytest.raises(AssertionError, match=r"^2 requests came, not one"):
        wireproof_endpoint.requests.one()
    with pytest.raises(AssertionError, match="no calls of get_weather were sent, not one; sent were: none"):
        wireproof_endpoint.requests.call("get_weather")
    with pytest.raises(AssertionError, match="no request was answered by weather; what came:"):
        wireproof_endpoint.assert_all_played()


def test_all_scripts_were_played(client: openai.OpenAI, wireproof_endpoint: EndpointFixture) -> None:
    ask(client, user("hello"))
    ask(client, user("weather"), tools=CHAT_TOOLS)
    wireproof_endpoint.assert_all_played()


def test_of_many_requests_the_first_are_said(client: openai.OpenAI, wireproof_endpoint: EndpointFixture) -> None:
    for _ in range(12):
        ask(client, user("hello"))
    assert str(wireproof_endpoint.requests).endswith("\n  and 2 more")
    assert isinstance(wireproof_endpoint.requests.where(part=0), SeenRequests)
