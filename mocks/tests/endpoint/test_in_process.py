"""The endpoint without a socket: the openai SDK over httpx and httpx2, sync and async."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import TYPE_CHECKING, Any

import httpx
import httpx2
import openai
import pytest

from wireproof_endpoint.endpoint.answerer import Answerer
from wireproof_endpoint.in_process import transport
from wireproof_scripts.files.errors import ScriptError

if TYPE_CHECKING:
    from pathlib import Path

WEATHER = {
    "name": "weather",
    "when": "weather",
    "parts": [
        [{"call": {"id": "call_1", "name": "get_weather", "arguments": {"city": "Paris"}}}],
        [{"say": ["It is", " sunny."]}],
    ],
}
SLOW = {"name": "slow", "when": "slowly", "parts": [[{"say": "One"}, {"pause": 1}, {"say": ", two."}]]}
TOOLS: Any = [{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}]
LIBRARIES = pytest.mark.parametrize("library", [httpx, httpx2], ids=["httpx", "httpx2"])


def user(text: str) -> Any:
    return [{"role": "user", "content": text}]


def sync_client(library: Any, given: Any) -> openai.OpenAI:
    return openai.OpenAI(api_key="k", http_client=library.Client(transport=given), max_retries=0)


def async_client(library: Any, given: Any) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(api_key="k", http_client=library.AsyncClient(transport=given), max_retries=0)


def test_what_a_backend_does_itself_is_no_part_of_the_answer() -> None:
    done = [
        {"plan": {"id": "p", "steps": ["look"]}},
        {"mcp-call": {"id": "m", "server": "mini", "tool": "echo"}},
        {"command": {"id": "c", "command": "ls"}},
    ]
    say = [{"say": "Found."}]
    searched = [{"web-search": {"id": "w", "query": "herons"}}, *say]
    script = {"name": "works", "when": "work", "parts": [*([step] for step in done), searched]}
    with sync_client(httpx, transport(script)) as client:
        choice = client.chat.completions.create(model="m", messages=user("Work!")).choices[0]
        assert (choice.message.content, choice.finish_reason) == ("Found.", "stop")
        response = client.responses.create(model="m", input="Work!")
        assert [item.type for item in response.output] == ["message"]


@LIBRARIES
def test_a_tool_loop(library: Any) -> None:
    played = transport(WEATHER)
    with sync_client(library, played) as client:
        messages = user("What is the weather like?")
        first = client.chat.completions.create(model="m", messages=messages, tools=TOOLS).choices[0]
        assert first.finish_reason == "tool_calls"
        [call] = first.message.tool_calls or []
        result = {"role": "tool", "tool_call_id": call.id, "content": "24"}
        messages = [*messages, first.message, result]
        stream = client.chat.completions.create(model="m", messages=messages, tools=TOOLS, stream=True)
        assert "".join(chunk.choices[0].delta.content or "" for chunk in stream) == "It is sunny."
    assert [(entry.script, entry.part) for entry in played.requests] == [("weather", 0), ("weather", 1)]
    assert played.requests[1].body["messages"][-1]["content"] == "24"
    assert played.requests[0].headers["authorization"] == "***"


@pytest.mark.sampled(1)
@LIBRARIES
def test_a_stream_comes_as_it_is_played(library: Any) -> None:
    with sync_client(library, transport(SLOW)) as client:
        began = time.monotonic()
        came = [
            (chunk.choices[0].delta.content, time.monotonic() - began)
            for chunk in client.chat.completions.create(model="m", messages=user("slowly"), stream=True)
            if chunk.choices[0].delta.content
        ]
    (one, first), (two, second) = came
    assert (one, two) == ("One", ", two.")
    assert second - first > 0.5


@pytest.mark.sampled(1)
@LIBRARIES
def test_an_async_client_waits_without_holding_up_others(library: Any) -> None:
    async def run() -> list[str]:
        async with async_client(library, transport(SLOW)) as client:

            async def one() -> str:
                stream = await client.chat.completions.create(model="m", messages=user("slowly"), stream=True)
                return "".join([chunk.choices[0].delta.content or "" async for chunk in stream])

            return await asyncio.gather(*(one() for _ in range(20)))

    began = time.monotonic()
    assert asyncio.run(run()) == ["One, two."] * 20
    assert time.monotonic() - began < 15, "one after the other they take 20 s"


@LIBRARIES
def test_responses_are_kept(library: Any) -> None:
    with sync_client(library, transport()) as client:
        first = client.responses.create(model="m", input="One.")
        second = client.responses.create(model="m", input="Two.", previous_response_id=first.id)
        assert [one.output_text for one in (first, second)] == ["You said: One.", "You said: Two."]
        with client.responses.stream(model="m", input="Three.") as stream:
            assert stream.get_final_response().output_text == "You said: Three."


def test_a_gate_is_opened_by_another_thread() -> None:
    played = transport()
    with sync_client(httpx, played) as client:

        def ask(script: str) -> str:
            answer = client.chat.completions.create(model="m", messages=user(f"[[wireproof:{script}#n]]"))
            return answer.choices[0].message.content or ""

        said: list[str] = []
        waiting = threading.Thread(target=lambda: said.append(ask("text/gate")))
        waiting.start()
        while not played.requests:
            time.sleep(0.005)
        assert ask("open/gate") == "opened"
        waiting.join()
    assert said
    assert "not opened in time" not in said[0]


@pytest.mark.parametrize("how", ["sync", "async"])
def test_a_gate_that_opens_just_before_its_opening_is_listened_for(monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    gated = {"name": "gated", "parts": [[{"gate": {"name": "open", "timeout": 8}}, {"say": "Open."}]]}
    opening = {"name": "opening", "parts": [[{"open": "open"}]]}
    played = transport([gated, opening])
    client: Any = httpx.Client(transport=played, base_url="http://endpoint/v1")
    listen = Answerer.listen

    def opened_before(answerer: Answerer, nonces: set[int], wake: Any) -> None:
        monkeypatch.setattr(Answerer, "listen", listen)
        client.post("chat/completions", json={"model": "m", "messages": user("[[wireproof:opening#n]]")})
        answerer.listen(nonces, wake)

    monkeypatch.setattr(Answerer, "listen", opened_before)
    asked = {"model": "m", "messages": user("[[wireproof:gated#n]]")}
    began = time.monotonic()
    answer = (
        client.post("chat/completions", json=asked, timeout=None)
        if how == "sync"
        else asyncio.run(_posted(played, asked))
    )
    assert answer.json()["choices"][0]["message"]["content"] == "Open."
    assert time.monotonic() - began < 6, "it waited for the time of its gate"


async def _posted(played: Any, asked: Any) -> httpx.Response:
    async with httpx.AsyncClient(transport=played, base_url="http://endpoint/v1") as client:
        return await client.post("chat/completions", json=asked)


def test_a_request_that_no_script_matches_is_refused_by_the_field_that_says_it() -> None:
    many = [{"name": f"s{number}", "when": f"script {number}", "parts": [[{"say": "x"}]]} for number in range(30)]
    client: Any = httpx.Client(transport=transport(many), base_url="http://endpoint/v1")
    for path, said in (("chat/completions", {"messages": user("Zzz")}), ("responses", {"input": "Zzz"})):
        error = client.post(path, json={"model": "m", **said}).json()["error"]
        assert [error["param"]] == list(said)
        assert error["message"].endswith("'script 19' (s19) and 10 more.")


def test_a_request_that_no_script_matches_is_refused_with_the_nearest() -> None:
    with sync_client(httpx, transport([WEATHER, SLOW])) as client:
        with pytest.raises(openai.BadRequestError, match=r"the nearest is weather, chosen when .* contains 'weather'"):
            client.chat.completions.create(model="m", messages=user("wether"))
        with pytest.raises(openai.BadRequestError, match=r"scripts are chosen by: 'weather' \(weather\), 'slowly' \("):
            client.responses.create(model="m", input="0123456789 0123456789")
    with (
        sync_client(httpx, transport(strict=True)) as client,
        pytest.raises(openai.BadRequestError, match="no script has a `when`"),
    ):
        client.chat.completions.create(model="m", messages=user("hi"))


def test_a_request_that_would_leave_is_an_error() -> None:
    with sync_client(httpx, transport()) as client:
        with pytest.raises(openai.APIStatusError, match=r"GET https://api\.openai\.com/v1/files would leave") as raised:
            client.files.list()
        assert raised.value.status_code == 421
    with httpx.Client(transport=transport()) as plain:
        assert plain.get("https://example.com/").status_code == 421


def test_a_key_is_asked_for_where_one_is_set() -> None:
    with sync_client(httpx, transport(api_key="other")) as client, pytest.raises(openai.AuthenticationError):
        client.models.list()


def test_a_client_that_closes_a_stream_interrupts_its_turn() -> None:
    with sync_client(httpx, transport()) as client:
        with client.chat.completions.create(
            model="m", messages=user("[[wireproof:leave/call#n]]"), tools=TOOLS, stream=True
        ) as stream:
            next(iter(stream))
        said = client.chat.completions.create(model="m", messages=user("[[wireproof:reflect/turns#n]]"))
    assert '"state": "interrupted"' in (said.choices[0].message.content or "")


def test_a_request_that_is_given_up_interrupts_its_turn() -> None:
    played = transport()

    async def run() -> str:
        async with async_client(httpx, played) as client:
            create = client.chat.completions.create
            # The script says nothing, ever: the client is still waiting for the response.
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(create(model="m", messages=user("[[wireproof:leave/first#n]]")), 0.2)
            said = await create(model="m", messages=user("[[wireproof:reflect/turns#n]]"))
            return said.choices[0].message.content or ""

    assert '"script": "leave/first", "part": 0, "state": "interrupted"' in asyncio.run(run())


def test_scripts_come_from_files_too(tmp_path: Path) -> None:
    file = tmp_path / "scripts.yaml"
    file.write_text("- {name: hi, when: hi, parts: [[{say: Hello.}]]}")
    with sync_client(httpx, transport([file, SLOW])) as client:
        assert client.chat.completions.create(model="m", messages=user("hi")).choices[0].message.content == "Hello."
    with pytest.raises(ScriptError, match='there is no step "sey"'):
        transport({"name": "a", "parts": [[{"sey": "b"}]]})
