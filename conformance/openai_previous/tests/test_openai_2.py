"""The fixture and the transport with the previous major version of the openai SDK, and with respx, over httpx."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import httpx
import openai
import pytest

if TYPE_CHECKING:
    import respx

    from wireproof_endpoint.fixture import EndpointFixture

WEATHER = {
    "name": "weather",
    "when": "weather",
    "parts": [
        [{"call": {"id": "call_1", "name": "get_weather", "arguments": {"city": "Bern"}}}],
        [{"say": ["It is", " sunny."]}],
    ],
}
TOOLS: Any = [{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}]
ASKED: Any = [{"role": "user", "content": "The weather?"}]


@pytest.fixture
def endpoint(wireproof_endpoint: EndpointFixture) -> EndpointFixture:
    wireproof_endpoint.play(WEATHER)
    return wireproof_endpoint


def test_it_is_the_previous_major_version() -> None:
    assert openai.__version__.startswith("2.")
    assert issubclass(openai.DefaultHttpxClient, httpx.Client)


def loop(client: openai.OpenAI) -> str:
    """A tool loop whose last answer is streamed."""
    [call] = client.chat.completions.create(model="m", messages=ASKED, tools=TOOLS).choices[0].message.tool_calls or []
    assert call.type == "function"
    made = {
        "id": call.id,
        "type": "function",
        "function": {"name": "get_weather", "arguments": call.function.arguments},
    }
    messages = [
        *ASKED, {"role": "assistant", "tool_calls": [made]}, {"role": "tool", "tool_call_id": call.id, "content": "24"},
    ]  # fmt: skip
    stream = client.chat.completions.create(model="m", messages=messages, tools=TOOLS, stream=True)
    return "".join(chunk.choices[0].delta.content or "" for chunk in stream)


async def whole_and_stream(client: openai.AsyncOpenAI) -> str:
    messages: Any = [
        *ASKED,
        {"role": "assistant", "content": "Well."},
        {"role": "user", "content": "The weather, now."},
    ]
    answer = await client.responses.create(model="m", input=messages)
    assert answer.output_text == "It is sunny."
    stream = await client.chat.completions.create(model="m", messages=messages, stream=True)
    return "".join([chunk.choices[0].delta.content or "" async for chunk in stream])


def check(endpoint: EndpointFixture) -> None:
    call = endpoint.requests.call("get_weather")
    assert (call.arguments, call.result) == ({"city": "Bern"}, "24")
    endpoint.assert_all_played()


def test_on_a_socket(endpoint: EndpointFixture) -> None:
    with openai.OpenAI(base_url=endpoint.url, api_key=endpoint.key) as client:
        assert loop(client) == "It is sunny."
    check(endpoint)


def test_without_a_socket(endpoint: EndpointFixture) -> None:
    with openai.OpenAI(api_key=endpoint.key, http_client=httpx.Client(transport=endpoint.transport)) as client:
        assert loop(client) == "It is sunny."
        with pytest.raises(openai.BadRequestError, match="the nearest is weather"):
            client.chat.completions.create(model="m", messages=[{"role": "user", "content": "wether"}])
    check(endpoint)


def test_async_without_a_socket(endpoint: EndpointFixture) -> None:
    async def run() -> str:
        client = openai.AsyncOpenAI(api_key=endpoint.key, http_client=httpx.AsyncClient(transport=endpoint.transport))
        async with client:
            return await whole_and_stream(client)

    assert asyncio.run(run()) == "It is sunny."


def test_a_route_of_respx(endpoint: EndpointFixture, respx_mock: respx.MockRouter) -> None:
    respx_mock.route(host="api.openai.com").mock(side_effect=endpoint.transport.respond)
    with openai.OpenAI(api_key=endpoint.key) as client:
        assert loop(client) == "It is sunny."
    check(endpoint)


def test_an_async_route_of_respx(endpoint: EndpointFixture, respx_mock: respx.MockRouter) -> None:
    respx_mock.route(host="api.openai.com").mock(side_effect=endpoint.transport.arespond)

    async def run() -> str:
        async with openai.AsyncOpenAI(api_key=endpoint.key) as client:
            return await whole_and_stream(client)

    assert asyncio.run(run()) == "It is sunny."
    assert [entry.status for entry in endpoint.requests] == [200, 200]


@pytest.mark.parametrize("number", range(6))
def test_each_test_has_an_endpoint_of_its_own(wireproof_endpoint: EndpointFixture, number: int) -> None:
    assert not wireproof_endpoint.requests
    with openai.OpenAI(base_url=wireproof_endpoint.url, api_key=wireproof_endpoint.key) as client:
        answer = client.chat.completions.create(model="m", messages=[{"role": "user", "content": f"Hi {number}."}])
    assert answer.choices[0].message.content == f"You said: Hi {number}."
