"""What an endpoint answers without a script where an answer must have a form: structured output, demanded calls."""

from __future__ import annotations

import json
from typing import Any

import httpx
import openai
import pydantic
import pytest

from assay_endpoint.in_process import transport


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
    asked: Any = [{"role": "user", "content": "in prose, please"}]
    with pytest.raises(openai.BadRequestError, match="the script prose answers with text that is no JSON object") as no:
        client.chat.completions.create(model="m", messages=asked, response_format={"type": "json_object"})
    assert no.value.param == "response_format"
    with pytest.raises(openai.BadRequestError) as no:
        client.responses.create(model="m", input="in prose", text={"format": {"type": "json_object"}})
    assert no.value.param == "text.format"
    said = client.chat.completions.create(
        model="m", messages=[{"role": "user", "content": "in JSON"}], response_format={"type": "json_object"}
    )
    assert said.choices[0].message.content == '{"a": 1}'


def test_any_object_is_answered_with_one(client: openai.OpenAI) -> None:
    chat = client.chat.completions.create(model="m", messages=ASK, response_format={"type": "json_object"})
    assert isinstance(json.loads(chat.choices[0].message.content or ""), dict)
    response = client.responses.create(model="m", input="Who?", text={"format": {"type": "json_object"}})
    assert isinstance(json.loads(response.output_text), dict)


@pytest.mark.parametrize(
    ("choice", "called"),
    [("required", "first"), ({"type": "function", "function": {"name": "second"}}, "second"), ("auto", None)],
)
def test_a_demanded_call_is_made(client: openai.OpenAI, choice: Any, called: str | None) -> None:
    answer = client.chat.completions.create(model="m", messages=ASK, tools=TOOLS, tool_choice=choice).choices[0]
    calls = [call.function.name for call in answer.message.tool_calls or [] if call.type == "function"]
    assert calls == ([called] if called else [])


def test_a_route_that_is_not_served_is_no_wrong_method() -> None:
    with httpx.Client(transport=transport(), base_url="http://endpoint") as plain:
        assert plain.post("/v1/responses/compact", json={}).status_code == 421
        assert plain.delete("/v1/models").status_code == 405
