"""The WSGI server: cheroot, chosen by measurement (docs/wsgi-server.md).

One thread per running request, and enough of them that health checks and refusals are answered while every turn's
slot is taken. The application is given each client's socket, at which it can see that a client has left.
"""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from typing import TYPE_CHECKING, Any, Self

from cheroot import wsgi
from cheroot.server import HTTPConnection, HTTPRequest

from assay_proxy.errors import BAD_REQUEST, INTERNAL, TOO_LARGE, envelope
from assay_proxy.http.disconnect import SOCKET_KEY
from assay_proxy.http.json_response import request_id

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

SPARE_THREADS = 16
"""Threads besides those that run turns: for health checks, models and refusals."""
# cheroot's own limit is 10.
KEPT_CONNECTIONS = 1024
CLIENT_SECONDS = 60
"""How long a client may take to send its request, or leave an open connection unused."""


class _Gateway(wsgi.Gateway_10):
    """Puts the client's socket into the environment, and closes connections whose next request cannot be found."""

    def get_environ(self) -> dict[str, Any]:  # type: ignore[override]  # its stubs say None
        """The WSGI environment of a request."""
        environ: dict[str, Any] = super().get_environ()  # type: ignore[no-untyped-call]
        return {**environ, SOCKET_KEY: self.req.conn.socket}

    def start_response(self, status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Any:  # noqa: ANN401 - WSGI's
        """Begin the answer. A chunked body that was refused may be partly unread: it is not the next request."""
        # A kept connection serves the next request as a new one would.
        if self.req.chunked_read and not status.startswith("2"):
            self.req.close_connection = True
        return super().start_response(status, headers, exc_info)


class _Request(HTTPRequest):
    """Refuses what is not HTTP with the error object that the rest of the proxy uses."""

    def simple_response(self, status: str, msg: str = "") -> None:
        """Answer before the application is asked, and close the connection."""
        self.close_connection = True
        # cheroot would answer in plain text (http.error.envelope).
        problem = {"413": TOO_LARGE, "500": INTERNAL}.get(status[:3], BAD_REQUEST)
        body = json.dumps(envelope(problem, message=msg or None)).encode()
        head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        id_ = f"x-request-id: {request_id()}\r\nConnection: close\r\n\r\n"
        with contextlib.suppress(OSError):  # the client may have left, and there is no one else to report that to
            self.conn.wfile.write((head + id_).encode() + body)


class _Connection(HTTPConnection):
    """Drops what could not be sent; else the interpreter flushes it again when it collects the file, and warns."""

    RequestHandlerClass = _Request

    def close(self) -> None:
        """Close the socket, and drop all that is still unwritten."""
        super().close()
        with contextlib.suppress(OSError, ValueError):
            self.wfile.close()


class _Listening(wsgi.Server):
    """Closes the socket when the address is taken, and sends every piece at once (TCP_NODELAY)."""

    ConnectionClass = _Connection

    def bind(self, family: int, _kind: int, _proto: int = 0) -> socket.socket:
        """Listen at the address."""
        listening = socket.create_server(self.bind_addr[:2], family=family)
        # chat.stream.flushed: small events must not wait for each other.
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket, self.bind_addr = listening, listening.getsockname()[:2]
        return listening


class Server:
    """Serves `app` in threads of its own, as a context manager or by `start` and `stop`.

    Raises:
        OSError: by `start`, when the address cannot be listened at.
    """

    def __init__(self, app: WSGIApplication, host: str, port: int, *, turns: int) -> None:
        self._host = host
        self._server = _Listening(
            (host, port),
            app,
            # cheroot's pool does not grow, so it is made for the most turns at once.
            numthreads=turns + SPARE_THREADS,
            server_name="assay-proxy",
            request_queue_size=128,  # cheroot's default is 5, and one thread accepts
            timeout=CLIENT_SECONDS,
            shutdown_timeout=1,  # running answers had their time before (`__main__.serve`)
        )
        self._server.gateway = _Gateway
        self._server.keep_alive_conn_limit = KEPT_CONNECTIONS
        self._thread = threading.Thread(target=self._server.serve, name="http", daemon=True)

    @property
    def url(self) -> str:
        """The base URL clients use."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self._server.bind_addr[1]}/v1"

    def start(self) -> None:
        """Listen, and serve from now on."""
        self._server.prepare()
        self._thread.start()

    def stop(self) -> None:
        """Close every connection and wait for the threads."""
        self._server.stop()
        self._thread.join()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_raised: object) -> None:
        self.stop()
