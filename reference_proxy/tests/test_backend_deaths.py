"""The backend dies in each phase of a turn: what the client receives, and that the next request is answered."""

from __future__ import annotations

import json
import os
import signal
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reference_proxy.tests.conftest import FakeCodex, Running, RunProxy, Until

pytestmark = pytest.mark.sampled(5)

TOOLS = [{"type": "function", "function": {"name": "f"}}]


@pytest.fixture(scope="module")
def phases() -> dict[str, Any]:
    """What is asked so that the backend dies in a phase."""
    crash = {"messages": [{"role": "system", "content": "crash"}, {"role": "user", "content": "hi"}]}
    return {"at thread/start": ("", crash), "before the first delta": ("crash first", {})}


@pytest.fixture
def running(run_proxy: RunProxy, fake_codex: FakeCodex) -> Iterator[Any]:
    with run_proxy(fake_codex.bin) as proxy:
        yield proxy
        served(proxy)


def served(proxy: Any) -> None:
    """The next request is answered, at the latest when the death has been noticed."""
    while "error" in (sent := proxy.whole("hi")):
        assert sent["error"]["code"] == "backend_unavailable"
    assert sent["choices"][0]["message"]["content"] == "You said: hi"


@pytest.mark.sampled(1)
@pytest.mark.parametrize("phase", ["at thread/start", "before the first delta"])
@pytest.mark.parametrize("stream", [True, False])
def test_before_any_output_it_is_a_503(running: Running, phases: Any, phase: str, stream: Any) -> None:
    text, more = phases[phase]
    with running.chat(text, stream=stream, **more) as response:
        assert response.status == 503
        assert json.loads(response.read())["error"]["code"] == "backend_unavailable"


def test_before_the_handshake_it_is_a_503_until_it_comes_up(run_proxy: RunProxy, fake_codex: FakeCodex) -> None:
    fake_codex.broken.touch()
    with run_proxy(fake_codex.bin, PROXY_READY_WAIT_MS="300") as proxy:
        with proxy.chat("hi") as response:
            assert response.status == 503
            assert response.headers["Retry-After"]
        fake_codex.broken.unlink()
        served(proxy)


def test_a_backend_that_dies_too_often_is_given_up_until_a_request_brings_it_back(
    run_proxy: RunProxy, fake_codex: FakeCodex, until: Until
) -> None:
    fake_codex.broken.touch()
    with run_proxy(fake_codex.bin, PROXY_RESTART_LIMIT="1", PROXY_READY_WAIT_MS="300") as proxy:
        until(lambda: proxy.status("/livez") == 503, "the supervisor to give up")
        assert proxy.status("/healthz") == 200
        fake_codex.broken.unlink()
        served(proxy)
        assert proxy.status("/livez") == 200


@pytest.mark.sampled(1)
@pytest.mark.parametrize("stream", [True, False])
def test_a_backend_that_is_asked_too_much_is_a_429(running: Running, stream: Any) -> None:
    busy = {"messages": [{"role": "system", "content": "overload"}, {"role": "user", "content": "hi"}]}
    with running.chat("", stream=stream, **busy) as response:
        assert (response.status, response.headers["Retry-After"]) == (429, "1")
        assert json.loads(response.read())["error"]["code"] == "too_many_requests"


@pytest.mark.sampled(1)
@pytest.mark.parametrize("text", ["crash", "crash in a call"])
def test_within_text_or_arguments_it_is_an_error_frame_and_no_finish(running: Running, text: str) -> None:
    *chunks, last, done = running.stream(text, tools=TOOLS)
    assert last["error"]["code"] == "backend_unavailable"
    assert done == "[DONE]"
    assert chunks
    assert not any(choice["finish_reason"] for chunk in chunks for choice in chunk["choices"])


@pytest.mark.sampled(1)
@pytest.mark.parametrize("text", ["crash", "crash in a call", "crash after a call"])
def test_a_whole_answer_that_is_not_complete_is_a_503(running: Running, text: str) -> None:
    with running.chat(text, tools=TOOLS) as response:
        assert response.status == 503


@pytest.mark.sampled(1)
@pytest.mark.parametrize("parallel", [True, False])
def test_after_a_call_the_stream_ends_as_if_all_were_well(running: Running, parallel: Any) -> None:
    *_, finish, done = running.stream("crash after a call", tools=TOOLS, parallel_tool_calls=parallel)
    assert finish["choices"][0]["finish_reason"] == "tool_calls"
    assert done == "[DONE]"


def test_after_the_end_nothing_is_wrong(running: Running) -> None:
    assert running.stream("crash after the end")[-2]["choices"][0]["finish_reason"] == "stop"
    served(running)
    assert running.whole("crash after the end")["choices"][0]["message"]["content"] == "All."


def test_one_death_fails_every_choice(running: Running) -> None:
    with running.chat("crash first", n=3) as response:
        assert response.status == 503


def test_a_killed_backend_is_not_the_end_of_the_proxy(running: Running, fake_codex: FakeCodex) -> None:
    for _ in range(3):
        served(running)
        os.kill(fake_codex.pids[-1], signal.SIGKILL)
