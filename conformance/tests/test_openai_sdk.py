"""The official `openai` package against `wireproof serve`: what its users do must work."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import openai
import pytest

from wireproof.model.served import UNKNOWN_MODEL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.tests.conftest import Served

QUESTION: Any = {"role": "user", "content": "What is the weather in Paris? Use get_weather."}
TOOLS: Any = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "description": "The weather in a city",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string"}, "unit": {"enum": ["C", "F"]}},
                "required": ["city"],
            },
        },
    }
]


@pytest.fixture
def client(served: Served, monkeypatch: pytest.MonkeyPatch) -> Iterator[openai.OpenAI]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with openai.OpenAI(base_url=served.base_url, api_key=served.key, max_retries=0, timeout=20) as one:
        yield one


def get_weather(arguments: str) -> str:
    assert isinstance(json.loads(arguments)["city"], str)
    return "Sunny, 24 °C."


def test_the_models_are_listed(client: openai.OpenAI) -> None:
    # Behind it come the names that other tests have asked for.
    assert next(iter(client.models.list())).id == "codex"


def test_a_whole_answer(client: openai.OpenAI) -> None:
    answer = client.chat.completions.create(model="codex", messages=[{"role": "user", "content": "Grüß dich! 👋🏽"}])
    assert answer.choices[0].message.content == "You said: Grüß dich! 👋🏽"
    assert answer.choices[0].finish_reason == "stop"
    assert answer.usage is not None
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens


def test_a_stream_of_text(client: openai.OpenAI) -> None:
    stream = client.chat.completions.create(
        model="codex",
        messages=[{"role": "user", "content": "Say this again, word by word."}],
        stream=True,
        stream_options={"include_usage": True},
    )
    chunks = list(stream)
    deltas = [chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices]
    assert "".join(deltas) == "You said: Say this again, word by word."
    assert sum(map(bool, deltas)) > 3
    assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == "stop"
    assert chunks[-1].usage is not None


def test_the_stream_helper_gives_text_and_the_final_completion(client: openai.OpenAI) -> None:
    with client.chat.completions.stream(model="codex", messages=[{"role": "user", "content": "Hello!"}]) as stream:
        kinds = [event.type for event in stream]
        final = stream.get_final_completion()
    assert kinds.count("content.done") == 1
    assert "content.delta" in kinds
    assert final.choices[0].message.content == "You said: Hello!"


def test_a_tool_round_trip_in_whole_answers(client: openai.OpenAI) -> None:
    messages: Any = [QUESTION]
    first = client.chat.completions.create(model="codex", messages=messages, tools=TOOLS).choices[0]
    assert first.finish_reason == "tool_calls"
    assert first.message.content is None
    messages.append(first.message)
    for call in first.message.tool_calls or []:
        assert call.type == "function"
        said = get_weather(call.function.arguments)
        messages.append({"role": "tool", "tool_call_id": call.id, "content": said})
    last = client.chat.completions.create(model="codex", messages=messages, tools=TOOLS).choices[0]
    assert (last.message.content, last.finish_reason) == ("The tool said: Sunny, 24 °C.", "stop")


def test_a_tool_round_trip_with_the_stream_helper(client: openai.OpenAI) -> None:
    messages: Any = [QUESTION]
    with client.chat.completions.stream(model="codex", messages=messages, tools=TOOLS) as stream:
        kinds = {event.type for event in stream}
        first = stream.get_final_completion().choices[0]
    assert {"tool_calls.function.arguments.delta", "tool_calls.function.arguments.done"} <= kinds
    assert first.finish_reason == "tool_calls"
    [call] = first.message.tool_calls or []
    said = get_weather(call.function.arguments)
    messages += [
        {"role": "assistant", "content": None, "tool_calls": [call.model_dump(include={"id", "type", "function"})]},
        {"role": "tool", "tool_call_id": call.id, "content": said},
    ]
    with client.chat.completions.stream(model="codex", messages=messages, tools=TOOLS) as stream:
        text = "".join(event.delta for event in stream if event.type == "content.delta")
    assert text == "The tool said: Sunny, 24 °C."


def test_a_failure_is_the_exception_that_the_status_says(client: openai.OpenAI) -> None:
    with pytest.raises(openai.NotFoundError) as raised:
        client.chat.completions.create(model=UNKNOWN_MODEL, messages=[QUESTION])
    assert raised.value.code == "model_not_found"
    with pytest.raises(openai.RateLimitError):
        client.chat.completions.create(
            model="codex", messages=[{"role": "user", "content": "[[wireproof:fail/rate#1]]"}]
        )


def test_a_failure_in_mid_stream_is_an_exception(client: openai.OpenAI) -> None:
    stream = client.chat.completions.create(
        model="codex", messages=[{"role": "user", "content": "[[wireproof:fail/after-text#1]]"}], stream=True
    )
    with pytest.raises(openai.APIError):
        list(stream)
