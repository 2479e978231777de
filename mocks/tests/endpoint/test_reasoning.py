"""Reasoning of a script: in a response an item, in chat nothing, or `reasoning_content` as many servers send it."""

from __future__ import annotations

import json
from itertools import groupby
from typing import TYPE_CHECKING, Any

import httpx2
import openai
import pytest

from wireproof.reading.schemas import errors
from wireproof_endpoint.in_process import transport

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Served = Callable[..., httpx2.Client]

THINK = {"text": "Hm, so.", "pieces": ["Hm, ", "so."], "raw": ["raw ", "thought"], "encrypted": "gAAA", "in_chat": True}
ALL = [{"think": THINK}, {"say": ["Forty", " two"]}, {"usage": {"output": 20, "reasoning": 9}}]
SUMMARY_ALONE = [{"think": {"text": "Hm.", "in_chat": True}}, {"say": "Yes."}, {"usage": {"unknown": True}}]
ITEM = {
    "type": "reasoning",
    "summary": [{"type": "summary_text", "text": "Hm, so."}],
    "content": [{"type": "reasoning_text", "text": "raw thought"}],
    "encrypted_content": "gAAA",
}
TEXTS = [
    "response.reasoning_summary_part.added",
    "response.reasoning_summary_text.delta",
    "response.reasoning_summary_text.delta",
    "response.reasoning_summary_text.done",
    "response.reasoning_summary_part.done",
    "response.content_part.added",
    "response.reasoning_text.delta",
    "response.reasoning_text.delta",
    "response.reasoning_text.done",
    "response.content_part.done",
]


@pytest.fixture
def served() -> Iterator[Served]:
    """A client of an endpoint whose one script has these steps."""
    clients = []

    def serve(*steps: Any) -> httpx2.Client:
        played = transport({"name": "own", "when": "go", "parts": [list(steps), [{"say": "Again."}]]})
        clients.append(httpx2.Client(transport=played, base_url="http://endpoint/v1/"))
        return clients[-1]

    yield serve
    for client in clients:
        client.close()


def respond(client: httpx2.Client, **more: Any) -> httpx2.Response:
    return client.post("responses", json={"model": "m", "input": "go", **more}).raise_for_status()


def complete(client: httpx2.Client, **more: Any) -> httpx2.Response:
    body = {"model": "m", "messages": [{"role": "user", "content": "go"}], **more}
    return client.post("chat/completions", json=body).raise_for_status()


def events(answer: httpx2.Response) -> list[Any]:
    """The data of each frame but `[DONE]`; of Responses after a look at its name and its form."""
    found = []
    for block in answer.text.removesuffix("\n\n").split("\n\n"):
        *names, data = block.split("\n")
        if data == "data: [DONE]":
            continue
        found.append(json.loads(data.removeprefix("data: ")))
        if names:
            assert names == [f"event: {found[-1]['type']}"]
            assert list(errors("response.stream", found[-1])) == []
    return found


def without_id(item: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in item.items() if name != "id"}


def test_a_response_streams_its_reasoning_as_an_item(served: Served) -> None:
    sent = events(respond(served(*ALL), stream=True))
    assert [event["sequence_number"] for event in sent] == list(range(len(sent)))
    first = [event for event in sent if event.get("output_index") == 0]
    assert [event["type"] for event in first[1:-1]] == TEXTS
    added, done = first[0]["item"], first[-1]["item"]
    assert (first[0]["type"], first[-1]["type"]) == ("response.output_item.added", "response.output_item.done")
    assert without_id(added) == {"type": "reasoning", "summary": []}
    assert without_id(done) == ITEM
    assert added["id"] == done["id"]
    assert {event["item_id"] for event in first[1:-1]} == {added["id"]}
    deltas = [event["delta"] for event in first if "delta" in event]
    assert deltas == ["Hm, ", "so.", "raw ", "thought"]
    ended = sent[-1]["response"]
    assert [item["type"] for item in ended["output"]] == ["reasoning", "message"]
    assert ended["output"][0] == done
    assert ended["usage"]["output_tokens_details"] == {"reasoning_tokens": 9}


def test_a_whole_response_says_what_its_stream_says(served: Served) -> None:
    whole = respond(served(*ALL)).json()
    assert list(errors("response", whole)) == []
    assert without_id(whole["output"][0]) == ITEM
    assert whole["output"][1]["content"][0]["text"] == "Forty two"
    assert whole["usage"]["output_tokens_details"] == {"reasoning_tokens": 9}


def test_reasoning_without_a_summary_is_an_item_without_one(served: Served) -> None:
    sent = events(respond(served({"think": ""}, {"say": "Yes."}), stream=True))
    assert [event["type"] for event in sent if event.get("output_index") == 0] == [
        "response.output_item.added",
        "response.output_item.done",
    ]
    assert without_id(sent[-1]["response"]["output"][0]) == {"type": "reasoning", "summary": []}


def test_reasoning_between_text_and_a_call_divides_them(served: Served) -> None:
    call = {"call": {"id": "c1", "name": "f", "arguments": {"a": 1}}}
    client = served({"say": "Let me see."}, {"think": "Which?"}, call, {"think": "And then?"})
    tools = [{"type": "function", "name": "f", "parameters": {"type": "object"}}]
    sent = events(respond(client, stream=True, tools=tools))
    places = [place for place, _ in groupby(event["output_index"] for event in sent if "output_index" in event)]
    assert places == [0, 1, 2, 3]
    kinds = [item["type"] for item in sent[-1]["response"]["output"]]
    assert kinds == ["message", "reasoning", "function_call", "reasoning"]


def test_a_chat_stream_has_it_beside_the_content(served: Served) -> None:
    sent = events(complete(served(*ALL), stream=True, stream_options={"include_usage": True}))
    deltas = [choice["delta"] for chunk in sent for choice in chunk["choices"]]
    assert deltas == [
        {"role": "assistant", "content": ""},
        {"reasoning_content": "raw "},
        {"reasoning_content": "thought"},
        {"content": "Forty"},
        {"content": " two"},
        {},
    ]
    assert sent[-1]["usage"]["completion_tokens_details"]["reasoning_tokens"] == 9


def test_a_chat_stream_has_the_summary_where_the_model_keeps_its_reasoning(served: Served) -> None:
    sent = events(complete(served(*SUMMARY_ALONE), stream=True))
    said = [chunk["choices"][0]["delta"].get("reasoning_content") for chunk in sent]
    assert said == [None, "Hm.", None, None]


def test_a_whole_chat_answer_has_it_beside_the_content(served: Served) -> None:
    answer = complete(served(*ALL)).json()
    message = answer["choices"][0]["message"]
    assert (message["content"], message["reasoning_content"]) == ("Forty two", "raw thought")
    assert answer["usage"]["completion_tokens_details"]["reasoning_tokens"] == 9


def test_chat_has_no_member_for_it_unless_the_script_says_so(served: Served) -> None:
    client = served({"think": {**THINK, "in_chat": False}}, {"say": "Yes."})
    assert b"reasoning_content" not in complete(client).content + complete(client, stream=True).content


def test_without_counts_the_reasoning_is_estimated_too(served: Served) -> None:
    usage = respond(served(*SUMMARY_ALONE)).json()["usage"]
    assert usage["output_tokens_details"]["reasoning_tokens"] == 1
    assert usage["output_tokens"] == 2


def test_it_is_stored_listed_and_continued(served: Served) -> None:
    client = served(*ALL)
    first = respond(client).json()
    stored = client.get(f"responses/{first['id']}").raise_for_status().json()
    assert stored["output"] == first["output"]
    thought, message = first["output"]
    # As a client sends it that keeps the conversation itself, and as one does that refers to what is stored.
    for given in (thought, {"type": "item_reference", "id": thought["id"]}):
        next_input = [given, message, {"role": "user", "content": "go on"}]
        second = respond(client, input=next_input).json()
        assert [item["type"] for item in second["output"]] == ["reasoning", "message"]
        listed = client.get(f"responses/{second['id']}/input_items", params={"order": "asc"}).raise_for_status().json()
        assert list(errors("response.input_items", listed)) == []
        assert listed["data"][0].items() >= thought.items()
    third = respond(client, input="go on", previous_response_id=first["id"]).json()
    assert third["output"][0]["content"][0]["text"] == "Again."


def test_chat_takes_it_back(served: Served) -> None:
    client = served(*ALL)
    said = complete(client).json()["choices"][0]["message"]
    messages = [{"role": "user", "content": "Hello."}, said, {"role": "user", "content": "go on"}]
    answer = complete(client, messages=messages).json()
    assert answer["choices"][0]["message"]["content"] == "Forty two"


def test_each_choice_thinks_for_itself() -> None:
    choices = [[[{"think": {"text": "One.", "in_chat": True}}, {"say": "1"}]], [[{"say": "2"}]]]
    played = transport({"name": "own", "when": "go", "choices": choices})
    with httpx2.Client(transport=played, base_url="http://endpoint/v1/") as http:
        answer = complete(http, n=2).json()
    thoughts = [choice["message"].get("reasoning_content") for choice in answer["choices"]]
    assert thoughts == ["One.", None]


def test_a_script_that_reaches_the_wire_thinks_too(served: Served) -> None:
    answer = complete(served({"head": {"headers": {"x-own": "1"}}}, SUMMARY_ALONE[0], {"refusal": "No."}))
    message = answer.json()["choices"][0]["message"]
    assert answer.headers["x-own"] == "1"
    assert (message["reasoning_content"], message["refusal"], message["content"]) == ("Hm.", "No.", None)


def test_reasoning_is_sent_before_what_follows_it(served: Served) -> None:
    # The head is sent with the first thought, so the answer breaks off as behind text.
    client = served({"think": "Hm."}, {"disconnect": "here"})
    with client.stream("POST", "responses", json={"model": "m", "input": "go", "stream": True}) as answer:
        assert answer.status_code == 200
        with pytest.raises(httpx2.RemoteProtocolError):
            answer.read()


def test_the_openai_sdk_reads_it() -> None:
    played = transport({"name": "own", "when": "go", "parts": [ALL]})
    with openai.OpenAI(api_key="k", http_client=httpx2.Client(transport=played)) as client:
        whole: Any = client.responses.create(model="m", input="go")
        assert whole.output_text == "Forty two"
        assert whole.output[0].summary[0].text == "Hm, so."
        assert whole.output[0].content[0].text == "raw thought"
        with client.responses.stream(model="m", input="go") as stream:
            came: list[Any] = list(stream)
            ended = stream.get_final_response()
        said = [event.delta for event in came if event.type == "response.reasoning_summary_text.delta"]
        assert said == ["Hm, ", "so."]
        assert [item.type for item in ended.output] == ["reasoning", "message"]
        messages: Any = [{"role": "user", "content": "go"}]
        message: Any = client.chat.completions.create(model="m", messages=messages).choices[0].message
        assert (message.content, message.reasoning_content) == ("Forty two", "raw thought")
        with client.chat.completions.stream(model="m", messages=messages) as chunks:
            chunks.until_done()
            final: Any = chunks.get_final_completion().choices[0].message
        assert (final.content, final.reasoning_content) == ("Forty two", "raw thought")
