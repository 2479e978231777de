"""What the benchmarks share: requests as bytes, and what processes use and are. Linux: it reads /proc."""  # noqa: INP001 - a folder of programs, no package

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

HOST, KEY = "127.0.0.1", "wireproof"


def post(asked: Mapping[str, object], path: str = "/v1/chat/completions") -> bytes:
    """A request."""
    data = json.dumps(asked).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: {HOST}\r\nContent-Type: application/json\r\n"
        f"Authorization: Bearer {KEY}\r\nContent-Length: {len(data)}\r\n\r\n"
    )
    return head.encode() + data


def used(pid: int, *, below: bool = True) -> float:
    """Seconds of the processor that a process has used, and those below it."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    own = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return own + sum(map(used, _children(pid) if below else ()))


def resident(pid: int) -> float:
    """MiB of a process and those below it."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20 + sum(map(resident, _children(pid)))


def _children(pid: int) -> set[int]:
    found: set[int] = set()
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):  # the thread has ended since it was listed
            found.update(map(int, (task / "children").read_text().split()))
    return found


@contextmanager
def saying_its_url(*words: str, **env: str) -> Iterator[tuple[str, int]]:
    """The URL that a server of this Python prints last in its first line, and its process."""
    process = subprocess.Popen([sys.executable, *words], env={**os.environ, **env}, stdout=subprocess.PIPE, text=True)
    with stopped(process):
        assert process.stdout is not None  # noqa: S101 - a pipe was asked for
        yield process.stdout.readline().split()[-1], process.pid


@contextmanager
def stopped(process: subprocess.Popen[Any]) -> Iterator[subprocess.Popen[Any]]:
    """A process that is stopped at the end of a `with` block."""
    with process:
        try:
            yield process
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
