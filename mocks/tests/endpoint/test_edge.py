"""What brings down servers that read requests by hand, against the endpoint and the recorder.

The proxy's own tests send it the same (`reference_proxy/tests/http/test_edge.py`): there is one edge.
"""

from __future__ import annotations

import json
import socket
import time
import tomllib
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from wireproof_endpoint.http.application import EndpointApplication
from wireproof_endpoint.recording.app import Recorder
from wireproof_endpoint.serving import endpoint_of, running
from wireproof_endpoint.settings import EndpointSettings
from wireproof_scripts.library import LIBRARY
from wireproof_surfaces.http.edge_limits import EdgeLimits
from wireproof_surfaces.http.http_server import HttpServer, listen

if TYPE_CHECKING:
    from collections.abc import Iterator

MIB = 2**20
ASK = json.dumps({"model": "codex", "messages": [{"role": "user", "content": "hi"}]}).encode()
CHAT = b"POST /v1/chat/completions HTTP/1.1\r\nContent-Type: application/json\r\n"
HOST = b"Host: localhost\r\n"
GET = b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n"
SOON = EdgeLimits(reading=0.2, sending=0.2, idle=0.2, closing=0.2, stalled=0.2, taking=0.5, leaving=0.2)
"""Times that a test can wait for."""
CASES = Path(__file__).parents[3] / "reference_proxy" / "tests" / "http" / "framing.toml"
FRAMING: dict[str, str] = tomllib.loads(CASES.read_text(encoding="utf-8"))
OWN = {"a host that is none", "no host", "two hosts"}
"""Cases about the host, which are not to be given another one."""


@pytest.fixture(params=["endpoint", "record"])
def serve(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    """Start either, with these limits of the edge."""
    with ExitStack() as stack:

        def started(limits: EdgeLimits | None = None) -> HttpServer:
            endpoint = endpoint_of(EndpointSettings(), lambda: LIBRARY)
            application: Any = EndpointApplication(endpoint)
            if request.param == "record":
                application = Recorder(stack.enter_context(running(endpoint)), tmp_path / "recorded.yaml")
            return stack.enter_context(HttpServer(application, listen("127.0.0.1", 0), limits))

        yield started


@contextmanager
def dialled(server: HttpServer) -> Iterator[socket.socket]:
    address = urlsplit(server.url)
    with socket.create_connection((str(address.hostname), address.port or 0), timeout=30) as client:
        yield client


def rest(client: socket.socket) -> bytes:
    said = b""
    while piece := client.recv(65536):
        said += piece
    return said


def exchange(server: HttpServer, sent: bytes) -> bytes:
    with dialled(server) as client:
        client.sendall(sent)
        return rest(client)


def is_refusal(said: bytes, status: int) -> bool:
    """Whether this is one answer of that status with the envelope and an id, at whose end the connection is closed."""
    head, _, body = said.partition(b"\r\n\r\n")
    ends = head.startswith(b"HTTP/1.1 %d " % status) and b"connection: close" in head.lower()
    known = b"x-request-id: req_" in head
    return ends and known and set(json.loads(body)["error"]) == {"message", "type", "param", "code"}


def filled(name: str) -> bytes:
    case = FRAMING[name].replace("Host: x\r\n", "Host: localhost\r\n") if name not in OWN else FRAMING[name]
    lines = {"{chat}": CHAT, "{chat of 1.0}": CHAT.replace(b"1.1", b"1.0")}
    data = case.encode("latin-1")
    for written, line in lines.items():
        data = data.replace(written.encode(), line)
    return data


@pytest.mark.each("name", FRAMING)
def test_what_can_be_read_in_two_ways_is_refused(serve: Any, name: str) -> None:
    assert is_refusal(exchange(serve(), filled(name) + GET), 400)


@pytest.mark.sampled(1)
@pytest.mark.each(
    ("begin", "filler", "expected"),
    [
        (b"GET /", b"a" * 65536, 414),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nA: ", b"a" * 65536, 431),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\n", b"A: b\r\n" * 10_000, 431),
        (CHAT + HOST + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n", b"A: b\r\n" * 10_000, 431),
        (CHAT + HOST + b"Transfer-Encoding: chunked\r\n\r\n2;", b"a" * 65536, 400),
    ],
    ids=["target", "field", "fields", "trailers", "extension of a chunk"],
)
def test_what_has_no_end_is_refused_long_before(serve: Any, begin: bytes, filler: bytes, expected: int) -> None:
    taken = 0
    with dialled(serve(EdgeLimits(closing=0.2))) as client:
        client.sendall(begin)
        try:
            while taken < 150 * MIB:
                taken += client.send(filler)
        except OSError:
            pass
        said = rest(client)
    assert taken < 32 * MIB  # what was read, thrown away, and on its way
    assert is_refusal(said, expected)


def test_silent_and_half_sent_connections_are_let_go_and_hold_up_no_other(serve: Any) -> None:
    slow = (b"", b"GET /v1/mod", GET[:-2], CHAT + HOST + b"Content-Length: 9\r\n\r\n{")
    server = serve(SOON)
    with ExitStack() as stack:
        clients = [stack.enter_context(dialled(server)) for _ in range(600)]
        for number, client in enumerate(clients):
            client.sendall(slow[number % len(slow)])
        began = time.monotonic()
        said = exchange(server, GET.replace(b"Host", b"Connection: close\r\nHost"))
        assert said.startswith(b"HTTP/1.1 200 ")
        assert time.monotonic() - began < 10
        for number, client in enumerate(clients):
            left = rest(client)
            assert is_refusal(left, 408) if slow[number % len(slow)] else left == b""


def test_an_offer_of_another_protocol_is_passed_over(serve: Any) -> None:
    # As the HTTP client of Java's library sends it with each request.
    offer = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABk\r\n"
    request = CHAT + HOST + offer + b"Content-Length: %d\r\n\r\n%b" % (len(ASK), ASK)
    said = exchange(serve(), request + GET.replace(b"Host", b"Connection: close\r\nHost"))
    assert said.count(b"HTTP/1.1 200 OK") == 2


def test_a_client_that_waits_to_be_asked_is_asked_only_where_its_body_is_looked_at(serve: Any) -> None:
    waits = HOST + b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(ASK)
    server = serve()
    with dialled(server) as client:
        client.sendall(CHAT + waits)
        assert client.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
        client.sendall(ASK)
        assert client.recv(1000).startswith(b"HTTP/1.1 200 ")
    said = exchange(server, CHAT.replace(b"/v1/", b"/else/") + waits)
    assert said.startswith(b"HTTP/1.1 404 ")
    assert b"Connection: close" in said
