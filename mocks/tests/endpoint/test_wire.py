"""Every step of HTTP, as the bytes of a connection show it."""

from __future__ import annotations

import errno
import json
import socket
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from wireproof_endpoint.serving import endpoint_of, running
from wireproof_endpoint.settings import EndpointSettings
from wireproof_scripts.files.read import load_scripts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Serve = Callable[[str], str]
    Endpoint = tuple[str, list[dict[str, Any]]]

STREAM, WHOLE = True, False
COMMENT = b": keep-alive\n\n"
BOTH = pytest.mark.parametrize("stream", [STREAM, WHOLE], ids=["stream", "whole"])
SURFACES = pytest.mark.parametrize("surface", ["chat/completions", "responses"])


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Endpoint]:
    """One endpoint for all tests, whose scripts each may replace: to stop a server takes longer than most of them."""
    served: list[dict[str, Any]] = [{}]
    with running(endpoint_of(EndpointSettings(keepalive=0.05), lambda: served[-1])) as url:
        yield url, served


@pytest.fixture
def served(endpoint: Endpoint, tmp_path: Path) -> Serve:
    """Serve these scripts; returns the base URL."""

    def serve(scripts: str) -> str:
        url, libraries = endpoint
        file = tmp_path / "scripts.yaml"
        file.write_text(scripts, encoding="utf-8")
        libraries.append(load_scripts(file))
        return url

    return serve


def asked(text: str, *, stream: bool, surface: str = "chat/completions") -> bytes:
    said = {"messages": [{"role": "user", "content": text}]} if surface.startswith("chat") else {"input": text}
    body = json.dumps({"model": "m", "stream": stream, **said}).encode()
    head = f"POST /v1/{surface} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body


def script(steps: str) -> str:
    return f"[{{name: own, when: go, parts: [[{steps}]]}}]"


def pieces(url: str, request: bytes) -> tuple[list[tuple[float, bytes]], int]:
    """What comes over a connection, each piece with its time, and by which error it ends; 0: it was closed."""
    parts = urlsplit(url)
    assert parts.hostname
    assert parts.port
    came: list[tuple[float, bytes]] = []
    began = time.monotonic()
    with socket.create_connection((parts.hostname, parts.port), timeout=20) as connection:
        connection.sendall(request)
        try:
            while piece := connection.recv(65536):
                came.append((time.monotonic() - began, piece))
        except ConnectionResetError as error:
            return came, error.errno or 0
    return came, 0


def answer(served: Serve, steps: str, *, stream: bool, surface: str = "chat/completions") -> tuple[bytes, bytes, int]:
    """Head and body of the answer, chunks not taken apart, and the error that ended the connection."""
    came, ended = pieces(served(script(steps)), asked("go", stream=stream, surface=surface))
    head, _, body = b"".join(piece for _, piece in came).partition(b"\r\n\r\n")
    return head, body, ended


def unchunked(body: bytes) -> bytes:
    """The content of chunks, as far as they came."""
    content = b""
    while body:
        size, _, body = body.partition(b"\r\n")
        content, body = content + body[: int(size, 16)], body[int(size, 16) + 2 :]
    return content


# Status


@SURFACES
@BOTH
def test_a_status_is_the_whole_response(served: Serve, stream: bool, surface: str) -> None:  # noqa: FBT001 - a case
    step = "{status: {code: 429, retry_after: 2, message: Slow down., headers: {x-limit: 3}}}"
    head, body, _ = answer(served, step, stream=stream, surface=surface)
    lines = head.lower().split(b"\r\n")
    assert lines[0] == b"http/1.1 429 too many requests"
    assert {b"retry-after: 2", b"x-limit: 3", b"content-type: application/json"} <= set(lines)
    error = {"message": "Slow down.", "type": "rate_limit_error", "param": None, "code": "rate_limit_exceeded"}
    assert json.loads(body) == {"error": error}


@pytest.mark.parametrize(
    ("step", "first", "content"),
    [
        ("{status: 500}", b"HTTP/1.1 500 ", b'{"error":{"message":"Internal Server Error."'),
        ("{status: 599}", b"HTTP/1.1 599 ", b'{"error":{"message":"Status 599."'),
        ("{status: {code: 200, body: '<html>'}}", b"HTTP/1.1 200 ", b"<html>"),
        ("{status: {code: 418, body: {tea: pot}}}", b"HTTP/1.1 418 ", b'{"tea": "pot"}'),
        ("{status: 204}", b"HTTP/1.1 204 ", b""),
        ("{pause: 0.01}, {status: 503}", b"HTTP/1.1 503 ", b'{"error":{"message":"Service Unavailable."'),
    ],
)
def test_the_body_of_a_status(served: Serve, step: str, first: bytes, content: bytes) -> None:
    head, body, ended = answer(served, step, stream=STREAM)
    assert head.startswith(first)
    assert body.startswith(content)
    assert bool(body) == bool(content)
    assert ended == 0


def test_a_retry_after_may_be_a_date(served: Serve) -> None:
    date = "Fri, 31 Dec 1999 23:59:59 GMT"
    head, _, _ = answer(served, f'{{status: {{code: 503, retry_after: "{date}"}}}}', stream=STREAM)
    assert f"retry-after: {date}".encode().lower() in head.lower()


# Head


@BOTH
def test_a_head_says_something_else(served: Serve, stream: bool) -> None:  # noqa: FBT001 - a case
    step = "{head: {content_type: text/html, headers: {X-Own: 1, Cache-Control: private}}}, {say: Hello}"
    head, body, _ = answer(served, step, stream=stream)
    lines = head.lower().split(b"\r\n")
    assert lines[0] == b"http/1.1 200 ok"
    said = sorted(line for line in lines if line.startswith((b"content-type:", b"cache-control:", b"x-own:")))
    assert said == [b"cache-control: private", b"content-type: text/html", b"x-own: 1"]
    assert b"Hello" in body


@pytest.mark.sampled(1)
@BOTH
def test_a_head_may_come_slowly(served: Serve, stream: bool) -> None:  # noqa: FBT001 - a case
    url = served(script("{head: {seconds: 1}}, {say: Hello}"))
    came, ended = pieces(url, asked("go", stream=stream))
    data = b"".join(piece for _, piece in came)
    head, _, body = data.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"connection: close" in head.lower()
    assert b"transfer-encoding" not in head.lower()
    assert b"Hello" in body
    assert ended == 0
    first = next(at for at, _ in came)
    whole = next(at for at, data in _sums(came) if b"\r\n\r\n" in data)
    assert first < whole  # in pieces
    assert whole >= 0.98


def _sums(came: list[tuple[float, bytes]]) -> list[tuple[float, bytes]]:
    return [(at, b"".join(piece for _, piece in came[: index + 1])) for index, (at, _) in enumerate(came)]


# Disconnect


@BOTH
@pytest.mark.parametrize(("how", "error"), [("disconnect", 0), ("{disconnect: {reset: true}}", errno.ECONNRESET)])
def test_a_connection_ends_at_once(served: Serve, stream: bool, how: str, error: int) -> None:  # noqa: FBT001
    came, ended = pieces(served(script(how)), asked("go", stream=stream))
    assert (came, ended) == ([], error)


@SURFACES
@pytest.mark.parametrize(("how", "error"), [("disconnect", 0), ("{disconnect: {reset: true}}", errno.ECONNRESET)])
def test_a_connection_ends_behind_what_was_said(served: Serve, surface: str, how: str, error: int) -> None:
    head, body, ended = answer(served, f"{{say: [Hel, lo]}}, {how}", stream=STREAM, surface=surface)
    assert head.startswith(b"HTTP/1.1 200 ")
    assert b'"lo"' in body
    assert body.endswith(b"\n\n\r\n")  # the frame and its chunk are complete, the stream is not
    assert not body.endswith(b"0\r\n\r\n")
    assert b"[DONE]" not in body
    assert b"completed" not in body.rpartition(b'"lo"')[2]
    assert ended == error


@SURFACES
@pytest.mark.parametrize("reset", ["", ", reset: true"])
def test_a_connection_ends_in_the_middle_of_a_frame(served: Serve, surface: str, reset: str) -> None:
    steps = f"{{say: Hello}}, {{disconnect: {{at: mid-frame{reset}}}}}"
    _, body, ended = answer(served, steps, stream=STREAM, surface=surface)
    content = unchunked(body)
    *frames, last = content.split(b"\n\n")
    assert b"Hello" in b"".join(frames)
    assert last
    assert b'":' in last
    assert b"cut off" not in last
    assert ended == (errno.ECONNRESET if reset else 0)


def test_a_body_ends_in_the_middle(served: Serve) -> None:
    head, body, _ = answer(served, "{say: Hello}, {disconnect: mid-frame}", stream=WHOLE)
    length = int(next(line for line in head.lower().split(b"\r\n") if b"content-length" in line).split()[1])
    assert len(body) == length // 2
    assert body.startswith(b'{"id":"chatcmpl-')


def test_a_head_alone_may_be_all_there_is(served: Serve) -> None:
    head, body, _ = answer(served, "{head: {headers: {x-own: 1}}}, disconnect", stream=STREAM)
    assert b"x-own: 1" in head
    assert body == b""


# The body


@BOTH
def test_bytes_are_written_as_they_are(served: Serve, stream: bool) -> None:  # noqa: FBT001 - a case
    _, body, _ = answer(served, '{bytes: {text: "\\uDCFFno\\n", times: 2}}, {say: Hello}', stream=stream)
    if stream:
        assert unchunked(body).startswith(b"\xffno\n\xffno\n")
        assert b"Hello" in body
    else:
        assert body == b"\xffno\n\xffno\n"


def test_a_frame_is_written_as_it_is(served: Serve) -> None:
    steps = '{say: Hello}, {frame: "{\\"id\\": "}, {frame: {event: odd, data: "one\\ntwo"}}'
    _, body, _ = answer(served, steps, stream=STREAM)
    content = unchunked(body)
    assert b'data: {"id": \n\n' in content
    assert b"event: odd\ndata: one\ndata: two\n\n" in content
    assert content.endswith(b"data: [DONE]\n\n")


def test_a_whole_answer_has_no_frames(served: Serve) -> None:
    _, body, _ = answer(served, "{frame: nonsense}, {say: Hello}", stream=WHOLE)
    assert json.loads(body)["choices"][0]["message"]["content"] == "Hello"


@pytest.mark.parametrize("size", [1, 64, 1000])
def test_garbage_comes_in_the_place_of_the_status_line(served: Serve, size: int) -> None:
    came, ended = pieces(served(script(f"{{garbage: {size}}}")), asked("go", stream=STREAM))
    data = b"".join(piece for _, piece in came)
    assert (len(data), data[:1], ended) == (size, b"\x00", 0)


def test_garbage_comes_in_the_place_of_a_chunk_and_is_the_same_for_a_seed(served: Serve) -> None:
    url = served(script("{say: Hello}, {garbage: {size: 32, seed: 7}}"))
    bodies = [b"".join(piece for _, piece in pieces(url, asked("go", stream=STREAM))[0]) for _ in range(2)]
    assert bodies[0][-32:] == bodies[1][-32:]
    assert bodies[0][:-32].endswith(b"\n\n\r\n")
    with pytest.raises(ValueError, match="invalid literal"):
        unchunked(bodies[0].partition(b"\r\n\r\n")[2])


def test_the_json_of_a_frame_is_cut_off(served: Serve) -> None:
    _, body, _ = answer(served, "{say: one}, {truncate: 0.5}, {say: [two, three]}", stream=STREAM)
    broken = []
    for frame in unchunked(body).split(b"\n\n"):
        data = frame.removeprefix(b"data: ")
        try:
            json.loads(data)
        except ValueError:
            broken.append(data)
    assert len(broken) == 3  # with [DONE], and nothing behind it
    assert broken[0].startswith(b'{"id":')
    assert b"three" in body


def test_the_json_of_a_body_is_cut_off_under_its_own_length(served: Serve) -> None:
    head, body, ended = answer(served, "{truncate: 0.25}, {say: Hello}", stream=WHOLE)
    assert f"content-length: {len(body)}".encode() in head.lower()
    assert body.startswith(b'{"id":')
    assert ended == 0
    with pytest.raises(ValueError, match=r"Unterminated|Expecting"):
        json.loads(body)


# Time


def test_a_stall_is_silent_and_ends(served: Serve) -> None:
    url = served(script("{say: one}, {stall: 0.3}, {say: two}"))
    came, _ = pieces(url, asked("go", stream=STREAM))
    data = b"".join(piece for _, piece in came)
    assert COMMENT not in data
    sums = _sums(came)
    assert b'"one"' in data
    assert next(at for at, seen in sums if b'"two"' in seen) >= 0.29


def test_a_pause_is_not_silent(served: Serve) -> None:
    url = served(script("{say: one}, {pause: 0.3}, {say: two}"))
    came, _ = pieces(url, asked("go", stream=STREAM))
    assert COMMENT in b"".join(piece for _, piece in came)


def test_a_stall_without_a_time_ends_with_its_client(served: Serve) -> None:
    url = served(script("{say: one}, stall, {say: two}"))
    parts = urlsplit(url)
    with socket.create_connection((str(parts.hostname), parts.port or 0), timeout=20) as connection:
        connection.sendall(asked("go", stream=STREAM))
        data = b""
        while b'"one"' not in data:
            data += connection.recv(65536)
        connection.settimeout(0.2)
        with pytest.raises(TimeoutError):
            connection.recv(65536)


@BOTH
def test_a_body_drips(served: Serve, stream: bool) -> None:  # noqa: FBT001 - a case
    url = served(script("{drip: {size: 40, seconds: 0.01}}, {say: Hello}"))
    came, _ = pieces(url, asked("go", stream=stream))
    data = b"".join(piece for _, piece in came)
    body = data.partition(b"\r\n\r\n")[2]
    content = unchunked(body) if stream else body
    assert b"Hello" in content
    assert came[-1][0] - came[0][0] >= 0.01 * (len(content) // 40 - 2)
    if stream:
        assert [line for line in body.split(b"\r\n") if line == b"28"]  # chunks of 40 bytes


def test_text_comes_at_a_pace(served: Serve) -> None:
    url = served(script("{pace: {rate: 50, first: 0.1}}, {say: {pieces: [x], times: 10}}"))
    came, _ = pieces(url, asked("go", stream=STREAM))
    sums = _sums(came)
    times = [next(at for at, seen in sums if seen.count(b'"content":"x"') >= count) for count in range(1, 11)]
    assert times[0] >= 0.1 - 0.005
    # Never early, but for the milliseconds of a timer; how late depends on the machine.
    assert times[9] >= 0.1 + 9 / 50 - 0.005


@pytest.mark.parametrize("steps", ["{status: 500}", "disconnect", "{say: a}, {garbage: 3}", "{head: {seconds: 0.01}}"])
def test_the_next_connection_is_as_if_nothing_had_happened(served: Serve, steps: str) -> None:
    url = served(f"[{{name: own, when: go, parts: [[{steps}]]}}, {{name: b, when: hello, parts: [[{{say: Hi}}]]}}]")
    for _ in range(3):
        pieces(url, asked("go", stream=STREAM))
        came, _ = pieces(url, asked("hello", stream=WHOLE))
        assert b'"content":"Hi"' in b"".join(piece for _, piece in came)
