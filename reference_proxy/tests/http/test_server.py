from __future__ import annotations

import http.client
import json
import socket
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from wireproof_proxy.answers.turn_runner import TurnGate
from wireproof_proxy.app import body_limit, create_app
from wireproof_proxy.http.wsgi import wsgi_server
from wireproof_surfaces.events import ChoiceFinished, TextAdded
from wireproof_surfaces.http.http_server import HttpServer, base_url

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reference_proxy.tests.conftest import MakeSettings, ScriptedBackend, Until

ASK = {"model": "codex", "messages": [{"role": "user", "content": "hi"}], "stream": True}


@pytest.fixture
def gate() -> TurnGate:
    return TurnGate(4)


@pytest.fixture
def server(backend: ScriptedBackend, make_settings: MakeSettings, gate: TurnGate) -> Iterator[HttpServer]:
    settings = make_settings(max_body_bytes=100_000)
    app = create_app(settings, backend, gate)
    with wsgi_server(app, "127.0.0.1", 0, turns=4, accept=body_limit(app, settings)) as running:
        yield running


@contextmanager
def connected(server: HttpServer) -> Iterator[http.client.HTTPConnection]:
    connection = http.client.HTTPConnection(str(urlsplit(server.url).netloc), timeout=20)
    try:
        yield connection
    finally:
        connection.close()


def post(connection: http.client.HTTPConnection, body: Any, **headers: str) -> http.client.HTTPResponse:
    headers = {"Content-Type": "application/json", **headers}
    connection.request("POST", "/v1/chat/completions", body, headers)
    return connection.getresponse()


def test_an_event_reaches_the_client_before_the_backend_says_more(server: HttpServer, backend: ScriptedBackend) -> None:
    more = threading.Event()
    backend.events = [TextAdded(text="first"), more, TextAdded(text="second"), ChoiceFinished(reason="stop")]
    with connected(server) as connection:
        response = post(connection, json.dumps(ASK))
        assert response.headers["Connection"] == "keep-alive"
        assert response.headers["Transfer-Encoding"] == "chunked"
        seen = b""
        while b"first" not in seen:
            seen += response.read1()
        assert b"second" not in seen
        more.set()
        assert response.read().endswith(b"data: [DONE]\n\n")


def test_the_connection_is_used_again_after_a_stream(server: HttpServer) -> None:
    with connected(server) as connection:
        for _ in range(3):
            assert post(connection, json.dumps(ASK)).read().endswith(b"data: [DONE]\n\n")
            sock = connection.sock
            assert sock is not None
        assert connection.sock is sock


@pytest.mark.parametrize("stream", [True, False])
def test_a_client_that_leaves_a_silent_turn_closes_it(
    server: HttpServer,
    backend: ScriptedBackend,
    gate: TurnGate,
    until: Until,
    stream: bool,  # noqa: FBT001 - a case
) -> None:
    backend.events = [TextAdded(text="first")]
    with connected(server) as connection:
        connection.request(
            "POST", "/v1/chat/completions", json.dumps({**ASK, "stream": stream}), {"Content-Type": "application/json"}
        )
        if stream:
            connection.getresponse().read(10)
        until(lambda: backend.turns, "the turn to begin")
        assert gate.taken == 1
    until(backend.turns[0].closed.is_set, "the turn to be closed")
    until(lambda: gate.taken == 0, "the slot to be free")


def test_a_client_that_does_not_read_does_not_hold_up_others(server: HttpServer, backend: ScriptedBackend) -> None:
    backend.events = [TextAdded(text="x" * 1_000_000)] * 20 + [ChoiceFinished(reason="stop")]
    with connected(server) as stuck, connected(server) as other:
        stuck.request("POST", "/v1/chat/completions", json.dumps(ASK), {"Content-Type": "application/json"})
        assert len(post(other, json.dumps(ASK)).read()) > 20_000_000


def test_a_body_in_chunks_is_read(server: HttpServer) -> None:
    pieces = [json.dumps(ASK).encode()[at : at + 20] for at in range(0, 200, 20)]
    with connected(server) as connection:
        response = post(connection, iter(pieces))
        assert response.status == 200
        assert b"Hello" in response.read()


@pytest.mark.parametrize("chunked", [True, False])
def test_characters_that_the_client_sends_byte_by_byte_arrive_whole(
    server: HttpServer, backend: ScriptedBackend, *, chunked: bool
) -> None:
    text = "a\u00e9\u20ac\u65e5\U0001f600e\u0301\U00020000\U0010fffd"
    body = json.dumps({**ASK, "messages": [{"role": "user", "content": text}]}, ensure_ascii=False).encode()
    length = {} if chunked else {"Content-Length": str(len(body))}
    with connected(server) as connection:
        response = post(connection, (body[at : at + 1] for at in range(len(body))), **length)
        assert response.status == 200
        response.read()
    (conversation,) = backend.asked
    assert [part.text for part in conversation.input] == [text]


@pytest.mark.parametrize("chunked", [True, False])
def test_a_body_of_6_megabytes_is_answered_after_all_of_it_was_sent(
    server: HttpServer,
    chunked: bool,  # noqa: FBT001 - a case
) -> None:
    piece = b"x" * 1_000_000
    with connected(server) as connection:
        headers = {} if chunked else {"Content-Length": str(6 * len(piece))}
        response = post(connection, iter([piece] * 6), **headers)
        assert response.status == 413
        assert json.loads(response.read())["error"]["code"] == "request_too_large"


def raw(server: HttpServer, request: bytes) -> bytes:
    """All that comes back to these bytes, until the connection ends."""
    address = urlsplit(server.url)
    with socket.create_connection((address.hostname or "", address.port or 0), 20) as client:
        client.sendall(request)
        sent = b""
        while piece := client.recv(65536):
            sent += piece
    return sent


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (b"NONSENSE\r\n\r\n", 400),
        (b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: many\r\n\r\n", 400),
        (b"GET /v1/models HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n", 400),
        (b"GET /v1/models HTTP/9.1\r\nHost: x\r\n\r\n", 505),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
    ],
)
def test_what_is_no_http_gets_the_envelope(server: HttpServer, request_: bytes, status: int) -> None:
    head, _, body = raw(server, request_).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 %d" % status)
    assert b"x-request-id: req_" in head
    assert set(json.loads(body)["error"]) == {"message", "type", "param", "code"}


def test_a_client_of_http_1_0_gets_a_stream_that_ends_with_the_connection(server: HttpServer) -> None:
    body = json.dumps(ASK).encode()
    head = b"POST /v1/chat/completions HTTP/1.0\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    sent = raw(server, head % len(body) + body)
    assert b"Connection: keep-alive" not in sent
    assert sent.endswith(b"data: [DONE]\n\n")


def test_an_offer_of_a_websocket_is_answered_as_if_it_were_none(server: HttpServer) -> None:
    with connected(server) as connection:
        answer = post(connection, json.dumps(ASK), Connection="Upgrade", Upgrade="websocket")
        assert answer.status == 200
        assert answer.read().endswith(b"data: [DONE]\n\n")


def test_an_address_of_six_parts_is_written_in_brackets() -> None:
    assert base_url("::1", 1234) == "http://[::1]:1234/v1"


def test_an_address_that_is_taken_is_an_error(
    server: HttpServer, backend: ScriptedBackend, make_settings: MakeSettings
) -> None:
    port = urlsplit(server.url).port or 0
    with pytest.raises(OSError, match="in use"):
        wsgi_server(create_app(make_settings(), backend), "127.0.0.1", port, turns=1)


@pytest.mark.parametrize(
    "request_",
    [
        b"POST /v1/chat/completions HTTP/1.1\r\nContent-Type: application/json\r\n{}\r\n2\r\n[]{}",
        b"POST /v1/chat/completions HTTP/1.1\r\nContent-Type: application/json\r\n{}\r\nZZ\r\n[]\r\n0\r\n\r\n{}",
        b"POST /v1/nowhere HTTP/1.1\r\n{}\r\n2\r\n[]\r\n0\r\n\r\n{}",
    ],
    ids=["not parted", "no length", "never read"],
)
def test_what_stands_behind_a_refused_body_in_chunks_is_no_request(server: HttpServer, request_: bytes) -> None:
    parts = request_.replace(b"{}", b"%b") % (
        b"Host: x\r\nTransfer-Encoding: chunked\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n",
    )
    address = urlsplit(server.url)
    with socket.create_connection((str(address.hostname), address.port or 0), timeout=20) as client:
        client.sendall(parts)
        said = client.makefile("rb").read()
    assert said.count(b"HTTP/1.1 ") == 1
    assert b"Connection: close" in said
    assert b'"error"' in said
