"""Commands at targets that send without end, too slowly, or elsewhere: each ends within its bounds, in a line or some.

`certify` has its own tests, in driving/test_hostile.py.
"""

from __future__ import annotations

import contextlib
import gzip
import time
from typing import TYPE_CHECKING

import httpx
import pytest
from commands import wireproof

from wireproof.results.certificate import ExitStatus
from wireproof_endpoint.recording import app as recording
from wireproof_endpoint.serving import running
from wireproof_mocks.personas import endpoint as persona_endpoint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from conformance.tests.conftest import TinyExchange, TinyServer

pytestmark = pytest.mark.sampled(20)

MEBIBYTE = 1 << 20
MOST = 160 * MEBIBYTE
"""Bytes that a target may be rid of, with what lies in buffers, before a command leaves."""
LONGEST = 90.0
"""Seconds that a command may take; its bounds are far below, but the night measures what is run, on a busy machine."""
JSON, EVENTS = (
    f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n".encode() for kind in ("application/json", "text/event-stream")
)
BOMB = gzip.compress(b"0" * (16 * MEBIBYTE))
SHORT = "0.2"
"""Seconds of silence that the commands allow."""


def _again(head: bytes, piece: bytes, pause: float = 0.0) -> Iterator[bytes]:
    yield head
    while True:
        yield piece
        time.sleep(pause)


ENDLESS: Mapping[str, Callable[[], Iterator[bytes]]] = {
    "body": lambda: _again(JSON + b"\r\n", b"x" * MEBIBYTE),
    "frames": lambda: _again(EVENTS + b"\r\n", b'data: {"choices": []}\n\n' * 10_000),
    "brackets": lambda: _again(JSON + b"\r\n", b"[" * MEBIBYTE),
    "heads": lambda: _again(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 100, 0.01),
    "fields": lambda: _again(JSON, b"X-1: " + b"x" * 1000 + b"\r\n"),
    "drip": lambda: _again(JSON + b"\r\n", b" ", 0.05),
    "drip of a head": lambda: _again(b"HTTP/1.1 200 OK\r\nX-1: ", b"x", 0.05),
    "lines": lambda: iter([JSON + b"Content-Length: 2097152\r\n\r\n", b"<a>\n<b>\n" * (MEBIBYTE // 4)]),
    "length": lambda: _again(JSON + b"Content-Length: 10737418240\r\n\r\n", b" " * MEBIBYTE),
    "bomb": lambda: _again(JSON + b"Content-Encoding: gzip\r\n\r\n", BOMB),
}
"""What is sent, without end or nearly so."""


@pytest.fixture(autouse=True)
def a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """The key that a replay sends, since a saved result holds none."""
    monkeypatch.setenv("A_KEY", "sk-0123456789")


@pytest.fixture
def endless(tiny: TinyServer, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], list[int]]:
    """Has the target answer so; the sizes of what it sent to each request."""
    monkeypatch.setattr(persona_endpoint, "SILENCES", 4)

    def answering(name: str) -> list[int]:
        sizes: list[int] = []

        def respond(exchange: TinyExchange) -> None:
            number = len(sizes)
            sizes.append(0)
            # The client has left, as it should.
            with contextlib.suppress(OSError):
                for piece in ENDLESS[name]():
                    sizes[number] += len(piece)  # first: when it is sent, the command may end at once
                    exchange.send(piece)

        tiny.respond = respond
        return sizes

    return answering


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A result whose requests can be sent again."""
    there = tmp_path_factory.mktemp("saved") / "result"
    wireproof("certify", "--only", "text-hello", "--allow-partial", "--output", there)
    return there


COMMANDS: Mapping[str, Callable[[str, Path, Path], list[str | Path]]] = {
    "persona": lambda url, _, __: ["persona", "obsidian-copilot-xml", "--url", url, "--model", "m", "--timeout", SHORT],
    "persona without a model": lambda url, _, __: ["persona", "opencode", "--url", url, "--timeout", SHORT],
    "replay": lambda url, saved, _: [
        "replay", saved, "text-hello", "--url", url, "--timeout", SHORT, "--api-key-env", "A_KEY",
    ],
    "init": lambda url, _, there: [
        "init", "--url", url, "--file", there / "wireproof.toml", "--timeout", SHORT, "--answer-seconds", "1",
    ],
}  # fmt: skip


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", ENDLESS)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_leaves_a_target_that_sends_without_end(
    command: str, kind: str, tiny: TinyServer, endless: Callable[[str], list[int]], saved: Path, tmp_path: Path
) -> None:
    sizes, since = endless(kind), time.monotonic()
    done = wireproof(*COMMANDS[command](tiny.base_url, saved, tmp_path))
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    assert done.exit_code in {ExitStatus.FAILED, ExitStatus.UNREACHABLE}
    assert time.monotonic() - since < LONGEST
    assert 0 < max(sizes) < MOST


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kind", [kind for kind in ENDLESS if kind != "lines"])
def test_a_recording_leaves_an_upstream_that_sends_without_end(
    kind: str, tiny: TinyServer, endless: Callable[[str], list[int]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording, "LONGEST", 4 * MEBIBYTE)
    monkeypatch.setattr(recording, "AN_HOUR", 1.0)
    sizes, since = endless(kind), time.monotonic()
    recorder = recording.Recorder(tiny.base_url, tmp_path / "recorded.yaml")
    with running(recorder) as url, contextlib.suppress(httpx.HTTPError):
        asked = {"model": "m", "messages": [{"role": "user", "content": "Hello"}]}
        answer = httpx.post(f"{url}/chat/completions", json=asked, trust_env=False, timeout=LONGEST)
        assert answer.status_code == 502
    assert recorder.recorded == 0
    assert time.monotonic() - since < LONGEST
    assert max(sizes) < MOST


@pytest.mark.parametrize("status", [301, 302, 307, 308])
@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_follows_a_target_elsewhere(
    command: str, status: int, tiny: TinyServer, saved: Path, tmp_path: Path
) -> None:
    elsewhere = type(tiny)()
    try:
        head = f"HTTP/1.1 {status} Moved\r\nLocation: {elsewhere.base_url}/x\r\nContent-Length: 0\r\n\r\n"
        tiny.respond = lambda exchange: exchange.send(head.encode())
        done = wireproof(*COMMANDS[command](tiny.base_url, saved, tmp_path))
        assert done.exit_code in {ExitStatus.FAILED, ExitStatus.UNREACHABLE}
        assert elsewhere.requests == []
    finally:
        elsewhere.close()


@pytest.mark.parametrize("cookie", ["a=b; Path=/", "\xff\xfe=\xff; Path=/", "a=\x01; Expires=Wed, 99 Foo 2026"])
@pytest.mark.parametrize("command", [*COMMANDS, "certify"])
def test_no_command_sends_back_what_an_answer_set(
    command: str, cookie: str, tiny: TinyServer, saved: Path, tmp_path: Path
) -> None:
    head = f"HTTP/1.1 200 OK\r\nSet-Cookie: {cookie}\r\nContent-Length: 2\r\n\r\n{{}}"
    tiny.respond = lambda exchange: exchange.send(head.encode("latin-1"))
    certify = ["certify", "--url", tiny.base_url, "--model", "m", "--backend", "codex", "--only", "text-hello"]
    words = COMMANDS[command](tiny.base_url, saved, tmp_path) if command in COMMANDS else certify
    done = wireproof(*words)
    assert done.exit_code in {ExitStatus.FAILED, ExitStatus.UNREACHABLE}
    assert "please report" not in done.output
    assert tiny.requests
    assert not any("cookie" in request.headers for request in tiny.requests)
