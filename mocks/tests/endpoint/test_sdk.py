"""The openai SDK against the endpoint on a socket."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import openai
import pytest

if TYPE_CHECKING:
    from mocks.tests.endpoint.conftest import Serve
    from openai.types.chat import ChatCompletionUserMessageParam

HELLO: list[ChatCompletionUserMessageParam] = [{"role": "user", "content": "Hello there!"}]


@pytest.fixture
def client(served: Serve) -> Any:
    with openai.OpenAI(base_url=served(api_key="k"), api_key="k", max_retries=0) as client:
        yield client


def test_a_whole_chat_answer(client: openai.OpenAI) -> None:
    answer = client.chat.completions.create(model="any", messages=HELLO)
    assert answer.choices[0].message.content == "You said: Hello there!"
    assert (answer.model, answer.choices[0].finish_reason) == ("any", "stop")


def test_a_streamed_chat_answer(client: openai.OpenAI) -> None:
    chunks = list(client.chat.completions.create(model="any", messages=HELLO, stream=True))
    pieces = [chunk.choices[0].delta.content for chunk in chunks]
    assert pieces == ["", "You", " said:", " Hello", " there!", None]
    assert chunks[-1].choices[0].finish_reason == "stop"


def test_a_response_is_continued_and_retrieved(client: openai.OpenAI) -> None:
    first = client.responses.create(model="any", input="One.")
    assert first.output_text == "You said: One."
    second = client.responses.create(model="any", input="Two.", previous_response_id=first.id)
    assert second.output_text == "You said: Two."
    assert client.responses.retrieve(first.id).output_text == "You said: One."
    with client.responses.create(model="any", input="Three.", stream=True) as events:
        assert [event.type for event in events][-1] == "response.completed"


def test_a_wrong_key_and_an_unknown_address_are_errors(client: openai.OpenAI) -> None:
    with pytest.raises(openai.AuthenticationError):
        client.with_options(api_key="other").models.list()
    with pytest.raises(openai.NotFoundError):
        client.post("/nothing", cast_to=object, body={})


def test_any_key_does_where_none_is_set(served: Serve) -> None:
    with openai.OpenAI(base_url=served(), api_key="whatever") as client:
        assert [model.id for model in client.models.list()] == ["codex"]
