"""What the reference proxy costs beside a bare Flask on the same server: processor, time, memory.

    python benchmarks/proxy_cost.py

The proxy runs in front of a backend in its own process that answers at once, so the cost is the proxy's alone; then in
front of the mock, whose cost is counted too. What is measured is the processor that the processes use, which depends
less on what else runs than times do. The two take turns, some rounds long, and the median is printed: so what else runs
meets both. The load of the machine at the beginning and the end is printed, too.

There are two bare Flasks. One yields the same bytes again and again, which is less than any proxy can do; the other
renders each chunk by `json.dumps`, which is the least that one does.

Many streams at once: 1,000 of them, an event every 250 ms in each, 20 events. Ideal are the 5 s from the first event's
pause to the last event; what is measured is the time from the first connection to the end of the last stream.
"""

from __future__ import annotations

import asyncio
import json
import os
import queue
import resource
import signal
import socket
import statistics
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from measured import post, resident, saying_its_url, used

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# This is a script, in no package, and its processes import what they serve alone.
# ruff: noqa: INP001, PLC0415, T201

ASK = {"model": "codex", "messages": [{"role": "user", "content": "hi"}]}
WORDS = 2000
STREAMS = 1000
ROUNDS = 7
EVENTS = 20
PAUSE = 0.25
"""Seconds between two events of a paced stream."""


def serve_bare() -> None:
    """Flask, a small page and a stream of frames, on the proxy's server."""
    from flask import Flask, Response, request

    from wireproof_proxy.http.wsgi import wsgi_server

    app = Flask(__name__)
    frame = b"data: " + b"x" * 200 + b"\n\n"

    @app.post("/v1/chat/completions")
    def answer() -> Response:
        asked: Any = request.get_json()
        if asked["messages"][-1]["content"] == "rendered":
            return Response((rendered(number) for number in range(WORDS)), mimetype="text/event-stream")
        if asked.get("stream"):
            return Response((frame for _ in range(WORDS)), mimetype="text/event-stream")
        return Response(b"x" * 300, mimetype="application/json")

    with wsgi_server(app, "127.0.0.1", 0, turns=STREAMS) as server:
        print(server.url, flush=True)
        signal.pause()


def rendered(number: int) -> bytes:
    """A chunk as one writes it who does not care about its cost."""
    delta = {"content": f"{number:08}"}
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": None}
    head = {"id": "chatcmpl-0123456789abcdef", "object": "chat.completion.chunk", "created": 1700000000}
    return f"data: {json.dumps({**head, 'model': 'codex', 'choices': [choice]})}\n\n".encode()


def serve_proxy() -> None:
    """The proxy with a backend that answers at once, in this process."""
    from wireproof_proxy.__main__ import serve
    from wireproof_proxy.settings import ProxySettings

    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    values: Any = {"port": 0, "output_mode": "openai-json", "max_concurrency": STREAMS + 10, "log_level": "warning"}
    serve(ProxySettings(**values), Instant())


class Instant:
    """A backend whose turns have all their events at once; with "wait", they are silent after the first."""

    alive = True

    def __init__(self) -> None:
        self._paced: queue.SimpleQueue[tuple[float, int, Any]] = queue.SimpleQueue()
        threading.Thread(target=self._pace, daemon=True).start()

    def _pace(self) -> None:
        """Give each of these turns its next event when it is due: one thread for all, as a backend's reader is."""
        from wireproof_surfaces.events import ChoiceFinished, TextAdded, TurnOver

        while True:
            due, number, mailbox = self._paced.get()  # all pauses are alike, so the first that came is due first
            time.sleep(max(due - time.monotonic(), 0))
            mailbox.put(TextAdded(text=f"{number:08}"))
            if number < EVENTS:
                self._paced.put((due + PAUSE, number + 1, mailbox))
            else:
                mailbox.put(ChoiceFinished(reason="stop"))
                mailbox.put(TurnOver())

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
        from wireproof_proxy.backends.mailbox import Mailbox
        from wireproof_surfaces.events import ChoiceFinished, TextAdded, TurnOver

        text = conversation.input[-1].text
        turn = Turn(Mailbox())
        if text == "much":  # by another thread, as a backend's reader does
            threading.Thread(target=turn.much, daemon=True).start()
            return turn
        if text == "paced":
            self._paced.put((time.monotonic() + PAUSE, 1, turn.mailbox))
            return turn
        count = {"hi": 1, "wait": 1, "words": WORDS}.get(text, 1)
        for _ in range(count):
            turn.mailbox.put(TextAdded(text="x" * 8))
        if text != "wait":
            turn.mailbox.put(ChoiceFinished(reason="stop"))
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
        from wireproof_surfaces.events import TextAdded

        for _ in range(10_000):
            self.mailbox.put(TextAdded(text="x" * 10_000))

    def close(self) -> None:
        """Stop waiting."""
        self.mailbox.close()


@contextmanager
def running(*words: str, **env: str) -> Iterator[tuple[int, int]]:
    """Port and process of a server that prints its URL."""
    with saying_its_url(*words, PYTHONPATH="", **env) as (url, pid):
        yield int(url.rsplit(":", 1)[1].split("/")[0]), pid


def request(text: str, *, stream: bool = False) -> bytes:
    """A request to chat."""
    return post({**ASK, "messages": [{"role": "user", "content": text}], "stream": stream})


async def ask(port: int, count: int, sent: bytes, end: bytes) -> None:
    """Ask so many times over one connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**24)
    for _ in range(count):
        writer.write(sent)
        await reader.readuntil(end)
    writer.close()


async def requests(port: int, pid: int, end: bytes, *, below: bool) -> float:
    """Processor of a request, in µs."""
    await asyncio.gather(*(ask(port, 20, request("hi"), end) for _ in range(4)))
    before = used(pid, below=below)
    await asyncio.gather(*(ask(port, 250, request("hi"), end) for _ in range(4)))
    return (used(pid, below=below) - before) / 1000 * 1e6


async def chunks(port: int, pid: int, text: str, *, below: bool) -> float:
    """Processor of a chunk, in µs."""
    sent = request(text, stream=True)
    await ask(port, 1, sent, b"\r\n0\r\n\r\n")
    before = used(pid, below=below)
    await asyncio.gather(*(ask(port, 10, sent, b"\r\n0\r\n\r\n") for _ in range(4)))
    return (used(pid, below=below) - before) / (40 * WORDS) * 1e6


class Reader(asyncio.Protocol):
    """One paced stream: asks, and counts what comes to its end."""

    def __init__(self, ended: asyncio.Event) -> None:
        self._ended = ended
        self._read = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask."""
        self._transport: Any = transport
        self._transport.write(request("paced", stream=True))

    def data_received(self, data: bytes) -> None:
        """More of the answer."""
        self._read += data
        if self._read.endswith(b"\r\n0\r\n\r\n"):
            assert self._read.count(b'"content":"0') == EVENTS  # noqa: S101 - an answer that lacks some is no answer
            self._transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """The end."""
        assert exc is None  # noqa: S101 - as above
        self._ended.set()


async def paced(port: int, pid: int) -> str:
    """A thousand streams that speak: how long all of them take, and how much of a core."""
    loop = asyncio.get_running_loop()
    ends = [asyncio.Event() for _ in range(STREAMS)]
    before, began = used(pid), time.monotonic()
    for end in ends:
        await loop.create_connection(lambda end=end: Reader(end), "127.0.0.1", port)  # type: ignore[misc]
    for end in ends:
        await end.wait()
    wall, ideal = time.monotonic() - began, EVENTS * PAUSE
    busy = (used(pid) - before) / wall
    return f"1,000 paced streams: {wall:.2f} s ({wall / ideal:.2f} times the ideal), {busy * 100:.0f} % of a core"


async def silent(port: int, pid: int) -> list[str]:
    """A thousand streams that say nothing: memory of one, and how much of a core all of them take."""
    before = resident(pid)
    writers = []
    for _ in range(STREAMS):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request("wait", stream=True))
        await reader.readuntil(b"xxxx")
        writers.append(writer)
    memory = (resident(pid) - before) * 1024 / STREAMS
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
    return f"a client that does not read 100 MB: {highest - before:.1f} MiB"


def beside(bare: tuple[int, int], proxy: tuple[int, int]) -> float:
    """Print what a request and a chunk cost of both; returns that of a bare Flask's request."""
    measures: dict[str, Callable[[], float]] = {
        "bare Flask, a request": lambda: asyncio.run(requests(*bare, b"x" * 300, below=False)),
        "the proxy, a request": lambda: asyncio.run(requests(*proxy, b'"total_tokens":', below=False)),
        "bare Flask, a constant chunk": lambda: asyncio.run(chunks(*bare, "words", below=False)),
        "bare Flask, a chunk that it renders": lambda: asyncio.run(chunks(*bare, "rendered", below=False)),
        "the proxy, a chunk": lambda: asyncio.run(chunks(*proxy, "words", below=False)),
    }
    rounds = [{name: measure() for name, measure in measures.items()} for _ in range(ROUNDS)]
    for name in measures:
        print(f"{name}: {statistics.median(one[name] for one in rounds):.1f} µs", flush=True)
    pairs = (
        ("a request", "the proxy, a request", "bare Flask, a request"),
        ("a chunk beside a constant one", "the proxy, a chunk", "bare Flask, a constant chunk"),
        ("a chunk beside one that is rendered", "the proxy, a chunk", "bare Flask, a chunk that it renders"),
    )
    for what, mine, theirs in pairs:
        # Of each round by itself: both had the same neighbours.
        print(f"{what}: {statistics.median(one[mine] / one[theirs] for one in rounds):.2f} times", flush=True)
    return statistics.median(one["bare Flask, a request"] for one in rounds)


@contextmanager
def scripted() -> Iterator[str]:
    """A file with a script that answers "words" with as many pieces as the other backend does."""
    script = {"name": "words", "when": "words", "parts": [[{"say": [f"{number:08}" for number in range(WORDS)]}]]}
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump({"scripts": [script]}, file)
        file.flush()
        yield file.name


def load() -> None:
    """Print what the machine has to do."""
    print(f"{os.cpu_count()} processors; load over a minute: {os.getloadavg()[0]:.1f}", flush=True)


def main(arguments: list[str]) -> None:
    """Print the figures, or serve for them."""
    kinds: dict[str, Callable[[], None]] = {"bare": serve_bare, "proxy": serve_proxy}
    if arguments[:1] == ["--serve"]:
        kinds[arguments[1]]()
        return
    load()
    with running(__file__, "--serve", "proxy") as proxy:
        with running(__file__, "--serve", "bare") as bare:
            least = beside(bare, proxy)
        # First: what a thread takes belongs to its stream, and those of an earlier crowd would be used again.
        print("\n".join((*asyncio.run(silent(*proxy)), unread(*proxy))), flush=True)
        for _ in range(3):
            print(asyncio.run(paced(*proxy)), flush=True)
    settings = {"PROXY_PORT": "0", "PROXY_OUTPUT_MODE": "openai-json", "PROXY_LOG_LEVEL": "warning"}
    codex = str(Path(sys.executable).with_name("wireproof-codex"))
    with (
        scripted() as script,
        running(
            "-m",
            "wireproof_proxy",
            CODEX_BIN=codex,
            CODEX_HOME="",
            WIREPROOF_PACE="0",
            WIREPROOF_SCRIPTS=script,
            **settings,
        ) as (port, pid),
    ):
        mocked = asyncio.run(requests(port, pid, b'"total_tokens":', below=True))
        print(f"with the mock, a request: {mocked:.0f} µs ({mocked / least:.1f} times)", flush=True)
        both, own = (asyncio.run(chunks(port, pid, "words", below=below)) for below in (True, False))
        print(f"with the mock, a chunk: {both:.0f} µs, of which the proxy's own {own:.0f} µs")
    load()


if __name__ == "__main__":
    main(sys.argv[1:])
