"""The service on a loopback port: a thread for each request, all of them taking turns at the one service.

A thread that has nothing to send waits for its moment, for the bell that rings whenever another one has done something,
and for its client to go away.
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
from typing import TYPE_CHECKING, Any

from assay_mocks.upstream.failing import Refusal, refusal
from assay_mocks.upstream.service import Service
from assay_mocks.upstream.writing import frame
from assay_scripts.player import Until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from assay_mocks.upstream.failing import Hangup
    from assay_mocks.upstream.reply import Json, Output, Reply
    from assay_scripts.steps import Library

KEPT = 256
"""How many bodies of requests are kept."""


class Upstream(http.server.ThreadingHTTPServer):
    """The server. `url` is the base URL for a Codex; `bodies` are those of the last requests, in order."""

    daemon_threads = True
    block_on_close = True

    def __init__(self, library: Library, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.service = Service(library)
        self.bodies: deque[bytes] = deque(maxlen=KEPT)
        self.turn = threading.Lock()
        self.closing = False
        self._bells: set[socket.socket] = set()

    @property
    def url(self) -> str:
        """The base URL, up to and with /v1."""
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    @contextmanager
    def moved(self, reply: Reply) -> Iterator[None]:
        """Within the block a reply may be moved on; others that wait look again if that changed something for them."""
        with self.turn:
            before = reply.changes
            yield
            if reply.changes != before:
                self._ring()

    def close_replies(self) -> None:
        """End every reply that waits."""
        with self.turn:
            self.closing = True
            self._ring()

    def _ring(self) -> None:
        for bell in self._bells:
            bell.send(b"!")

    @contextmanager
    def bell(self) -> Iterator[socket.socket]:
        """What becomes readable when it rings."""
        hear, pull = socket.socketpair()
        with hear, pull:
            pull.setblocking(False)  # noqa: FBT003 - the name of the method says it
            with self.turn:
                self._bells.add(pull)
            try:
                yield hear
            finally:
                with self.turn:
                    self._bells.discard(pull)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - as the base class has it
        """A client that went away is no error."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(http.server.BaseHTTPRequestHandler):
    server: Upstream
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Nothing is to be had by GET."""
        self._refuse(refusal(404, f"there is no {self.path} here", type="invalid_request_error"))

    def do_POST(self) -> None:
        """Answer a request for a response."""
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        if not self.path.partition("?")[0].endswith("/responses"):
            self.do_GET()
            return
        with self.server.turn:
            self.server.bodies.append(body)
            reply = self.server.service.answer(body, time.time())
        if isinstance(reply, Refusal):
            self._refuse(reply)
            return
        self.close_connection = True
        try:
            with self.server.bell() as bell:
                self._play(reply, bell)
        finally:
            with self.server.moved(reply):
                reply.left()

    def _play(self, reply: Reply, bell: socket.socket) -> None:
        told = reply.told(time.time())
        output = self._next(reply, lambda: next(told))
        while output is not None:
            if isinstance(output, Until):
                if self._is_left(output, bell):
                    return
            else:
                self._send(output)
            output = self._next(reply, lambda: told.send(time.time()))

    def _next(self, reply: Reply, step: Callable[[], Output]) -> Output | None:
        with self.server.moved(reply), suppress(StopIteration):
            return step()
        return None

    def _is_left(self, until: Until, bell: socket.socket) -> bool:
        """Wait; whether the client has gone away meanwhile, or the server is to close."""
        seconds = None if until.time == math.inf else max(until.time - time.time(), 0)
        heard, _, _ = select.select([self.connection, bell], [], [], seconds)
        if bell in heard:
            bell.recv(4096)
        return self.server.closing or (self.connection in heard and not self.connection.recv(1, socket.MSG_PEEK))

    _began = False

    def _send(self, output: Json | Refusal | Hangup) -> None:
        match output:
            case Refusal():
                self._refuse(output)
            case dict() as event:
                if not self._began:
                    self._begin()
                self.wfile.write(frame(event))

    def _begin(self) -> None:
        self._began = True
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()

    def _refuse(self, error: Refusal) -> None:
        self.send_response(error.status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(error.body)))
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(error.body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def serving(library: Library, port: int = 0) -> Iterator[Upstream]:
    """The service on a loopback port (0: any free one) for the length of a `with` block.

    Raises:
        OSError: the port is taken.
    """
    upstream = Upstream(library, port)
    thread = threading.Thread(target=upstream.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield upstream
    finally:
        upstream.close_replies()
        upstream.shutdown()
        upstream.server_close()
        thread.join()
