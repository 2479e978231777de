"""`/v1/messages` of the reference proxy, on a scripted backend."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from wireproof_proxy.app import create_app
from wireproof_surfaces.conversation import AssistantCall, Message, TextPart, ToolResult
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


def test_silence_before_and_within_an_answer_is_filled_by_pings(
    make_settings: MakeSettings, backend: ScriptedBackend
) -> None:
    client = create_app(make_settings(commit_ms=20, keepalive_ms=20, call_wait_ms=20), backend).test_client()
    gate = threading.Event()
    backend.events = [gate, TextAdded(text="Hi"), ChoiceFinished(reason="stop"), TurnOver()]
    response = client.post(URL, json={**ASK, "stream": True}, buffered=False)
    pieces = response.iter_encoded()
    # The status line is out, and the message has begun, before the backend says anything.
    assert next(pieces).startswith(b"event: message_start\n")
    assert next(pieces) == b'event: ping\ndata: {"type":"ping"}\n\n'
    gate.set()
    rest = b"".join(pieces)
    assert rest.endswith(b'data: {"type":"message_stop"}\n\n')
    assert b"keep-alive" not in rest


def test_a_thread_is_held_and_goes_on_with_its_tools(client: FlaskClient, backend: ScriptedBackend) -> None:
    backend.events = ends(CallBegan(id="call_1", name="weather"), CallClosed(id="call_1"), CallsEnded())
    tool = {"name": "weather", "input_schema": {"type": "object"}}
    begun = {**ASK, "system": "Be brief.", "tools": [tool], "thread": {"type": "create"}}
    first = client.post(URL, json=begun, headers=KEY).get_json()
    going_on = {
        **ASK,
        "messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "call_1", "content": "ok"}]}],
        "thread": {"type": "continue", "previous_message_id": first["id"]},
        "tool_choice": {"type": "any"},
    }
    assert client.post(URL, json=going_on, headers=KEY).status_code == 200
    asked = backend.asked[-1]
    assert asked.developer.startswith("Be brief.")
    assert asked.history == (
        Message(role="user", parts=(TextPart("Hi"),)),
        AssistantCall(id="call_1", name="weather", arguments="{}"),
        ToolResult(id="call_1", output="ok"),
    )
    assert [tool.name for tool in asked.tools] == ["weather"]
    wrong = {**going_on, "tool_choice": {"type": "tool", "name": "other"}}
    error = client.post(URL, json=wrong, headers=KEY).get_json()["error"]
    assert error["message"] == "tool_choice: Tool 'other' not found in provided tools"


def test_threads_are_refused_where_the_settings_say_so(make_settings: MakeSettings, backend: ScriptedBackend) -> None:
    client = create_app(make_settings(threads=False), backend).test_client()
    refused = client.post(URL, json={**ASK, "thread": {"type": "create"}})
    assert refused.get_json()["error"]["details"]["error_code"] == "thread_unsupported_request"
    assert refused.status_code == 400


def test_a_long_name_reaches_the_backend_shortened_and_comes_back_whole(
    client: FlaskClient, backend: ScriptedBackend
) -> None:
    name = "mcp__" + "x" * 100
    tool = {"name": name, "input_schema": {"type": "object"}}
    client.post(URL, json={**ASK, "tools": [tool]}, headers=KEY)
    [declared] = backend.asked[-1].tools
    assert len(declared.name) == 64
    backend.events = ends(CallBegan(id="call_1", name=declared.name), CallClosed(id="call_1"), CallsEnded())
    choice = {"type": "tool", "name": name}
    answer = client.post(URL, json={**ASK, "tools": [tool], "tool_choice": choice}, headers=KEY).get_json()
    assert answer["content"] == [{"type": "tool_use", "id": "call_1", "name": name, "input": {}}]


@pytest.mark.parametrize("stream", [True, False])
def test_a_forced_call_that_is_not_made_is_a_400_that_names_the_field(client: FlaskClient, *, stream: bool) -> None:
    tool = {"name": "weather", "input_schema": {"type": "object"}}
    asked = {**ASK, "tools": [tool], "tool_choice": {"type": "any"}, "stream": stream}
    refused = client.post(URL, json=asked, headers=KEY)
    assert refused.status_code == 400
    assert refused.get_json()["error"]["message"].startswith("tool_choice: ")


def test_one_call_is_let_through_where_no_more_are_wanted(client: FlaskClient, backend: ScriptedBackend) -> None:
    calls = [(CallBegan(id=id_, name="f"), CallClosed(id=id_)) for id_ in ("a", "b")]
    backend.events = ends(*(event for call in calls for event in call), CallsEnded())
    tool = {"name": "f", "input_schema": {"type": "object"}}
    for choice, count in (({"type": "auto"}, 2), ({"type": "auto", "disable_parallel_tool_use": True}, 1)):
        answer = client.post(URL, json={**ASK, "tools": [tool], "tool_choice": choice}, headers=KEY).get_json()
        assert len(answer["content"]) == count


@pytest.mark.parametrize("stream", [True, False])
def test_an_answer_ends_at_a_stop_text_and_the_turn_with_it(
    client: FlaskClient, backend: ScriptedBackend, *, stream: bool
) -> None:
    backend.events = ends(TextAdded(text="a ST"), TextAdded(text="OP b"), ChoiceFinished(reason="stop"))
    with client.post(URL, json={**ASK, "stop_sequences": ["STOP"], "stream": stream}, headers=KEY) as response:
        answer = response.get_data(as_text=True)
    assert '"stop_reason":"stop_sequence","stop_sequence":"STOP"' in answer
    assert "OP b" not in answer
    assert backend.turns[-1].closed.is_set()


def test_the_count_is_what_an_answer_without_counts_is_said_to_have_taken(
    client: FlaskClient, backend: ScriptedBackend
) -> None:
    backend.events = [TextAdded(text="x"), ChoiceFinished(reason="stop"), TurnOver()]
    asked = {**ASK, "messages": [{"role": "user", "content": "Twenty characters ok"}]}
    counted = client.post("/v1/messages/count_tokens", json={**asked, "max_tokens": None}, headers=KEY).get_json()
    assert counted == {"input_tokens": 5}
    assert client.post(URL, json=asked, headers=KEY).get_json()["usage"]["input_tokens"] == 5


def test_models_are_listed_in_this_apis_form(client: FlaskClient) -> None:
    page = client.get("/v1/models", headers=KEY).get_json()
    assert [(model["type"], model["id"]) for model in page["data"]] == [("model", "codex")]
    assert client.get("/v1/models", headers={"Authorization": "Bearer secret"}).get_json()["object"] == "list"
    unknown = client.get("/v1/models/nope", headers=KEY)
    assert (unknown.status_code, unknown.get_json()["error"]["type"]) == (404, "not_found_error")


BROKEN: list[tuple[dict[str, Any], int, str]] = [
    ({"path": "/v1/messages/nothing"}, 404, "not_found_error"),
    ({"method": "GET"}, 405, "invalid_request_error"),
    ({"headers": {}}, 401, "authentication_error"),
    ({"data": "x" * 300}, 413, "request_too_large"),
    ({"content_type": "text/plain", "data": "{}"}, 415, "invalid_request_error"),
    ({"data": "{"}, 400, "invalid_request_error"),
    ({"data": "[]"}, 400, "invalid_request_error"),
    ({"data": "{}"}, 400, "invalid_request_error"),
    ({"data": '{"model": "nope", "max_tokens": 9, "messages": []}'}, 400, "invalid_request_error"),
    (
        {"data": '{"model": "nope", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]}'},
        404,
        "not_found_error",
    ),
]


@pytest.mark.parametrize(("sent", "status", "kind"), BROKEN)
def test_what_is_wrong_first_is_said_in_this_apis_form(
    make_settings: MakeSettings, backend: ScriptedBackend, sent: dict[str, Any], status: int, kind: str
) -> None:
    client = create_app(make_settings(api_key="secret", max_body_bytes=200), backend).test_client()
    given: dict[str, Any] = {"method": "POST", "headers": KEY, "content_type": "application/json", **sent}
    refused = client.open(given.pop("path", "/v1/messages"), **given)
    body = refused.get_json()
    assert (refused.status_code, body["type"], body["error"]["type"]) == (status, "error", kind)
    assert body["request_id"] == refused.headers["request-id"]
    assert refused.headers["Access-Control-Allow-Origin"] == "*"


def test_a_preflight_lets_a_browsers_client_in(client: FlaskClient) -> None:
    asks = {"Origin": "http://page", "Access-Control-Request-Headers": "x-api-key, anthropic-version"}
    preflight = client.options("/v1/messages", headers=asks)
    assert preflight.status_code == 204
    assert preflight.headers["Access-Control-Allow-Headers"] == "x-api-key, anthropic-version"
    assert "request-id" in preflight.headers["Access-Control-Expose-Headers"]
