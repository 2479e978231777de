from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from prometheus_client.parser import text_string_to_metric_families as families

from wireproof_proxy.answers.turn_runner import TurnGate
from wireproof_proxy.app import create_app
from wireproof_surfaces.events import ChoiceFailed, FailureReason

if TYPE_CHECKING:
    from flask import Flask
    from flask.testing import FlaskClient
    from reference_proxy.tests.conftest import MakeSettings, ScriptedBackend

CHAT, RESPONSES = "/v1/chat/completions", "/v1/responses"
SERVICE = "/backend-api/codex/responses"
LABELS = ("surface", "mode", "status", "le")
ASK = {"model": "codex", "messages": [{"role": "user", "content": "hi"}]}


@pytest.fixture
def gate() -> TurnGate:
    return TurnGate(4)


@pytest.fixture
def app(backend: ScriptedBackend, make_settings: MakeSettings, gate: TurnGate) -> Flask:
    return create_app(make_settings(api_key="secret", chatgpt_service=True), backend, gate)


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    client = app.test_client()
    client.environ_base["HTTP_AUTHORIZATION"] = "Bearer secret"
    return client


def sent(client: FlaskClient) -> dict[tuple[str, ...], float]:
    """Each value by the name of its metric and its labels' values."""
    response = client.get("/metrics", headers={"Authorization": ""})
    assert response.status_code == 200
    assert response.content_type.startswith("text/plain; version=")
    samples = [sample for family in families(response.get_data(as_text=True)) for sample in family.samples]
    return {
        (sample.name, *(sample.labels[label] for label in LABELS if label in sample.labels)): sample.value
        for sample in samples
    }


def test_requests_are_counted_by_surface_mode_and_status(client: FlaskClient, backend: ScriptedBackend) -> None:
    client.post(CHAT, json=ASK).close()
    client.post(CHAT, json={**ASK, "stream": True}).close()
    client.post(CHAT, json={}).close()
    client.post(RESPONSES, json={"model": "codex", "input": "hi"}).close()
    client.post(SERVICE, json={}).close()
    client.get("/v1/models", headers={"Authorization": "Bearer wrong"}).close()
    backend.events = [ChoiceFailed(FailureReason.RATE_LIMITED)]
    client.post(CHAT, json=ASK).close()
    counts = {key[1:]: value for key, value in sent(client).items() if key[0] == "wireproof_proxy_requests_total"}
    assert counts == {
        ("chat", "whole", "200"): 1,
        ("chat", "stream", "200"): 1,
        ("chat", "none", "400"): 1,
        ("responses", "whole", "200"): 1,
        ("responses", "none", "400"): 1,
        ("models", "none", "401"): 1,
        ("chat", "whole", "429"): 1,
    }


def test_durations_last_until_the_answer_is_over(client: FlaskClient) -> None:
    stream = client.post(CHAT, json={**ASK, "stream": True}, buffered=False)
    name = ("wireproof_proxy_request_seconds_count", "chat", "stream")
    assert name not in sent(client)
    stream.close()
    assert sent(client)[name] == 1


def test_turns_and_the_backend_are_sent_as_they_are(
    client: FlaskClient, backend: ScriptedBackend, gate: TurnGate
) -> None:
    gate.enter()
    backend.ready, backend.restarts = False, 3
    values = sent(client)
    assert values["wireproof_proxy_running_turns",] == 1
    assert values["wireproof_proxy_backend_ready",] == 0
    assert values["wireproof_proxy_backend_restarts_total",] == 3


def test_nothing_that_clients_make_up_becomes_a_label(client: FlaskClient) -> None:
    def made_up(number: int) -> set[tuple[str, ...]]:
        client.get(f"/v1/models/{number}").close()
        client.get(f"/v1/responses/{number}").close()
        client.get(f"/{number}").close()
        client.open(f"/{number}", method=f"M{number}").close()
        return set(sent(client))

    first, second = made_up(1), made_up(2)
    assert made_up(3) == second
    surfaces = {surface for name, surface, *_ in filter(lambda key: len(key) > 1, first)}
    assert surfaces == {"models", "responses", "other"}


def test_the_surface_of_every_route_is_known(app: Flask) -> None:
    surfaces = {rule.endpoint.partition(".")[0] for rule in app.url_map.iter_rules()}
    assert surfaces == {"chat", "responses", "messages", "models", "health", "metrics"}


def test_the_log_shows_mode_and_source_and_nothing_that_was_said(
    client: FlaskClient, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("DEBUG"):
        client.post(CHAT, json={**ASK, "messages": [{"role": "user", "content": "confidential"}]}).close()
        client.get("/x%0AINFO forged").close()
    assert "mode=whole dialect=obsidian-xml" in caplog.text
    assert not [word for word in ("secret", "confidential", "Hello") if word in caplog.text]
    assert "GET /x%0AINFO%20forged 404" in caplog.text
