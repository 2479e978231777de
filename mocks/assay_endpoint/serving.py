"""An endpoint on a socket: uvicorn with httptools and uvloop, chosen by measurement (docs/endpoint.md)."""

from __future__ import annotations

import json
import logging
import resource
import socket
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from assay_endpoint.asgi import Application
from assay_endpoint.endpoint import Endpoint
from assay_proxy.errors import BAD_REQUEST, envelope

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from assay_endpoint.endpoint import Scripts
    from assay_endpoint.settings import Settings

KEPT = 75
"""Seconds that an idle connection is kept: clients keep theirs for some seconds, and an end that crosses a request
is an error to them."""
BACKLOG = 4096
"""Connections that may wait to be taken: thousands of clients come at once in tests of load."""
STOPPING = 3
"""Seconds that running answers have when the endpoint is stopped."""


class _Protocol(HttpToolsProtocol):
    """Refuses what is not HTTP with the error object that the endpoint uses."""

    def send_400_response(self, msg: str) -> None:
        """Answer before the application is asked, and close the connection."""
        body = json.dumps(envelope(BAD_REQUEST, message=msg)).encode()
        head = "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nConnection: close\r\n"
        self.transport.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        self.transport.close()


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens there.

    Raises:
        OSError: it cannot.
    """
    found = socket.create_server((host, port), backlog=BACKLOG)
    found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return found


def serve(endpoint: Endpoint, at: socket.socket, ready: Callable[[str], None]) -> None:
    """Serve at a listening socket until SIGINT or SIGTERM; `ready` is given the base URL."""
    _raise_limit()
    _Server(_config(endpoint), lambda: ready(base_url(at))).run(sockets=[at])


@contextmanager
def running(endpoint: Endpoint, port: int = 0) -> Iterator[str]:
    """The endpoint on a loopback port, in a thread of its own, for the length of a `with` block: its base URL.

    Raises:
        OSError: the port is taken.
    """
    started = threading.Event()
    at = listening("127.0.0.1", port)
    server = _Server(_config(endpoint), started.set)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [at]}, name="assay-endpoint", daemon=True)
    thread.start()
    started.wait()
    try:
        yield base_url(at)
    finally:
        # Streams that hang have no end of their own.
        server.should_exit = server.force_exit = True
        thread.join()
        at.close()


def endpoint_of(settings: Settings, scripts: Scripts) -> Endpoint:
    """An endpoint that begins now."""
    return Endpoint(settings, scripts, created=int(time.time()))


def _config(endpoint: Endpoint) -> uvicorn.Config:
    return uvicorn.Config(
        Application(endpoint),
        http=_Protocol,
        loop="uvloop",
        ws="none",
        lifespan="off",
        access_log=False,
        log_level=logging.WARNING,
        server_header=False,
        timeout_keep_alive=KEPT,
        timeout_graceful_shutdown=STOPPING,
        backlog=BACKLOG,
    )


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, *arguments: Any, **more: Any) -> None:  # noqa: ANN401 - as the base class has it
        """Start, and say so."""
        await super().startup(*arguments, **more)
        self._ready()


def base_url(at: socket.socket) -> str:
    """The base URL clients use."""
    host, port = at.getsockname()[:2]
    return f"http://[{host}]:{port}/v1" if ":" in host else f"http://{host}:{port}/v1"


def _raise_limit() -> None:
    """As many open files as may be: each stream is one, and the usual 1024 are few."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
