"""The anthropic SDK against the endpoint on a socket: the foreign implementation of the Messages API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anthropic
import pytest

if TYPE_CHECKING:
    from anthropic.types import MessageParam, ToolParam
    from mocks.tests.endpoint.conftest import Serve

HELLO: list[MessageParam] = [{"role": "user", "content": "Hello there!"}]
WEATHER: ToolParam = {
    "name": "weather",
    "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}


@pytest.fixture
def client(served: Serve) -> Any:
    url = served(api_key="k").removesuffix("/v1")
    with anthropic.Anthropic(base_url=url, api_key="k", max_retries=0) as client:
        yield client


def test_a_whole_message(client: anthropic.Anthropic) -> None:
    answer = client.messages.create(model="any", max_tokens=50, messages=HELLO)
    assert [(block.type, getattr(block, "text", None)) for block in answer.content] == [
        ("text", "You said: Hello there!")
    ]
    assert (answer.model, answer.stop_reason, answer.stop_sequence) == ("any", "end_turn", None)
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (11, 7)
    assert str(answer._request_id).startswith("req_")


def test_a_stream_folds_to_the_whole_message(client: anthropic.Anthropic) -> None:
    whole = client.messages.create(model="any", max_tokens=50, messages=HELLO)
    with client.messages.stream(model="any", max_tokens=50, messages=HELLO) as stream:
        pieces = list(stream.text_stream)
        folded = stream.get_final_message()
    assert pieces == ["You", " said:", " Hello", " there!"]
    assert folded.model_dump(exclude={"id", "content"}) == whole.model_dump(exclude={"id", "content"})


def test_a_call_and_its_result(client: anthropic.Anthropic) -> None:
    asked: list[MessageParam] = [{"role": "user", "content": "Please call weather."}]
    with client.messages.stream(model="any", max_tokens=50, messages=asked, tools=[WEATHER]) as stream:
        answer = stream.get_final_message()
    call = answer.content[0]
    assert call.type == "tool_use"
    assert (call.name, call.input, answer.stop_reason) == ("weather", {"city": "example"}, "tool_use")
    more: list[MessageParam] = [
        *asked,
        {"role": "assistant", "content": answer.content},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call.id, "content": "sunny"}]},
    ]
    last = client.messages.create(model="any", max_tokens=50, messages=more, tools=[WEATHER])
    assert [getattr(block, "text", None) for block in last.content] == ["The tool said: sunny"]


def test_errors_are_the_sdks_own(client: anthropic.Anthropic) -> None:
    with pytest.raises(anthropic.BadRequestError, match="messages: at least one message is required") as raised:
        client.messages.create(model="any", max_tokens=50, messages=[])
    assert str(raised.value.request_id).startswith("req_")
    with pytest.raises(anthropic.AuthenticationError):
        client.with_options(api_key="other").messages.create(model="any", max_tokens=50, messages=HELLO)


def test_the_count_is_that_of_the_usage(client: anthropic.Anthropic) -> None:
    assert client.messages.count_tokens(model="any", messages=HELLO).input_tokens == 11
