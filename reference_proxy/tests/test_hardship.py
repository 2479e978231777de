"""What a machine may do to the proxy: killed parents, full disks, no descriptors; and signals, which it obeys."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reference_proxy.tests.conftest import FakeCodex, RunProxy, Until

pytestmark = pytest.mark.sampled(2)

NIGHTLY = pytest.mark.nightly
OTHERS = [pytest.param(name, marks=NIGHTLY) for name in ("sends half", "is silent", "keeps the connection")]
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a child sees the end of its input")


def runs(pid: int) -> bool:
    """Whether a process is there, and is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@contextmanager
def limited(codex: Path, words: str = "", **settings: str) -> Iterator[tuple[str, subprocess.Popen[str], Path]]:
    """The command under a shell's limits, its log in a file: address, process, log."""
    log = codex.parent / "proxy.log"
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PROXY_", "CODEX_"))}
    environment |= {"PROXY_PORT": "0", "CODEX_BIN": str(codex), "PROXY_OUTPUT_MODE": "openai-json", **settings}
    command = ["sh", "-c", f"{words} exec {sys.executable} -m wireproof_proxy"]
    with (
        log.open("w") as file,
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=file, text=True) as process,
    ):
        assert process.stdout is not None
        try:
            yield process.stdout.readline().split()[-1], process, log
        finally:
            process.kill()


@LINUX
@pytest.mark.parametrize("frozen", [True, pytest.param(False, marks=NIGHTLY)])
def test_a_proxy_that_is_killed_leaves_no_backend_behind(
    run_proxy: RunProxy, fake_codex: FakeCodex, until: Until, *, frozen: bool
) -> None:
    with run_proxy(fake_codex.bin) as proxy:
        assert "error" not in proxy.whole("hi")
        (backend,) = fake_codex.pids
        if frozen:  # it does not see the end of its input
            os.kill(backend, signal.SIGSTOP)
        proxy.process.kill()
        until(lambda: not runs(backend), "the backend to end")


@pytest.mark.parametrize(
    "hinders",
    [
        "reads nothing",
        *OTHERS,
    ],
)
def test_a_signal_ends_it_within_the_time_to_drain_whatever_clients_do(
    run_proxy: RunProxy, fake_codex: FakeCodex, until: Until, hinders: str
) -> None:
    sent = {
        "reads nothing": request("much"),
        "sends half": request("hi")[:-5],
        "is silent": b"",
        "keeps the connection": b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
    }
    with run_proxy(fake_codex.bin, PROXY_DRAIN_MS="300") as proxy, socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        host, port = proxy.address.split(":")
        client.connect((host, int(port)))
        client.sendall(sent[hinders])
        if hinders == "reads nothing":
            until(lambda: "turn/start" in fake_codex.journal, "the turn")
        assert "error" not in proxy.whole("hi")
        proxy.process.send_signal(signal.SIGTERM)
        # A client alone is given 60 s to read.
        assert proxy.process.wait(20) == 0


def request(text: str) -> bytes:
    body = f'{{"model": "codex", "messages": [{{"role": "user", "content": "{text}"}}], "stream": true}}'.encode()
    head = b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    return head + b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def dial(address: str) -> socket.socket:
    host, port = address.removeprefix("http://").removesuffix("/v1").split(":")
    return socket.create_connection((host, int(port)), timeout=30)


def ask(address: str, text: str = "hi") -> bytes:
    with dial(address) as client:
        client.sendall(request(text).replace(b"Host", b"Connection: close\r\nHost"))
        said = b""
        while piece := client.recv(65536):
            said += piece
    return said


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")
def test_without_descriptors_clients_wait_or_are_let_go_and_it_goes_on(fake_codex: FakeCodex, until: Until) -> None:
    with limited(fake_codex.bin, "ulimit -n 64;") as (address, process, log), ExitStack() as stack:
        assert b"You said: hi" in ask(address)
        clients = [stack.enter_context(dial(address)) for _ in range(100)]
        for client in clients[:10]:
            client.sendall(request("hi"))
        began, used = time.monotonic(), cpu(process.pid)
        assert b"You said: hi" in b"".join(until_done(client) for client in clients[:10])
        # It must not spin: a listening socket that cannot be taken from stays readable.
        while time.monotonic() - began < 1:
            time.sleep(0.05)
        assert cpu(process.pid) - used < 0.7 * (time.monotonic() - began)
        for client in clients:
            client.close()
        until(lambda: serves(address), "it to serve again")
        assert log.read_text().count("Traceback") == 0
        assert log.read_text().count("\n") < 300


def serves(address: str) -> bool:
    """Whether a request is answered."""
    try:
        return b"You said: hi" in ask(address)
    except ConnectionError:
        return False


def until_done(client: socket.socket) -> bytes:
    """What comes until the end of the stream, or of the connection."""
    said = b""
    try:
        while b"[DONE]" not in said and (piece := client.recv(65536)):
            said += piece
    except ConnectionError:
        pass
    return said


def cpu(pid: int) -> float:
    """Seconds of processor that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize(
    ("words", "settings"),
    [
        ("", {"TMPDIR": "/nowhere"}),
        pytest.param("ulimit -f 64;", {}, marks=NIGHTLY),
        pytest.param("", {"HOME": "/nowhere"}, marks=NIGHTLY),
    ],
    ids=["no temporary folder", "no room", "no home"],
)
def test_without_a_place_for_text_a_slow_client_loses_its_answer_and_no_one_else(
    fake_codex: FakeCodex, until: Until, words: str, settings: dict[str, str]
) -> None:
    with limited(fake_codex.bin, words, **settings) as (address, _, log), dial(address) as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.sendall(request("much"))
        until(lambda: "all sent" in fake_codex.journal or "turn/interrupt" in fake_codex.journal, "the turn to end")
        assert b"You said: hi" in ask(address)
        assert "Traceback" not in log.read_text()
        assert log.read_text().count("cannot be put aside") <= 1
