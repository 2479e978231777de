"""The service on a loopback port: a thread per request, and one lock around the service that they share.

A thread that has nothing to send waits for three things at once: the time of its next output, the disconnect of its
client, and its bell, a socket that becomes readable when another thread has changed something (opened a gate, ended).
"""

from __future__ import annotations

import http.server
import math
import select
import socket
import sys
import threading
import time
from collections import deque
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from wireproof_mocks.upstream.failing import HttpRefusal, refusal
from wireproof_mocks.upstream.service import ModelService
from wireproof_mocks.upstream.writing import frame
from wireproof_scripts.player import Until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from wireproof_mocks.upstream.reply import ModelReply, Output
    from wireproof_mocks.upstream.request import Json
    from wireproof_scripts.steps import Library

KEPT = 256
"""How many bodies of requests are kept."""


class UpstreamServer(http.server.ThreadingHTTPServer):
    """The server."""

    daemon_threads = True
    block_on_close = True

    def __init__(self, library: Library, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.service = ModelService(library)
        # Bounded: Codex sends 30 to 40 kB with each.
        self.bodies: deque[bytes] = deque(maxlen=KEPT)
        """The bodies of the last requests, in order."""
        self.lock = threading.Lock()
        """Held while the service or a reply is used, but not while a reply waits."""
        self.closing = False
        """Every reply that waits is to end."""
        self._bells: set[socket.socket] = set()

    @property
    def url(self) -> str:
        """The base URL for a Codex: the part up to /v1, inclusive."""
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    @contextmanager
    def resuming(self, reply: ModelReply) -> Iterator[None]:
        """Hold the lock while a reply is resumed; ring for the others if that has changed something for them."""
        with self.lock:
            before = reply.changes
            yield
            if reply.changes != before:  # most outputs change nothing for others
                self._ring()

    def close_replies(self) -> None:
        """End every reply that waits."""
        with self.lock:
            self.closing = True
            self._ring()

    def _ring(self) -> None:
        for bell in self._bells:
            with suppress(BlockingIOError):  # its buffer is full of earlier rings: it is readable anyway
                bell.send(b"!")

    @contextmanager
    def bell(self) -> Iterator[socket.socket]:
        """A socket that becomes readable when it rings."""
        # Sockets and not an Event: `select` waits for them and for the client at once.
        bell, pull = socket.socketpair()
        with bell, pull:
            pull.setblocking(False)  # noqa: FBT003 - the name of the method says it
            with self.lock:
                self._bells.add(pull)
            try:
                yield bell
            finally:
                with self.lock:
                    self._bells.discard(pull)

    def handle_error(self, request: socket.socket | tuple[bytes, socket.socket], client_address: object) -> None:
        """Print the traceback, unless the client has disconnected: scripts make clients do that."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(http.server.BaseHTTPRequestHandler):
    server: UpstreamServer
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Answer 404: only /responses exists, and only for POST."""
        self._refuse(refusal(404, f"there is no {self.path} here", type="invalid_request_error"))

    def do_POST(self) -> None:
        """Answer a request for a response."""
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        # Codex can be configured to add query parameters.
        if not self.path.partition("?")[0].endswith("/responses"):
            self.do_GET()
            return
        with self.server.lock:
            self.server.bodies.append(body)
            reply = self.server.service.answer(body, time.time())
        if isinstance(reply, HttpRefusal):
            self._refuse(reply)
            return
        # The end of the body is the end of the connection: there is no length, and Codex needs no chunks.
        self.close_connection = True
        try:
            with self.server.bell() as bell:
                self._play(reply, bell)
        finally:
            with self.server.resuming(reply):
                reply.disconnected()

    def _play(self, reply: ModelReply, bell: socket.socket) -> None:
        outputs = reply.outputs(time.time())
        output = self._next(reply, lambda: next(outputs))
        while output is not None:
            if isinstance(output, Until):
                if self._must_end(output, bell):
                    return
            else:
                self._send(output)
            output = self._next(reply, lambda: outputs.send(time.time()))

    def _next(self, reply: ModelReply, step: Callable[[], Output]) -> Output | None:
        """The next output of a reply; None after the last."""
        with self.server.resuming(reply), suppress(StopIteration):
            return step()
        return None

    def _must_end(self, until: Until, bell: socket.socket) -> bool:
        """Wait until this time or a change; whether the client has disconnected or the server closes."""
        seconds = None if until.time == math.inf else max(until.time - time.time(), 0)
        # A client sends nothing after its request: its socket becomes readable when it disconnects.
        ready, _, _ = select.select([self.connection, bell], [], [], seconds)
        if bell in ready:
            bell.recv(4096)  # all rings so far are one
        # Peeked at: a readable socket may also hold bytes, which are no disconnect.
        return self.server.closing or (self.connection in ready and not self.connection.recv(1, socket.MSG_PEEK))

    _started = False

    def _send(self, output: Json | HttpRefusal) -> None:
        if isinstance(output, HttpRefusal):
            self._refuse(output)
            return
        # Only with the first event, since until then the answer may still be an HTTP error.
        if not self._started:
            self._started = True
            self._send_head(200, "text/event-stream")
        self.wfile.write(frame(output))

    def _refuse(self, error: HttpRefusal) -> None:
        self._send_head(error.status, "application/json", ("content-length", str(len(error.body))))
        self.wfile.write(error.body)

    def _send_head(self, status: int, content_type: str, *more: tuple[str, str]) -> None:
        self.send_response(status)
        for name, value in (("content-type", content_type), *more, ("connection", "close")):
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Write no access log."""


@contextmanager
def serving(library: Library, port: int = 0) -> Iterator[UpstreamServer]:
    """The service on a loopback port (0: any free one) for the length of a `with` block.

    Raises:
        OSError: the port is taken.
    """
    upstream = UpstreamServer(library, port)
    # `shutdown` takes as long as this interval, by default 0.5 s.
    thread = threading.Thread(target=upstream.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield upstream
    finally:
        # First: `server_close` waits for the threads of replies, some of which would wait endlessly.
        upstream.close_replies()
        upstream.shutdown()
        upstream.server_close()
        thread.join()
