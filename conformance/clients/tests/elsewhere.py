"""Agents as npm installs them: their native programs, and what they ask of any other host than this one."""

from __future__ import annotations

import platform
import socketserver
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


INSTALLED = Path(sys.prefix) / "clients" / "node_modules"
_ARCHITECTURE = {"x86_64": "x64", "aarch64": "arm64"}


def native(pattern: str) -> Path:
    """The native program that a pattern names below the modules of npm; `{machine}` is this one's name there.

    It is run as it is: the one in JavaScript that starts it is replaced by a script at installation, and none is run.

    Raises:
        FileNotFoundError: it is not installed.
    """
    machine = f"{sys.platform}-{_ARCHITECTURE.get(platform.machine(), platform.machine())}"
    pattern = pattern.format(machine=machine)
    found = sorted(INSTALLED.glob(pattern))
    if not found:
        raise FileNotFoundError(f"no {pattern} in {INSTALLED}: run conformance/clients/install.py conformance/clients")
    return found[0]


@contextmanager
def elsewhere() -> Iterator[tuple[dict[str, str], list[str]]]:
    """The variables that send a client's requests to other hosts here, and the list of their first lines.

    Here is an HTTP proxy that notes each request and passes none on.
    """
    asked: list[str] = []

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            asked.append(self.rfile.readline().decode(errors="replace").strip())
            self.wfile.write(b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        here = f"http://127.0.0.1:{server.server_address[1]}"
        yield {"HTTP_PROXY": here, "HTTPS_PROXY": here, "NO_PROXY": "127.0.0.1,localhost"}, asked
        server.shutdown()
        thread.join()
