"""Soak the endpoint, or the proxy: half of what it can do, for a long time; does it take more and more memory?

    python benchmarks/soak.py --minutes 30 [--proxy]

First it measures how many requests a second are answered over 16 connections, for as long as it takes until all is full
that the endpoint remembers (nonces, responses, models). Then half of that rate is sent until the time is up: whole
answers and streams of both surfaces, under nonces of their own, stored responses, echoes, refused requests, and clients
that leave. Printed is a line for each tenth of the time. The status is 1 when an answer was not the right one, when
memory has grown, or when files stay open. With --proxy all of that is of the bundled proxy, and its memory is that of
the mock behind it, too. Linux: it reads /proc.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import re
import statistics
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import uvloop
from endpoints import SCRIPTS, connect, running
from measured import KEY, post, resident, saying_its_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from endpoints import Connection

# This file is a script, in no package.
# ruff: noqa: INP001

CLIENTS = 16
PARTS = 10
FILLING = 12_000
"""Requests after which what is remembered is full: 4096 nonces are the most, and half of the requests have one."""
SHARE = 0.5
GROWTH, SLACK = 1.02, 1.0
"""Memory is flat when its median in the last third is at most so many times that in the middle third, and MiB more."""
SAMPLES = 60
SETTINGS = {
    "PROXY_PORT": "0", "PROXY_API_KEY": KEY, "PROXY_MODELS": "m", "PROXY_OUTPUT_MODE": "openai-json",
    "PROXY_LOG_LEVEL": "warning", "CODEX_BIN": str(Path(sys.executable).with_name("wireproof-codex")), "CODEX_HOME": "",
    "WIREPROOF_PACE": "0",
}  # fmt: skip
_TEXT = re.compile(rb'"(?:content|text|delta)":"([^"]*)')


@dataclass(frozen=True)
class Kind:
    """A kind of request."""

    path: str
    body: dict[str, object]
    status: int = 200
    leaves: bool = False
    """Whether the client leaves with the first text."""
    says: str = ""
    """What the text of its answer holds, which no other's does."""

    def request(self, nonce: int) -> bytes:
        """The bytes, under a nonce."""
        return post(json.loads(json.dumps(self.body).replace("NONCE", str(nonce))), self.path)

    def check(self, status: int, body: bytes, nonce: int) -> None:
        """Refuse an answer that is not the right one.

        Raises:
            ValueError: with what is wrong.
        """
        text = b"".join(_TEXT.findall(body)).decode()
        if status != self.status or self.says.replace("NONCE", str(nonce)) not in text:
            raise ValueError(f"the status is {status}, the text {text[:80]!r}")


def _said(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": f"{text} [[wireproof:text/hello#NONCE]]"}]


CHAT, RESPONSES = "/v1/chat/completions", "/v1/responses"
KINDS = (
    Kind(CHAT, {"model": "m", "messages": [{"role": "user", "content": "short please"}]}),
    Kind(CHAT, {"model": "m", "stream": True, "messages": _said("Hi.")}),
    Kind(CHAT, {"model": "m", "messages": _said("Hello, " * 200)}),
    Kind(RESPONSES, {"model": "m", "input": "Hi. [[wireproof:text/hello#NONCE]]"}),
    Kind(RESPONSES, {"model": "m", "stream": True, "input": "I am a.NONCE."}, says="a.NONCE."),
    Kind(CHAT, {"model": "m", "messages": [{"role": "user", "content": "I am b.NONCE."}]}, says="b.NONCE."),
    Kind(CHAT, {"model": "model-NONCE", "messages": []}, status=400),
    Kind(CHAT, {"model": "m", "stream": True, "messages": _said("long please")}, leaves=True),
)


@dataclass
class Soak:
    """What is sent, and what came of it."""

    port: int
    numbers: Iterator[int] = field(default_factory=itertools.count)
    answered: int = 0
    wrong: list[str] = field(default_factory=list)

    async def client(self, goes_on: Callable[[], bool], pause: float) -> None:
        """Ask one after the other; `pause`: seconds from one request to the next, 0 for none."""
        connection, due = await connect(self.port), time.perf_counter()
        while goes_on():
            number = next(self.numbers)
            kind = KINDS[number % len(KINDS)]
            if not await self._ask(connection, kind, number):
                connection.writer.close()
                connection = await connect(self.port)
            due += pause
            await asyncio.sleep(max(0.0, due - time.perf_counter()) if pause else 0)
        connection.writer.close()

    async def _ask(self, connection: Connection, kind: Kind, number: int) -> bool:
        """Whether the connection goes on."""
        connection.writer.write(kind.request(number))
        try:
            async with asyncio.timeout(60):
                await self._answer(connection, kind, number)
        except (TimeoutError, asyncio.IncompleteReadError, ConnectionError, ValueError) as error:
            self.wrong.append(f"{kind.path} {number}: {error!r}")
            return False
        self.answered += 1
        return not kind.leaves

    async def _answer(self, connection: Connection, kind: Kind, number: int) -> None:
        head = (await connection.reader.readuntil(b"\r\n\r\n")).lower()
        status = int(head.split()[1])
        length = head.partition(b"content-length: ")[2].partition(b"\r\n")[0]
        if kind.leaves:
            body = await connection.reader.readuntil(b'"content":"')
        elif length:
            body = await connection.reader.readexactly(int(length))
        else:
            body = await connection.reader.readuntil(b"\r\n0\r\n\r\n")
        kind.check(status, body, number)


async def crowd(soak: Soak, goes_on: Callable[[], bool], pause: float = 0) -> float:
    """Requests a second."""
    before, began = soak.answered, time.perf_counter()
    await asyncio.gather(*(soak.client(goes_on, pause) for _ in range(CLIENTS)))
    return (soak.answered - before) / (time.perf_counter() - began)


@contextmanager
def proxy() -> Iterator[tuple[int, int]]:
    """The bundled proxy with the mock behind it: its port and its process."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as scripts:
        scripts.write(SCRIPTS)
        scripts.flush()
        with saying_its_url("-m", "wireproof_proxy", **SETTINGS, WIREPROOF_SCRIPTS=scripts.name) as (url, pid):
            yield int(url.rsplit(":", 1)[1].split("/")[0]), pid


def files(pid: int) -> int:
    """How many files a process has open."""
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


async def soaked(port: int, pid: int, minutes: float) -> list[str]:
    """What is wrong; the lines are printed meanwhile."""
    soak, before = Soak(port), files(pid)
    capacity = await crowd(soak, lambda: soak.answered < FILLING and not soak.wrong)
    if soak.wrong:
        return soak.wrong[:5]
    pause = CLIENTS / (capacity * SHARE)
    print(f"{capacity:,.0f} requests/s; {capacity * SHARE:,.0f} are sent", flush=True)  # noqa: T201 - the result
    sizes, began = [], time.perf_counter()
    half = asyncio.create_task(crowd(soak, lambda: time.perf_counter() < began + minutes * 60, pause))
    for number in range(1, SAMPLES + 1):
        await asyncio.sleep(max(0.0, began + number * minutes * 60 / SAMPLES - time.perf_counter()))
        sizes.append(resident(pid))
        if number % (SAMPLES // PARTS) == 0:
            took = (time.perf_counter() - began) / 60
            line = f"{took:6.1f} min  {soak.answered:,} answers  {len(soak.wrong)} wrong  {sizes[-1]:.1f} MiB"
            print(line, flush=True)  # noqa: T201 - the result
    rate = await half
    print(f"{rate:,.0f} requests/s were answered", flush=True)  # noqa: T201 - the result
    return [*soak.wrong[:5], *_grown(sizes), *await _left_open(pid, before)]


def _grown(sizes: list[float]) -> Iterator[str]:
    third = len(sizes) // 3
    middle, last = statistics.median(sizes[third : 2 * third]), statistics.median(sizes[2 * third :])
    print(f"{middle:.1f} MiB in the middle third, {last:.1f} in the last", flush=True)  # noqa: T201 - the result
    if last > middle * GROWTH + SLACK:
        yield f"memory has grown from {middle:.1f} to {last:.1f} MiB"


async def _left_open(pid: int, before: int) -> list[str]:
    """Files that stay open after all connections have gone."""
    for _ in range(100):
        if files(pid) <= before:
            return []
        await asyncio.sleep(0.1)
    return [f"{files(pid)} files are open, and were {before} before"]


def main() -> int:
    """The status: 0 when all is well."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--proxy", action="store_true")
    given = parser.parse_args()
    with proxy() if given.proxy else running("wireproof") as (port, pid, *_):
        problems = uvloop.run(soaked(port, pid, given.minutes))
    for problem in problems:
        print(problem, file=sys.stderr)  # noqa: T201 - the result
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
