"""Clients that leave or do not read: what is let go of, how soon, and how much memory they can take."""

from __future__ import annotations

import contextlib
import json
import socket
import struct
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from reference_proxy.tests.conftest import FakeCodex, RunProxy, Until

pytestmark = pytest.mark.sampled(4)

MIB = 2**20
PHASES = ["silent", "hang", "call and hang"]


def rss(pid: int) -> int:
    """Bytes of memory that a process holds."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS"))) * 1024


def held(pid: int) -> tuple[int, int]:
    """How many threads and descriptors a process has."""
    return len(list(Path(f"/proc/{pid}/task").iterdir())), len(list(Path(f"/proc/{pid}/fd").iterdir()))


def leave(connection: Any, *, abruptly: bool) -> None:
    """Close a connection, with a FIN or with a reset."""
    if abruptly:
        connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("text", PHASES)
@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("abruptly", [True, False])
def test_a_client_that_leaves_has_its_turn_interrupted_and_its_slot_freed(
    run_proxy: RunProxy, fake_codex: FakeCodex, until: Until, text: str, stream: Any, abruptly: Any
) -> None:
    with run_proxy(fake_codex.bin, PROXY_MAX_CONCURRENCY="1", PROXY_COMMIT_MS="0") as proxy:
        connection = proxy.post(text, stream=stream)
        until(lambda: "turn/start" in fake_codex.journal, "the turn to start")
        if stream:
            connection.getresponse().read(2)
        leave(connection, abruptly=abruptly)
        until(lambda: "error" not in proxy.whole("hi"), "the slot to be free")
        until(lambda: "turn/interrupt" in fake_codex.journal, "the turn to be interrupted")
        assert len(fake_codex.pids) == 1


def test_a_client_that_leaves_while_the_status_line_is_held_frees_its_slot(
    run_proxy: RunProxy, fake_codex: FakeCodex, until: Until
) -> None:
    with run_proxy(fake_codex.bin, PROXY_MAX_CONCURRENCY="1", PROXY_COMMIT_MS="60000") as proxy:
        connection = proxy.post("silent", stream=True)
        until(lambda: "turn/start" in fake_codex.journal, "the turn to start")
        connection.close()
        until(lambda: "error" not in proxy.whole("hi"), "the slot to be free")


def test_a_client_that_leaves_while_no_backend_is_there_frees_its_slot(
    run_proxy: RunProxy, fake_codex: FakeCodex, until: Until
) -> None:
    fake_codex.broken.touch()
    with run_proxy(fake_codex.bin, PROXY_MAX_CONCURRENCY="1", PROXY_READY_WAIT_MS="60000") as proxy:
        proxy.post("hi").close()
        fake_codex.broken.unlink()
        until(lambda: "error" not in proxy.whole("hi"), "the slot to be free")


@pytest.mark.nightly
def test_five_hundred_departures_leave_nothing_behind(run_proxy: RunProxy, fake_codex: FakeCodex, until: Until) -> None:
    with run_proxy(fake_codex.bin, PROXY_MAX_CONCURRENCY="50", PROXY_COMMIT_MS="0") as proxy:
        before = None
        while fake_codex.journal.count("thread/start") < 560:
            connections = [proxy.post(PHASES[number % 3], stream=number % 2 == 0) for number in range(50)]
            for connection in connections:
                connection.close()
            until(lambda: settled(fake_codex), "every turn to be let go of")
            before = before or held(proxy.pid)
        assert before
        assert "error" not in proxy.whole("hi")
        until(lambda: held(proxy.pid)[0] <= before[0] and held(proxy.pid)[1] <= before[1], "what is held to be let go")
        assert len(fake_codex.pids) == 1


def settled(fake_codex: FakeCodex) -> bool:
    """Whether the backend keeps no thread any more."""
    journal = fake_codex.journal
    begun, ended = journal.count("thread/start"), journal.count("thread/unsubscribe")
    return bool(begun == ended > 0)


def request(text: str, host: str) -> bytes:
    body = json.dumps({"model": "codex", "messages": [{"role": "user", "content": text}], "stream": True})
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode()


@contextlib.contextmanager
def stalled(address: str, text: str) -> Any:
    """A client that has asked for a stream and does not read it."""
    host, port = address.split(":")
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect((host, int(port)))
        client.sendall(request(text, address))
        yield client


@contextlib.contextmanager
def watched(proxy: Any) -> Any:
    """Sees to it that the proxy's memory grows by less than a stream of 100 MB would need."""
    assert "error" not in proxy.whole("hi")
    before, highest, over = rss(proxy.pid), 0, threading.Event()

    def look() -> None:
        nonlocal highest
        while not over.wait(0.01):
            highest = max(highest, rss(proxy.pid))

    looking = threading.Thread(target=look)
    looking.start()
    try:
        yield
    finally:
        over.set()
        looking.join()
    assert 0 < highest - before < 64 * MIB


@pytest.mark.nightly
def test_a_stream_of_a_hundred_megabytes_is_read_whole(run_proxy: RunProxy, fake_codex: FakeCodex) -> None:
    with run_proxy(fake_codex.bin) as proxy, watched(proxy), proxy.chat("much", stream=True) as response:
        said = "".join(text_of(line) for line in response)
    assert len(said) == 100_000_000
    assert all(said[at : at + 10] == f"{at // 10_000:010}" for at in range(0, len(said), 10_000))


def text_of(line: bytes) -> str:
    """The text in a line of a stream."""
    if not line.startswith(b"data: {"):
        return ""
    frame = json.loads(line.removeprefix(b"data: "))
    assert "error" not in frame
    return str(frame["choices"][0]["delta"].get("content") or "")


@pytest.mark.nightly
def test_a_stream_that_no_one_reads_takes_a_bounded_amount_of_memory(
    run_proxy: RunProxy, fake_codex: FakeCodex, until: Until
) -> None:
    with run_proxy(fake_codex.bin) as proxy, watched(proxy), stalled(proxy.address, "much"):
        until(lambda: "all sent" in fake_codex.journal, "the backend to get rid of it")
        assert "error" not in proxy.whole("hi")


def test_a_reader_that_was_away_for_too_long_gets_an_error(
    run_proxy: RunProxy, fake_codex: FakeCodex, until: Until
) -> None:
    with run_proxy(fake_codex.bin, PROXY_STALLED_CLIENT_MS="50") as proxy, stalled(proxy.address, "much") as client:
        until(lambda: "turn/interrupt" in fake_codex.journal, "the turn to be given up")
        tail = b""
        while b"[DONE]" not in tail:
            piece = client.recv(2**20)
            assert piece, "the stream broke off"
            tail = (tail + piece)[-2000:]
        assert b"client_too_slow" in tail
