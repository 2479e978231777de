"""Compare mock endpoints: Wireproof's, others', and what a server costs that does nothing else.

    python -m tox run -e bench            # or: python benchmarks/endpoints.py [NAME …]

Each endpoint runs alone on one core, the driver on another. All answer the same two requests: a short text, and one of
1,000 pieces, which every endpoint splits in its own way. Over loopback and raw sockets the driver measures, and prints
as a Markdown table with ratios to `wireproof`:

- start: from the start of the process to the first answer (the best of five);
- first 1,000: the whole answers a second over 32 connections that a process gives which has just been started, as one
  run of a client's tests asks for; engines that compile what they do often are slower then (the best of four);
- requests: whole answers a second over 32 connections that are kept, and what one costs of the processor (the best of
  five, as all that follows: other work on the machine only ever makes it worse);
- p50: the median time of a whole answer on one connection;
- chunks: events a second of one stream, and of 64 at once, and what one costs of the processor;
- first: the median time to the first event of a stream when 64 begin at once;
- memory: resident size of all processes, idle and after all of that (from /proc: Linux).

`python benchmarks/endpoints.py --open 5000` opens so many streams of `wireproof` at once, each with an event every half
second, and prints how late the events came.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import platform
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

import uvloop
from measured import HOST, KEY, post, resident, stopped, used

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence

# This file is a script, in no package.
# ruff: noqa: INP001

HERE = Path(__file__).parent
CROWD, STREAMS, PIECES = 32, 64, 1000
FIRST = 1000
"""Requests that a new process is asked."""
RUNS = 5
SECONDS = 5.0
"""How long requests are sent in all runs together, and after which no more streams are."""
PAUSE, EVENTS, OPENING = 0.5, 20, 4.0
"""Of paced streams: the seconds between events, how many follow the first, and the seconds in which all are opened."""
NEXT = b'"content":"next"'
PIECE = "lorem ipsum dolor s "
ANSWER = "It is a short answer, as most are."
PACED = ", ".join(["{say: first}", *[f"{{pause: {PAUSE}}}, {{say: next}}"] * EVENTS])
SCRIPTS = f"""\
- {{name: bench/short, when: "short please", parts: [[{{say: [{ANSWER}]}}]]}}
- {{name: bench/long, when: "long please", parts: [[{{say: {{pieces: ["{PIECE}"], times: {PIECES}}}}}]]}}
- {{name: bench/open, when: "open please", parts: [[{PACED}]]}}
"""
FIXTURES = {
    "fixtures": [
        {"match": {"userMessage": "short please"}, "response": {"content": ANSWER}},
        {"match": {"userMessage": "long please"}, "response": {"content": PIECE * PIECES}},
    ]
}
# It always sends five characters at a time.
SCENARIO = f"""\
version: 1
rules:
  - {{type: llm.openai, when: {{messages_contains: "short please"}}, respond: {{content: "{ANSWER}"}}}}
  - {{type: llm.openai, when: {{messages_contains: "long please"}}, respond: {{content: "{"lorem" * PIECES}"}}}}
"""


def body(text: str, *, stream: bool) -> bytes:
    """A request."""
    return post({"model": "gpt-4o", "stream": stream, "messages": [{"role": "user", "content": text}]})


SHORT, LONG, OPEN = (
    body("short please", stream=False),
    body("long please", stream=True),
    body("open please", stream=True),
)


# What is served for comparison: the least that there can be


class Floor(asyncio.Protocol):
    """Answers without a look at the request: a write for each event, as an endpoint would that flushes."""

    WHOLE = json.dumps({"choices": [{"index": 0, "message": {"role": "assistant", "content": ANSWER}}]}).encode()
    FRAME = b"data: " + json.dumps({"id": "chatcmpl-1", "choices": [{"delta": {"content": PIECE}}]}).encode() + b"\n\n"

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember the connection."""
        self._transport = cast("asyncio.Transport", transport)  # uvloop's are no subclasses

    def data_received(self, data: bytes) -> None:
        """Answer."""
        if b'"stream": true' in data:
            asyncio.get_running_loop().create_task(self._stream())
        else:
            head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
            self._transport.write(head % len(self.WHOLE) + self.WHOLE)

    async def _stream(self) -> None:
        write, chunk = self._transport.write, b"%x\r\n%b\r\n" % (len(self.FRAME), self.FRAME)
        write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in range(PIECES):
            write(chunk)
            await asyncio.sleep(0)
        write(b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n")


async def floor(port: int) -> None:
    """Serve it."""
    server = await asyncio.get_running_loop().create_server(Floor, HOST, port)
    await server.serve_forever()


def bare_flask(port: int) -> None:
    """A Flask application of ten lines on waitress, 64 threads."""
    import waitress  # noqa: PLC0415
    from flask import Flask, Response, jsonify, request  # noqa: PLC0415

    app = Flask(__name__)

    @app.post("/v1/chat/completions")
    def answer() -> Response:
        if not request.json["stream"]:
            return jsonify(json.loads(Floor.WHOLE))
        return Response((Floor.FRAME for _ in range(PIECES)), content_type="text/event-stream")

    waitress.serve(app, host=HOST, port=port, threads=STREAMS, channel_request_lookahead=1, _quiet=True)


# The endpoints


def _beside(name: str) -> str:
    return shutil.which(name, path=str(Path(sys.executable).parent)) or name


def wireproof(port: int, folder: Path) -> list[str]:
    """This repository's."""
    (folder / "scripts.yaml").write_text(SCRIPTS)
    return [
        _beside("wireproof"),
        "serve",
        "--port",
        str(port),
        "--api-key",
        KEY,
        "--scripts",
        str(folder / "scripts.yaml"),
    ]


def aimock(port: int, folder: Path) -> list[str]:
    """From npm."""
    (folder / "fixtures.json").write_text(json.dumps(FIXTURES))
    command = os.environ.get("AIMOCK", str(Path(sys.prefix) / HERE.name / "node_modules" / ".bin" / "llmock"))
    return ["node", command, "-p", str(port), "-f", str(folder), "-c", str(len(PIECE)), "--log-level", "silent"]


def mocktopus(port: int, folder: Path) -> list[str]:
    """From PyPI."""
    (folder / "scenario.yaml").write_text(SCENARIO)
    command = os.environ.get("MOCKTOPUS", _beside("mocktopus"))
    return [command, "serve", "-s", str(folder / "scenario.yaml"), "-p", str(port)]


def _myself(name: str) -> Callable[[int, Path], list[str]]:
    return lambda port, _folder: [sys.executable, str(HERE / "endpoints.py"), "--serve", name, str(port)]


ENDPOINTS: dict[str, Callable[[int, Path], list[str]]] = {
    "wireproof": wireproof,
    "aimock": aimock,
    "mocktopus": mocktopus,
    "flask": _myself("flask"),
    "floor": _myself("floor"),
}


# The driver


@dataclass
class Connection:
    """A kept connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def whole(self, request: bytes) -> None:
        """Send a request and read its whole answer."""
        self.writer.write(request)
        head = (await self.reader.readuntil(b"\r\n\r\n")).lower()
        if b" 200 " not in head.split(b"\r\n")[0]:
            raise RuntimeError(head.decode())
        length = head.partition(b"content-length: ")[2].partition(b"\r\n")[0]
        if length:
            await self.reader.readexactly(int(length))
        else:
            await self.reader.readuntil(b"0\r\n\r\n")

    async def stream(self, request: bytes) -> tuple[float, int]:
        """Seconds to the first event, and how many came."""
        began = time.perf_counter()
        self.writer.write(request)
        first, count, tail = 0.0, 0, b""
        while b"[DONE]" not in tail:
            data = await self.reader.read(1 << 18)
            if not data:
                break  # the end of the connection ends a stream, too
            window = tail + data
            count += window.count(b"data: ") - tail.count(b"data: ")
            first = first or (time.perf_counter() - began if count else 0.0)
            tail = window[-64:]
        return first, count


async def connect(port: int) -> Connection:
    """A new connection."""
    return Connection(*await asyncio.open_connection(HOST, port, limit=1 << 22))


async def requests(port: int, pid: int, most: float = math.inf) -> tuple[float, float]:
    """Whole answers a second, and microseconds of the processor for each: of `most`, or of those of a second."""
    connections = [await connect(port) for _ in range(CROWD)]
    count, until = 0, time.perf_counter() + SECONDS / RUNS if most == math.inf else math.inf

    async def client(connection: Connection) -> None:
        nonlocal count
        while count < most and time.perf_counter() < until:
            count += 1
            await connection.whole(SHORT)

    before, began = used(pid), time.perf_counter()
    await asyncio.gather(*map(client, connections))
    return count / (time.perf_counter() - began), (used(pid) - before) / count * 1e6


async def median(port: int) -> float:
    """Seconds of a whole answer on one connection."""
    connection, times = await connect(port), []
    for _ in range(400):
        began = time.perf_counter()
        await connection.whole(SHORT)
        times.append(time.perf_counter() - began)
    return statistics.median(times)


async def chunks(port: int, pid: int, streams: int) -> tuple[float, float, float]:
    """Events a second over so many streams, microseconds of the processor for each, and the median time to a first."""
    before, began = used(pid), time.perf_counter()
    opened = await asyncio.gather(*(connect(port) for _ in range(streams)))
    began = time.perf_counter()
    came = await asyncio.gather(*(one.stream(LONG) for one in opened))
    took, total = time.perf_counter() - began, sum(count for _, count in came)
    for one in opened:
        one.writer.close()
    return total / took, (used(pid) - before) / total * 1e6, statistics.median(first for first, _ in came)


@contextmanager
def running(name: str) -> Iterator[tuple[int, int, float]]:
    """An endpoint on the first core: its port, its process, and the seconds of its start."""
    with closing(socket.create_server((HOST, 0))) as free:
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        command, began = ENDPOINTS[name](port, Path(folder)), time.perf_counter()
        # Inherited, so that it holds for threads, too: set afterwards it would be that of the first thread alone.
        driver = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {0})
        with stopped(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)) as process:
            os.sched_setaffinity(0, driver)
            while not answers(port):
                if process.poll() is not None or time.perf_counter() - began > 60:  # noqa: PLR2004 - a minute
                    raise RuntimeError(f"{name} does not answer, status {process.poll()}")
                time.sleep(0.002)
            yield port, process.pid, time.perf_counter() - began


def answers(port: int) -> bool:
    """Whether a request is answered there."""
    with closing(socket.socket()) as probe:
        probe.settimeout(5)
        try:
            probe.connect((HOST, port))
            probe.sendall(SHORT)
            return b" 200 " in probe.recv(64)
        except OSError:  # it does not listen yet
            return False


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A row; times in seconds."""

    new: float
    rate: float
    cost: float
    p50: float
    one: float
    many: float
    chunk: float
    first: float
    start: float
    idle: float
    loaded: float


async def repeated(run: Callable[[], Awaitable[tuple[float, float, float]]]) -> list[tuple[float, float, float]]:
    """What some runs gave: five, or fewer where they take long."""
    found, began = [await run()], time.perf_counter()
    while len(found) < RUNS and time.perf_counter() - began < SECONDS:
        found.append(await run())
    return found


async def _measured(port: int, pid: int) -> dict[str, float]:
    rates = [await requests(port, pid) for _ in range(RUNS)]
    p50 = min([await median(port) for _ in range(RUNS)])
    one, _, _ = max(await repeated(lambda: chunks(port, pid, 1)))
    crowds = await repeated(lambda: chunks(port, pid, STREAMS))
    return {
        "rate": max(rate for rate, _ in rates), "cost": min(cost for _, cost in rates), "p50": p50,
        "one": one, "many": max(crowd[0] for crowd in crowds),
        "chunk": min(crowd[1] for crowd in crowds), "first": min(crowd[2] for crowd in crowds),
    }  # fmt: skip


def measure(name: str) -> Measured:
    """Start an endpoint some times, measure the last one."""
    starts, firsts = [], []
    for _ in range(4):
        with running(name) as (port, pid, start):
            starts.append(start)
            firsts.append(uvloop.run(requests(port, pid, FIRST))[0])
    with running(name) as (port, pid, start):
        idle = resident(pid)
        found = uvloop.run(_measured(port, pid))
        return Measured(**found, new=max(firsts), start=min(*starts, start), idle=idle, loaded=resident(pid))


COLUMNS: dict[str, Callable[[Measured], tuple[float, str]]] = {
    "requests/s, first 1,000": lambda row: (row.new, f"{row.new:,.0f}"),
    "requests/s at 32": lambda row: (row.rate, f"{row.rate:,.0f}"),
    "µs of CPU": lambda row: (row.cost, f"{row.cost:.0f}"),
    "p50, ms": lambda row: (row.p50, f"{row.p50 * 1e3:.2f}"),
    "chunks/s, 1 stream": lambda row: (row.one, f"{row.one / 1e3:.0f}k"),
    "chunks/s, 64 streams": lambda row: (row.many, f"{row.many / 1e3:.0f}k"),
    "µs a chunk": lambda row: (row.chunk, f"{row.chunk:.1f}"),
    "first of 64, ms": lambda row: (row.first, f"{row.first * 1e3:.1f}"),
    "start, s": lambda row: (row.start, f"{row.start:.2f}"),
    "MiB idle": lambda row: (row.idle, f"{row.idle:.0f}"),
    "MiB loaded": lambda row: (row.loaded, f"{row.loaded:.0f}"),
}


def table(names: Sequence[str]) -> Iterator[str]:
    """The rows as they are measured; the first endpoint is what the others are compared with."""
    yield "| " + " | ".join(("endpoint", *COLUMNS)) + " |"
    yield "|" + " --- |" * (len(COLUMNS) + 1)
    base: Measured | None = None
    for name in names:
        row = measure(name)
        base = base or row
        cells = []
        for column in COLUMNS.values():
            value, shown = column(row)
            ratio = value / column(base)[0]
            cells.append(shown if row is base else f"{shown} (x{ratio:.2g})")
        yield "| " + " | ".join((name, *cells)) + " |"


# Thousands of streams at once


class Paced(asyncio.Protocol):
    """A client that reads a paced stream: when it began, and how late each event after the first came.

    As little as there can be: with thousands of streams a driver that is late would be measured, not the endpoint.
    """

    def __init__(self, late: list[float], ended: asyncio.Future[None]) -> None:
        self._late, self._ended = late, ended
        self._first = self._number = 0.0
        self._tail = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask."""
        self._transport = cast("asyncio.Transport", transport)
        self._transport.write(OPEN)

    def data_received(self, data: bytes) -> None:
        """Note what came."""
        now, window = time.perf_counter(), self._tail + data
        if not self._first and b'"content":"first"' in window:
            self._first = now
        for _ in range(window.count(NEXT)):
            self._number += 1
            self._late.append(now - self._first - self._number * PAUSE)
        # No more than may be a beginning: nothing is counted twice.
        self._tail = window[1 - len(NEXT) :]
        if b"[DONE]" in window:
            self._transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """It is over."""
        del exc
        if not self._ended.done():
            self._ended.set_result(None)


async def _open(port: int, count: int) -> list[float]:
    """How late each event of each stream came, in seconds, counted from the stream's first."""
    loop = asyncio.get_running_loop()
    late: list[float] = []
    ended = [loop.create_future() for _ in range(count)]
    began = time.perf_counter()
    for number, end in enumerate(ended):
        # At a steady rate: a crowd that asks in one instant measures how fast connections are taken.
        await asyncio.sleep(max(0.0, began + number * OPENING / count - time.perf_counter()))
        await loop.create_connection(lambda end=end: Paced(late, end), HOST, port)  # type: ignore[misc]
    await asyncio.gather(*ended)
    return late


def opened(count: int) -> str:
    """What became of so many streams."""
    with running("wireproof") as (port, pid, _):
        before, began = used(pid), time.perf_counter()
        late = sorted(uvloop.run(_open(port, count)))
        took, spent, memory = time.perf_counter() - began, used(pid) - before, resident(pid)
    places = {"median": 0.5, "99 %": 0.99, "99.9 %": 0.999}
    lateness = ", ".join(f"{name} {late[int(len(late) * at)] * 1e3:.1f}" for name, at in places.items())
    return (
        f"{count} streams, {len(late)} of {count * EVENTS} paced events; late by ms: {lateness},"
        f" most {late[-1] * 1e3:.1f}, earliest {late[0] * 1e3:.1f};"
        f" {took:.1f} s, of which {spent:.1f} of the processor; {memory:.0f} MiB"
    )


def where() -> str:
    """When and on what it is measured, and how much else the machine has to do."""
    load = " ".join(f"{one:.1f}" for one in os.getloadavg())
    machine = f"{platform.system()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    return f"{time.strftime('%Y-%m-%d %H:%M')}, {machine}, load {load}"


def main() -> None:
    """Print the table, or serve for it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=list(ENDPOINTS))
    parser.add_argument("--serve", nargs=2, metavar=("NAME", "PORT"), help=argparse.SUPPRESS)
    parser.add_argument("--open", type=int, metavar="N")
    given = parser.parse_args()
    if given.serve:
        name, port = given.serve[0], int(given.serve[1])
        if name == "floor":
            uvloop.run(floor(port))
        else:
            bare_flask(port)
        return
    os.sched_setaffinity(0, {1 % (os.cpu_count() or 1)})
    print(f"{where()}\n", flush=True)  # noqa: T201 - the result
    for line in [opened(given.open)] if given.open else table(given.names):
        print(line, flush=True)  # noqa: T201 - the result
    print(f"\n{where()}", flush=True)  # noqa: T201 - the result


if __name__ == "__main__":
    main()
