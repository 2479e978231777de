"""The command over a real socket, with an executable behind it: what no single module shows."""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from reference_proxy.tests.conftest import FakeCodex, Running, RunProxy, Until

pytestmark = pytest.mark.sampled(7)

DEADLINE = 20


@pytest.fixture
def running(run_proxy: RunProxy, fake_codex: FakeCodex) -> Iterator[Any]:
    with run_proxy(fake_codex.bin) as proxy:
        yield proxy


def test_a_text_is_answered(running: Running) -> None:
    assert running.whole("hi")["choices"][0]["message"]["content"] == "You said: hi"
    assert running.stream("hi")[-1] == "[DONE]"


def test_several_choices_are_answered(running: Running) -> None:
    sent = running.whole("hi", n=3)["choices"]
    assert [(one["index"], one["message"]["content"]) for one in sent] == [(n, "You said: hi") for n in range(3)]
    finishes = [
        choice["index"]
        for frame in running.stream("hi", n=3)[:-1]
        for choice in frame["choices"]
        if choice["finish_reason"]
    ]
    assert sorted(finishes) == [0, 1, 2]


def test_a_backend_killed_in_a_stream_is_an_error_frame_and_the_next_request_works(
    running: Running, fake_codex: FakeCodex, read_frames: Callable[[bytes], list[Any]]
) -> None:
    with running.chat("hang", stream=True) as response:
        seen = b""
        while b"begun" not in seen:
            seen += response.read1()
        os.kill(fake_codex.pids[0], signal.SIGKILL)
        *_, last, done = read_frames(seen + response.read())
    assert last["error"]["code"] == "backend_unavailable"
    assert done == "[DONE]"
    assert running.whole("hi")["choices"][0]["message"]["content"] == "You said: hi"


def test_a_stop_lets_a_running_stream_end_and_the_backend_go(
    run_proxy: RunProxy, fake_codex: FakeCodex, read_frames: Callable[[bytes], list[Any]]
) -> None:
    with run_proxy(fake_codex.bin) as proxy:
        with proxy.chat("hang", stream=True) as response:
            seen = response.read(10)
            proxy.process.send_signal(signal.SIGTERM)
            *_, last, done = read_frames(seen + response.read())
        assert last["error"]["code"] == "backend_unavailable"
        assert done == "[DONE]"
        assert proxy.process.wait(DEADLINE) == 0
    with pytest.raises(ProcessLookupError):
        os.kill(fake_codex.pids[0], 0)


def test_many_requests_at_once_never_see_each_others_text(running: Running) -> None:
    connections = [running.post(f"number {number}") for number in range(30)]
    for number, connection in enumerate(connections):
        sent = json.loads(connection.getresponse().read())
        assert sent["choices"][0]["message"]["content"] == f"You said: number {number}"
        connection.close()


def test_a_request_too_many_learns_when_to_come_again(run_proxy: RunProxy, fake_codex: FakeCodex, until: Until) -> None:
    with run_proxy(fake_codex.bin, PROXY_MAX_CONCURRENCY="1") as proxy:
        first = proxy.post("hang", stream=True)
        until(lambda: "turn/start" in fake_codex.journal, "the first turn")
        with proxy.chat("hi") as response:
            assert response.status == 429
            assert response.headers["Retry-After"] == "1"
            assert json.loads(response.read())["error"]["code"] == "too_many_requests"
        first.close()


@pytest.mark.parametrize("text", ["hang", "silent", "call and hang"])
def test_a_silent_backend_is_kept_alive_for_and_then_has_failed(
    run_proxy: RunProxy, fake_codex: FakeCodex, read_frames: Callable[[bytes], list[Any]], text: str
) -> None:
    settings = {"PROXY_KEEPALIVE_MS": "50", "PROXY_IDLE_TIMEOUT_MS": "600", "PROXY_COMMIT_MS": "100"}
    with run_proxy(fake_codex.bin, **settings) as proxy:
        with proxy.chat(text, stream=True) as response:
            data = response.read()
        *_, last, done = read_frames(data)
        assert data.count(b": keep-alive\n\n") >= 2
        assert (last["error"]["code"], done) == ("backend_timeout", "[DONE]")
        assert b'finish_reason":"' not in data
        with proxy.chat(text) as response:
            assert response.status == 504
            assert json.loads(response.read())["error"]["code"] == "backend_timeout"


def test_a_backend_silent_before_the_status_line_is_a_504(run_proxy: RunProxy, fake_codex: FakeCodex) -> None:
    with (
        run_proxy(fake_codex.bin, PROXY_IDLE_TIMEOUT_MS="300", PROXY_COMMIT_MS="20000") as proxy,
        proxy.chat("silent", stream=True) as response,
    ):
        assert response.status == 504


# With the mock app-server, as any executable would be


@pytest.fixture
def mock(tmp_path: Path) -> Path:
    shim = tmp_path / "mock-codex"
    shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m wireproof_codex "$@"\n')
    shim.chmod(0o755)
    return shim


@pytest.fixture
def mocked(run_proxy: RunProxy, mock: Path) -> Iterator[Any]:
    with run_proxy(mock) as proxy:
        yield proxy


TOOLS = [{"type": "function", "function": {"name": "localSearch", "parameters": {"type": "object"}}}]


def marked(script: str, nonce: str) -> str:
    return f"[[wireproof:{script}#{nonce}]]"


def test_the_mock_says_hello(mocked: Any) -> None:
    sent = mocked.whole(marked("text/hello", "a"))
    assert sent["choices"][0]["message"]["content"] == "Hello, world!"
    assert sent["usage"]["total_tokens"] == sent["usage"]["prompt_tokens"] + sent["usage"]["completion_tokens"]


def test_the_mocks_arguments_arrive_as_the_model_wrote_them(mocked: Any) -> None:
    message = mocked.whole(marked("call/one", "b"), tools=TOOLS)["choices"][0]["message"]
    (call,) = message["tool_calls"]
    assert "1.50" in call["function"]["arguments"]
    chunks = mocked.stream(marked("call/one", "c"), tools=TOOLS)[:-1]
    deltas = [choice["delta"] for chunk in chunks for choice in chunk["choices"]]
    fragments = [sent["function"]["arguments"] for delta in deltas for sent in delta.get("tool_calls", [])]
    assert "".join(fragments) == call["function"]["arguments"]


def test_a_call_and_its_result_lead_to_a_text(mocked: Any) -> None:
    text = marked("call/then-text", "d")
    message = mocked.whole(text, tools=TOOLS)["choices"][0]["message"]
    results = [{"role": "tool", "tool_call_id": call["id"], "content": "found"} for call in message["tool_calls"]]
    history = [{"role": "user", "content": text}, message, *results]
    choice = mocked.whole("", messages=history, tools=TOOLS)["choices"][0]
    assert choice["finish_reason"] == "stop"
    assert choice["message"]["content"]


@pytest.mark.parametrize("protocol", ["v1", "v2"])
def test_an_older_version_is_understood_in_either_protocol(run_proxy: RunProxy, mock: Path, protocol: str) -> None:
    with run_proxy(mock, PROXY_CODEX_PROTOCOL=protocol, WIREPROOF_CODEX_VERSION="0.89.0") as proxy:
        sent = proxy.whole(marked("text/repeats", "e"))
        assert sent["choices"][0]["message"]["content"] == "haha haha"
        chunks = proxy.stream(marked("text/repeats", "f"))[:-1]
        texts = [choice["delta"].get("content") or "" for chunk in chunks for choice in chunk["choices"]]
        assert "".join(texts) == "haha haha"


def test_the_default_is_the_block_and_the_call_beside_it(run_proxy: RunProxy, mock: Path) -> None:
    with run_proxy(mock, PROXY_OUTPUT_MODE="") as proxy, proxy.chat(marked("call/one", "g"), tools=TOOLS) as response:
        assert response.headers["x-proxy-output-mode"] == "obsidian-xml"
        message = json.loads(response.read())["choices"][0]["message"]
    assert message["content"].startswith("<use_tool>\n  <name>localSearch</name>\n")
    assert message["tool_calls"][0]["function"]["name"] == "localSearch"
