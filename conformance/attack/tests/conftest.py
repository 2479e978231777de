"""The bundled proxy, the endpoint and the recorder under attack: processes whose memory and files are looked at."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

KEY = "key-under-attack"
GROWTH = 48 * 2**20
"""Bytes that a server may have more after an attack than before it: interpreters keep what they freed."""
SETTINGS = {
    "PROXY_PORT": "0",
    "PROXY_API_KEY": KEY,
    "PROXY_OUTPUT_MODE": "openai-json",
    "PROXY_LOG_LEVEL": "info",
    "PROXY_MAX_BODY_BYTES": "1000000",
    "CODEX_HOME": "",
    "WIREPROOF_PACE": "0",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    """How long to attack, and what."""
    parser.addoption("--seconds", type=float, default=60.0, help="seconds for each attack that goes on")
    parser.addoption(
        "--python", default=sys.executable, help="the Python whose servers are attacked, of another version"
    )


@pytest.fixture(scope="session")
def seconds(request: pytest.FixtureRequest) -> float:
    """For how long an attack goes on."""
    found: float = request.config.getoption("--seconds")
    return found


@dataclass
class Attacked:
    """A server that runs."""

    process: subprocess.Popen[str]
    host: str
    port: int
    log: Path

    def dial(self) -> socket.socket:
        """A connection."""
        return socket.create_connection((self.host, self.port), timeout=30)

    @property
    def memory(self) -> int:
        """Bytes resident."""
        return int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    @property
    def descriptors(self) -> int:
        """Open files."""
        return len(list(Path(f"/proc/{self.process.pid}/fd").iterdir()))

    @property
    def backends(self) -> list[int]:
        """The processes that it has started."""
        found: list[int] = []
        for task in Path(f"/proc/{self.process.pid}/task").iterdir():
            with suppress(FileNotFoundError, ProcessLookupError):  # the thread has ended since it was listed
                found += map(int, (task / "children").read_text().split())
        return found


@pytest.fixture(scope="session", params=["proxy", "endpoint", "record"])
def attacked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Attacked]:
    """The proxy with the mock behind it, the endpoint, or the recorder with the endpoint behind it."""
    python = request.config.getoption("--python")
    folder = tmp_path_factory.mktemp("attack")
    key = folder / "key"
    key.write_text(KEY)
    endpoint = [python, "-m", "wireproof_endpoint", "--api-key-file", str(key), "--max-body", "1000000"]
    with ExitStack() as stack:
        words = {"proxy": [python, "-m", "wireproof_proxy"], "endpoint": endpoint}.get(request.param)
        if words is None:
            upstream = stack.enter_context(started(endpoint, python, folder / "upstream"))
            words = [python, "-m", "wireproof", "record", "--upstream", f"http://{upstream.host}:{upstream.port}/v1"]
            words += ["--port", "0", "-o", str(folder / "recorded.yaml")]
        yield stack.enter_context(started(words, python, folder / "log"))


@contextmanager
def started(words: list[str], python: str, log: Path) -> Iterator[Attacked]:
    """A server that runs."""
    env = {**os.environ, **SETTINGS, "CODEX_BIN": str(Path(python).with_name("wireproof-codex"))}
    with (
        log.open("w") as file,
        subprocess.Popen(words, env=env, stdout=subprocess.PIPE, stderr=file, text=True) as process,
    ):
        assert process.stdout is not None
        host, port = process.stdout.readline().split("//")[1].split("/")[0].split(":")
        try:
            yield Attacked(process, host, int(port), log)
        finally:
            process.terminate()
            assert process.wait(30) == 0


@pytest.fixture
def until() -> Callable[..., None]:
    """Wait for a condition."""

    def wait(condition: Callable[[], Any], what: str, seconds: float = 60) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, f"waited in vain for {what}"
            time.sleep(0.02)

    return wait


@pytest.fixture
def ask(attacked: Attacked) -> Callable[[], bytes]:
    """Send a right request: what comes back."""
    return lambda: answered(attacked)


@pytest.fixture
def unharmed(attacked: Attacked, until: Callable[..., None]) -> Iterator[None]:
    """After each attack it answers, holds no more than before, and has written no trace."""
    until(lambda: b"200 OK" in answered(attacked), "a first answer")
    for _ in range(20):
        assert b"200 OK" in answered(attacked)
    memory, descriptors = attacked.memory, attacked.descriptors
    yield
    until(lambda: b"200 OK" in answered(attacked), "an answer")
    until(lambda: attacked.descriptors <= descriptors + 4, "connections to be closed")
    assert attacked.memory - memory < GROWTH
    assert "Traceback" not in attacked.log.read_text(errors="replace")


def answered(attacked: Attacked) -> bytes:
    """What the server says to a right request."""
    body = b'{"model": "codex", "messages": [{"role": "user", "content": "hi"}]}'
    head = (
        f"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {KEY}\r\nConnection: close\r\n"
    )
    with attacked.dial() as client:
        client.sendall(f"{head}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        said = b""
        while piece := client.recv(65536):
            said += piece
    return said
