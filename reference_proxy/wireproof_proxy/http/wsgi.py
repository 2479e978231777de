"""A WSGI application on the edge: each request that is being answered has a thread.

A client that sends slowly, or is silent, has none: its request is read on the event loop first.
"""

from __future__ import annotations

import io
import logging
import queue
import sys
import threading
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_to_bytes

from wireproof_proxy.http.thread_answer import ClientLeftError, ThreadAnswer
from wireproof_surfaces.http.edge_limits import EdgeLimits
from wireproof_surfaces.http.http_server import HttpServer, listen
from wireproof_surfaces.http.socket_application import SocketApplication

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from _typeshed.wsgi import WSGIApplication, WSGIEnvironment

    from wireproof_surfaces.http.request_head import RequestHead
    from wireproof_surfaces.http.served_exchange import ServedExchange
    from wireproof_surfaces.http.socket_application import Refusal


log = logging.getLogger(__name__)


@dataclass(eq=False)
class AnswerThreads:
    """Runs jobs, each in one thread; those beyond `limit` wait for a free one.

    They are daemons, unlike those of `concurrent.futures`: one that hangs in a backend does not keep the process.
    """

    limit: int
    idle: float = 10
    """Seconds that a thread waits for a next job."""
    _jobs: queue.SimpleQueue[Callable[[], object] | None] = field(default_factory=queue.SimpleQueue)
    _free: int = 0
    _count: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self, job: Callable[[], object]) -> None:
        """Have it run soon; never blocks."""
        with self._lock:
            self._free -= 1
            more = self._free < 0 and self._count < self.limit
            self._count += more
        self._jobs.put(job)
        if more:
            self._start(self._count)

    def stop(self) -> None:
        """Let every thread end that has nothing to do; jobs that wait are run before."""
        with self._lock:
            count = self._count
        for _ in range(count):
            self._jobs.put(None)

    def _ends(self) -> bool:
        """Whether a thread that found nothing to do is to end; else a job has just been given to it."""
        with self._lock:
            self._free -= 1
            if self._free < 0:
                return False
            self._count -= 1
            return True

    def _start(self, number: int) -> None:
        try:
            threading.Thread(target=self._work, name=f"answer-{number}", daemon=True).start()
        except RuntimeError as error:  # the system gives no more: the job waits for a thread that there is
            log.warning("no thread can be started: %s", error)
            with self._lock:
                self._count -= 1

    def _work(self) -> None:
        while True:
            with self._lock:
                self._free += 1
            try:
                job = self._jobs.get(timeout=self.idle)
            except queue.Empty:
                if self._ends():
                    return
                continue
            if job is None:
                return
            try:
                job()
            except Exception:
                log.exception("a request could not be answered")
            # Not kept while the thread waits: it holds a request and its answer.
            del job


CLIENT_KEY = "wireproof_proxy.client"
"""What an application may ask about the client: a `ThreadAnswer`."""
CONNECTION_KEY = "wireproof_proxy.connection"
"""What is the same for all requests over one connection."""


SPARE_THREADS = 16
"""Threads besides those that run turns: for health checks, models and refusals."""


def environ_of(head: RequestHead, server: tuple[str, int], client: str = "") -> WSGIEnvironment:
    """What WSGI says of a request, but for its body."""
    environ: WSGIEnvironment = {
        "REQUEST_METHOD": head.method,
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote_to_bytes(head.path).decode("latin-1"),
        "QUERY_STRING": head.query.decode("latin-1"),
        "SERVER_NAME": server[0],
        "SERVER_PORT": str(server[1]),
        "SERVER_PROTOCOL": f"HTTP/{head.version}",
        "REMOTE_ADDR": client,
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(),
        # The input ends by itself, also where a request announces no length.
        "wsgi.input_terminated": True,
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
    }
    for name, value in head.fields:
        # `a_b` and `a-b` are one name to WSGI: the first could pass for the second. An offer of another protocol is
        # not taken, and says nothing then (RFC 9110, 7.8); Flask's routing would refuse that of a WebSocket.
        if b"_" in name or name == b"upgrade":
            continue
        key, text = _key(name), value.decode("latin-1")
        environ[key] = f"{environ[key]}, {text}" if key in environ else text
    return environ


# Clients send a few dozen names; whoever makes up others fills 8 MiB at most.
@lru_cache(maxsize=256)
def _key(name: bytes) -> str:
    key = name.decode("latin-1").upper().replace("-", "_")
    return key if key in {"CONTENT_TYPE", "CONTENT_LENGTH"} else f"HTTP_{key}"


def wsgi_server(
    app: WSGIApplication,
    host: str,
    port: int,
    *,
    turns: int,
    accept: Callable[[WSGIEnvironment], int] | None = None,
    limits: EdgeLimits | None = None,
    sockets: Callable[[ServedExchange], Refusal | None] | None = None,
) -> HttpServer:
    """A server of `app` that listens already, and serves as soon as it is started.

    `accept` says by a request's head how many bytes of its body the application looks at; None: of every body as many
    as `limits` allow. `sockets` refuses handshakes of WebSockets for Responses; None: none is opened. At most `turns`
    requests run for long at once.

    Raises:
        OSError: the address cannot be listened at.
    """
    at, limits = listen(host, port), limits or EdgeLimits()
    threads = AnswerThreads(turns + SPARE_THREADS)
    application = ThreadedApplication(app, at.getsockname()[:2], limits.body, accept, threads)
    return HttpServer(application if sockets is None else SocketApplication(application, sockets), at, limits)


@dataclass(frozen=True, slots=True)
class ThreadedApplication:
    """Has a WSGI application answer in `threads`; `address`: where the server listens, `largest`: of a body."""

    app: WSGIApplication
    address: tuple[str, int]
    largest: int
    accept: Callable[[WSGIEnvironment], int] | None
    threads: AnswerThreads

    def wants(self, exchange: ServedExchange) -> int:
        """How many bytes of a body the application looks at."""
        if self.accept is None:
            return self.largest
        exchange.context = self._environ(exchange)
        return min(self.accept(exchange.context), self.largest)

    def answer(self, exchange: ServedExchange) -> None:
        """Have a thread answer."""
        environ, exchange.context = exchange.context or self._environ(exchange), None
        answer = ThreadAnswer(exchange)
        environ["wsgi.input"] = io.BytesIO(exchange.body)
        environ[CLIENT_KEY], environ[CONNECTION_KEY] = answer, exchange.connection
        self.threads.run(lambda: _run(self.app, environ, answer))

    def stop(self) -> None:
        """Let the threads end that have nothing to do; the others end with their answers, as their clients are gone."""
        self.threads.stop()

    def _environ(self, exchange: ServedExchange) -> WSGIEnvironment:
        return environ_of(exchange.head, self.address, exchange.connection.peer)


def _run(app: WSGIApplication, environ: WSGIEnvironment, answer: ThreadAnswer) -> None:
    def start_response(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Callable[[bytes], object]:  # noqa: ANN401 - WSGI's
        del exc_info
        answer.begin(status, headers)
        return answer.put

    try:
        _send(app(environ, start_response), answer)
    except ClientLeftError:
        pass  # there is no one to answer
    except Exception:
        log.exception("the application failed")
        answer.end(failed=True)
    else:
        answer.end()


def _send(pieces: Iterable[bytes], answer: ThreadAnswer) -> None:
    try:
        for piece in pieces:
            if piece:
                answer.put(piece)
    finally:
        close = getattr(pieces, "close", None)
        if close is not None:
            close()
