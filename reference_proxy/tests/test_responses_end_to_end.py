"""Responses over a real socket, with an executable behind the command: what no single module shows."""

from __future__ import annotations

import http.client
import importlib.util
import json
import os
import signal
import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from reference_proxy.tests.conftest import FakeCodex, Running, RunProxy, Until

pytestmark = pytest.mark.sampled(4)

DEADLINE = 20
TOOLS = [{"type": "function", "name": "localSearch", "parameters": {"type": "object"}}]


def post(proxy: Any, value: Any, **more: Any) -> http.client.HTTPConnection:
    """A connection on which a request was sent."""
    connection = http.client.HTTPConnection(proxy.address, timeout=DEADLINE)
    body = json.dumps({"model": "codex", "input": value, **more})
    connection.request("POST", "/v1/responses", body, {"Content-Type": "application/json"})
    return connection


def whole(proxy: Any, value: Any, **more: Any) -> Any:
    connection = post(proxy, value, **more)
    response = json.loads(connection.getresponse().read())
    connection.close()
    return response


def payloads(data: bytes) -> list[Any]:
    return [json.loads(line[6:]) for line in data.decode().split("\n") if line.startswith("data: ")]


def streamed(proxy: Any, value: Any, **more: Any) -> Any:
    """The response at the end of a stream."""
    connection = post(proxy, value, stream=True, **more)
    last = payloads(connection.getresponse().read())[-1]
    connection.close()
    assert last["type"] == f"response.{last['response']['status']}"
    return last["response"]


def text_of(response: Any) -> str:
    return "".join(part["text"] for item in response["output"] for part in item.get("content", []))


@pytest.fixture
def running(run_proxy: RunProxy, fake_codex: FakeCodex) -> Iterator[Any]:
    with run_proxy(fake_codex.bin, PROXY_MAX_CONCURRENCY="1") as proxy:
        yield proxy


def test_a_backend_killed_in_a_stream_fails_the_response_and_the_next_one_works(
    running: Running, fake_codex: FakeCodex
) -> None:
    connection = post(running, "hang", stream=True)
    response = connection.getresponse()
    seen = b""
    while b"begun" not in seen:
        seen += response.read1()
    os.kill(fake_codex.pids[0], signal.SIGKILL)
    last = payloads(seen + response.read())[-1]
    connection.close()
    assert (last["type"], last["response"]["error"]["code"]) == ("response.failed", "server_error")
    assert text_of(last["response"]) == "begun"
    assert text_of(whole(running, "hi")) == "You said: hi"


@pytest.mark.parametrize("stream", [True, False])
def test_a_client_that_leaves_has_its_turn_interrupted_and_its_slot_freed(
    running: Running, fake_codex: FakeCodex, until: Until, stream: Any
) -> None:
    connection = post(running, "hang", stream=stream)
    until(lambda: "turn/start" in fake_codex.journal, "the turn to start")
    if stream:
        connection.getresponse().read(2)
    connection.close()
    until(lambda: whole(running, "hi")["error"] is None, "the slot to be free")
    until(lambda: "turn/interrupt" in fake_codex.journal, "the turn to be interrupted")
    assert len(fake_codex.pids) == 1


@pytest.mark.nightly
def test_a_silent_backend_is_kept_alive_for_and_then_has_failed(run_proxy: RunProxy, fake_codex: FakeCodex) -> None:
    settings = {"PROXY_KEEPALIVE_MS": "50", "PROXY_IDLE_TIMEOUT_MS": "600", "PROXY_COMMIT_MS": "100"}
    with run_proxy(fake_codex.bin, **settings) as proxy:
        connection = post(proxy, "silent", stream=True)
        data = connection.getresponse().read()
        connection.close()
        assert data.startswith(b"event: response.created\n")
        assert data.count(b": keep-alive\n\n") >= 2
        assert [payload["type"] for payload in payloads(data)][-1] == "response.failed"
        connection = post(proxy, "silent")
        assert connection.getresponse().status == 504
        connection.close()


# With the mock app-server, as any executable would be


@pytest.fixture
def mock(tmp_path: Path) -> Path:
    assert importlib.util.find_spec("wireproof_codex.__main__")
    shim = tmp_path / "mock-codex"
    shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m wireproof_codex "$@"\n')
    shim.chmod(0o755)
    return shim


BACKENDS: dict[str, dict[str, str]] = {
    "native": {},
    "text": {"WIREPROOF_CODEX_VERSION": "0.89.0"},
    "v1": {"WIREPROOF_CODEX_VERSION": "0.89.0", "PROXY_CODEX_PROTOCOL": "v1"},
}


@pytest.fixture(params=list(BACKENDS))
def searching(run_proxy: RunProxy, mock: Path, tmp_path: Path, request: Any) -> Iterator[Any]:
    """A proxy whose backend says something, makes a call, and then answers from what it found."""
    shape = "native" if request.param == "native" else "sentinel"
    call = {"id": "call_1", "name": "localSearch", "arguments": '{ "query": "x" }', "shape": shape}
    parts = [[{"say": ["Let me ", "look.\n"]}, {"call": call}], [{"say": "Found it."}]]
    script = {"name": "search", "title": "A search, then the answer.", "when": "search", "parts": parts}
    file = tmp_path / "scripts.yaml"
    file.write_text(json.dumps({"scripts": [script]}))
    with run_proxy(mock, WIREPROOF_SCRIPTS=str(file), **BACKENDS[request.param]) as proxy:
        yield proxy


@pytest.mark.sampled(2)
@pytest.mark.parametrize("ask", [whole, streamed])
def test_a_call_and_its_result_lead_to_a_text_on_every_backend(searching: Any, ask: Any) -> None:
    made = ask(searching, "search", tools=TOOLS)
    message, call = made["output"]
    assert message["content"][0]["text"] == "Let me look.\n"
    assert (call["call_id"], call["arguments"], call["status"]) == ("call_1", '{ "query": "x" }', "completed")
    result = {"type": "function_call_output", "call_id": "call_1", "output": "here"}
    replayed = [{"role": "user", "content": "search"}, *made["output"], result]
    for last in (
        ask(searching, replayed, tools=TOOLS),
        ask(searching, [result], tools=TOOLS, previous_response_id=made["id"]),
    ):
        assert [item["type"] for item in last["output"]] == ["message"]
        assert text_of(last) == "Found it."


@pytest.mark.sampled(1)
def test_blocks_are_text_on_every_backend(searching: Any) -> None:
    connection = http.client.HTTPConnection(searching.address, timeout=DEADLINE)
    body = json.dumps({"model": "codex", "input": "search", "tools": TOOLS})
    headers = {"Content-Type": "application/json", "x-proxy-output-mode": "obsidian-xml"}
    connection.request("POST", "/v1/responses", body, headers)
    made = json.loads(connection.getresponse().read())
    connection.close()
    assert [item["type"] for item in made["output"]] == ["message"]
    block = "<use_tool>\n  <name>localSearch</name>\n  <query>x</query>\n</use_tool>"
    assert text_of(made) == f"Let me look.\n{block}"
