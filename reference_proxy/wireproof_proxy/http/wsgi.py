"""A WSGI application on the edge: each request that is being answered has a thread.

A client that sends slowly, or is silent, has none: its request is read on the event loop first.
"""

from __future__ import annotations

import io
import logging
import sys
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import unquote_to_bytes

from wireproof_proxy.http.answer_threads import AnswerThreads
from wireproof_proxy.http.thread_answer import ClientLeftError, ThreadAnswer
from wireproof_surfaces.http.edge_limits import EdgeLimits
from wireproof_surfaces.http.http_server import HttpServer, base_url, listen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from _typeshed.wsgi import WSGIApplication, WSGIEnvironment

    from wireproof_surfaces.http.request_head import RequestHead
    from wireproof_surfaces.http.served_exchange import ServedExchange

log = logging.getLogger(__name__)

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
        # `a_b` and `a-b` are one name to WSGI: the first could pass for the second.
        if b"_" in name:
            continue
        key, text = _key(name), value.decode("latin-1")
        environ[key] = f"{environ[key]}, {text}" if key in environ else text
    return environ


# Clients send a few dozen names; whoever makes up others fills 8 MiB at most.
@lru_cache(maxsize=256)
def _key(name: bytes) -> str:
    key = name.decode("latin-1").upper().replace("-", "_")
    return key if key in {"CONTENT_TYPE", "CONTENT_LENGTH"} else f"HTTP_{key}"


class _ThreadedApplication:
    """Has a WSGI application answer in threads."""

    def __init__(
        self, app: WSGIApplication, limit: int, accept: Callable[[WSGIEnvironment], int] | None, threads: AnswerThreads
    ) -> None:
        self._app = app
        self._limit = limit
        self._accept = accept
        self._threads = threads
        self.call_soon: Callable[[Callable[[], object]], object]
        """Has a function called on the loop; set as soon as there is a server."""
        self.address = ("", 0)

    def wants(self, exchange: ServedExchange) -> int:
        """How many bytes of a body the application looks at."""
        if self._accept is None:
            return self._limit
        exchange.context = self._environ(exchange)
        return min(self._accept(exchange.context), self._limit)

    def answer(self, exchange: ServedExchange) -> None:
        """Have a thread answer."""
        environ, exchange.context = exchange.context or self._environ(exchange), None
        environ["wsgi.input"] = io.BytesIO(exchange.body)
        answer = ThreadAnswer(exchange, self.call_soon)
        environ[CLIENT_KEY], environ[CONNECTION_KEY] = answer, exchange.connection
        self._threads.run(lambda: _run(self._app, environ, answer))

    def stop(self) -> None:
        """Let the threads end that have nothing to do; the others end with their answers, as their clients are gone."""
        self._threads.stop()

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


class WsgiServer:
    """Serves `app`, as a context manager or by `start` and `stop`.

    `accept` says by a request's head how many bytes of its body the application looks at; None: of every body as many
    as `limits` allow. At most `turns` requests run for long at once.
    """

    def __init__(
        self,
        app: WSGIApplication,
        host: str,
        port: int,
        *,
        turns: int,
        accept: Callable[[WSGIEnvironment], int] | None = None,
        limits: EdgeLimits | None = None,
    ) -> None:
        self._host = host
        self._port = port
        self._limits = limits or EdgeLimits()
        threads = AnswerThreads(turns + SPARE_THREADS)
        self._application = _ThreadedApplication(app, self._limits.body, accept, threads)

    @property
    def url(self) -> str:
        """The base URL clients use."""
        return base_url(self._host, self._port)

    def start(self) -> None:
        """Listen, and serve from now on.

        Raises:
            OSError: the address cannot be listened at.
        """
        at = listen(self._host, self._port)
        self._port = at.getsockname()[1]
        self._application.address = (self._host, self._port)
        self._server = HttpServer(self._application, at, self._limits)
        self._application.call_soon = self._server.call_soon
        self._server.start()

    def drop_stuck(self) -> None:
        """Give up on the clients that do not read: answers to them would not end."""
        self._server.drop_stuck()

    def stop(self) -> None:
        """End every connection, and wait until it has ended."""
        self._server.stop()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_raised: object) -> None:
        self.stop()
