from __future__ import annotations

import io
import json
import threading
from typing import TYPE_CHECKING, Any

import pytest

from wireproof_proxy.answers.timing import ClientState
from wireproof_proxy.answers.turn_runner import TurnGate
from wireproof_proxy.app import body_limit, create_app
from wireproof_proxy.http.wsgi import CLIENT_KEY, CONNECTION_KEY
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
)

if TYPE_CHECKING:
    from flask.testing import FlaskClient
    from reference_proxy.tests.conftest import MakeSettings, ScriptedBackend

CHAT = "/v1/chat/completions"
ASK: dict[str, Any] = {"model": "codex", "messages": [{"role": "user", "content": "hi"}]}
KEY = {"Authorization": "Bearer secret"}


@pytest.fixture
def client(backend: ScriptedBackend, make_settings: MakeSettings) -> FlaskClient:
    return create_app(make_settings(api_key="secret", max_body_bytes=10_000), backend).test_client()


def ask(client: FlaskClient, **more: Any) -> Any:
    return client.post(CHAT, json={**ASK, **more}, headers=KEY)


def error(response: Any) -> dict[str, Any]:
    """The envelope's error, after looking at its form."""
    assert response.mimetype == "application/json"
    assert response.headers["x-request-id"].startswith("req_")
    body: dict[str, Any] = response.get_json()["error"]
    assert set(body) == {"message", "type", "param", "code"}
    assert body["message"]
    assert "Traceback" not in response.get_data(as_text=True)
    return body


def test_models_are_listed_and_sent_one_by_one(client: FlaskClient) -> None:
    listed = client.get("/v1/models", headers=KEY).get_json()
    assert listed["object"] == "list"
    assert [set(model) for model in listed["data"]] == [{"id", "object", "created", "owned_by"}]
    assert client.get("/v1/models/codex", headers=KEY).get_json() == listed["data"][0]


def test_an_unknown_model_is_not_found(client: FlaskClient) -> None:
    response = client.get("/v1/models/a/b", headers=KEY)
    assert response.status_code == 404
    assert error(response)["code"] == "model_not_found"
    assert error(ask(client, model="other"))["param"] == "model"


def test_any_model_is_found_where_that_is_set(make_settings: MakeSettings, backend: ScriptedBackend) -> None:
    app = create_app(make_settings(any_model=True, unknown_models=("none",)), backend)
    assert app.test_client().get("/v1/models/a/b").get_json()["id"] == "a/b"
    assert [model["id"] for model in app.test_client().get("/v1/models").get_json()["data"]] == ["codex"]
    assert app.test_client().get("/v1/models/none").status_code == 404


def test_a_model_that_was_asked_for_is_listed_then(make_settings: MakeSettings, backend: ScriptedBackend) -> None:
    client = create_app(make_settings(any_model=True, unknown_models=("none",)), backend).test_client()
    for model in ("a/b", "none", "codex", "a/b"):
        ask(client, model=model)
    client.post("/v1/responses", json={"model": "c", "input": "Hello!"})
    assert [model["id"] for model in client.get("/v1/models").get_json()["data"]] == ["codex", "a/b", "c"]


def test_health_needs_no_key_and_readiness_follows_the_backend(client: FlaskClient, backend: ScriptedBackend) -> None:
    assert client.get("/healthz").status_code == 200
    assert client.get("/readyz").status_code == 200
    backend.ready = False
    assert client.get("/healthz").status_code == 200
    response = client.get("/readyz")
    assert response.status_code == 503
    assert response.headers["Retry-After"] == "1"
    assert error(response)["code"] == "backend_unavailable"


def test_a_backend_that_is_given_up_is_not_alive(client: FlaskClient, backend: ScriptedBackend) -> None:
    assert client.get("/livez").get_json() == {"status": "alive"}
    backend.alive = False
    response = client.get("/livez")
    assert response.status_code == 503
    assert error(response)["code"] == "backend_given_up"
    assert client.get("/healthz").status_code == 200


def test_a_proxy_that_stops_is_alive_and_not_ready(backend: ScriptedBackend, make_settings: MakeSettings) -> None:
    gate = TurnGate(1)
    client = create_app(make_settings(), backend, gate).test_client()
    gate.shut()
    assert client.get("/livez").status_code == 200
    response = client.get("/readyz")
    assert response.status_code == 503
    assert error(response)["code"] == "stopping"


@pytest.mark.parametrize("header", [None, "", "Bearer wrong", "Basic secret", "secret", "Bearer sécret"])
def test_a_missing_or_wrong_key_is_refused(client: FlaskClient, header: str | None) -> None:
    response = client.post(CHAT, json=ASK, headers={} if header is None else {"Authorization": header})
    assert response.status_code == 401
    assert response.headers["WWW-Authenticate"] == "Bearer"
    assert error(response)["code"] == "invalid_api_key"


def test_the_scheme_may_be_spelled_as_one_likes(client: FlaskClient) -> None:
    assert client.get("/v1/models", headers={"Authorization": "bEARER secret"}).status_code == 200


@pytest.mark.parametrize("path", ["/v1/models", "/healthz", "/nothing"])
@pytest.mark.parametrize("method", ["GET", "OPTIONS"])
def test_without_a_key_only_names_of_this_machine_are_answered(
    make_settings: MakeSettings, backend: ScriptedBackend, path: str, method: str
) -> None:
    def status(host: str, **settings: Any) -> int:
        client = create_app(make_settings(**settings), backend).test_client()
        response = client.open(path, method=method, headers={"Host": host, "Authorization": "Bearer secret"})
        if response.status_code == 421:
            assert response.get_json()["error"]["code"] == "misdirected_request"
        return response.status_code

    rebound = "page.example:8787"
    assert status(rebound) == 421
    assert status("localhost:8787") == status("127.0.0.1:8787") == status("[::1]:8787") != 421
    assert status(rebound, api_key="secret") == status(rebound, insecure=True) == status("localhost")


def test_without_a_key_pages_of_the_web_are_not_let_in(make_settings: MakeSettings, backend: ScriptedBackend) -> None:
    client = create_app(make_settings(), backend).test_client()
    for origin, allowed in {"https://page.example": None, "app://obsidian.md": "app://obsidian.md"}.items():
        asks = {"Origin": origin, "Access-Control-Request-Private-Network": "true"}
        for response in (client.options("/v1/models", headers=asks), client.get("/v1/models", headers=asks)):
            assert response.headers.get("Access-Control-Allow-Origin") == allowed
        assert ("Access-Control-Allow-Private-Network" in client.options("/v1/models", headers=asks).headers) is bool(
            allowed
        )


def test_without_a_key_in_the_settings_everybody_is_let_in(
    backend: ScriptedBackend, make_settings: MakeSettings
) -> None:
    assert create_app(make_settings(), backend).test_client().get("/v1/models").status_code == 200


def test_unknown_addresses_are_not_found_with_or_without_a_key(client: FlaskClient) -> None:
    for path in ("/", "/v1/nothing", "/v1", "/favicon.ico"):
        response = client.get(path)
        assert response.status_code == 404
        assert error(response)["code"] == "unknown_url"


def test_a_wrong_method_is_answered_with_the_right_ones(client: FlaskClient) -> None:
    response = client.get(CHAT)
    assert response.status_code == 405
    assert response.headers["Allow"] == "POST"
    assert error(response)["code"] == "method_not_allowed"


@pytest.mark.parametrize(
    ("body", "media_type", "status", "code"),
    [
        (b"", "application/json", 400, "invalid_json"),
        (b"{", "application/json", 400, "invalid_json"),
        (b"[]", "application/json", 400, "invalid_json"),
        (b"\xff", "application/json", 400, "invalid_utf8"),
        (b"{}", "text/plain", 415, "unsupported_media_type"),
        (b"{}", "", 415, "unsupported_media_type"),
        (b"x" * 20_000, "text/plain", 413, "request_too_large"),
        (b"{}", "application/json; charset=utf-8", 400, "missing_required_parameter"),
    ],
)
def test_malformed_bodies_get_the_envelope(
    client: FlaskClient, body: bytes, media_type: str, status: int, code: str
) -> None:
    response = client.post(CHAT, data=body, headers={**KEY, "Content-Type": media_type})
    assert response.status_code == status
    assert error(response)["code"] == code


def test_a_body_without_a_length_is_read_to_the_limit(client: FlaskClient) -> None:
    for size, status in ((10, 200), (20_000, 413)):
        data = json.dumps({**ASK, "user": "x" * size}).encode()
        response = client.post(
            CHAT,
            input_stream=io.BytesIO(data),
            content_type="application/json",
            headers=KEY,
            environ_overrides={"wsgi.input_terminated": True},
        )
        assert response.status_code == status


PRECEDENCE: list[tuple[str, int, dict[str, Any]]] = [
    ("/v1/nothing", 404, {"data": b"x" * 20_000}),
    (CHAT, 401, {"data": b"x" * 20_000}),
    (CHAT, 413, {"data": b"x" * 20_000, "headers": KEY}),
    (CHAT, 415, {"data": b"\xff", "headers": KEY}),
    (CHAT, 400, {"data": b"{}", "headers": {**KEY, "Content-Type": "application/json"}}),
]


@pytest.mark.parametrize(("path", "status", "options"), PRECEDENCE)
def test_of_several_broken_rules_the_earlier_answers(
    client: FlaskClient, path: str, status: int, options: dict[str, Any]
) -> None:
    assert client.post(path, **options).status_code == status


@pytest.mark.parametrize("ours", [False, True])
def test_a_text_is_answered_whole_and_as_a_stream(client: FlaskClient, *, ours: bool) -> None:
    if ours:
        client.environ_base[CONNECTION_KEY] = object()  # type: ignore[assignment] # as the server puts it there
    assert ask(client).get_json()["choices"][0]["message"]["content"] == "Hello"
    response = ask(client, stream=True)
    assert response.mimetype == "text/event-stream"
    assert response.headers.get("Connection") == ("keep-alive" if ours else None)
    assert response.headers["x-proxy-output-mode"] == "obsidian-xml"
    assert response.get_data().endswith(b"data: [DONE]\n\n")


def test_a_request_that_stops_being_served_is_never_html(
    client: FlaskClient, backend: ScriptedBackend, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(backend, "open", None)
    response = ask(client)
    assert response.status_code == 500
    assert error(response)["code"] == "internal_error"
    assert "Traceback" in caplog.text


def test_a_backends_failure_has_its_status_and_says_when_to_try_again(
    client: FlaskClient, backend: ScriptedBackend
) -> None:
    backend.events = [ChoiceFailed(FailureReason.RATE_LIMITED)]
    response = ask(client, stream=True)
    assert response.status_code == 429
    assert response.headers["Retry-After"] == "5"
    assert error(response)["code"] == "rate_limit_exceeded"


def call(id_: str) -> list[Any]:
    return [CallBegan(id=id_, name="f"), ArgumentsAdded(id=id_, text="{}"), CallClosed(id=id_)]


@pytest.mark.parametrize(
    ("headers", "more", "calls"),
    [
        ({}, {}, 1),
        ({}, {"parallel_tool_calls": True}, 2),
        ({}, {"parallel_tool_calls": False}, 1),
        ({"x-proxy-stop-after-tools": "burst"}, {"parallel_tool_calls": False}, 2),
        ({"X-Proxy-Stop-After-Tools": "first"}, {"parallel_tool_calls": True}, 1),
    ],
)
def test_streams_stop_after_the_first_call_or_all(
    client: FlaskClient, backend: ScriptedBackend, headers: dict[str, str], more: dict[str, Any], calls: int
) -> None:
    backend.events = [*call("a"), *call("b"), CallsEnded(), TurnOver()]
    response = client.post(CHAT, json={**ASK, "stream": True, **more}, headers={**KEY, **headers})
    assert response.get_data().count(b'"type":"function"') == calls
    whole = client.post(CHAT, json={**ASK, **more}, headers={**KEY, **headers}).get_json()
    assert len(whole["choices"][0]["message"]["tool_calls"]) == 2


def test_a_wrong_proxy_header_is_named(client: FlaskClient) -> None:
    response = client.post(CHAT, json=ASK, headers={**KEY, "x-proxy-output-mode": "yaml"})
    assert response.status_code == 400
    assert error(response)["param"] == "x-proxy-output-mode"


def test_a_failure_after_text_is_a_frame_in_the_stream(client: FlaskClient, backend: ScriptedBackend) -> None:
    backend.events = [TextAdded(text="Hel"), ChoiceFailed(FailureReason.FAILED)]
    response = ask(client, stream=True)
    assert response.status_code == 200
    *_, last, done, _ = response.get_data(as_text=True).split("\n\n")
    assert json.loads(last.removeprefix("data: "))["error"]["code"] == "backend_error"
    assert done == "data: [DONE]"


def test_a_silent_backend_commits_the_stream_with_a_comment(
    backend: ScriptedBackend, make_settings: MakeSettings
) -> None:
    gate = threading.Event()
    backend.events = [gate, TextAdded(text="late"), ChoiceFinished(reason="stop")]
    app = create_app(make_settings(commit_ms=1, keepalive_ms=1), backend)
    response = app.test_client().post(CHAT, json={**ASK, "stream": True})
    assert response.status_code == 200
    pieces = response.iter_encoded()
    assert next(iter(pieces)) == b": keep-alive\n\n"
    gate.set()
    assert b"late" in b"".join(pieces)


def test_more_turns_than_there_are_slots_are_turned_away(backend: ScriptedBackend, make_settings: MakeSettings) -> None:
    gate = TurnGate(1)
    client = create_app(make_settings(), backend, gate).test_client()
    gate.enter()
    response = client.post(CHAT, json=ASK)
    assert response.status_code == 429
    assert response.headers["Retry-After"] == "1"
    assert error(response)["code"] == "too_many_requests"


@pytest.mark.parametrize(
    ("path", "name"), [("a/b", "a/b"), ("m%C3%A4h", "mäh"), ("%FF", "\N{REPLACEMENT CHARACTER}"), ("a%2Fb", "a/b")]
)
def test_paths_are_matched_as_text(make_settings: MakeSettings, backend: ScriptedBackend, path: str, name: str) -> None:
    client = create_app(make_settings(any_model=True), backend).test_client()
    assert client.get(f"/v1/models/{path}").get_json()["id"] == name


def test_an_answer_to_head_has_the_length_and_no_body(client: FlaskClient) -> None:
    response = client.head("/v1/models", headers=KEY)
    length = str(len(client.get("/v1/models", headers=KEY).get_data()))
    assert (response.data, response.headers["Content-Length"]) == (b"", length)


def test_an_offer_of_a_websocket_is_refused_by_its_name(client: FlaskClient) -> None:
    response = client.get("/v1/models", headers={**KEY, "Connection": "Upgrade", "Upgrade": "websocket"})
    assert response.status_code == 400
    assert "Upgrade" in error(response)["message"]


def test_a_preflight_is_answered_without_a_key(client: FlaskClient) -> None:
    asked = {"Origin": "app://obsidian.md", "Access-Control-Request-Headers": "authorization, x-a"}
    response = client.options(CHAT, headers=asked)
    assert response.status_code == 204
    assert response.get_data() == b""
    assert response.headers["Access-Control-Allow-Origin"] == "*"
    assert "POST" in response.headers["Access-Control-Allow-Methods"]
    assert response.headers["Access-Control-Allow-Headers"] == "authorization, x-a"


def test_a_preflight_of_nothing_is_not_found(client: FlaskClient) -> None:
    assert client.options("/v1/nothing").status_code == 404


def test_errors_let_browsers_in_too(client: FlaskClient) -> None:
    for response in (client.get("/v1/models"), client.get("/nothing"), client.get(CHAT)):
        assert response.headers["Access-Control-Allow-Origin"] == "*"


def test_request_ids_are_unique(client: FlaskClient) -> None:
    assert len({client.get("/healthz").headers["x-request-id"] for _ in range(5)}) == 5


def test_a_request_that_http_itself_forbids_gets_the_envelope(client: FlaskClient) -> None:
    client.application.add_url_rule("/v1/abort", view_func=lambda: __import__("flask").abort(418))
    response = client.get("/v1/abort", headers=KEY)
    assert response.status_code == 400
    assert error(response)["code"] == "bad_request"


def test_whatever_happens_to_a_client_that_has_gone_is_quiet(client: FlaskClient, backend: ScriptedBackend) -> None:
    left = ClientState(gone=lambda: True, when_gone=lambda callback: callback())
    client.environ_base[CLIENT_KEY] = left  # type: ignore[assignment] # as the server puts it there
    backend.events = [TextAdded(text="Hello")]
    assert ask(client).status_code == 400


RESPONSES = "/v1/responses"


def test_responses_are_made_kept_listed_and_deleted(client: FlaskClient) -> None:
    made = client.post(RESPONSES, json={"model": "codex", "input": "hi"}, headers=KEY).get_json()
    assert made["output"][0]["content"][0]["text"] == "Hello"
    path = f"{RESPONSES}/{made['id']}"
    assert client.get(path, headers=KEY).get_json() == made
    items = client.get(f"{path}/input_items?limit=1", headers=KEY).get_json()
    assert [item["role"] for item in items["data"]] == ["user"]
    assert error(client.get(f"{path}/input_items?limit=0", headers=KEY))["param"] == "limit"
    assert client.delete(path, headers=KEY).get_json()["deleted"] is True
    assert client.get(path, headers=KEY).status_code == 404


def test_a_response_is_streamed_under_names(client: FlaskClient) -> None:
    response = client.post(RESPONSES, json={"model": "codex", "input": "hi", "stream": True}, headers=KEY)
    assert response.mimetype == "text/event-stream"
    assert response.get_data().startswith(b"event: response.created\ndata: ")


def test_responses_answer_to_the_same_rules_in_the_same_order(client: FlaskClient) -> None:
    assert client.post(RESPONSES, data=b"x" * 20_000).status_code == 401
    assert client.post(RESPONSES, data=b"x" * 20_000, headers=KEY).status_code == 413
    assert client.post(RESPONSES, data=b"x", headers=KEY).status_code == 415
    assert error(client.post(RESPONSES, json={"model": "codex"}, headers=KEY))["param"] == "input"
    assert error(client.post(RESPONSES, json={"model": "x", "input": "hi"}, headers=KEY))["code"] == "model_not_found"
    wrong = client.get(RESPONSES, headers=KEY)
    assert (wrong.status_code, wrong.headers["Allow"]) == (405, "POST")
    assert client.get(f"{RESPONSES}/resp_x").status_code == 401
    assert client.post(f"{RESPONSES}/resp_x", headers=KEY).headers["Allow"] == "DELETE, GET, HEAD"


SERVICE = "/backend-api/codex/responses"
ASK_SERVICE = {"model": "gpt-x", "input": "hi", "store": False, "stream": True}


@pytest.fixture
def service(backend: ScriptedBackend, make_settings: MakeSettings) -> FlaskClient:
    settings = make_settings(api_key="secret", any_model=True, chatgpt_service=True)
    return create_app(settings, backend).test_client()


def events_of(response: Any) -> list[dict[str, Any]]:
    lines = response.get_data(as_text=True).splitlines()
    return [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]


def test_the_service_behind_a_login_streams_a_response_whose_end_has_no_output(service: FlaskClient) -> None:
    response = service.post(SERVICE, json=ASK_SERVICE, headers=KEY)
    events = events_of(response)
    assert response.mimetype == "text/event-stream"
    assert response.headers["x-codex-primary-used-percent"] == "1"
    [item] = [event["item"] for event in events if event["type"] == "response.output_item.done"]
    assert item["content"][0]["text"] == "Hello"
    last = events[-1]
    assert (last["type"], last["response"]["model"], last["response"]["output"]) == ("response.completed", "gpt-x", [])
    assert last["response"]["usage"]["total_tokens"] > 0
    beside = events_of(service.post(RESPONSES, json=ASK_SERVICE, headers=KEY))
    assert beside[-1]["response"]["output"] == [{**item, "id": beside[-1]["response"]["output"][0]["id"]}]


def test_the_service_behind_a_login_refuses_in_its_own_words(service: FlaskClient) -> None:
    refused = service.post(SERVICE, json={**ASK_SERVICE, "stream": False}, headers=KEY)
    assert (refused.status_code, refused.get_json()) == (400, {"detail": "Stream must be set to true"})
    assert error(service.post(SERVICE, json=ASK_SERVICE))["code"] == "invalid_api_key"


def test_without_the_setting_there_is_no_such_service(client: FlaskClient) -> None:
    assert error(client.post(SERVICE, json=ASK_SERVICE, headers=KEY))["code"] == "unknown_url"


def test_a_body_is_read_where_a_route_takes_one_and_the_request_will_be_answered(
    make_settings: MakeSettings, backend: ScriptedBackend
) -> None:
    settings = make_settings(api_key="secret", max_body_bytes=10, chatgpt_service=True)
    app = create_app(settings, backend)
    limit = body_limit(app, settings)
    right = {"REQUEST_METHOD": "POST", "PATH_INFO": CHAT, "HTTP_AUTHORIZATION": "Bearer secret", "CONTENT_LENGTH": "10"}
    taking = [rule for rule in app.url_map.iter_rules() if "POST" in (rule.methods or ())]
    assert len(taking) == 7
    for rule in taking:
        # The rule is compared as text, so it must have no parts that vary.
        assert not rule.arguments
        assert limit({**right, "PATH_INFO": rule.rule}) == 10
    # Flask takes a path with more slashes before it for the same.
    assert limit({**right, "PATH_INFO": f"/{CHAT}"}) == 10
    wrong = [
        ("REQUEST_METHOD", "GET"),
        ("PATH_INFO", "/v1/models"),
        ("PATH_INFO", f"{CHAT}/"),
        ("CONTENT_LENGTH", "11"),
    ]
    for name, value in (*wrong, ("HTTP_AUTHORIZATION", "Bearer x")):
        assert limit({**right, name: value}) == 0
