"""What clients may send to the edge, in which size and in which time: over a socket, as an attacker would."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import tomllib
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx
import pytest

from wireproof_proxy.answers.turn_runner import TurnGate
from wireproof_proxy.app import body_limit, create_app
from wireproof_proxy.http.wsgi import wsgi_server
from wireproof_surfaces.events import ChoiceFinished, TextAdded
from wireproof_surfaces.http.edge_limits import EdgeLimits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reference_proxy.tests.conftest import MakeSettings, ScriptedBackend

    from wireproof_surfaces.http.http_server import HttpServer

pytestmark = pytest.mark.sampled(50)

Start = Any
KEY = b"Authorization: Bearer secret\r\n"
JSON = b"Content-Type: application/json\r\n"
ASK = json.dumps({"model": "codex", "messages": [{"role": "user", "content": "hi"}]}).encode()
GET = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
SOON = EdgeLimits(reading=0.2, sending=0.2, idle=0.2, closing=0.2, stalled=0.2, taking=0.5, leaving=0.2)
"""Times that a test can wait for."""


@pytest.fixture
def gate() -> TurnGate:
    return TurnGate(4)


@pytest.fixture
def serve(backend: ScriptedBackend, make_settings: MakeSettings, gate: TurnGate) -> Start:
    @contextmanager
    def started(limits: EdgeLimits | None = None, **values: Any) -> Iterator[HttpServer]:
        settings = make_settings(api_key="secret", max_body_bytes=100_000, **values)
        app = create_app(settings, backend, gate)
        server = wsgi_server(app, "127.0.0.1", 0, turns=4, accept=body_limit(app, settings), limits=limits)
        with server:
            yield server

    return started


@pytest.fixture
def server(serve: Start) -> Iterator[HttpServer]:
    with serve() as running:
        yield running


@contextmanager
def dialled(server: HttpServer) -> Iterator[socket.socket]:
    address = urlsplit(server.url)
    with socket.create_connection((str(address.hostname), address.port or 0), timeout=30) as client:
        yield client


def rest(client: socket.socket) -> bytes:
    """All that comes until the other end closes."""
    said = b""
    while piece := client.recv(65536):
        said += piece
    return said


def exchange(server: HttpServer, *sent: bytes) -> bytes:
    """All that comes back to these bytes, until the server ends the connection."""
    with dialled(server) as client:
        for piece in sent:
            client.sendall(piece)
        return rest(client)


def post(body: bytes, headers: bytes = KEY + JSON, path: bytes = b"/v1/chat/completions") -> bytes:
    return b"POST %b HTTP/1.1\r\nHost: x\r\n%bContent-Length: %d\r\n\r\n%b" % (path, headers, len(body), body)


def status(said: bytes) -> int:
    return int(said.split(b" ", 2)[1])


def is_refusal(said: bytes) -> bool:
    """Whether this is one answer, with the envelope, at whose end the connection is closed."""
    head, _, body = said.partition(b"\r\n\r\n")
    ends = b"connection: close" in head.lower() and b"x-request-id: req_" in head
    return ends and set(json.loads(body)["error"]) == {"message", "type", "param", "code"}


HOST = b"Host: x\r\n"
TWO = b"2\r\n{}\r\n0\r\n\r\n"
CHAT = b"POST /v1/chat/completions HTTP/1.1\r\n" + KEY + JSON
CASES = tomllib.loads((Path(__file__).parent / "framing.toml").read_text(encoding="utf-8"))
LINES = {"{chat}": CHAT, "{chat of 1.0}": CHAT.replace(b"1.1", b"1.0")}


def filled(case: str) -> bytes:
    """The bytes of a case."""
    data = case.encode("latin-1")
    for name, line in LINES.items():
        data = data.replace(name.encode(), line)
    return data


FRAMING = {name: filled(case) for name, case in CASES.items()}


@pytest.mark.parametrize("name", FRAMING)
def test_framing_that_can_be_read_in_two_ways_is_refused_and_nothing_behind_it_is_a_request(
    server: HttpServer, name: str
) -> None:
    said = exchange(server, FRAMING[name] + GET)
    assert status(said) == 400
    assert is_refusal(said)


@pytest.mark.parametrize("version", [b"HTTP/2.0", b"HTTP/9.1", b"HTTP/0.9"])
def test_another_version_is_refused_as_that(server: HttpServer, version: bytes) -> None:
    said = exchange(server, b"GET /healthz %b\r\nHost: x\r\n\r\n" % version)
    assert status(said) == 505
    assert is_refusal(said)


@pytest.mark.parametrize(
    ("begin", "filler", "end", "expected"),
    [
        (b"GET /", b"a" * 65536, b" HTTP/1.1\r\nHost: x\r\n\r\n", 414),
        (b"", b"\r\n" * 10_000, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", 431),
        (b"GET / HTTP/1.1\r\nHost: x\r\nA: ", b"a" * 65536, b"\r\n\r\n", 431),
        (b"GET / HTTP/1.1\r\nHost: x\r\n", b"A: b\r\n" * 10_000, b"\r\n", 431),
        (CHAT + HOST + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n", b"A: b\r\n" * 10_000, b"\r\n", 431),
        (CHAT + HOST + b"Transfer-Encoding: chunked\r\n\r\n2;", b"a" * 65536, b"\r\n{}\r\n0\r\n\r\n", 400),
    ],
    ids=["target", "empty lines", "field", "fields", "trailers", "extension of a chunk"],
)
def test_what_has_no_end_is_refused_long_before(
    serve: Start, begin: bytes, filler: bytes, end: bytes, expected: int
) -> None:
    with serve(EdgeLimits(closing=0.2)) as server, dialled(server) as client:
        client.sendall(begin)
        taken = 0
        try:
            while taken < 200 * 2**20:
                taken += client.send(filler)
            client.sendall(end)
        except OSError:
            pass
        said = rest(client)
    assert taken < 32 * 2**20  # what was read, thrown away, and on its way
    assert status(said) == expected
    assert is_refusal(said)


def test_a_client_that_sends_a_large_body_before_it_reads_gets_the_refusal(server: HttpServer) -> None:
    async def sent() -> httpx.Response:
        headers = {"Authorization": "Bearer secret", "Content-Type": "application/json"}
        # The asynchronous client: the other one reads on when the connection breaks while it sends.
        async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
            return await client.post(f"{server.url}/chat/completions", content=bytes(40 * 2**20), headers=headers)

    answer = asyncio.run(sent())
    assert (answer.status_code, answer.headers["connection"]) == (413, "close")


def test_what_fits_the_limits_is_read(server: HttpServer) -> None:
    fields = b"".join(b"A%d: %b\r\n" % (number, b"b" * 200) for number in range(100))
    said = exchange(
        server, b"GET /healthz?%b HTTP/1.1\r\nHost: x\r\n%bConnection: close\r\n\r\n" % (b"a" * 8000, fields)
    )
    assert status(said) == 200


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (post(b"", JSON), 401),
        (post(b"", KEY + JSON, b"/v1/nowhere"), 404),
        (post(b"", KEY + JSON, b"/healthz"), 405),
        (post(b"", KEY + JSON), 413),
    ],
    ids=["no key", "no such path", "no such method", "too large"],
)
@pytest.mark.parametrize("framing", [b"Content-Length: 400000000", b"Transfer-Encoding: chunked"])
def test_a_body_that_will_not_be_looked_at_is_not_waited_for(
    server: HttpServer, request_: bytes, expected: int, framing: bytes
) -> None:
    head = request_.replace(b"Content-Length: 0", framing)
    # Of a body in chunks it shows only on the way that it is too large.
    chunk = b"1FFFF\r\n" + b"a" * 0x1FFFF if b"chunked" in framing and expected == 413 else b"1"
    said = exchange(server, head + chunk)
    assert status(said) == expected
    assert is_refusal(said)


def test_a_request_for_which_no_body_is_read_may_have_one(server: HttpServer) -> None:
    said = exchange(server, b"GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 400000000\r\n\r\naaaa")
    assert status(said) == 200
    assert b"Connection: close" in said


def test_more_than_there_are_threads_may_be_slow_and_hold_up_no_one(server: HttpServer) -> None:
    slow = [
        b"GET /healthz HT",
        b"GET /healthz HTTP/1.1\r\nHost: x\r\nA: ",
        post(ASK)[:-1],
        CHAT + HOST + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{",
        b"",
    ]
    address = urlsplit(server.url)
    clients = [socket.create_connection((str(address.hostname), address.port or 0), timeout=30) for _ in range(100)]
    try:
        for number, client in enumerate(clients):
            client.sendall(slow[number % len(slow)])
        assert status(exchange(server, GET.replace(b"Host", b"Connection: close\r\nHost"))) == 200
        said = exchange(server, post(ASK, KEY + JSON + b"Connection: close\r\n"))
        assert status(said) == 200
        assert not [thread for thread in threading.enumerate() if thread.name.startswith("answer-")][16:]
    finally:
        for client in clients:
            client.close()


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        (b"GET /healthz HT", 408),
        (b"GET /healthz HTTP/1.1\r\nHost: x\r\n", 408),
        (post(ASK)[:-1], 408),
        (CHAT + HOST + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{", 408),
        (b"", 0),
        (GET, 200),
    ],
    ids=["line", "fields", "body", "chunk", "nothing", "nothing more"],
)
def test_whoever_is_too_slow_is_let_go(serve: Start, sent: bytes, expected: int) -> None:
    with serve(SOON) as server:
        said = exchange(server, sent)
    assert (status(said) if said else 0) == expected
    if expected == 408:
        assert is_refusal(said)


def test_a_byte_now_and_then_is_no_progress(serve: Start) -> None:
    with serve(SOON) as server, dialled(server) as client:
        over = threading.Event()

        def drip() -> None:
            try:
                while not over.wait(0.05):
                    client.sendall(b"a")
            except OSError:
                pass

        client.sendall(b"GET /")
        dripping = threading.Thread(target=drip)
        dripping.start()
        try:
            said = rest(client)
        except ConnectionError:
            said = b"HTTP/1.1 408 "  # reset once its answer was out
        finally:
            over.set()
            dripping.join()
    assert status(said) == 408


def test_requests_that_are_sent_ahead_are_answered_in_order(server: HttpServer) -> None:
    last = GET.replace(b"Host", b"Connection: close\r\nHost")
    said = exchange(server, post(ASK) + GET + post(ASK, KEY + JSON + b"Expect: 100-continue\r\n") + last)
    bodies = [part.partition(b"\r\n\r\n")[2] for part in said.split(b"HTTP/1.1 200 OK")[1:]]
    assert [b"chat.completion" in body for body in bodies] == [True, False, True, False]
    assert [b'"ok"' in body for body in bodies] == [False, True, False, True]


def test_a_request_that_is_refused_behind_others_is_refused_after_them(
    server: HttpServer, backend: ScriptedBackend
) -> None:
    go = threading.Event()
    backend.events = [go, TextAdded(text="Hello"), ChoiceFinished(reason="stop")]
    with dialled(server) as client:
        client.sendall(post(ASK) + b"NONSENSE\r\n\r\n")
        go.set()
        said = rest(client)
    first, second = said.split(b"HTTP/1.1 ")[1:]
    assert first.startswith(b"200 ")
    assert b"Hello" in first
    assert second.startswith(b"400 ")


def test_more_requests_than_may_wait_end_the_connection_behind_the_last(server: HttpServer) -> None:
    said = exchange(server, GET * 1000)
    assert 16 <= said.count(b"HTTP/1.1 200 OK") <= 40
    assert said.count(b"Connection: close") == 1


def test_a_client_that_waits_to_be_asked_is_asked_only_where_its_body_is_looked_at(server: HttpServer) -> None:
    expects = b"Expect: 100-continue\r\n"
    with dialled(server) as client:
        client.sendall(post(ASK, KEY + JSON + expects)[: -len(ASK)])
        assert client.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
        client.sendall(ASK)
        assert client.recv(1000).startswith(b"HTTP/1.1 200 OK")
    said = exchange(server, post(ASK, JSON + expects)[: -len(ASK)])
    assert status(said) == 401
    assert is_refusal(said)


def test_a_client_that_has_closed_its_end_gets_its_answer(server: HttpServer) -> None:
    with dialled(server) as client:
        client.sendall(post(ASK))
        client.shutdown(socket.SHUT_WR)
        said = rest(client)
    assert status(said) == 200
    assert b"Hello" in said


def test_a_client_that_has_closed_its_end_reads_a_stream_to_its_end(serve: Start, backend: ScriptedBackend) -> None:
    body = ASK[:-1] + b', "stream": true}'
    ticks = [threading.Event() for _ in range(8)]
    backend.events = [event for tick in ticks for event in (TextAdded(text="tick "), tick)] + [
        ChoiceFinished(reason="stop")
    ]
    with serve(SOON) as server, dialled(server) as client:
        client.sendall(post(body))
        client.shutdown(socket.SHUT_WR)
        said = b""
        for tick in ticks:  # far longer than a client that has left would be waited for
            tick.wait(0.1)
            tick.set()
        said = rest(client)
    assert said.count(b"tick") == 8
    assert b"[DONE]" in said


def test_a_client_that_breaks_off_in_a_body_is_no_request(server: HttpServer, backend: ScriptedBackend) -> None:
    with dialled(server) as client:
        client.sendall(post(ASK)[:-5])
        client.shutdown(socket.SHUT_WR)
        assert rest(client) == b""
    assert not backend.asked


@pytest.mark.parametrize("path", [b"/v1//models", b"/v1/models/", b"/v1/%00", b"/v1/../healthz", b"/%zz", b"/"])
def test_odd_paths_get_the_envelope(server: HttpServer, path: bytes) -> None:
    said = exchange(server, b"GET %b HTTP/1.1\r\nHost: x\r\n%bConnection: close\r\n\r\n" % (path, KEY))
    assert status(said) == 404
    assert is_refusal(said)


def test_one_slash_more_does_not_lead_around_the_key(server: HttpServer) -> None:
    said = exchange(server, b"GET //v1/models HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert status(said) == 401


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"GET http://x/healthz HTTP/1.1", 200),
        (b"OPTIONS * HTTP/1.1", 404),
        (b"CONNECT x:1 HTTP/1.1", 404),
        (b"GET x/healthz HTTP/1.1", 400),
        (b"HEAD /healthz HTTP/1.1", 200),
        (b"TRACE /healthz HTTP/1.1", 405),
    ],
)
def test_other_forms_of_a_target_and_other_methods(server: HttpServer, line: bytes, expected: int) -> None:
    said = exchange(server, line + b"\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert status(said) == expected
    assert (not said.partition(b"\r\n\r\n")[2]) == line.startswith(b"HEAD")


@pytest.mark.parametrize("chunked", [True, False])
def test_an_offer_of_another_protocol_is_passed_over(server: HttpServer, *, chunked: bool) -> None:
    # As the HTTP client of Java's library sends it with each request.
    offer = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABk\r\n"
    request_ = post(ASK, KEY + JSON + offer)
    if chunked:
        framed = b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n0\r\n\r\n" % (len(ASK), ASK)
        request_ = request_.partition(b"Content-Length")[0] + framed
    end = GET.replace(b"Host", b"Connection: close\r\nHost")
    said = exchange(server, request_ + end)
    assert said.count(b"HTTP/1.1 200 OK") == 2
    assert b"Hello" in said


def test_a_field_with_an_underscore_does_not_pass_for_one_with_a_dash(server: HttpServer) -> None:
    said = exchange(server, post(ASK, JSON + KEY + b"x_proxy_output_mode: yaml\r\nConnection: close\r\n"))
    assert status(said) == 200


def test_a_stream_over_http_1_0_comes_as_it_is_written(server: HttpServer, backend: ScriptedBackend) -> None:
    more = threading.Event()
    backend.events = [TextAdded(text="first"), more, TextAdded(text="second"), ChoiceFinished(reason="stop")]
    body = ASK[:-1] + b', "stream": true}'
    with dialled(server) as client:
        client.sendall(post(body).replace(b"HTTP/1.1", b"HTTP/1.0"))
        said = b""
        while b"first" not in said:
            said += client.recv(65536)
        more.set()
        said += rest(client)
    assert b"chunked" not in said.lower()
    assert said.endswith(b"data: [DONE]\n\n")


def test_a_silent_turn_whose_client_leaves_is_closed_though_more_requests_wait(
    server: HttpServer, backend: ScriptedBackend, gate: TurnGate, until: Callable[..., None]
) -> None:
    backend.events = [TextAdded(text="first")]
    with dialled(server) as client:
        client.sendall(post(ASK) + GET)
        until(lambda: backend.turns, "the turn to begin")
    until(backend.turns[0].closed.is_set, "the turn to be closed")
    until(lambda: gate.taken == 0, "the slot to be free")


def test_a_client_that_takes_nothing_is_given_up_though_its_backend_has_nothing_more_to_say(
    serve: Start, backend: ScriptedBackend, gate: TurnGate, until: Callable[..., None]
) -> None:
    body = ASK[:-1] + b', "stream": true}'
    backend.events = [TextAdded(text="x" * 1_000_000)] * 20  # and no end
    with serve(SOON) as server, dialled(server) as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.sendall(post(body))
        until(lambda: gate.taken == 1, "the turn to begin")
        until(lambda: gate.taken == 0, "the slot to be free")


def test_a_server_that_stops_does_not_wait_for_its_clients(
    serve: Start, backend: ScriptedBackend, gate: TurnGate
) -> None:
    backend.events = [TextAdded(text="first")]
    with serve() as server, dialled(server) as client, dialled(server) as other:
        client.sendall(post(ASK[:-1] + b', "stream": true}'))
        assert client.recv(100)
        other.sendall(b"GET /")
        server.stop()
        client.settimeout(5)
        assert b"DONE" not in b"".join(iter(lambda: _received(client), b""))
    assert gate.await_empty(10)


def _received(client: socket.socket) -> bytes:
    try:
        return client.recv(65536)
    except ConnectionError:
        return b""


def test_when_too_many_are_connected_one_that_does_nothing_makes_room(serve: Start) -> None:
    with serve(EdgeLimits(connections=10)) as server:
        address = urlsplit(server.url)
        idle = [socket.create_connection((str(address.hostname), address.port or 0), timeout=30) for _ in range(20)]
        try:
            assert status(exchange(server, GET.replace(b"Host", b"Connection: close\r\nHost"))) == 200
            assert _received(idle[0]) == b""
        finally:
            for client in idle:
                client.close()
