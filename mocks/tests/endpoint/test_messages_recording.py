"""`wireproof record` of the Messages API: what was recorded plays the same again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anthropic
import httpx2
import pytest

from wireproof_endpoint.in_process import transport
from wireproof_endpoint.recording.app import Recorder
from wireproof_endpoint.recording.messages import as_chat
from wireproof_endpoint.serving import running
from wireproof_scripts.files.read import load_scripts
from wireproof_scripts.steps import Call, Say, Think, Usage

if TYPE_CHECKING:
    from pathlib import Path

    from mocks.tests.endpoint.conftest import Serve

KEY = "sk-ant-0123456789abcdef"
LIVE = """
- name: weather
  when: weather
  parts:
    - - think: {text: "Hm, so.", pieces: ["Hm,", " so."]}
      - think: {text: "", encrypted: gAAA}
      - say: [Let me, " look."]
      - call: {id: call_1, name: get_weather, arguments: '{"city": "Bern"}', pieces: ['{"city":', ' "Bern"}']}
      - call: {id: call_2, name: get_weather, arguments: {city: Basel}}
      - usage: {input: 40, output: 5, cached: 3, reasoning: 2}
    - - say: [It is, " sunny."]
- {name: long, when: at length, parts: [[{say: [One, " two"]}, {usage: {}}, {finish: length}]]}
- {name: stops, when: stops, parts: [[{say: [One, " END two"]}]]}
"""
TOOLS: Any = [{"name": "get_weather", "input_schema": {"type": "object"}}]


def talk(client: anthropic.Anthropic, *, stream: bool) -> list[Any]:
    """What a client makes of a tool loop, of an answer that is too long, and of one that ends at a stop."""
    messages: Any = [{"role": "user", "content": "The weather?"}]
    first = asked(client, messages, stream=stream)
    results = [{"type": "tool_result", "tool_use_id": id_, "content": "24"} for id_ in ("call_1", "call_2")]
    messages += [{"role": "assistant", "content": first["content"]}, {"role": "user", "content": results}]
    return [
        first,
        asked(client, messages, stream=stream),
        asked(client, [{"role": "user", "content": "Say it at length."}], stream=stream),
        asked(client, [{"role": "user", "content": "It stops."}], stream=stream, stop_sequences=["END"]),
    ]


def asked(client: anthropic.Anthropic, messages: Any, *, stream: bool, **more: Any) -> Any:
    given: Any = {"model": "m", "max_tokens": 99, "messages": messages, "tools": TOOLS, **more}
    if stream:
        with client.messages.stream(**given) as events:
            answer: Any = events.get_final_message()
    else:
        answer = client.messages.create(**given)
    found = answer.model_dump(exclude={"id"}, exclude_none=True)
    # What the SDK adds of its own.
    found["content"] = [{k: v for k, v in block.items() if k != "parsed_output"} for block in found["content"]]
    return found


@pytest.mark.parametrize("stream", [True, False])
def test_what_was_recorded_plays_the_same_again(served: Serve, tmp_path: Path, *, stream: bool) -> None:
    file = tmp_path / "recorded.yaml"
    with (
        running(Recorder(served(LIVE), file)) as url,
        anthropic.Anthropic(base_url=url.removesuffix("/v1"), api_key=KEY, max_retries=0) as client,
    ):
        live = talk(client, stream=stream)
    assert [one["stop_reason"] for one in live] == ["tool_use", "end_turn", "max_tokens", "stop_sequence"]
    played: Any = transport(file)
    with anthropic.Anthropic(api_key="k", http_client=httpx2.Client(transport=played), max_retries=0) as client:
        assert talk(client, stream=stream) == live
    assert KEY not in file.read_text()
    if stream:
        first = next(script for script in load_scripts(file).values() if script.when == "The weather?").parts[0]
        assert first == (
            Think("Hm, so.", pieces=("Hm,", " so.")),
            Think("", encrypted="gAAA"),
            Say(("Let me", " look.")),
            Call(id="call_1", name="get_weather", arguments='{"city": "Bern"}', pieces=('{"city":', ' "Bern"}')),
            Call(id="call_2", name="get_weather", arguments='{"city": "Basel"}'),
            Usage(input=40, output=5, cached=3, reasoning=2),
        )


def test_an_error_within_a_stream_fails_the_script(served: Serve, tmp_path: Path) -> None:
    file = tmp_path / "recorded.yaml"
    script = "- {name: breaks, when: breaks, parts: [[{say: Half}, {fail: overloaded}]]}"
    with (
        running(Recorder(served(script), file)) as url,
        anthropic.Anthropic(base_url=url.removesuffix("/v1"), api_key=KEY, max_retries=0) as client,
        pytest.raises(anthropic.APIStatusError),
        client.messages.stream(model="m", max_tokens=9, messages=[{"role": "user", "content": "It breaks."}]) as events,
    ):
        events.get_final_message()
    [recorded] = load_scripts(file).values()
    assert [type(step).__name__ for step in recorded.parts[0]] == ["Say", "Fail"]


def test_requests_of_chat_stay_as_they_are() -> None:
    body = {
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
            {"role": "assistant", "content": None, "tool_calls": []},
            {"role": "tool", "tool_call_id": "c", "content": "x"},
        ]
    }
    assert as_chat(body) == body
    assert as_chat({"input": "Hi"}) == {"input": "Hi"}
