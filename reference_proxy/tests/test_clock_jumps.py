"""The wall clock may jump, by a day and back: what waits, expires or is counted goes by the one that does not."""

from __future__ import annotations

import itertools
import json
import threading
import time
from typing import TYPE_CHECKING

import httpx
import pytest

from wireproof_proxy.app import body_limit, create_app
from wireproof_proxy.http.wsgi import wsgi_server
from wireproof_surfaces.events import ChoiceFinished, TextAdded
from wireproof_surfaces.http.edge_limits import EdgeLimits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reference_proxy.tests.conftest import MakeSettings, ScriptedBackend

DAY = 86_400.0
SUM = 'wireproof_proxy_request_seconds_sum{mode="whole",surface="chat"}'
MESSAGES = [{"role": "user", "content": "hi"}]


JUMPS: dict[str, Callable[[], Iterator[float]]] = {
    "to and fro": lambda: itertools.cycle((DAY, 0.0, -DAY)),
    "back": lambda: itertools.count(0, -DAY),
    "on": lambda: itertools.count(0, DAY),
}


@pytest.fixture(params=JUMPS)
def looks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A wall clock that jumps each time it is looked at; by how much, of all looks so far."""
    right, by, seen = time.time, JUMPS[request.param](), list[float]()

    def jump() -> float:
        seen.append(next(by))
        return right() + seen[-1]

    monkeypatch.setattr(time, "time", jump)
    return seen


@pytest.fixture
def client(backend: ScriptedBackend, make_settings: MakeSettings, looks: list[float]) -> Iterator[httpx.Client]:
    looks.clear()
    settings = make_settings(keepalive_ms=20)
    app = create_app(settings, backend)
    with (
        wsgi_server(
            app, "127.0.0.1", 0, turns=4, accept=body_limit(app, settings), limits=EdgeLimits(idle=30)
        ) as server,
        httpx.Client(base_url=server.url, trust_env=False, timeout=30) as client,
    ):
        yield client


def test_answers_are_whole_and_their_connection_is_kept(client: httpx.Client) -> None:
    for _ in range(5):
        answer = client.post("/chat/completions", json={"model": "codex", "messages": MESSAGES})
        assert answer.status_code == 200
        assert answer.json()["choices"][0]["message"]["content"] == "Hello"
        assert "close" not in answer.headers.get("connection", "")


def test_a_stream_that_is_silent_for_a_while_goes_on(client: httpx.Client, backend: ScriptedBackend) -> None:
    gate = threading.Event()
    backend.events = [TextAdded(text="a"), gate, TextAdded(text="b"), ChoiceFinished(reason="stop")]
    body = {"model": "codex", "stream": True, "messages": MESSAGES}
    lines = []
    with client.stream("POST", "/chat/completions", json=body) as answer:
        for line in answer.iter_lines():
            lines.append(line)
            if lines.count(": keep-alive") == 3:
                gate.set()
    chunks = [json.loads(line[6:]) for line in lines if line.startswith("data: {")]
    assert "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks) == "ab"
    assert len({chunk["created"] for chunk in chunks}) == 1
    assert lines[-2:] == ["data: [DONE]", ""]


def test_a_response_is_kept_and_does_not_end_before_it_began(client: httpx.Client) -> None:
    made = client.post("/responses", json={"model": "codex", "input": "hi"}).json()
    assert made["completed_at"] >= made["created_at"]
    for _ in range(3):
        assert client.get(f"/responses/{made['id']}").json() == made
    more = client.post("/responses", json={"model": "codex", "input": "on", "previous_response_id": made["id"]})
    assert more.status_code == 200


def test_durations_are_counted_by_the_clock_that_does_not_jump(client: httpx.Client, looks: list[float]) -> None:
    client.post("/chat/completions", json={"model": "codex", "messages": MESSAGES})
    metrics = client.get(str(client.base_url.join("/metrics"))).text
    [total] = [line.split()[-1] for line in metrics.splitlines() if line.startswith(SUM)]
    assert 0 <= float(total) < 60
    assert any(looks)  # it has jumped, or this would show nothing
