"""Answers that end within a call, for their length or with their connection, and arguments that are no JSON."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import httpx
import pytest

from wireproof_endpoint.in_process import transport

WHOLE = {"id": "call_1", "name": "f", "arguments": '{"city": "Rom"}'}
CUT = {
    "id": "call_2",
    "name": "f",
    "arguments": '{"city": "Bern"}',
    "pieces": ['{"ci', 'ty": "Be', 'rn"}'],
    "unfinished": True,
}
SENT = '{"city": "Be'
LIMITED: dict[str, list[Any]] = {
    "unfinished": [{"call": WHOLE}, {"call": CUT}, {"finish": "length"}],
    # Arguments that are not whole are what was written so far.
    "no JSON": [{"call": WHOLE}, {"call": {**WHOLE, "id": "call_2", "arguments": SENT}}, {"finish": "length"}],
}
BOTH = pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
LIMITS = pytest.mark.parametrize("steps", LIMITED.values(), ids=LIMITED)
SAID = [{"role": "user", "content": "go"}]


def post(steps: list[Any], path: str, **body: Any) -> httpx.Response:
    played = transport({"name": "own", "when": "go", "parts": [steps]})
    with httpx.Client(transport=played, headers={"anthropic-version": "2023-06-01"}) as client:
        return client.post(f"http://x/v1/{path}", json={"model": "m", **body})


def events(response: httpx.Response) -> list[Any]:
    lines = response.text.split("\n")
    return [json.loads(line[6:]) for line in lines if line.startswith("data: {")]


@BOTH
@LIMITS
def test_a_chat_answer_ends_for_its_length_within_a_call(steps: list[Any], stream: bool) -> None:  # noqa: FBT001 - a case
    answer = post(steps, "chat/completions", messages=SAID, stream=stream)
    if stream:
        choices = [chunk["choices"][0] for chunk in events(answer)]
        pieces = [piece for one in choices for piece in one["delta"].get("tool_calls", [])]
        arguments = [
            "".join(one["function"]["arguments"] for one in pieces if one["index"] == index) for index in (0, 1)
        ]
    else:
        choices = answer.json()["choices"]
        arguments = [call["function"]["arguments"] for call in choices[0]["message"]["tool_calls"]]
    assert choices[-1]["finish_reason"] == "length"
    assert arguments == [WHOLE["arguments"], SENT]


@BOTH
@LIMITS
def test_a_response_is_incomplete_within_a_call(steps: list[Any], stream: bool) -> None:  # noqa: FBT001 - a case
    answer = post(steps, "responses", input="go", stream=stream)
    response = events(answer)[-1]["response"] if stream else answer.json()
    assert (response["status"], response["incomplete_details"]) == ("incomplete", {"reason": "max_output_tokens"})
    assert [(item["status"], item["arguments"]) for item in response["output"]] == [
        ("completed", WHOLE["arguments"]),
        ("incomplete", SENT),
    ]
    if stream:
        assert [one["item"] for one in events(answer) if one["type"] == "response.output_item.done"] == response[
            "output"
        ]


@BOTH
@LIMITS
def test_a_message_stops_for_its_length_within_a_call(steps: list[Any], stream: bool) -> None:  # noqa: FBT001 - a case
    answer = post(steps, "messages", messages=SAID, max_tokens=99, stream=stream)
    if stream:
        sent = events(answer)
        pieces = [
            one["delta"]["partial_json"] for one in sent if one.get("delta", {}).get("type") == "input_json_delta"
        ]
        assert "".join(pieces) == str(WHOLE["arguments"]) + SENT
        assert [one["type"] for one in sent[-3:]] == ["content_block_stop", "message_delta", "message_stop"]
        assert sent[-2]["delta"]["stop_reason"] == "max_tokens"
    else:
        assert answer.json()["stop_reason"] == "max_tokens"
        assert [block["input"] for block in answer.json()["content"]] == [{"city": "Rom"}, {}]


@BOTH
def test_calls_that_are_whole_win_over_the_length(stream: bool) -> None:  # noqa: FBT001 - a case
    answer = post([{"call": WHOLE}, {"finish": "length"}], "chat/completions", messages=SAID, stream=stream)
    last = events(answer)[-1] if stream else answer.json()
    assert last["choices"][0]["finish_reason"] == "tool_calls"


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("chat/completions", {"messages": SAID}),
        ("responses", {"input": "go"}),
        ("messages", {"messages": SAID, "max_tokens": 99}),
    ],
)
def test_a_connection_ends_within_a_call(path: str, body: dict[str, Any]) -> None:
    played = transport({"name": "own", "when": "go", "parts": [[{"call": CUT}, "disconnect"]]})
    sent = b""
    request = {"model": "m", "stream": True, **body}
    with (
        httpx.Client(transport=played, headers={"anthropic-version": "2023-06-01"}) as client,
        client.stream("POST", f"http://x/v1/{path}", json=request) as answer,
        suppress(httpx.RemoteProtocolError),
    ):
        for piece in answer.iter_bytes():
            sent += piece
    # Nothing that completes the call, as each API writes it.
    assert b'\\"ci' in sent
    assert not [done for done in (b"arguments.done", b"content_block_stop", b'"tool_calls"}]') if done in sent]


def test_arguments_that_are_no_json_are_streamed_as_they_are_and_are_no_whole_message() -> None:
    wrong = [{"call": {**WHOLE, "arguments": '{"city": Rom}'}}]
    sent = events(post(wrong, "messages", messages=SAID, max_tokens=99, stream=True))
    assert [one["delta"]["partial_json"] for one in sent if one["type"] == "content_block_delta"] == ['{"city": Rom}']
    assert sent[-2]["delta"]["stop_reason"] == "tool_use"
    refused = post(wrong, "messages", messages=SAID, max_tokens=99)
    assert refused.status_code == 502
    assert "The arguments of the call call_1 are no JSON object" in refused.json()["error"]["message"]


def test_the_default_call_is_as_long_as_it_may() -> None:
    tool = {"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}
    asked: Any = {"model": "m", "messages": [{"role": "user", "content": "get_weather in Bern"}], "max_tokens": 2}
    with httpx.Client(transport=transport()) as client:
        answer = client.post(
            "http://x/v1/chat/completions", json={**asked, "tools": [{"type": "function", "function": tool}]}
        )
    [choice] = answer.json()["choices"]
    assert choice["finish_reason"] == "length"
    assert choice["message"]["tool_calls"][0]["function"]["arguments"] == '{"city": "Bern'
    assert answer.json()["usage"]["completion_tokens"] == 2
