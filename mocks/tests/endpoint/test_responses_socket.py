"""Responses over a WebSocket, with a foreign client; the proxy's own test holds that it does the same."""

from __future__ import annotations

import json
import socket
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from wireproof_endpoint.serving import endpoint_of, running
from wireproof_endpoint.settings import EndpointSettings
from wireproof_scripts.files.json_form import script_from_json
from wireproof_surfaces.http import socket_session

if TYPE_CHECKING:
    from collections.abc import Iterator

SCRIPTS: list[dict[str, Any]] = [
    {"name": "hello", "when": "hello", "parts": [[{"say": ["Hi ", "there."]}]]},
    {
        "name": "look",
        "when": "look",
        "parts": [[{"call": {"id": "call_1", "name": "f", "arguments": {"a": 1}}}], [{"say": "Seen."}]],
    },
    {"name": "back", "when": "back", "parts": [[{"reflect": "received"}]]},
    {"name": "busy", "when": "busy", "parts": [[{"status": {"code": 429, "retry_after": "7"}}]]},
    {"name": "fails", "when": "fails", "parts": [[{"say": "So"}, {"fail": "server-error"}]]},
    {"name": "cut", "when": "cut", "parts": [[{"say": "So"}, {"disconnect": {}}]]},
    {"name": "slow", "when": "slow", "parts": [[{"say": "So"}, {"pause": 60}]]},
]
PATHS = ["/v1/responses", "/backend-api/codex/responses"]
TOOLS = [{"type": "function", "name": "f", "parameters": {"type": "object", "properties": {}}}]


@pytest.fixture
def url() -> Iterator[str]:
    library = {one["name"]: script_from_json(one, "") for one in SCRIPTS}
    endpoint = endpoint_of(EndpointSettings(api_key="k"), lambda: library)
    with running(endpoint) as found:
        yield found


def opened(url: str, path: str = PATHS[0], key: str = "k", **more: Any) -> Any:
    headers = {"Authorization": f"Bearer {key}", "OpenAI-Beta": "responses_websockets=2026-02-06"}
    return connect(f"ws://{urlsplit(url).netloc}{path}", additional_headers=headers, proxy=None, **more)


def send(client: Any, said: Any, **more: Any) -> None:
    # As Codex sends them behind a login, where nothing is stored.
    always = {"instructions": "", "store": False}
    client.send(json.dumps({"type": "response.create", "model": "m", "input": said, **always, **more}))


def events(client: Any) -> list[dict[str, Any]]:
    """Those of one answer."""
    found: list[dict[str, Any]] = []
    ends = {"response.completed", "response.failed", "response.incomplete", "error"}
    while not found or found[-1]["type"] not in ends:
        found.append(json.loads(client.recv(timeout=20)))
    return found


def asked(client: Any, said: Any, **more: Any) -> list[dict[str, Any]]:
    send(client, said, **more)
    return events(client)


def read_on(client: Any) -> None:
    """Read until the connection ends, which is an exception."""
    while True:
        client.recv(timeout=20)


def text(found: list[dict[str, Any]]) -> str:
    return "".join(event["delta"] for event in found if event["type"] == "response.output_text.delta")


@pytest.mark.parametrize("path", PATHS)
def test_events_are_those_of_the_stream(url: str, path: str) -> None:
    with opened(url, path) as client:
        found = asked(client, [{"role": "user", "content": "hello"}])
    assert text(found) == "Hi there."
    assert [event["sequence_number"] for event in found] == list(range(len(found)))
    body = {"model": "m", "input": [{"role": "user", "content": "hello"}], "instructions": "", "store": False}
    headers = {"Authorization": "Bearer k"}
    stream = httpx.post(f"http://{urlsplit(url).netloc}{path}", json={**body, "stream": True}, headers=headers).text
    lines = [line.removeprefix("data: ") for line in stream.split("\n") if line.startswith("data: ")]
    assert [event["type"] for event in found] == [json.loads(line)["type"] for line in lines]


@pytest.mark.parametrize("path", PATHS)
def test_what_was_not_stored_goes_on_over_the_connection_that_has_it(url: str, path: str) -> None:
    with opened(url, path) as client:
        first = asked(client, "Now look", tools=TOOLS)
        [call] = [event["item"] for event in first if event["type"] == "response.output_item.done"]
        output = {"type": "function_call_output", "call_id": call["call_id"], "output": "24"}
        previous = first[-1]["response"]["id"]
        second = asked(client, [output], previous_response_id=previous, tools=TOOLS)
        assert text(second) == "Seen."
        assert second[-1]["response"]["previous_response_id"] == previous
        third = asked(client, "and back", previous_response_id=second[-1]["response"]["id"])
        received = json.loads(text(third))
        assert [item["type"] for item in received["history"]] == [
            "message",
            "function_call",
            "function_call_output",
            "message",
        ]
    with opened(url, path) as client:
        [error] = asked(client, "back", previous_response_id=third[-1]["response"]["id"])
        assert (error["type"], error["status"]) == ("error", 400)


def test_what_was_stored_goes_on_over_any_connection(url: str) -> None:
    with opened(url) as client:
        first = asked(client, "hello", store=True)[-1]["response"]["id"]
    with opened(url) as client:
        second = asked(client, "back", previous_response_id=first, store=True)
        assert "Hi there." in text(second)
        [error] = asked(client, "back", previous_response_id="resp_none")
        assert error["error"]["code"] == "previous_response_not_found"
        assert text(asked(client, "hello")) == "Hi there."


def test_what_is_kept_without_an_answer_goes_on(url: str) -> None:
    with opened(url) as client:
        kept = asked(client, "My name is Ann.", generate=False)
        assert [event["type"] for event in kept] == ["response.created", "response.in_progress", "response.completed"]
        assert kept[-1]["response"]["output"] == []
        found = asked(client, "back", previous_response_id=kept[-1]["response"]["id"])
        assert "My name is Ann." in text(found)


def test_errors_are_events_and_the_connection_goes_on(url: str) -> None:
    with opened(url) as client:
        for message, status, code, param in (
            ("{", 400, "invalid_json", None),
            ("[]", 400, "invalid_json", None),
            ('{"type": "response.cancel"}', 400, "invalid_value", "type"),
            ("{}", 400, "missing_required_parameter", "type"),
            ('{"type": "response.create", "input": "a"}', 400, "missing_required_parameter", "model"),
            ('{"type": "response.create", "model": "m"}', 400, "missing_required_parameter", "input"),
        ):
            client.send(message)
            [error] = events(client)
            assert (error["status"], error["error"]["code"], error["error"]["param"]) == (status, code, param)
        [busy] = asked(client, "busy")
        assert (busy["status"], busy["headers"]) == (429, {"retry-after": "7"})
        assert asked(client, "it fails")[-1]["type"] == "response.failed"
        assert text(asked(client, "hello")) == "Hi there."


def test_a_response_that_failed_is_not_gone_on_from(url: str) -> None:
    with opened(url) as client:
        first = asked(client, "hello")[-1]["response"]["id"]
        asked(client, "it fails", previous_response_id=first)
        [error] = asked(client, "back", previous_response_id=first)
        assert error["error"]["code"] == "previous_response_not_found"


def test_messages_wait_for_the_answers_before_them(url: str) -> None:
    with opened(url) as client:
        for _ in range(5):
            send(client, "hello")
        assert [text(events(client)) for _ in range(5)] == ["Hi there."] * 5


def test_more_messages_than_may_wait_close_the_connection(url: str) -> None:
    with opened(url) as client:
        for _ in range(socket_session.WAITING + 3):
            send(client, "slow")
        with pytest.raises(ConnectionClosed) as closed:
            read_on(client)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1008


@pytest.mark.parametrize(("data", "code"), [(b"{}", 1003), ("a" * (socket_session.LARGEST + 1), 1009)])
def test_what_is_no_message_closes_the_connection(url: str, data: Any, code: int) -> None:
    with opened(url, max_size=None) as client:
        client.send(data)
        with pytest.raises(ConnectionClosed) as closed:
            client.recv(timeout=20)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == code


def test_a_script_that_cuts_cuts_the_connection(url: str) -> None:
    with opened(url) as client:
        send(client, "cut")
        with pytest.raises(ConnectionClosed):
            read_on(client)


def test_a_connection_that_is_old_takes_no_more_requests(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(url) as client:
        asked(client, "hello")
        monkeypatch.setattr(socket_session, "AGE", 0.0)
        [error] = asked(client, "hello")
        assert error["error"]["code"] == "websocket_connection_limit_reached"
        with pytest.raises(ConnectionClosed):
            client.recv(timeout=20)


def test_a_connection_over_which_nothing_is_asked_is_closed(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket_session, "IDLE", 0.05)
    with opened(url) as client, pytest.raises(ConnectionClosed) as closed:
        client.recv(timeout=20)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1001


def test_the_key_is_asked_for_before_the_connection_is_opened(url: str) -> None:
    with pytest.raises(InvalidStatus) as refused, opened(url, key="another"):
        pass
    assert refused.value.response.status_code == 401
    assert json.loads(refused.value.response.body or b"")["error"]["code"] == "invalid_api_key"


@pytest.mark.each(
    ("fields", "status"),
    [
        ("Sec-WebSocket-Version: 12\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n", 400),
        ("Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAA\r\n", 400),
        ("Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: !\r\n", 400),
        ("Sec-WebSocket-Version: 13\r\n", 400),
        ("Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n", 101),
    ],
)
def test_a_handshake_is_made_as_it_must_be(url: str, fields: str, status: int) -> None:
    address = urlsplit(url)
    with socket.create_connection((str(address.hostname), address.port or 0), timeout=20) as client:
        head = "GET /v1/responses HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer k\r\n"
        client.sendall(f"{head}Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n{fields}\r\n".encode())
        assert client.recv(1000).startswith(b"HTTP/1.1 %d " % status)


def test_without_an_offer_the_method_is_wrong(url: str) -> None:
    answer = httpx.get(f"{url}/responses", headers={"Authorization": "Bearer k"})
    assert (answer.status_code, answer.headers["allow"]) == (405, "OPTIONS, POST")


def test_a_page_whose_origin_is_not_let_in_opens_none() -> None:
    endpoint = endpoint_of(EndpointSettings(cors_origins=("http://own",)), dict)
    with running(endpoint) as url:
        with opened(url, origin="http://own"):
            pass
        with pytest.raises(InvalidStatus) as refused, opened(url, origin="http://other"):
            pass
    assert refused.value.response.status_code == 403


def test_a_server_that_stops_closes_its_connections() -> None:
    serving = ExitStack()
    with opened(serving.enter_context(running(endpoint_of(EndpointSettings(), dict)))) as client:
        serving.close()
        with pytest.raises(ConnectionClosed):
            client.recv(timeout=20)


@pytest.mark.parametrize("path", PATHS)
def test_a_conversation_is_compacted_and_goes_on(url: str, path: str) -> None:
    root, headers = f"http://{urlsplit(url).netloc}{path}", {"Authorization": "Bearer k"}
    said = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "Hi there."}]
    answer = httpx.post(f"{root}/compact", json={"model": "m", "input": said}, headers=headers)
    assert answer.status_code == 200
    with opened(url, path) as client:
        found = json.loads(text(asked(client, [*answer.json()["output"], {"role": "user", "content": "back"}])))
    assert "Hi there." in json.dumps(found["history"])
    wrong = httpx.post(f"{root}/compact", json={"model": "m"}, headers=headers)
    assert (wrong.status_code, wrong.json()["error"]["param"]) == (400, "input")
