"""The word to stop comes while answers are under way."""

from __future__ import annotations

import json
import os
import signal
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from http.client import HTTPConnection

    from reference_proxy.tests.conftest import FakeCodex, RunProxy, Until

PATIENT = {"PROXY_DRAIN_MS": "60000"}


@pytest.fixture
def draining(
    run_proxy: RunProxy, fake_codex: FakeCodex, until: Until
) -> Iterator[tuple[Any, HTTPConnection, HTTPConnection]]:
    """A proxy that is stopping, with a stream and a whole answer that the backend has not ended yet."""
    with run_proxy(fake_codex.bin, **PATIENT) as proxy:
        stream = proxy.post("two", stream=True)
        whole = proxy.post("two")
        until(lambda: fake_codex.journal.count("turn/start") == 2, "both turns")
        proxy.process.send_signal(signal.SIGTERM)
        until(lambda: proxy.status("/readyz") == 503, "the proxy to stop")
        yield proxy, stream, whole
        stream.close()
        whole.close()


def test_answers_under_way_are_completed(
    draining: Any, fake_codex: FakeCodex, read_frames: Callable[[bytes], list[Any]]
) -> None:
    proxy, stream, whole = draining
    (fake_codex.broken.parent / "broken.go").touch()
    *chunks, finish, done = read_frames(stream.getresponse().read())
    text = "".join(chunk["choices"][0]["delta"].get("content") or "" for chunk in chunks)
    assert (text, finish["choices"][0]["finish_reason"], done) == ("begun and done", "stop", "[DONE]")
    assert json.loads(whole.getresponse().read())["choices"][0]["message"]["content"] == "begun and done"
    assert proxy.process.wait(timeout=20) == 0


def test_a_proxy_that_stops_is_not_ready(draining: Any, fake_codex: FakeCodex) -> None:
    proxy, *_ = draining
    assert proxy.whole("hi")["error"]["code"] == "stopping"
    assert [proxy.status(path) for path in ("/readyz", "/livez", "/healthz")] == [503, 200, 200]
    (fake_codex.broken.parent / "broken.go").touch()


def test_answers_that_take_too_long_are_failed(run_proxy: RunProxy, fake_codex: FakeCodex, until: Until) -> None:
    with run_proxy(fake_codex.bin, PROXY_DRAIN_MS="0") as proxy:
        whole = proxy.post("hang")
        until(lambda: "turn/start" in fake_codex.journal, "the turn")
        proxy.process.send_signal(signal.SIGTERM)
        response = whole.getresponse()
        assert (response.status, json.loads(response.read())["error"]["code"]) == (503, "backend_unavailable")
        assert proxy.process.wait(timeout=20) == 0
        whole.close()
    with pytest.raises(ProcessLookupError):
        os.kill(fake_codex.pids[0], 0)
