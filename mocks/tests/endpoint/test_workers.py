"""An endpoint of several processes, started by either command: each of them takes connections, and all end together."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest

WIREPROOF = shutil.which("wireproof", path=str(Path(sys.executable).parent)) or "wireproof"
COMMANDS = [[sys.executable, "-m", "wireproof_endpoint", "--port", "0"], [WIREPROOF, "serve", "--port", "0"]]
ASKED = b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"


def sockets(pid: int) -> int:
    """How many sockets a process has open."""
    found = 0
    for one in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(OSError):
            found += one.readlink().name.startswith("socket:")
    return found


def children(pid: int) -> list[int]:
    return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@pytest.mark.parametrize("command", COMMANDS, ids=["module", "command"])
def test_each_worker_takes_connections(command: list[str]) -> None:
    words = [*command, "--workers", "2"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process, ExitStack() as stack:
        stack.callback(process.terminate)
        assert process.stdout
        at = urlsplit(process.stdout.readline().split()[-1])
        assert at.hostname
        assert at.port
        workers = [process.pid, *children(process.pid)]
        assert len(workers) == 2
        before, began = {pid: sockets(pid) for pid in workers}, time.monotonic()
        # The kernel gives a connection to whichever asks first.
        while any(sockets(pid) <= before[pid] + 2 for pid in workers):
            assert time.monotonic() - began < 30, {pid: sockets(pid) for pid in workers}
            connection = stack.enter_context(socket.create_connection((at.hostname, at.port), timeout=20))
            connection.sendall(ASKED)
            assert connection.recv(15) == b"HTTP/1.1 200 OK"
