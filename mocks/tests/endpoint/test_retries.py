"""Answers in sequence, and connections that end, as the openai SDK's own retries see them."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import httpx2
import openai
import pytest

from wireproof_endpoint.in_process import transport

FLAKY: dict[str, Any] = {
    "name": "flaky",
    "when": "go",
    "sequence": "conversation",
    "parts": [[{"status": 500}], [{"status": {"code": 429, "retry_after": 0.01}}], [{"say": "Fine."}]],
}
BROKEN: dict[str, Any] = {**FLAKY, "parts": [["disconnect"], [{"disconnect": {"reset": True}}], [{"say": "Fine."}]]}
BOTH = pytest.mark.parametrize("script", [FLAKY, BROKEN], ids=["status", "disconnect"])


def user(text: str) -> Any:
    return [{"role": "user", "content": text}]


def http_of(played: Any) -> Any:
    return httpx.Client(transport=played)


def ask(client: openai.OpenAI, text: str) -> str | None:
    return client.chat.completions.create(model="m", messages=user(text)).choices[0].message.content


@pytest.fixture(autouse=True)
def _without_delays(monkeypatch: pytest.MonkeyPatch) -> None:
    # The SDK waits half a second and more before it tries again, unless a response says how long.
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.01)
    monkeypatch.setattr("openai._base_client.MAX_RETRY_DELAY", 0.02)


@BOTH
def test_the_sdk_tries_again_over_a_socket(wireproof_endpoint: Any, script: Any) -> None:
    wireproof_endpoint.play(script)
    with openai.OpenAI(base_url=wireproof_endpoint.url, api_key=wireproof_endpoint.key, max_retries=2) as client:
        assert ask(client, "go") == "Fine."
        assert len(wireproof_endpoint.requests) == 3
        assert ask(client, "go") == "Fine."  # the sequence of this conversation is over
        assert ask(client, "go elsewhere") == "Fine."  # another one begins
    assert [entry.part for entry in wireproof_endpoint.requests] == [0, 1, 2, 2, 0, 1, 2]


@BOTH
def test_the_async_sdk_tries_again_over_a_socket(wireproof_endpoint: Any, script: Any) -> None:
    wireproof_endpoint.play(script)

    async def asked() -> str:
        base, key = wireproof_endpoint.url, wireproof_endpoint.key
        async with openai.AsyncOpenAI(base_url=base, api_key=key, max_retries=2) as client:
            stream = await client.chat.completions.create(model="m", messages=user("go"), stream=True)
            return "".join([chunk.choices[0].delta.content or "" async for chunk in stream])

    assert asyncio.run(asked()) == "Fine."
    assert len(wireproof_endpoint.requests) == 3


@BOTH
@pytest.mark.parametrize("library", [httpx, httpx2], ids=["httpx", "httpx2"])
def test_the_sdk_tries_again_without_a_socket(library: Any, script: Any) -> None:
    played = transport(script)
    with openai.OpenAI(api_key="k", http_client=library.Client(transport=played), max_retries=2) as client:
        assert ask(client, "go") == "Fine."
    assert [entry.part for entry in played.requests] == [0, 1, 2]


@BOTH
def test_without_retries_the_first_answer_is_an_error(wireproof_endpoint: Any, script: Any) -> None:
    wireproof_endpoint.play(script)
    with openai.OpenAI(base_url=wireproof_endpoint.url, api_key=wireproof_endpoint.key, max_retries=0) as client:
        with pytest.raises(openai.InternalServerError if script is FLAKY else openai.APIConnectionError):
            ask(client, "go")
        if script is FLAKY:
            with pytest.raises(openai.RateLimitError) as caught:
                ask(client, "go")
            assert caught.value.response.headers["retry-after"] == "0.01"


def test_a_sequence_of_the_endpoint_counts_all_requests(wireproof_endpoint: Any) -> None:
    wireproof_endpoint.play({**FLAKY, "sequence": "endpoint"})
    with openai.OpenAI(base_url=wireproof_endpoint.url, api_key=wireproof_endpoint.key, max_retries=2) as client:
        assert ask(client, "go") == "Fine."
        assert ask(client, "go elsewhere") == "Fine."
    assert [entry.part for entry in wireproof_endpoint.requests] == [0, 1, 2, 2]


def test_choices_are_one_request() -> None:
    says = [[{"say": "One."}], [{"say": "Two."}]]
    played = transport({**FLAKY, "parts": says})
    with openai.OpenAI(api_key="k", http_client=http_of(played)) as client:
        for text in ("One.", "Two."):
            answer = client.chat.completions.create(model="m", messages=user("go"), n=2)
            assert [choice.message.content for choice in answer.choices] == [text, text]


def test_a_tool_loop_goes_through_a_sequence() -> None:
    call = [{"call": {"id": "c", "name": "f", "arguments": {}}}]
    played = transport({**FLAKY, "parts": [[{"status": 503}], call, [{"status": 503}], [{"say": "Done."}]]})
    tools: Any = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]
    with openai.OpenAI(api_key="k", http_client=http_of(played), max_retries=1) as client:
        first = client.chat.completions.create(model="m", messages=user("go"), tools=tools).choices[0].message
        result: Any = {"role": "tool", "tool_call_id": "c", "content": "14"}
        messages: Any = [*user("go"), first, result]
        assert client.chat.completions.create(model="m", messages=messages, tools=tools).choices[0].message.content == (
            "Done."
        )
    assert [entry.part for entry in played.requests] == [0, 1, 2, 3]


@pytest.mark.parametrize("library", [httpx, httpx2], ids=["httpx", "httpx2"])
@pytest.mark.parametrize(
    ("steps", "error", "words"),
    [
        (["disconnect"], "RemoteProtocolError", "disconnected without sending"),
        ([{"disconnect": {"reset": True}}], "ReadError", "reset by peer"),
        ([{"garbage": 9}], "RemoteProtocolError", "illegal"),
        ([{"say": "a"}, "disconnect"], "RemoteProtocolError", "incomplete"),
        ([{"say": "a"}, {"disconnect": {"at": "mid-frame", "reset": True}}], "ReadError", "reset by peer"),
        ([{"say": "a"}, "garbage"], "RemoteProtocolError", "illegal"),
    ],
)
def test_without_a_socket_a_client_gets_the_exception_of_one(library: Any, steps: Any, error: str, words: str) -> None:
    played = transport({"name": "own", "when": "go", "parts": [steps]})
    body = {"model": "m", "stream": True, "messages": user("go")}
    url = "https://api.openai.com/v1/chat/completions"

    async def later() -> None:
        async with library.AsyncClient(transport=played) as client, client.stream("POST", url, json=body) as answer:
            await answer.aread()

    with library.Client(transport=played) as client, pytest.raises(getattr(library, error), match=words):
        client.post(url, json=body)
    with pytest.raises(getattr(library, error), match=words):
        asyncio.run(later())


def test_without_a_socket_other_steps_are_as_with_one() -> None:
    steps = [{"head": {"content_type": "text/html", "seconds": 0.01}}, {"bytes": "<html>"}]
    played = transport({"name": "own", "when": "go", "parts": [steps]})
    with httpx.Client(transport=played) as client:
        answer = client.post("http://x/v1/chat/completions", json={"model": "m", "messages": user("go")})
    assert (answer.status_code, answer.headers["content-type"], answer.text) == (200, "text/html", "<html>")


def test_scripts_that_no_request_chose_are_named(wireproof_endpoint: Any) -> None:
    wireproof_endpoint.play([{"name": name, "when": name, "parts": [[{"say": "Hi"}]]} for name in ("hello", "goodbye")])
    http = httpx.Client(transport=wireproof_endpoint.transport)
    body = {"model": "m", "messages": user("hello")}
    with http as client:
        headers = {"authorization": f"Bearer {wireproof_endpoint.key}"}
        assert client.post("http://x/v1/chat/completions", json=body, headers=headers).status_code == 200
    assert wireproof_endpoint.unchosen == ("goodbye",)


def test_templates_say_what_was_asked_and_what_the_tool_returned() -> None:
    call = {"id": "c", "name": "f", "arguments": {"place": "{user_text}"}, "fill": True}
    played = transport(
        {"name": "own", "when": "go", "parts": [[{"call": call}], [{"template": "It is {tool_result}."}]]}
    )
    tools: Any = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]
    with openai.OpenAI(api_key="k", http_client=http_of(played)) as client:
        first = client.chat.completions.create(model="m", messages=user('go "home"'), tools=tools).choices[0].message
        [made] = first.tool_calls or []
        assert made.function.arguments == '{"place": "go \\"home\\""}'  # type: ignore[union-attr]
        result: Any = {"role": "tool", "tool_call_id": "c", "content": "14 degrees"}
        messages: Any = [*user('go "home"'), first, result]
        answer = client.chat.completions.create(model="m", messages=messages, tools=tools).choices[0].message
    assert answer.content == "It is 14 degrees."


@pytest.mark.parametrize("stream", [True, False])
def test_a_refusal_is_stored_as_one_and_continued(stream: bool) -> None:  # noqa: FBT001 - a case
    played = transport({"name": "own", "when": "go", "parts": [[{"refusal": "No."}], [{"say": "Yes."}]]})
    with openai.OpenAI(api_key="k", http_client=http_of(played)) as client:
        answer: Any = client.responses.create(model="m", input="go", stream=stream)
        sent = list(answer)[-1].response if stream else answer
        stored: Any = client.responses.retrieve(sent.id)
        assert stored.output == sent.output
        assert stored.output[0].content[0].model_dump() == {"type": "refusal", "refusal": "No."}
        assert client.responses.create(model="m", input="go on", previous_response_id=sent.id).output_text == "Yes."


@pytest.mark.parametrize("stream", [True, False])
def test_the_tokens_of_a_refusal_are_those_of_a_refusal(stream: bool) -> None:  # noqa: FBT001 - a case
    played = transport({"name": "own", "when": "go", "parts": [[{"refusal": "No."}]]})
    with openai.OpenAI(api_key="k", http_client=http_of(played)) as client:
        answer: Any = client.chat.completions.create(model="m", messages=user("go"), logprobs=True, stream=stream)
        found = [chunk.choices[0].logprobs for chunk in (answer if stream else [answer])]
    [tokens] = [one for one in found if one]
    assert (tokens.content, [token.token for token in tokens.refusal]) == (None, ["No."])


def test_a_refusal_is_one_to_the_sdk() -> None:
    played = transport({"name": "own", "when": "go", "parts": [[{"refusal": "I cannot do that."}]]})
    with openai.OpenAI(api_key="k", http_client=http_of(played)) as client:
        message = client.chat.completions.create(model="m", messages=user("go")).choices[0].message
        assert (message.content, message.refusal) == (None, "I cannot do that.")
        chunks = list(client.chat.completions.create(model="m", messages=user("go"), stream=True))
        assert "".join(chunk.choices[0].delta.refusal or "" for chunk in chunks) == "I cannot do that."
        assert not any(chunk.choices[0].delta.content for chunk in chunks)
        whole: Any = client.responses.create(model="m", input="go")
        assert whole.output[0].content[0].model_dump() == {"type": "refusal", "refusal": "I cannot do that."}
        events: list[Any] = list(client.responses.create(model="m", input="go", stream=True))
    assert [event.delta for event in events if event.type == "response.refusal.delta"] == ["I cannot do that."]
    [done] = [event for event in events if event.type == "response.refusal.done"]
    assert done.refusal == "I cannot do that."
    assert events[-1].response.output[0].content[0].type == "refusal"
    assert not [event for event in events if "output_text" in event.type]


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("refusing", [0, 1, 2])
def test_each_choice_refuses_by_itself(refusing: int, stream: bool) -> None:  # noqa: FBT001 - a case
    said: list[Any] = [[[{"say": f"Text {choice}."}]] for choice in range(3)]
    said[refusing] = [[{"refusal": "No."}]]
    played = transport({"name": "own", "when": "go", "choices": said})
    texts, refusals = [""] * 3, [""] * 3
    with openai.OpenAI(api_key="k", http_client=http_of(played)) as client:
        answer: Any = client.chat.completions.create(model="m", messages=user("go"), n=3, stream=stream)
        for one in (choice for chunk in (answer if stream else [answer]) for choice in chunk.choices):
            message = one.delta if stream else one.message
            texts[one.index] += message.content or ""
            refusals[one.index] += message.refusal or ""
    assert refusals == ["No." if choice == refusing else "" for choice in range(3)]
    assert texts == ["" if choice == refusing else f"Text {choice}." for choice in range(3)]
