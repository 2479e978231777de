"""The application under a WSGI server that is not ours: that of the standard library, which checks PEP 3333."""

from __future__ import annotations

import atexit
import http.client
import json
import threading
from contextlib import closing, contextmanager
from socketserver import ThreadingMixIn
from typing import TYPE_CHECKING, Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server
from wsgiref.validate import validator

import pytest

from wireproof_proxy.app import create_app
from wireproof_surfaces.events import ChoiceFailed, ChoiceFinished, FailureReason, TextAdded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flask import Flask
    from reference_proxy.tests.conftest import MakeSettings, ScriptedBackend, Until

CHAT, RESPONSES = "/v1/chat/completions", "/v1/responses"
ASK: dict[str, Any] = {"model": "codex", "messages": [{"role": "user", "content": "hi"}]}
KEY = {"Authorization": "Bearer secret"}


class Threaded(ThreadingMixIn, WSGIServer):
    """A thread for each connection."""

    daemon_threads = True


class Quiet(WSGIRequestHandler):
    """It logs nothing."""

    def log_message(self, *_parts: Any) -> None:
        """Nothing."""


@contextmanager
def served(app: Flask) -> Iterator[int]:
    """The port at which the application is served."""
    with make_server("127.0.0.1", 0, validator(app), Threaded, Quiet) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


@pytest.fixture
def port(backend: ScriptedBackend, make_settings: MakeSettings) -> Iterator[int]:
    with served(create_app(make_settings(api_key="secret", commit_ms=1, keepalive_ms=1), backend)) as port:
        yield port


@contextmanager
def answer(port: int, path: str, body: Any = None, headers: Any = KEY) -> Iterator[http.client.HTTPResponse]:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=20)) as client:
        data = None if body is None else json.dumps(body).encode()
        client.request("GET" if body is None else "POST", path, data, {"Content-Type": "application/json", **headers})
        with client.getresponse() as response:
            yield response


def error(port: int, path: str, body: Any = None, headers: Any = KEY) -> tuple[int, str]:
    with answer(port, path, body, headers) as response:
        assert response.headers["x-request-id"]
        return response.status, json.loads(response.read())["error"]["code"]


def test_answers_are_whole_and_streams_arrive_piece_by_piece(port: int, backend: ScriptedBackend) -> None:
    with answer(port, CHAT, ASK) as response:
        assert json.loads(response.read())["choices"][0]["message"]["content"] == "Hello"
    last = threading.Event()
    backend.events = [TextAdded(text="first"), last, TextAdded(text="last"), ChoiceFinished(reason="stop")]
    for path, ask in ((CHAT, ASK), (RESPONSES, {"model": "codex", "input": "hi"})):
        last.clear()
        with answer(port, path, {**ask, "stream": True}) as response:
            assert response.headers["Content-Type"] == "text/event-stream"
            lines = iter(response.readline, b"")
            assert any(b"first" in line for line in lines)
            # The backend says no more until a comment has been read.
            assert any(line.startswith(b":") for line in lines)
            last.set()
            assert any(b"last" in line for line in lines)
            assert not any(b'"error":{' in line for line in lines)


def test_errors_have_their_order_and_their_envelope(port: int, backend: ScriptedBackend) -> None:
    assert error(port, "/nothing", headers={}) == (404, "unknown_url")
    assert error(port, CHAT, headers={}) == (405, "method_not_allowed")
    assert error(port, CHAT, {}, headers={}) == (401, "invalid_api_key")
    assert error(port, CHAT, {}, headers={**KEY, "Content-Type": "text/plain"}) == (415, "unsupported_media_type")
    assert error(port, CHAT, {}) == (400, "missing_required_parameter")
    backend.events = [ChoiceFailed(FailureReason.RATE_LIMITED)]
    assert error(port, CHAT, ASK) == (429, "rate_limit_exceeded")


def test_the_slot_of_a_client_that_leaves_is_free_behind_the_next_comment(
    port: int, backend: ScriptedBackend, until: Until
) -> None:
    backend.events = [TextAdded(text="first")]
    with answer(port, CHAT, {**ASK, "stream": True}) as response:
        assert b"first" in response.readline() + response.readline() + response.readline()
    until(backend.turns[0].closed.is_set, "the end of the turn")


def test_without_arguments_all_comes_from_the_environment(
    fake_codex: Any, make_settings: MakeSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_settings()  # forgets what the environment has
    at_exit: list[Any] = []
    monkeypatch.setattr(atexit, "register", at_exit.append)
    monkeypatch.setenv("CODEX_BIN", str(fake_codex.bin))
    monkeypatch.setenv("PROXY_API_KEY", "secret")
    with served(create_app()) as port:
        [stop] = at_exit
        try:
            assert error(port, "/v1/models", headers={}) == (401, "invalid_api_key")
            with answer(port, CHAT, ASK) as response:
                assert "You said: hi" in json.loads(response.read())["choices"][0]["message"]["content"]
        finally:
            stop()
