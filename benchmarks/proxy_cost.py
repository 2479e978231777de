"""What the reference proxy costs beside a bare Flask on the same server: processor, time, memory.

    python benchmarks/proxy_cost.py

The proxy runs in front of a backend in its own process that answers at once, so the cost is the proxy's alone; then in
front of the mock, whose cost is counted too. What is measured is the processor that the processes use, which depends
less on what else runs than times do.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# This is a script, in no package, and its processes import what they serve alone.
# ruff: noqa: INP001, PLC0415, T201

ASK = {"model": "codex", "messages": [{"role": "user", "content": "hi"}]}
WORDS = 2000
STREAMS = 1000


def serve_bare() -> None:
    """Flask, a small page and a stream of frames, on the proxy's server."""
    from flask import Flask, Response, request

    from assay_proxy.http.server import Server

    app = Flask(__name__)
    frame = b"data: " + b"x" * 200 + b"\n\n"

    @app.post("/v1/chat/completions")
    def answer() -> Response:
        asked: Any = request.get_json()
        if asked.get("stream"):
            return Response((frame for _ in range(WORDS)), mimetype="text/event-stream")
        return Response(b"x" * 300, mimetype="application/json")

    with Server(app, "127.0.0.1", 0, turns=STREAMS) as server:
        print(server.url, flush=True)
        signal.pause()


def serve_proxy() -> None:
    """The proxy with a backend that answers at once, in this process."""
    from assay_proxy.__main__ import serve
    from assay_proxy.settings import Settings

    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    values: Any = {"port": 0, "output_mode": "openai-json", "max_concurrency": STREAMS + 10, "log_level": "warning"}
    serve(Settings(**values), Instant())


class Instant:
    """A backend whose turns have all their events at once; with "wait", they are silent after the first."""

    alive = True

    def start(self) -> None:
        """Nothing to start."""

    def stop(self) -> None:
        """Nothing to stop."""

    def counts(self) -> tuple[()]:
        """Nothing to count."""
        return ()

    def await_ready(self, timeout: float) -> bool:
        """At any time."""
        return timeout >= 0

    def open(self, conversation: Any, choices: int = 1) -> Any:  # noqa: ANN401, ARG002 - as a backend's
        """A turn that plays what its text asks for."""
        from assay_proxy.backends.mailbox import Mailbox
        from assay_proxy.events import Finished, Text, TurnOver

        text = conversation.input[-1].text
        turn = Turn(Mailbox())
        if text == "much":  # by another thread, as a backend's reader does
            threading.Thread(target=turn.much, daemon=True).start()
            return turn
        count = {"hi": 1, "wait": 1, "words": WORDS}.get(text, 1)
        for _ in range(count):
            turn.mailbox.put(Text(text="x" * 8))
        if text != "wait":
            turn.mailbox.put(Finished(reason="stop"))
            turn.mailbox.put(TurnOver())
        return turn


class Turn:
    """What one mailbox holds."""

    def __init__(self, mailbox: Any) -> None:  # noqa: ANN401 - a mailbox
        self.mailbox = mailbox

    def next(self, timeout: float) -> Any:  # noqa: ANN401 - an event
        """The next event."""
        return self.mailbox.get(timeout)

    def much(self) -> None:
        """100 MB, in pieces of 10 kB."""
        from assay_proxy.events import Text

        for _ in range(10_000):
            self.mailbox.put(Text(text="x" * 10_000))

    def close(self) -> None:
        """Stop waiting."""
        self.mailbox.close()


@contextmanager
def running(*words: str, **env: str) -> Iterator[tuple[int, int]]:
    """Port and process of a server that prints its URL."""
    environment = {**os.environ, "PYTHONPATH": "", **env}
    with subprocess.Popen([sys.executable, *words], env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None  # noqa: S101 - a pipe was asked for
            url = process.stdout.readline().split()[-1]
            yield int(url.rsplit(":", 1)[1].split("/")[0]), process.pid
        finally:
            process.terminate()


def used(pid: int, *, below: bool = True) -> float:
    """Seconds of processor that a process has used, and those below it."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    own = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split() if below else []
    for task in Path(f"/proc/{pid}/task").iterdir() if below else ():
        children += (task / "children").read_text().split()
    return own + sum(used(int(child)) for child in set(children))


def resident(pid: int) -> float:
    """KiB of a process."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1024


def request(text: str, *, stream: bool = False) -> bytes:
    """A request to chat."""
    body = json.dumps({**ASK, "messages": [{"role": "user", "content": text}], "stream": stream}).encode()
    head = "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    head += f"Content-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


async def ask(port: int, count: int, sent: bytes, end: bytes) -> None:
    """Ask so many times over one connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**24)
    for _ in range(count):
        writer.write(sent)
        await reader.readuntil(end)
    writer.close()


async def requests(port: int, pid: int, end: bytes, *, below: bool) -> float:
    """Processor of a request, in µs."""
    await asyncio.gather(*(ask(port, 50, request("hi"), end) for _ in range(4)))
    before = used(pid, below=below)
    await asyncio.gather(*(ask(port, 500, request("hi"), end) for _ in range(4)))
    return (used(pid, below=below) - before) / 2000 * 1e6


async def chunks(port: int, pid: int, text: str, *, below: bool) -> float:
    """Processor of a chunk, in µs."""
    sent = request(text, stream=True)
    await ask(port, 1, sent, b"\r\n0\r\n\r\n")
    before = used(pid, below=below)
    await asyncio.gather(*(ask(port, 5, sent, b"\r\n0\r\n\r\n") for _ in range(4)))
    return (used(pid, below=below) - before) / (20 * WORDS) * 1e6


async def silent(port: int, pid: int) -> list[str]:
    """A thousand streams that say nothing: memory of one, and how much of a core all of them take."""
    before = resident(pid)
    writers = []
    for _ in range(STREAMS):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request("wait", stream=True))
        await reader.readuntil(b"xxxx")
        writers.append(writer)
    memory = (resident(pid) - before) / STREAMS
    await asyncio.sleep(9)  # a turn that has just gone silent is looked at
    before = used(pid)
    await asyncio.sleep(10)
    share = (used(pid) - before) / 10
    for writer in writers:
        writer.close()
    return [f"memory of a silent stream: {memory:.0f} KiB", f"1,000 silent streams: {share * 100:.1f} % of a core"]


def unread(port: int, pid: int) -> str:
    """A client that does not read an answer of 100 MB: how much the proxy holds for it."""
    before = resident(pid)
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(("127.0.0.1", port))
        client.sendall(request("much", stream=True))
        highest, over = before, time.monotonic() + 20
        while time.monotonic() < over:
            highest = max(highest, resident(pid))
            time.sleep(0.02)
    return f"a client that does not read 100 MB: {(highest - before) / 1024:.1f} MiB"


def main(arguments: list[str]) -> None:
    """Print the figures, or serve for them."""
    kinds: dict[str, Callable[[], None]] = {"bare": serve_bare, "proxy": serve_proxy}
    if arguments[:1] == ["--serve"]:
        kinds[arguments[1]]()
        return
    end = b"x" * 300
    with running(__file__, "--serve", "bare") as (port, pid):
        bare = (
            asyncio.run(requests(port, pid, end, below=False)),
            asyncio.run(chunks(port, pid, "words", below=False)),
        )
    print(f"bare Flask: {bare[0]:.0f} µs a request, {bare[1]:.1f} µs a chunk", flush=True)
    with running(__file__, "--serve", "proxy") as (port, pid):
        own = (
            asyncio.run(requests(port, pid, b'"total_tokens":', below=False)),
            asyncio.run(chunks(port, pid, "words", below=False)),
        )
        ratios = [f"{mine / theirs:.1f}" for mine, theirs in zip(own, bare, strict=True)]
        print(f"the proxy: {own[0]:.0f} µs ({ratios[0]} times), {own[1]:.1f} µs ({ratios[1]} times)", flush=True)
        print("\n".join((unread(port, pid), *asyncio.run(silent(port, pid)))), flush=True)
    settings = {"PROXY_PORT": "0", "PROXY_OUTPUT_MODE": "openai-json", "PROXY_LOG_LEVEL": "warning"}
    codex = str(Path(sys.executable).with_name("assay-codex"))
    with running("-m", "assay_proxy", CODEX_BIN=codex, CODEX_HOME="", ASSAY_PACE="0", **settings) as (port, pid):
        mocked = asyncio.run(requests(port, pid, b'"total_tokens":', below=True))
        print(f"with the mock: {mocked:.0f} µs a request ({mocked / bare[0]:.1f} times)")


if __name__ == "__main__":
    main(sys.argv[1:])
