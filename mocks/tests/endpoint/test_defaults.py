"""What an endpoint answers without a script where an answer must have a form: structured output, demanded calls."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import httpx
import openai
import pydantic
import pytest

from wireproof_endpoint.in_process import transport

if TYPE_CHECKING:
    from mocks.tests.endpoint.conftest import Serve


class Event(pydantic.BaseModel):
    """What a client may want extracted."""

    name: str
    day: int = pydantic.Field(ge=1, le=31)
    people: list[str]


TOOLS: Any = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}}
    for name in ("first", "second")
]
PROSE = [
    {"name": "prose", "when": "in prose", "parts": [[{"say": "Just words."}]]},
    {"name": "json", "when": "in json", "parts": [[{"say": ['{"a": ', "1}"]}]]},
]
ASK: Any = [{"role": "user", "content": "Alice and Bob meet on the 5th."}]


@pytest.fixture
def client() -> Any:
    plain: Any = httpx.Client(transport=transport(PROSE, strict=False))
    with openai.OpenAI(api_key="k", http_client=plain, max_retries=0) as made:
        yield made


def test_a_schema_is_answered_with_a_specimen(client: openai.OpenAI) -> None:
    parsed = client.chat.completions.parse(model="m", messages=ASK, response_format=Event).choices[0].message.parsed
    assert isinstance(parsed, Event)
    assert isinstance(client.responses.parse(model="m", input="Who?", text_format=Event).output_parsed, Event)
    with client.chat.completions.stream(model="m", messages=ASK, response_format=Event) as stream:
        assert isinstance(stream.get_final_completion().choices[0].message.parsed, Event)


def test_a_script_in_prose_cannot_give_an_object(client: openai.OpenAI) -> None:
    asked: Any = [{"role": "user", "content": "in prose, not JSON, please"}]
    with pytest.raises(openai.BadRequestError, match="the script prose answers with text that is no JSON object") as no:
        client.chat.completions.create(model="m", messages=asked, response_format={"type": "json_object"})
    assert no.value.param == "response_format"
    with pytest.raises(openai.BadRequestError) as no:
        client.responses.create(model="m", input="in prose, not JSON", text={"format": {"type": "json_object"}})
    assert no.value.param == "text.format"
    said = client.chat.completions.create(
        model="m", messages=[{"role": "user", "content": "in JSON"}], response_format={"type": "json_object"}
    )
    assert said.choices[0].message.content == '{"a": 1}'


def test_any_object_is_answered_with_one(client: openai.OpenAI) -> None:
    asked: Any = [*ASK, {"role": "user", "content": "As JSON, please."}]
    chat = client.chat.completions.create(model="m", messages=asked, response_format={"type": "json_object"})
    assert isinstance(json.loads(chat.choices[0].message.content or ""), dict)
    response = client.responses.create(model="m", input="Who? JSON!", text={"format": {"type": "json_object"}})
    assert isinstance(json.loads(response.output_text), dict)


@pytest.mark.parametrize(
    ("choice", "called"),
    [("required", "first"), ({"type": "function", "function": {"name": "second"}}, "second"), ("auto", None)],
)
def test_a_demanded_call_is_made(client: openai.OpenAI, choice: Any, called: str | None) -> None:
    answer = client.chat.completions.create(model="m", messages=ASK, tools=TOOLS, tool_choice=choice).choices[0]
    calls = [call.function.name for call in answer.message.tool_calls or [] if call.type == "function"]
    assert calls == ([called] if called else [])


def test_calls_are_parallel_unless_the_request_forbids_it(client: openai.OpenAI) -> None:
    asked: Any = [{"role": "user", "content": "Call second, then first."}]

    def called(**options: Any) -> list[str]:
        answer: Any = client.chat.completions.create(model="m", messages=asked, tools=TOOLS, **options)
        return [call.function.name for call in answer.choices[0].message.tool_calls]

    def responded(**options: Any) -> list[str]:
        flat: Any = [{"type": "function", **tool["function"]} for tool in TOOLS]
        response = client.responses.create(model="m", input="Call second, then first.", tools=flat, **options)
        return [item.name for item in response.output if item.type == "function_call"]

    assert called() == called(parallel_tool_calls=True) == responded() == ["second", "first"]
    assert called(parallel_tool_calls=False) == responded(parallel_tool_calls=False) == ["second"]


def test_answers_have_every_member_that_the_api_sends(client: openai.OpenAI) -> None:
    answer = client.chat.completions.create(model="m", messages=ASK)
    assert (answer.service_tier, answer.system_fingerprint) == ("default", "fp_wireproof")
    assert answer.choices[0].message.model_dump(exclude={"content"}, exclude_unset=True) == {
        "role": "assistant", "refusal": None, "annotations": [],
    }  # fmt: skip
    first = next(iter(client.chat.completions.create(model="m", messages=ASK, stream=True)))
    assert (first.service_tier, first.system_fingerprint) == ("default", "fp_wireproof")
    response = client.responses.create(model="m", input="Hi.", store=False).model_dump(exclude_unset=True)
    assert response["completed_at"] >= response["created_at"]
    assert (response["store"], response["presence_penalty"], response["frequency_penalty"]) == (False, 0, 0)


def test_the_default_answer_ends_where_the_request_says(client: openai.OpenAI) -> None:
    asked: Any = [{"role": "user", "content": "one two three"}]
    create = client.chat.completions.create
    cut = create(model="m", messages=asked, max_completion_tokens=3)
    assert (cut.choices[0].message.content, cut.choices[0].finish_reason) == ("You said: one", "length")
    assert cut.usage is not None
    assert cut.usage.completion_tokens == 3
    for stop in ("wo th", ["three", "wo th"]):
        stopped = create(model="m", messages=asked, stop=stop).choices[0]
        assert (stopped.message.content, stopped.finish_reason) == ("You said: one t", "stop")
    whole = create(model="m", messages=asked, max_tokens=5, stop="four", n=2).choices
    assert {(one.message.content, one.finish_reason) for one in whole} == {("You said: one two three", "stop")}
    response = client.responses.create(model="m", input="word " * 30, max_output_tokens=16)
    assert (response.output_text.count("word"), response.status) == (14, "incomplete")


def test_a_route_that_is_not_served_is_no_wrong_method() -> None:
    with httpx.Client(transport=transport(), base_url="http://endpoint") as plain:
        assert plain.post("/v1/responses/x/cancel", json={}).status_code == 421
        assert plain.delete("/v1/models").status_code == 405


@pytest.mark.parametrize("path", ["/responses/x/cancel", "/audio/speech", "/files"])
def test_a_route_of_openais_that_is_not_served_is_404(served: Serve, path: str) -> None:
    answer = httpx.post(served() + path, json={"model": "m"}, trust_env=False)
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "unknown_url")


def test_the_same_seed_has_the_same_answer_and_fingerprint(client: openai.OpenAI) -> None:
    one, other = (client.chat.completions.create(model="m", messages=ASK, seed=7, temperature=1) for _ in range(2))
    assert (one.system_fingerprint, one.choices) == (other.system_fingerprint, other.choices)
