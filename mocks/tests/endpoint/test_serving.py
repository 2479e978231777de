"""The endpoint on its socket: what only the bytes of a connection show."""

from __future__ import annotations

import json
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx
import pytest

from wireproof_endpoint import serving
from wireproof_endpoint.settings import EndpointSettings
from wireproof_scripts.steps import Gate, Open, Say, Script
from wireproof_surfaces.http.http_server import HttpServer

if TYPE_CHECKING:
    from mocks.tests.endpoint.conftest import Serve

_OPENS, _WAITS = Open("opened"), Gate("answered", timeout=60)
GOING_ON = {
    "at-once": (_OPENS, _WAITS, Say(("!",))),
    # More pieces than share one, so that the last of them wait for their turn.
    "behind-text": (Say(("x",) * 40), _OPENS, Say(("y",)), _WAITS, Say(("!",))),
}
GATED = {
    name: Script(name=name, title="", parts=(part,))
    for name, part in {
        "other": (Say(("waiting",)), Gate("opened", timeout=60), Open("answered")),
        **GOING_ON,
    }.items()
}
PACED = "{name: paced, when: paced, parts: [[{say: a}, " + ", ".join(["{pause: 0.1}, {say: b}"] * 5) + "]]}"


def connected(url: str) -> socket.socket:
    parts = urlsplit(url)
    assert parts.hostname
    assert parts.port
    connection = socket.create_connection((parts.hostname, parts.port), timeout=20)
    connection.settimeout(20)
    return connection


def asked(text: str, *, stream: bool, version: str = "1.1", path: str = "/v1/chat/completions") -> bytes:
    body = json.dumps({"model": "m", "stream": stream, "messages": [{"role": "user", "content": text}]}).encode()
    head = f"POST {path} HTTP/{version}\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    return head.encode() + b"\r\n" + body


def read(connection: socket.socket, until: bytes = b"") -> bytes:
    """What comes up to these bytes; without any, up to the end of the connection."""
    data = b""
    while not until or until not in data:
        piece = connection.recv(65536)
        if not piece:
            assert not until, data
            return data
        data += piece
    return data


def test_http_1_0_gets_a_stream_that_ends_with_the_connection(served: Serve) -> None:
    with connected(served()) as connection:
        connection.sendall(asked("Hi.", stream=True, version="1.0"))
        head, _, body = read(connection).partition(b"\r\n\r\n")
    assert b"transfer-encoding" not in head.lower()
    assert b"content-length" not in head.lower()
    assert b"connection: close" in head.lower()
    assert body.endswith(b"data: [DONE]\n\n")
    with connected(served()) as connection:
        connection.sendall(asked("Hi.", stream=False, version="1.0"))
        head, _, body = read(connection).partition(b"\r\n\r\n")
    assert head.lower().count(b"content-length") == 1
    assert json.loads(body)["choices"][0]["message"]["content"] == "You said: Hi."


def test_what_is_no_http_is_refused_in_json(served: Serve) -> None:
    with connected(served()) as connection:
        connection.sendall(b"NONSENSE\r\n\r\n")
        head, _, body = read(connection).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert json.loads(body)["error"]["code"] == "bad_request"


def test_requests_that_are_sent_together_are_answered_in_order(served: Serve) -> None:
    with connected(served()) as connection:
        connection.sendall(asked("One.", stream=True) + asked("Two.", stream=False))
        data = read(connection, b"You said: Two.")
    assert data.index(b"[DONE]") < data.index(b"Two.")


@pytest.mark.parametrize("stream", [True, False])
def test_a_client_that_leaves_interrupts_its_turn(served: Serve, stream: bool) -> None:  # noqa: FBT001 - a case
    url = served()
    with connected(url) as connection:
        connection.sendall(asked("[[wireproof:leave/first#n]]", stream=stream))
        # It waits until the first turn has begun.
        assert answered(url, "leave/told") == "told"
    began = time.monotonic()
    while '"state": "running"' in (said := answered(url, "reflect/turns")):
        assert time.monotonic() - began < 60
    assert '{"script": "leave/first", "part": 0, "state": "interrupted"}' in said


def answered(url: str, script: str) -> str:
    messages = [{"role": "user", "content": f"[[wireproof:{script}#n]]"}]
    with httpx.Client(trust_env=False, timeout=20) as client:
        answer = client.post(f"{url}/chat/completions", json={"model": "m", "messages": messages})
    return str(answer.json()["choices"][0]["message"]["content"])


def test_a_stream_that_never_waits_ends_with_its_client(served: Serve) -> None:
    url = served("[{name: endless, when: endless, parts: [[{say: {pieces: [abcdefgh], times: 100000000}}]]}]")
    with connected(url) as connection:
        connection.sendall(asked("endless [[wireproof:endless#n]]", stream=True))
        read(connection, b"abcdefgh")
    began = time.monotonic()
    while '"state": "running"' in (said := answered(url, "reflect/turns")):
        assert time.monotonic() - began < 60
    assert '"state": "interrupted"' in said


def test_pauses_are_kept_by_many_streams_at_once(served: Serve) -> None:
    url = served(f"[{PACED}]")

    def one(_number: int) -> list[float]:
        with connected(url) as connection:
            began, data = time.monotonic(), b""
            connection.sendall(asked("paced", stream=True))
            times: list[float] = []
            while len(times) < 5:
                data += connection.recv(65536)
                times += [time.monotonic() - began] * (data.count(b'"content":"b"') - len(times))
        return times

    with ThreadPoolExecutor(30) as threads:
        for times in threads.map(one, range(30)):
            # Never early, but for the milliseconds of a timer; how late depends on the machine.
            assert all(seen >= 0.1 * number - 0.005 for number, seen in enumerate(times, 1))


@pytest.mark.parametrize("script", GOING_ON)
def test_what_opens_a_gate_and_waits_for_the_answer_of_another_is_never_late(script: str) -> None:
    # What it waits for happens while what comes before the wait is sent. Neither of these times is to end the wait.
    settings = EndpointSettings(commit=60, keepalive=60)
    with (
        serving.running(serving.endpoint_of(settings, lambda: GATED)) as url,
        connected(url) as other,
        httpx.Client(base_url=url, timeout=15) as client,
    ):
        other.sendall(asked("[[wireproof:other#n]]", stream=True))
        read(other, until=b"waiting")
        messages = [{"role": "user", "content": f"[[wireproof:{script}#n]]"}]
        answer = client.post("/chat/completions", json={"model": "m", "stream": True, "messages": messages})
        assert answer.text.endswith("data: [DONE]\n\n")


def test_a_body_beyond_the_limit_is_refused_and_the_connection_ends(served: Serve) -> None:
    url = served(max_body=1000)
    for chunked in (False, True):
        with connected(url) as connection:
            size = 100_000
            how = "Transfer-Encoding: chunked" if chunked else f"Content-Length: {size}"
            body = b"%x\r\n%b\r\n0\r\n\r\n" % (size, b"a" * size) if chunked else b"a" * size
            head = f"POST /v1/responses HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n{how}\r\n\r\n"
            connection.sendall(head.encode() + body + asked("Hi.", stream=False))
            said = read(connection)
        assert said.startswith(b"HTTP/1.1 413 ")
        assert said.endswith(b'"request_too_large"}}')
        assert b"connection: close" in said.lower()


def test_what_keeps_a_server_from_starting_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    async def ends(_self: HttpServer) -> None:
        raise RuntimeError("no loop today")

    monkeypatch.setattr(HttpServer, "_serve", ends)
    with (
        pytest.raises(RuntimeError, match="no loop today"),
        serving.running(serving.endpoint_of(EndpointSettings(), dict)),
    ):
        raise AssertionError("it has begun")
