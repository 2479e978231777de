"""`/v1/messages` of the reference proxy, on a scripted backend."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from wireproof_proxy.app import create_app
from wireproof_surfaces.events import (
    ArgumentsAdded,
    CallBegan,
    CallClosed,
    CallsEnded,
    ChoiceFailed,
    ChoiceFinished,
    FailureReason,
    TextAdded,
    TurnOver,
    UsageReported,
)

if TYPE_CHECKING:
    from flask.testing import FlaskClient
    from reference_proxy.tests.conftest import MakeSettings, ScriptedBackend

URL = "/v1/messages?beta=true"
ASK: dict[str, Any] = {"model": "codex", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]}
KEY = {"x-api-key": "secret"}


@pytest.fixture
def client(make_settings: MakeSettings, backend: ScriptedBackend) -> FlaskClient:
    return create_app(make_settings(api_key="secret"), backend).test_client()


def ends(*events: Any) -> list[Any]:
    return [*events, UsageReported(prompt=12, cached=5, completion=3), TurnOver()]


def test_a_text_and_a_call_are_blocks(client: FlaskClient, backend: ScriptedBackend) -> None:
    call = [
        CallBegan(id="call_1", name="weather"),
        ArgumentsAdded(id="call_1", text='{"city":'),
        ArgumentsAdded(id="call_1", text='"Paris"}'),
        CallClosed(id="call_1"),
        CallsEnded(),
    ]
    backend.events = ends(TextAdded(text="Let me see."), *call)
    answer = client.post(URL, json=ASK, headers=KEY).get_json()
    assert answer["content"] == [
        {"type": "text", "text": "Let me see."},
        {"type": "tool_use", "id": "call_1", "name": "weather", "input": {"city": "Paris"}},
    ]
    assert (answer["stop_reason"], answer["stop_sequence"]) == ("tool_use", None)
    assert answer["usage"] == {
        "input_tokens": 7,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 5,
        "output_tokens": 3,
    }


@pytest.mark.parametrize("headers", [KEY, {"Authorization": "bearer secret"}, {**KEY, "Authorization": "Bearer x"}])
def test_both_headers_carry_the_key_and_its_own_wins(
    client: FlaskClient, backend: ScriptedBackend, headers: dict[str, str]
) -> None:
    backend.events = ends(TextAdded(text="Hi"), ChoiceFinished(reason="stop"))
    assert client.post(URL, json=ASK, headers=headers).status_code == 200


@pytest.mark.parametrize("headers", [{}, {"x-api-key": "x"}, {"x-api-key": "x", "Authorization": "Bearer secret"}])
def test_a_key_that_is_missing_or_wrong_is_an_error_of_this_api(client: FlaskClient, headers: dict[str, str]) -> None:
    refused = client.post(URL, json=ASK, headers=headers)
    body = refused.get_json()
    assert (refused.status_code, body["type"], body["error"]["type"]) == (401, "error", "authentication_error")
    assert body["request_id"] == refused.headers["request-id"] == refused.headers["x-request-id"]


@pytest.mark.parametrize("stream", [True, False])
def test_a_failure_before_any_output_is_an_http_error(
    client: FlaskClient, backend: ScriptedBackend, *, stream: bool
) -> None:
    backend.events = [ChoiceFailed(FailureReason.OVERLOADED)]
    failed = client.post(URL, json={**ASK, "stream": stream}, headers=KEY)
    assert (failed.status_code, failed.get_json()["error"]["type"]) == (529, "overloaded_error")
    assert failed.headers["Retry-After"] == "2"


def test_a_failure_behind_output_is_an_event(client: FlaskClient, backend: ScriptedBackend) -> None:
    backend.events = [TextAdded(text="Hi"), ChoiceFailed(FailureReason.RATE_LIMITED)]
    frames = client.post(URL, json={**ASK, "stream": True}, headers=KEY).text.split("\n\n")
    assert frames[-2].startswith('event: error\ndata: {"type":"error","error":{"type":"rate_limit_error","message":')
    assert [frame.split("\n")[0] for frame in frames[:-2]] == [
        "event: message_start",
        "event: content_block_start",
        "event: content_block_delta",
    ]
