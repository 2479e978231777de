from __future__ import annotations

import http.client
import json
import os
import signal
import threading
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from wireproof_proxy.__main__ import main
from wireproof_proxy.backends.codex.supervisor import Supervisor
from wireproof_proxy.backends.table import BACKENDS, make_backend
from wireproof_proxy.settings import ProxySettings, SettingsError
from wireproof_surfaces.conversation import TextPart
from wireproof_surfaces.events import ChoiceFinished, TextAdded, TurnOver

if TYPE_CHECKING:
    from reference_proxy.tests.conftest import Until

    from wireproof_surfaces.conversation import Conversation
    from wireproof_surfaces.events import Event


class EchoTurn:
    """Answers with what it was asked."""

    def __init__(self, conversation: Conversation) -> None:
        asked = "".join(part.text for part in conversation.input if isinstance(part, TextPart))
        self.events: list[Event] = [
            TextAdded(text=f"{conversation.model}: {asked}"),
            ChoiceFinished(reason="stop"),
            TurnOver(),
        ]

    def next(self, timeout: float) -> Event | None:
        del timeout
        return self.events.pop(0) if self.events else None

    def close(self) -> None:
        self.events.clear()


class EchoBackend:
    """A backend with neither process nor network."""

    def __init__(self) -> None:
        self.steps: list[str] = []

    def start(self) -> None:
        self.steps.append("start")

    def stop(self) -> None:
        self.steps.append("stop")

    @property
    def alive(self) -> bool:
        return True

    def counts(self) -> tuple[()]:
        return ()

    def await_ready(self, timeout: float) -> bool:
        return timeout >= 0

    def open(self, conversation: Conversation, choices: int = 1) -> EchoTurn:
        assert choices == 1
        self.steps.append("open")
        return EchoTurn(conversation)


@pytest.fixture(autouse=True)
def _no_environment(make_settings: object) -> None:
    """Start from nothing."""


def asked(connection: http.client.HTTPConnection, method: str, path: str, body: Any = None) -> Any:
    headers = {"Content-Type": "application/json"} if body else {}
    connection.request(method, path, json.dumps(body) if body else None, headers)
    text = connection.getresponse().read().decode()
    return json.loads(text) if text.startswith("{") else text


def test_a_backend_is_a_line_of_the_table(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], until: Until
) -> None:
    echo, seen, printed = EchoBackend(), dict[str, Any](), list[str]()
    monkeypatch.setitem(BACKENDS, "echo", lambda _settings: echo)
    monkeypatch.setenv("PROXY_BACKEND", "echo")
    monkeypatch.setenv("PROXY_PORT", "0")

    def listening() -> bool:
        printed.append(capsys.readouterr().out)
        return "/v1" in "".join(printed)

    def use() -> None:
        try:
            until(listening, "the server")
            connection = http.client.HTTPConnection(urlsplit("".join(printed).split()[-1]).netloc, timeout=20)
            chat = {"model": "echo", "messages": [{"role": "user", "content": "hi"}]}
            seen["chat"] = asked(connection, "POST", "/v1/chat/completions", chat)
            seen["models"] = asked(connection, "GET", "/v1/models")
            seen["ready"] = asked(connection, "GET", "/readyz")
            seen["metrics"] = asked(connection, "GET", "/metrics")
            connection.close()
        finally:
            os.kill(os.getpid(), signal.SIGTERM)

    user = threading.Thread(target=use)
    user.start()
    try:
        assert main([]) == 0
    finally:
        user.join()
    assert seen["chat"]["choices"][0]["message"]["content"] == "None: hi"
    assert [(model["id"], model["owned_by"]) for model in seen["models"]["data"]] == [("echo", "echo")]
    assert seen["ready"] == {"status": "ready"}
    assert "wireproof_proxy_backend_ready 1.0" in seen["metrics"]
    assert "restarts" not in seen["metrics"]
    assert echo.steps == ["start", "open", "stop"]


def test_the_default_is_codex() -> None:
    assert isinstance(make_backend(ProxySettings()), Supervisor)


def test_an_unknown_backend_is_one_line_that_names_the_known_ones(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PROXY_BACKEND", "copilot")
    assert main([]) == 2
    assert (
        capsys.readouterr().err
        == "wireproof-proxy: PROXY_BACKEND: there is no backend 'copilot'; known: codex, cursor\n"
    )
    with pytest.raises(SettingsError, match=r"^PROXY_BACKEND: "):
        make_backend(ProxySettings(backend=""))
