"""The endpoint's Messages API beyond what the SDK shows: rules, signatures, threads, counts, limits, the journal."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import anthropic
import httpx
import pytest

from wireproof_endpoint.in_process import transport

if TYPE_CHECKING:
    from mocks.tests.endpoint.conftest import Serve

    from wireproof_endpoint.in_process import Transport

URL = "http://x/v1/messages"
VERSION = {"anthropic-version": "2023-06-01"}
CALL = {"call": {"id": "c1", "name": "f", "arguments": {}}}
SCRIPTS: list[dict[str, Any]] = [
    {
        "name": "thinks",
        "when": "think",
        "parts": [
            [
                {"think": {"text": "Hm, so.", "pieces": ["Hm,", " so."]}},
                CALL,
            ],
            [{"say": "Done."}],
        ],
    },
    {"name": "cached", "when": "cached", "parts": [[{"say": "Yes."}, {"usage": {"input": 40, "cached": 30}}]]},
    {"name": "turns", "when": "turns", "sequence": "endpoint", "parts": [[{"say": "One."}], [{"say": "Two."}]]},
    {"name": "refuses", "when": "harm", "parts": [[{"refusal": "I cannot."}]]},
    {"name": "busy", "when": "busy", "parts": [[{"status": {"code": 529, "message": "Overloaded"}}]]},
    {"name": "slow", "when": "slow", "parts": [[{"say": "Wait"}, {"pause": 0.3}, {"say": "ed."}]]},
    {"name": "goes-on", "when": "begun", "parts": [[{"say": " upon a time"}]]},
    {"name": "stops", "when": "stops", "parts": [[{"say": ["a EN", "D b"]}]]},
]


@pytest.fixture
def played() -> Transport:
    return transport(SCRIPTS, strict=False)


@pytest.fixture
def client(played: Transport) -> httpx.Client:
    return httpx.Client(transport=played, headers=VERSION)


def ask(client: httpx.Client, text: str, **more: Any) -> httpx.Response:
    body = {"model": "m", "max_tokens": 4000, "messages": [{"role": "user", "content": text}], **more}
    return client.post(URL, json={name: value for name, value in body.items() if value is not ...})


def events(response: httpx.Response) -> list[Any]:
    return [json.loads(line[6:]) for line in response.text.splitlines() if line.startswith("data: ")]


def test_a_version_must_be_named_and_unknown_fields_are_refused(client: httpx.Client) -> None:
    assert ask(client, "Hi", frobnicate=1).json()["error"]["message"] == "frobnicate: Extra inputs are not permitted"
    del client.headers["anthropic-version"]
    refused = ask(client, "Hi")
    assert (refused.status_code, refused.json()["error"]["message"]) == (400, "anthropic-version: header is required")


def test_betas_are_not_looked_at(client: httpx.Client) -> None:
    headers = {"anthropic-beta": "nobody-knows-this-2026-01-01, context-management-2025-06-27"}
    asked = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}], "context_management": {}}
    assert client.post(f"{URL}?beta=true", json=asked, headers=headers).status_code == 200


def thought(client: httpx.Client, **changed: Any) -> httpx.Response:
    """The second turn of a script that thinks and calls, with its thinking changed."""
    answer = ask(client, "think").json()
    answer["content"][0].update(changed)
    more = [
        {"role": "user", "content": "think"},
        {"role": "assistant", "content": answer["content"]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "ok"}]},
    ]
    return ask(client, "", messages=more)


@pytest.mark.parametrize("changed", [{}, {"signature": ""}, {"signature": "another's"}, {"thinking": ""}])
def test_thoughts_come_back_as_they_were(client: httpx.Client, changed: dict[str, str]) -> None:
    assert thought(client, **changed).json()["content"] == [{"type": "text", "text": "Done."}]


def test_a_thought_that_was_changed_is_refused(client: httpx.Client) -> None:
    refused = thought(client, thinking="Hm, no.")
    assert refused.status_code == 400
    assert refused.json()["error"]["message"] == "messages.1.content.0: Invalid `signature` in `thinking` block"


def test_a_prefill_is_gone_on_from(client: httpx.Client) -> None:
    begun = [{"role": "user", "content": "begun"}, {"role": "assistant", "content": "Once"}]
    assert ask(client, "", messages=begun).json()["content"] == [{"type": "text", "text": " upon a time"}]


@pytest.mark.parametrize("stream", [True, False])
def test_an_answer_ends_at_a_stop_sequence(client: httpx.Client, *, stream: bool) -> None:
    answer = ask(client, "stops", stream=stream, stop_sequences=["END"])
    if stream:
        assert [one["delta"]["text"] for one in events(answer) if one["type"] == "content_block_delta"] == ["a "]
        said = events(answer)[-2]["delta"]
    else:
        said = answer.json()
        assert said["content"] == [{"type": "text", "text": "a "}]
    assert (said["stop_reason"], said["stop_sequence"]) == ("stop_sequence", "END")


@pytest.mark.parametrize("stream", [True, False])
def test_a_refusal_is_why_an_answer_stopped(client: httpx.Client, *, stream: bool) -> None:
    answer = ask(client, "harm", stream=stream)
    said = events(answer)[-2]["delta"] if stream else answer.json()
    assert (said["stop_reason"], said["stop_details"]["type"]) == ("refusal", "refusal")
    assert "I cannot." in answer.text


def test_the_counts_of_a_script_are_those_of_a_count_and_of_both_ends_of_a_stream(client: httpx.Client) -> None:
    counted = client.post(
        f"{URL}/count_tokens", json={"model": "m", "messages": [{"role": "user", "content": "cached"}]}
    )
    assert counted.json() == {"input_tokens": 40}
    first, *_, last, _ = events(ask(client, "cached", stream=True))
    for usage in (first["message"]["usage"], last["usage"]):
        assert (usage["input_tokens"], usage["cache_read_input_tokens"]) == (10, 30)
        assert usage["cache_creation_input_tokens"] == 0


def test_counting_plays_nothing(client: httpx.Client) -> None:
    asked = {"model": "m", "messages": [{"role": "user", "content": "turns"}]}
    for said in ("One.", "Two."):
        assert client.post(f"{URL}/count_tokens", json=asked).json() == {"input_tokens": 11}
        assert ask(client, "turns").json()["content"][0]["text"] == said


def test_a_status_of_a_script_has_the_errors_of_this_api(client: httpx.Client) -> None:
    failed = ask(client, "busy")
    assert (failed.status_code, failed.json()["error"]) == (529, {"type": "overloaded_error", "message": "Overloaded"})
    assert failed.json()["request_id"] == failed.headers["request-id"]


def test_limits_are_said_in_headers(client: httpx.Client) -> None:
    headers = ask(client, "Hi").headers
    for kind in ("requests", "tokens", "input-tokens", "output-tokens"):
        assert headers[f"anthropic-ratelimit-{kind}-limit"] == headers[f"anthropic-ratelimit-{kind}-remaining"]
        assert headers[f"anthropic-ratelimit-{kind}-reset"].endswith("Z")
    assert headers["anthropic-organization-id"]


def test_a_quota_is_said_in_the_same_headers(served: Serve) -> None:
    with httpx.Client(base_url=served(rpm=1), headers=VERSION) as client:
        asked = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]}
        first, second = (client.post("messages", json=asked) for _ in range(2))
    assert first.headers["anthropic-ratelimit-requests-limit"] == "1"
    assert (second.status_code, second.json()["error"]["type"]) == (429, "rate_limit_error")
    assert second.headers["anthropic-ratelimit-requests-remaining"] == "0"
    assert not any(name.startswith("x-ratelimit") for name in second.headers)


def test_models_are_listed_in_the_form_of_who_asks(client: httpx.Client) -> None:
    page = client.get("http://x/v1/models").json()
    assert ([model["type"] for model in page["data"]], page["has_more"]) == (["model"], False)
    assert client.get("http://x/v1/models/any").json()["display_name"] == "any"
    for other in ({}, {"authorization": "Bearer k"}):
        listed = httpx.Client(transport=client._transport, headers=other).get("http://x/v1/models")
        assert listed.json()["object"] == "list"
    keyed = httpx.Client(transport=client._transport, headers={"x-api-key": "k"}).get("http://x/v1/models")
    assert "has_more" in keyed.json()


def test_silence_is_filled_by_pings(served: Serve) -> None:
    url = served("- {name: slow, when: slow, parts: [[{say: Wait}, {pause: 0.3}, {say: ed.}]]}", keepalive=0.05)
    asked = {"model": "m", "max_tokens": 9, "stream": True, "messages": [{"role": "user", "content": "slow"}]}
    with httpx.Client(base_url=url, headers=VERSION) as client:
        kinds = [event["type"] for event in events(client.post("messages", json=asked))]
    assert kinds.count("ping") >= 2
    assert [kind for kind in kinds if kind != "ping"][:2] == ["message_start", "content_block_start"]


def test_the_journal_knows_calls_and_their_results(played: Transport, client: httpx.Client) -> None:
    thought(client)
    ask(client, "think", stream=True)
    [call] = played.requests.calls("f")
    assert (call.id, call.arguments, call.result) == ("c1", {}, "ok")
    assert ask(client, "", messages=[]).status_code == 400
    assert played.requests[-1].error == {
        "type": "invalid_request_error",
        "message": "messages: at least one message is required",
    }


@pytest.mark.parametrize("held", [True, False])
def test_the_official_tool_runner_comes_to_its_end(served: Serve, *, held: bool) -> None:
    call = "{call: {id: c1, name: weather, arguments: {city: Bern}}}"
    script = f"- {{name: calls, when: weather, parts: [[{call}], [{{say: Done.}}]]}}"
    called = []

    @anthropic.beta_tool
    def weather(city: str) -> str:
        """The weather.

        Args:
            city: where
        """
        called.append(city)
        return "sunny"

    url = served(script, threads=held).removesuffix("/v1")
    with anthropic.Anthropic(base_url=url, api_key="k", max_retries=0) as client:
        runner = client.beta.messages.tool_runner(
            model="m", max_tokens=50, tools=[weather], messages=[{"role": "user", "content": "The weather?"}]
        )
        last = runner.until_done()
    assert called == ["Bern"]
    assert [getattr(block, "text", None) for block in last.content] == ["Done."]


def test_a_thread_that_is_not_held_is_said_so_that_a_runner_begins_it_again(client: httpx.Client) -> None:
    refused = ask(client, "Hi", thread={"type": "continue", "previous_message_id": "msg_0"})
    error = refused.json()["error"]
    assert (refused.status_code, error["type"]) == (404, "not_found_error")
    assert error["details"] == {"error_code": "thread_not_found"}


def test_a_thread_goes_on_from_any_answer_with_its_tools(client: httpx.Client) -> None:
    tool = {"name": "f", "input_schema": {"type": "object"}}
    first = ask(client, "think", thread={"type": "create"}, tools=[tool]).json()
    going_on: dict[str, Any] = {
        "thread": {"type": "continue", "previous_message_id": first["id"]},
        "tool_choice": {"type": "auto"},
        "messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1"}]}],
    }
    assert ask(client, "", **going_on).json()["content"] == [{"type": "text", "text": "Done."}]
    assert ask(client, "", **going_on).json()["content"] == [{"type": "text", "text": "Done."}]
    orphan = ask(client, "Hi", **{**going_on, "messages": ...})
    assert orphan.status_code == 400
    unanswered = ask(client, "", **{**going_on, "messages": [{"role": "user", "content": "Hi"}]}).json()["error"]
    assert "`tool_use` ids were found without `tool_result` blocks immediately after: c1" in unanswered["message"]
