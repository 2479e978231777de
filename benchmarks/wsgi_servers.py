"""Compare WSGI servers for one job: hundreds of slow event streams from an application that blocks.

    python -m pip install waitress gunicorn cheroot granian gevent
    python benchmarks/wsgi_servers.py [NAME …]

Each server runs in a process of its own with the same application and 320 threads (greenlets under gevent). Over
loopback the driver measures, and prints as a row of a Markdown table:

- flush: from the application's yield of an event to its arrival (one stream, 200 events, 10 ms apart);
- departure: until the application knows that the client of a silent stream has left; it looks every 100 ms at the
  client's socket, or at what the server offers instead (the worst of five);
- crowd: 300 streams at once, 10 events each, 200 ms apart: the time until all have ended (2 s would be perfect) and
  the latest arrival of an event;
- chunks: small events per second over eight streams that never pause;
- memory: resident size of all its processes, at the start and at the end (from /proc: Linux);
- header: whether a stream's head has `Connection: keep-alive`, which an application may not always set itself.
"""

from __future__ import annotations

import asyncio
import math
import os
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

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Environ = dict[str, Any]
    Start = Callable[..., Any]

HOST = "127.0.0.1"
THREADS = 320
CROWD = 300
KEEP_ALIVE = ("Connection", "keep-alive")
departures: list[float] = []


# The application


def application(environ: Environ, start_response: Start) -> Iterable[bytes]:
    """Streams, and a page that tells when a silent client was last seen to leave."""
    # waitress refuses an application that sets this header; the others pass it on or replace it.
    start_response("200 OK", [("Content-Type", "text/event-stream")] + [KEEP_ALIVE] * ("waitress" not in sys.modules))
    match environ["PATH_INFO"].split("/"):
        case ["", "events", count, gap]:
            return events(int(count), float(gap))
        case ["", "silent"]:
            return silent(departed(environ))
        case _:
            return [str(departures[-1] if departures else 0).encode()]


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
    if told := environ.get("waitress.client_disconnected"):
        return lambda: bool(told())
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


def run_gevent(port: int) -> None:
    """Greenlets; everything that blocks must be patched."""
    from gevent import monkey, pywsgi

    monkey.patch_all()

    class Handler(pywsgi.WSGIHandler):
        def get_environ(self) -> Environ:
            return {**super().get_environ(), "benchmark.socket": self.socket}

    pywsgi.WSGIServer((HOST, port), application, log=None, handler_class=Handler).serve_forever()


SERVERS = {
    "waitress": run_waitress,
    "gunicorn": run_gunicorn,
    "cheroot": run_cheroot,
    "granian": run_granian,
    "gevent": run_gevent,
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


def resident(pid: int) -> float:
    """MiB of a process and its children."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20 + sum(resident(int(child)) for child in children)


async def measure(port: int, pid: int) -> list[str]:
    """The cells of a running server's row."""
    idle = resident(pid)
    late = await stream(port, "/events/200/0.01")
    left = [await departure(port, 0.2 + 0.017 * number) for number in range(5)]
    began = time.monotonic()
    crowd = await asyncio.gather(*(stream(port, "/events/10/0.2") for _ in range(CROWD)))
    wall = time.monotonic() - began
    began = time.monotonic()
    await asyncio.gather(*(stream(port, "/events/10000/0") for _ in range(8)))
    rate = 80_000 / (time.monotonic() - began)
    return [
        f"{statistics.median(late) * 1e3:.2f} / {max(late) * 1e3:.1f}",
        f"{max(seconds for seconds, _ in left) * 1e3:.0f}",
        f"{wall:.1f}",
        f"{max(max(times) for times in crowd) * 1e3:.0f}",
        f"{rate / 1e3:.0f}",
        f"{idle:.0f} → {resident(pid):.0f}",
        "yes" if "connection: keep-alive" in left[0][1] else "no",
    ]


def listening(port: int) -> bool:
    """Whether somebody answers there."""
    with closing(socket.socket()) as probe:
        return probe.connect_ex((HOST, port)) == 0


def row(name: str) -> list[str]:
    """Start a server, measure it, stop it."""
    with closing(socket.create_server((HOST, 0))) as free:
        port = free.getsockname()[1]
    command = [sys.executable, __file__, "--serve", name, str(port)]
    with subprocess.Popen(command, cwd=Path(__file__).parent) as process:
        try:
            while not listening(port) and process.poll() is None:
                time.sleep(0.05)
            return [name, *asyncio.run(asyncio.wait_for(measure(port, process.pid), 120))]
        finally:
            process.send_signal(signal.SIGINT if name == "gevent" else signal.SIGTERM)
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()


def main(arguments: list[str]) -> None:
    """Print the table, or serve for it."""
    if arguments[:1] == ["--serve"]:
        SERVERS[arguments[1]](int(arguments[2]))
        return
    columns = ["server", "flush median / max, ms", "departure, ms", "300 streams, s", "latest event, ms"]
    columns += ["1000 chunks/s", "MiB", "header"]
    print("|", " | ".join(columns), "|\n" + "|---" * len(columns) + "|")  # noqa: T201 - the result
    for name in arguments or SERVERS:
        print("|", " | ".join(row(name)), "|", flush=True)  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1:])
