"""Printed commands, run in a real shell: the server receives what it received when the request was recorded."""

from __future__ import annotations

import http.server
import shutil
import subprocess
import threading
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from wireproof.model.target import Target
from wireproof.model.transcript import End, Transcript
from wireproof.report.curl import LONGEST, curl
from wireproof.results import archive
from wireproof.scenarios import SCENARIOS

if TYPE_CHECKING:
    from collections.abc import Iterator

CORPUS = Path(__file__).parents[1] / "corpus"
OF_CLIENTS = {"host", "connection", "user-agent", "content-length"}
"""Headers that two clients may send differently without meaning it."""
PLAIN = {"accept": "*/*", "accept-encoding": "identity"}
"""What leaving such a header out means."""
KEY = 'se\'cret "key"'

Headers = list[tuple[str, str]]


@dataclass(frozen=True, kw_only=True)
class Arrived:
    """A request as a server received it."""

    method: str
    target: str
    headers: Headers
    body: bytes


@dataclass
class Recorder:
    """A server that keeps what it receives and answers 200."""

    port: int
    arrived: list[Arrived] = field(default_factory=list)


def meant(headers: Headers) -> Headers:
    """Headers by lower-case name, without what clients add by themselves."""
    lower = [(name.lower(), value) for name, value in headers]
    return sorted((name, value) for name, value in lower if name not in OF_CLIENTS and PLAIN.get(name) != value)


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    recorder: Recorder

    def handle_any(self) -> None:
        chunked = "chunked" in (self.headers.get("transfer-encoding") or "")
        body = self._chunks() if chunked else self.rfile.read(int(self.headers.get("content-length") or 0))
        self.recorder.arrived.append(
            Arrived(method=self.command, target=self.path, headers=meant(self.headers.items()), body=body)
        )
        self.send_response(200)
        self.send_header("content-length", "0")
        self.send_header("connection", "close")
        self.end_headers()

    def __getattr__(self, name: str) -> object:
        if name.startswith("do_"):
            return self.handle_any
        raise AttributeError(name)

    def _chunks(self) -> bytes:
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def log_message(self, *_: object) -> None:
        """Write no access log."""


@pytest.fixture(scope="module")
def recorder() -> Iterator[Recorder]:
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    _Handler.recorder = Recorder(port=server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield _Handler.recorder
    server.shutdown()
    server.server_close()
    thread.join()


def run(recorder: Recorder, transcript: Transcript, target: Target) -> Arrived:
    """Run the command of a request that was sent to wherever, here."""
    parts = urlsplit(transcript.url)
    here = replace(transcript, url=transcript.url.replace(parts.netloc, f"127.0.0.1:{recorder.port}", 1))
    command = curl(here, target)
    assert "\n" not in command
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", target.key_variable or "API_KEY": target.api_key or ""}
    done = subprocess.run(["/bin/sh", "-c", command], env=environment, capture_output=True, timeout=20, check=False)
    assert (done.returncode, done.stderr) == (0, b""), command[:300]
    return recorder.arrived.pop()


def sent(transcript: Transcript) -> Arrived:
    """A request as its transcript has it."""
    parts = urlsplit(transcript.url)
    return Arrived(
        method=transcript.method,
        target=parts.path + (f"?{parts.query}" if parts.query else ""),
        headers=meant(list(transcript.request_headers)),
        body=transcript.request_body,
    )


JSON = ("content-type", "application/json")
TEXT = b'{"messages": [{"role": "user", "content": "it\'s $HOME `pwd` \\\\n \\"quoted\\" %s !x"}], "stream": true}'
KINDS: dict[str, tuple[str, str, tuple[tuple[str, str], ...], bytes]] = {
    "stream": ("POST", "/v1/chat/completions", (JSON,), TEXT),
    "whole": ("POST", "/v1/chat/completions", (JSON,), TEXT.replace(b"true", b"false")),
    "the key": ("POST", "/v1/responses", (JSON, ("authorization", f"Bearer {KEY}")), TEXT),
    "the key in the query": ("GET", "/v1/models?key=" + KEY.replace(" ", "%20").replace('"', "%22"), (), b""),
    "utf-8": ("POST", "/v1/chat/completions", (JSON,), '{"content": "grüße 日本 🎉"}'.encode()),
    "no utf-8": ("POST", "/v1/chat/completions", (JSON,), b'{"content": "\xff\xfe"}'),
    "lines": ("POST", "/v1/chat/completions", (JSON,), b'{\r\n\t"content": 1\n}\n'),
    "control characters": ("POST", "/v1/chat/completions", (JSON,), bytes(range(32)) + b"\x7f"),
    "a body like a file's name": ("POST", "/v1/chat/completions", (JSON,), b"@/etc/hostname"),
    "large": ("POST", "/v1/chat/completions", (JSON,), b'"' + b"0123456789" * LONGEST * 50 + b'"'),
    "chunks": ("POST", "/v1/chat/completions", (JSON, ("transfer-encoding", "chunked")), TEXT),
    "large, in chunks": ("POST", "/v1/x", (JSON, ("transfer-encoding", "chunked")), b" " * LONGEST * 100),
    "no type": ("POST", "/v1/chat/completions", (), TEXT),
    "an empty header": ("POST", "/v1/chat/completions", (JSON, ("x-empty", "")), TEXT),
    "a header twice": ("POST", "/v1/chat/completions", (JSON, ("x-two", "a, b"), ("x-two", "c")), TEXT),
    "accept": ("POST", "/v1/chat/completions", (JSON, ("accept", "text/event-stream")), TEXT),
    "what is accepted by default": (
        "POST", "/v1/chat/completions", (JSON, ("accept", "*/*"), ("accept-encoding", "identity")), TEXT
    ),
    "an encoding": ("POST", "/v1/chat/completions", (JSON, ("accept-encoding", "gzip, br")), TEXT),
    "no body": ("POST", "/v1/chat/completions", (JSON,), b""),
    "get": ("GET", "/v1/models/gpt-4o%2Fmini?limit=1&after=a'b", (), b""),
    "get with a body": ("GET", "/v1/models", (JSON,), b"{}"),
    "brackets": ("GET", "/v1/models?a[]=1&b={x,y}", (), b""),
    "dots": ("GET", "/v1/../v1/./models", (), b""),
    "head": ("HEAD", "/v1/models", (), b""),
    "options": ("OPTIONS", "/v1/chat/completions", (("origin", "http://a.example"),), b""),
    "delete": ("DELETE", "/v1/responses/resp_1", (), b""),
    "an odd method": ("BREW", "/v1/chat/completions", (JSON,), TEXT),
}  # fmt: skip


@pytest.mark.each("kind", KINDS)
def test_a_command_of_every_kind_sends_what_was_sent(recorder: Recorder, kind: str) -> None:
    method, path, headers, body = KINDS[kind]
    transcript = Transcript(
        method=method, url=f"http://there.example{path}", request_headers=headers, request_body=body, status=200,
        headers=(), pieces=(), end=End.COMPLETE, seconds=0.1,
    )  # fmt: skip
    target = Target(base_url="http://there.example/v1", model="m", api_key=KEY)
    assert run(recorder, transcript, target) == sent(transcript)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", ["litellm", "openai-forward"])
def test_the_commands_of_a_recorded_run_send_what_was_sent(recorder: Recorder, name: str) -> None:
    there = archive.load(CORPUS / f"{name}.gz", SCENARIOS)
    every = [one.transcript for scenario in there.runs for those in scenario.exchanges.values() for one in those[:1]]
    # One of each kind of request: what differs in their texts alone is the same to a shell.
    kinds = {(one.method, urlsplit(one.url).path, frozenset(n for n, _ in one.request_headers)): one for one in every}
    odd = [one for one in every if b"'" in one.request_body or not one.request_body.isascii()]
    chosen = [*kinds.values(), *odd[:20]]
    assert len(chosen) > 20
    assert [one for one in chosen if run(recorder, one, there.target) != sent(one)] == []
