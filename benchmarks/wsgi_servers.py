"""Compare WSGI servers for one job: hundreds of slow event streams from an application that blocks, for any client.

    python -m pip install waitress gunicorn cheroot granian hypercorn a2wsgi
    python benchmarks/wsgi_servers.py [NAME …]

Each server runs in a process of its own with the same application and 320 threads. Over loopback the driver measures,
and prints as rows of two Markdown tables:

- flush: from the application's yield of an event to its arrival (one stream, 200 events, 10 ms apart; the median);
- departure: until the application knows that the client of a silent stream has left; it looks every 100 ms at the
  client's socket, or at what the server offers instead (the worst of five);
- crowd: 300 streams at once, 10 events each, 200 ms apart: the time until all have ended (2 s would be perfect);
- CPU of a request (Flask, 300 bytes, over 8 connections that are kept) and of a chunk (a stream of 10,000 that does not
  pause): what the server's processes used, so it does not depend on what else runs;
- memory: resident size of all its processes, at the start and at the end (from /proc: Linux);
- header: whether a stream's head has `Connection: keep-alive`, which an application may not always set itself;
- framing: how many of the requests that RFC 9112 forbids are refused, with the connection closed behind them;
- line, field, body: MiB by which it grows while a client sends 64 MiB of each, the body to a path that reads none;
- slow: seconds that a request waits while 400 connections have sent half of one (5: not answered in 5 s);
- half: whether a client that has closed its own end gets its answer;
- 1.0: whether the events of a stream over HTTP/1.0 come as they are yielded.
"""

from __future__ import annotations

import asyncio
import math
import re
import select
import signal
import socket
import statistics
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flask import Flask, Response
from measured import HOST, resident, stopped, used

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Environ = dict[str, Any]
    Start = Callable[..., Any]

THREADS = 320
CROWD = 300
KEEP_ALIVE = ("Connection", "keep-alive")
departures: list[float] = []


# The application


def application(environ: Environ, start_response: Start) -> Iterable[bytes]:
    """Streams, and a page that tells when a silent client was last seen to leave."""
    # waitress refuses an application that sets this header; the others pass it on or replace it.
    path = environ["PATH_INFO"].split("/")
    if path == ["", "flask"]:
        return FLASK(environ, start_response)
    headers = [KEEP_ALIVE] * (not {"waitress", "a2wsgi", "hypercorn"} & sys.modules.keys())
    start_response("200 OK", [("Content-Type", "text/event-stream"), *headers])
    match path:
        case ["", "events", count, gap]:
            return events(int(count), float(gap))
        case ["", "silent"]:
            return silent(departed(environ))
        case _:
            return [str(departures[-1] if departures else 0).encode()]


FLASK = Flask(__name__)


@FLASK.get("/flask")
def small() -> Response:
    """A small page."""
    return Response(b"x" * 300, mimetype="application/json")


def events(count: int, gap: float) -> Iterator[bytes]:
    """Events that say when they were yielded, in nanoseconds."""
    for _ in range(count):
        yield b"data: %d\n\n" % time.monotonic_ns()
        if gap:
            time.sleep(gap)


def silent(gone: Callable[[], bool]) -> Iterator[bytes]:
    """One event, then silence until the client is seen to leave, at most 3 s."""
    yield b"data: 1\n\n"
    deadline = time.monotonic() + 3
    while time.monotonic() < deadline:
        if gone():
            departures.append(time.monotonic())
            return
        time.sleep(0.1)


def departed(environ: Environ) -> Callable[[], bool]:
    """How an application under this server sees that its client has gone."""
    if disconnected := environ.get("waitress.client_disconnected"):
        return lambda: bool(disconnected())
    if own := environ.get("wireproof_proxy.client"):
        return lambda: bool(own.gone())
    client = environ.get("gunicorn.socket") or environ.get("benchmark.socket")
    if client is None:
        return lambda: False
    return lambda: bool(select.select([client], [], [], 0)[0]) and client.recv(1, socket.MSG_PEEK) == b""


# The servers: each function serves until the process is told to stop. They import their server themselves, so that
# each process holds only one. (And this file is a script, in no package.)
# ruff: noqa: PLC0415, INP001


def run_waitress(port: int) -> None:
    """Threads around one asyncore loop."""
    import waitress

    options = {"threads": THREADS, "channel_request_lookahead": 1, "connection_limit": 1000, "_quiet": True}
    waitress.serve(application, host=HOST, port=port, **options)


def run_gunicorn(port: int) -> None:
    """One gthread worker under an arbiter."""
    from gunicorn.app.wsgiapp import run

    options = f"-k gthread --threads {THREADS} -b {HOST}:{port} --log-level error wsgi_servers:application"
    sys.argv = ["gunicorn", *options.split()]
    run()


def run_cheroot(port: int) -> None:
    """Threads in this process; the gateway hands the socket to the application."""
    from cheroot import wsgi

    class Gateway(wsgi.Gateway_10):
        def get_environ(self) -> Environ:
            return {**super().get_environ(), "benchmark.socket": self.req.conn.socket}

    server = wsgi.Server((HOST, port), application, numthreads=THREADS, request_queue_size=CROWD)
    server.gateway, server.keep_alive_conn_limit = Gateway, CROWD
    server.start()


def run_granian(port: int) -> None:
    """Rust in front of blocking threads."""
    from granian.cli import entrypoint

    options = f"--interface wsgi --blocking-threads {THREADS} --host {HOST} --port {port} --no-log"
    sys.argv = ["granian", *options.split(), "wsgi_servers:application"]
    entrypoint()


def run_uvicorn(port: int) -> None:
    """An event loop; a2wsgi runs the application in threads."""
    import a2wsgi
    import uvicorn

    app: Any = a2wsgi.WSGIMiddleware(application, workers=THREADS)
    uvicorn.run(app, host=HOST, port=port, log_level="error", lifespan="off")


def run_hypercorn(port: int) -> None:
    """An event loop (h11), which runs WSGI applications in threads itself."""
    from hypercorn.asyncio import serve
    from hypercorn.config import Config

    config = Config()
    config.bind = [f"{HOST}:{port}"]
    asyncio.run(serve(application, config, mode="wsgi"))


def run_wireproof(port: int) -> None:
    """The reference proxy's own: an event loop, threads for requests that are being answered."""
    from wireproof_proxy.http.wsgi import wsgi_server

    with wsgi_server(application, HOST, port, turns=THREADS, accept=lambda _: 0):
        signal.pause()


SERVERS = {
    "waitress": run_waitress,
    "gunicorn": run_gunicorn,
    "cheroot": run_cheroot,
    "granian": run_granian,
    "uvicorn": run_uvicorn,
    "hypercorn": run_hypercorn,
    "wireproof": run_wireproof,
}


# The driver


async def stream(port: int, path: str) -> list[float]:
    """Read a stream to its end: for each event the seconds between its yield and its arrival."""
    reader, writer = await asyncio.open_connection(HOST, port)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
    await reader.readuntil(b"\r\n\r\n")
    late = []
    while line := await reader.readline():
        if line.startswith(b"data: "):
            late.append((time.monotonic_ns() - int(line[6:])) / 1e9)
    writer.close()
    return late


async def departure(port: int, wait: float) -> tuple[float, str]:
    """Seconds until the application knew that we left after `wait` seconds (infinite: never), and a stream's head."""
    reader, writer = await asyncio.open_connection(HOST, port)
    writer.write(b"GET /silent HTTP/1.1\r\nHost: x\r\n\r\n")
    head = await reader.readuntil(b"data: 1")
    await asyncio.sleep(wait)
    left = time.monotonic()
    writer.close()
    while time.monotonic() - left < 3:  # noqa: PLR2004 - as long as the silence
        reader, asking = await asyncio.open_connection(HOST, port)
        asking.write(b"GET /departed HTTP/1.0\r\n\r\n")
        seen = float((await reader.read()).split(b"\r\n\r\n")[1].split()[-1])
        asking.close()
        if seen >= left:
            return seen - left, head.decode().lower()
        await asyncio.sleep(0.05)
    return math.inf, head.decode().lower()


async def ask(port: int, count: int) -> None:
    """Ask for the small page so many times over one connection."""
    reader, writer = await asyncio.open_connection(HOST, port)
    for _ in range(count):
        writer.write(b"GET /flask HTTP/1.1\r\nHost: x\r\n\r\n")
        await reader.readuntil(b"x" * 300)
    writer.close()


async def measure(port: int, pid: int) -> list[str]:
    """The cells of a running server's row."""
    idle = resident(pid)
    late = await stream(port, "/events/200/0.01")
    left = [await departure(port, 0.2 + 0.017 * number) for number in range(5)]
    began = time.monotonic()
    await asyncio.gather(*(stream(port, "/events/10/0.2") for _ in range(CROWD)))
    wall = time.monotonic() - began
    await asyncio.gather(*(ask(port, 100) for _ in range(8)))
    before = used(pid)
    await asyncio.gather(*(ask(port, 500) for _ in range(8)))
    request = (used(pid) - before) / 4000
    before = used(pid)
    for _ in range(4):
        await stream(port, "/events/10000/0")
    chunk = (used(pid) - before) / 40_000
    return [
        f"{statistics.median(late) * 1e3:.2f}",
        "never" if math.isinf(worst := max(seconds for seconds, _ in left)) else f"{worst * 1e3:.0f}",
        f"{wall:.1f}",
        f"{request * 1e6:.0f}",
        f"{chunk * 1e6:.1f}",
        f"{idle:.0f} → {resident(pid):.0f}",
        "yes" if "connection: keep-alive" in left[0][1] else "no",
    ]


# What an attacker sends

FILL = b"a" * 65536
HEAD = b"POST /flask HTTP/1.1\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n"
FRAMING = (
    HEAD + b"Host: x\r\nContent-Length: 2\r\n" + CHUNKED + b"\r\n0\r\n\r\n",
    HEAD + b"Host: x\r\n" + CHUNKED + b"Content-Length: 2\r\n\r\n0\r\n\r\n",
    HEAD + b"Host: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
    HEAD + b"Host: x\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
    HEAD + b"Host: x\r\nContent-Length: +2\r\n\r\n{}",
    HEAD + b"Host: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    HEAD.replace(b"1.1", b"1.0") + b"Host: x\r\n" + CHUNKED + b"\r\n0\r\n\r\n",
    HEAD + b"Host: x\r\n" + CHUNKED + b"\r\n0x2\r\n{}\r\n0\r\n\r\n",
    HEAD + b"Host: x\r\n" + CHUNKED + b"\r\n2\n{}\n0\n\n",
    b"GET /flask HTTP/1.1\r\n\r\n",
    b"GET /flask HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
    b"GET /flask HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n",
    b"GET /flask HTTP/1.1\nHost: x\n\n",
    b"GET /flask HTTP/1.1\r\nHost : x\r\n\r\n",
    b"GET /flask HTTP/1.1\r\nHost: x\r\nA: \0\r\n\r\n",
    b"GET /flask HTTP/1.1\r\nHost: x\r\nA: b\rC: d\r\n\r\n",
)


def answer(port: int, sent: bytes, seconds: float = 2, *, half: bool = False) -> tuple[bytes, bool]:
    """What comes back, and whether the server ended the connection."""
    said = b""
    with socket.create_connection((HOST, port), seconds) as client:
        client.sendall(sent)
        if half:
            client.shutdown(socket.SHUT_WR)
        try:
            while piece := client.recv(65536):
                said += piece
        except TimeoutError:
            return said, False
        except OSError:
            pass
    return said, True


def grown(port: int, pid: int, head: bytes) -> float:
    """MiB by which a server grows while a client sends 64 MiB behind this."""
    before = highest = resident(pid)
    with socket.create_connection((HOST, port), 2) as client:
        try:
            client.sendall(head)
            for number in range(1024):
                client.sendall(FILL)
                if number % 64 == 0:
                    highest = max(highest, resident(pid))
        except OSError:
            pass
        time.sleep(0.2)
        return max(highest, resident(pid)) - before


def crowded(port: int) -> float:
    """Seconds that a request waits behind 400 that are half sent; 5 at most."""
    clients = [socket.create_connection((HOST, port), 5) for _ in range(400)]
    for client in clients:
        client.sendall(b"GET /flask HTTP/1.1\r\nHost: x\r\n")
    began = time.monotonic()
    try:
        answer(port, b"GET /flask HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 5)
        return time.monotonic() - began
    finally:
        for client in clients:
            client.close()


def comes_at_once(port: int) -> bool:
    """Whether the first of two events that are 0.5 s apart comes alone over HTTP/1.0."""
    with socket.create_connection((HOST, port), 2) as client:
        client.sendall(b"GET /events/2/0.5 HTTP/1.0\r\n\r\n")
        said = b""
        while b"data: " not in said and (piece := client.recv(65536)):
            said += piece
        return said.count(b"data: ") == 1 and b"chunked" not in said.lower()


def refuses(port: int, request: bytes) -> bool:
    """Whether a request is refused, and nothing behind it is taken for another one."""
    said, ended = answer(port, request + b"GET /flask HTTP/1.1\r\nHost: x\r\n\r\n", 1)
    return ended and len(re.findall(rb"HTTP/1\.[01] \d{3}", said)) <= 1 and b"x" * 300 not in said


def attack(port: int, pid: int) -> list[str]:
    """The cells of a running server's second row."""
    said, _ = answer(port, b"GET /flask HTTP/1.1\r\nHost: x\r\n\r\n", half=True)
    old = comes_at_once(port)
    refused = sum(refuses(port, request) for request in FRAMING)
    heads = (b"GET /", b"GET / HTTP/1.1\r\nHost: x\r\nA: ", HEAD + b"Host: x\r\nContent-Length: 67108864\r\n\r\n")
    sizes = [grown(port, pid, head) for head in heads]
    return [
        f"{refused} of {len(FRAMING)}",
        *(f"{size:.0f}" for size in sizes),
        f"{crowded(port):.1f}",
        "yes" if b"x" * 300 in said else "no",
        "yes" if old else "no",
    ]


def listening(port: int) -> bool:
    """Whether somebody answers there."""
    with closing(socket.socket()) as probe:
        return probe.connect_ex((HOST, port)) == 0


def row(name: str, cells: Callable[[int, int], list[str]]) -> list[str]:
    """Start a server, measure it, stop it."""
    with closing(socket.create_server((HOST, 0))) as free:
        port = free.getsockname()[1]
    command = [sys.executable, __file__, "--serve", name, str(port)]
    with stopped(subprocess.Popen(command, cwd=Path(__file__).parent, stderr=subprocess.DEVNULL)) as process:
        while not listening(port) and process.poll() is None:
            time.sleep(0.05)
        return [name, *cells(port, process.pid)]


SPEED = ["flush, ms", "departure, ms", "300 streams, s", "CPU µs a request", "CPU µs a chunk", "MiB", "header"]
STRENGTH = ["framing refused", "line, MiB", "field, MiB", "body, MiB", "slow, s", "half", "1.0"]


def main(arguments: list[str]) -> None:
    """Print the tables, or serve for them."""
    if arguments[:1] == ["--serve"]:
        SERVERS[arguments[1]](int(arguments[2]))
        return
    speed = lambda port, pid: asyncio.run(asyncio.wait_for(measure(port, pid), 300))  # noqa: E731
    for columns, cells in ((STRENGTH, attack), (SPEED, speed)):
        print("\n| server |", " | ".join(columns), "|\n" + "|---" * (len(columns) + 1) + "|")  # noqa: T201 - the result
        for name in arguments or SERVERS:
            print("|", " | ".join(row(name, cells)), "|", flush=True)  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1:])
