from __future__ import annotations

import math
from typing import Any

import httpx
import openai
import pytest

from wireproof_endpoint.api.logprobs import ALTERNATIVES, entries
from wireproof_endpoint.in_process import transport

ASK: Any = [{"role": "user", "content": "Hi, the é."}]
TOKENS = ["You", " said:", " Hi,", " the", " é."]
CALLS: Any = [{"type": "function", "function": {"name": "f"}}]
INCLUDE: Any = ["message.output_text.logprobs"]


@pytest.fixture
def client() -> Any:
    plain: Any = httpx.Client(transport=transport())
    with openai.OpenAI(api_key="k", http_client=plain, max_retries=0) as made:
        yield made


def test_each_token_has_its_likelihood_and_the_likeliest_in_its_place() -> None:
    found = entries(["the", " the", "", "é"], most=20)
    assert [one["token"] for one in found] == ["the", " the", "é"]
    assert found[2]["bytes"] == [0xC3, 0xA9]
    for one in found:
        likely = [other["logprob"] for other in one["top_logprobs"]]
        assert likely == sorted(likely, reverse=True)
        assert one["top_logprobs"][0] == {name: one[name] for name in ("token", "logprob", "bytes")}
        assert len({other["token"] for other in one["top_logprobs"]}) == 20
        assert sum(map(math.exp, likely)) < 1
    assert entries(["the"], most=0)[0]["top_logprobs"] == []
    assert [len(one["top_logprobs"]) for one in entries(["x", ALTERNATIVES[0]], most=3)] == [3, 3]


def test_a_chat_answer_has_them_whole_and_streamed_alike(client: openai.OpenAI) -> None:
    create: Any = client.chat.completions.create
    whole = create(model="m", messages=ASK, logprobs=True, top_logprobs=2).choices[0].logprobs
    assert [one.token for one in whole.content] == TOKENS
    assert [len(one.top_logprobs) for one in whole.content] == [2] * 5
    chunks = list(create(model="m", messages=ASK, logprobs=True, top_logprobs=2, stream=True))
    assert [one for chunk in chunks if (some := chunk.choices[0].logprobs) for one in some.content] == whole.content
    with client.chat.completions.stream(model="m", messages=ASK, logprobs=True, top_logprobs=2) as stream:
        final = stream.get_final_completion().choices[0].logprobs
    assert final is not None
    assert [one.model_dump() for one in final.content or []] == [one.model_dump() for one in whole.content]


def test_a_chat_answer_has_none_where_none_were_asked_for(client: openai.OpenAI) -> None:
    assert client.chat.completions.create(model="m", messages=ASK).choices[0].logprobs is None
    asked = client.chat.completions.create(model="m", messages=ASK, logprobs=True).choices[0].logprobs
    assert asked is not None
    assert [one.top_logprobs for one in asked.content or []] == [[]] * 5
    called: Any = client.chat.completions.create(
        model="m", messages=[{"role": "user", "content": "Call f."}], tools=CALLS, logprobs=True
    )
    assert called.choices[0].message.tool_calls
    assert called.choices[0].logprobs.content is None


def test_a_response_has_them_in_its_text_and_in_its_events(client: openai.OpenAI) -> None:
    asked: Any = {"model": "m", "input": "Hi, the é.", "include": INCLUDE, "top_logprobs": 2}
    whole: Any = client.responses.create(**asked)
    found = whole.output[0].content[0].logprobs
    assert [one.token for one in found] == TOKENS
    assert [len(one.top_logprobs) for one in found] == [2] * 5
    assert whole.top_logprobs == 2
    events: Any = list(client.responses.create(**asked, stream=True))
    deltas = [event for event in events if event.type == "response.output_text.delta"]
    assert [one.token for delta in deltas for one in delta.logprobs] == TOKENS
    [done] = [event for event in events if event.type == "response.output_text.done"]
    sent = [one.model_dump() for delta in deltas for one in delta.logprobs]
    assert [one.model_dump() for one in done.logprobs] == sent
    assert events[-1].response.output[0].content[0].logprobs == found


def test_a_response_has_none_where_none_were_asked_for(client: openai.OpenAI) -> None:
    whole: Any = client.responses.create(model="m", input="Hi.", include=["reasoning.encrypted_content"])
    assert whole.output[0].content[0].logprobs == []
    assert whole.top_logprobs == 0
