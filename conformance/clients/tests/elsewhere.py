"""What a client asks of any other host than this one: an HTTP proxy that notes each request and passes none on."""

from __future__ import annotations

import socketserver
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def elsewhere() -> Iterator[tuple[dict[str, str], list[str]]]:
    """The variables that send a client's requests to other hosts here, and the list of their first lines."""
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
