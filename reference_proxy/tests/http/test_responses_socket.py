"""Responses over a WebSocket, through the threads of the proxy; the endpoint's test has the whole of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from wireproof_proxy.access import socket_gate
from wireproof_proxy.answers.turn_runner import TurnGate
from wireproof_proxy.app import body_limit, create_app
from wireproof_proxy.http.wsgi import wsgi_server
from wireproof_surfaces.events import ChoiceFailed, ChoiceFinished, FailureReason, TextAdded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reference_proxy.tests.conftest import MakeSettings, ScriptedBackend

    from wireproof_surfaces.http.http_server import HttpServer

KEY = {"Authorization": "Bearer secret"}


@pytest.fixture
def server(backend: ScriptedBackend, make_settings: MakeSettings) -> Iterator[HttpServer]:
    settings = make_settings(
        api_key="secret", max_body_bytes=100_000, cors_origins=("http://own",), chatgpt_service=True
    )
    app = create_app(settings, backend, TurnGate(4))
    limit, gate = body_limit(app, settings), socket_gate(settings)
    with wsgi_server(app, "127.0.0.1", 0, turns=4, accept=limit, sockets=gate) as running:
        yield running


def opened(server: HttpServer, path: str = "/v1/responses", **more: Any) -> Any:
    return connect(f"ws://{urlsplit(server.url).netloc}{path}", proxy=None, **{"additional_headers": KEY, **more})


def asked(client: Any, said: Any, **more: Any) -> list[dict[str, Any]]:
    client.send(json.dumps({"type": "response.create", "model": "codex", "input": said, "store": False, **more}))
    found: list[dict[str, Any]] = []
    while not found or found[-1]["type"] not in {"response.completed", "response.failed", "error"}:
        found.append(json.loads(client.recv(timeout=20)))
    return found


@pytest.mark.parametrize("path", ["/v1/responses", "/backend-api/codex/responses"])
def test_turns_go_on_from_each_other_though_nothing_is_stored(
    server: HttpServer, backend: ScriptedBackend, path: str
) -> None:
    with opened(server, path) as client:
        first = asked(client, "one")[-1]["response"]
        second = asked(client, "two", previous_response_id=first["id"])[-1]["response"]
    assert second["previous_response_id"] == first["id"]
    assert [item.role for item in backend.asked[1].history] == ["user", "assistant"]


def test_a_failure_is_an_event_and_the_connection_goes_on(server: HttpServer, backend: ScriptedBackend) -> None:
    right, backend.events = backend.events, [ChoiceFailed(FailureReason.OVERLOADED)]
    with opened(server) as client:
        [error] = asked(client, "one")
        assert (error["type"], error["status"], error["error"]["code"]) == ("error", 503, "backend_overloaded")
        assert error["headers"] == {"retry-after": "2"}
        backend.events = right
        assert asked(client, "two")[-1]["type"] == "response.completed"
        [large] = asked(client, "x" * 100_000)
        assert (large["status"], large["error"]["code"]) == (413, "request_too_large")


def test_a_client_that_leaves_interrupts_its_turn(
    server: HttpServer, backend: ScriptedBackend, until: Callable[..., None]
) -> None:
    backend.events = [TextAdded(text="first")]  # and no end
    with opened(server) as client:
        client.send(json.dumps({"type": "response.create", "model": "codex", "input": "one"}))
        until(lambda: backend.turns, "the turn to begin")
    until(backend.turns[0].closed.is_set, "the turn to be closed")


def test_who_may_not_ask_may_open_none(server: HttpServer) -> None:
    for more, status in (
        ({"additional_headers": {}}, 401),
        ({"origin": "http://other"}, 403),
    ):
        with pytest.raises(InvalidStatus) as refused, opened(server, **more):
            pass
        answer = refused.value.response
        assert answer.status_code == status
        assert set(json.loads(answer.body or b"")["error"]) == {"message", "type", "param", "code"}
    with opened(server, origin="http://own") as client:
        assert asked(client, "one")


def test_a_stream_comes_as_it_is_said(server: HttpServer, backend: ScriptedBackend) -> None:
    backend.events = [TextAdded(text="Hi "), TextAdded(text="there."), ChoiceFinished(reason="stop")]
    with opened(server) as client:
        found = asked(client, "one")
    assert [event["delta"] for event in found if event["type"] == "response.output_text.delta"] == ["Hi ", "there."]
