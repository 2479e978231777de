"""An endpoint on a socket: uvicorn with httptools and uvloop, chosen by measurement (docs/endpoint.md)."""

from __future__ import annotations

import gc
import logging
import os
import resource
import signal
import socket
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import uvicorn

from wireproof_endpoint.endpoint import Endpoint
from wireproof_endpoint.http.asgi import Application
from wireproof_endpoint.http.protocol import Protocol

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from types import FrameType

    from wireproof_endpoint.endpoint import Scripts
    from wireproof_endpoint.journal.ring import Journal
    from wireproof_endpoint.settings import Settings

    Served = Endpoint | Callable[[Any, Any, Any], Awaitable[None]]
    """What a server serves: an endpoint, or another ASGI application."""

KEPT = 75
"""Seconds that an idle connection is kept: clients keep theirs for some seconds, and an end that crosses a request
is an error to them."""
BACKLOG = 4096
"""Connections that may wait to be taken: thousands of clients come at once in tests of load."""
ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
STOPPING = 3
"""Seconds that running answers have when the endpoint is stopped."""


STARTING = 0.5
"""Seconds after which a server that has not begun is looked at."""
SEARCHED = 25_000
"""Objects after which garbage is looked for."""


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens there.

    Raises:
        OSError: it cannot.
    """
    found = socket.create_server((host, port), backlog=BACKLOG)
    found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return found


def serve(endpoint: Served, at: socket.socket, ready: Callable[[str], object], workers: int = 1) -> None:
    """Serve at a listening socket until SIGINT, SIGTERM or SIGHUP; `ready` is given the base URL.

    With more than one worker as many processes serve, each with an endpoint of its own; they end with this one.
    """
    _raise_limit()
    # What is here by now stays, and is not looked through again for garbage. An answer leaves none behind that only a
    # search would find, and searches as often as usual were a tenth of all that a request costs.
    gc.freeze()
    gc.set_threshold(SEARCHED)
    gc.enable()
    parent = os.getpid()
    # Forked before there is a loop or a thread: all share the socket, and what was imported.
    others = [child for _ in range(workers - 1) if (child := _forked(endpoint, at, parent))]
    try:
        _Server(config_of(endpoint), lambda: ready(base_url(at))).run(sockets=[at])
    finally:
        for child in others:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGTERM)
        for child in others:
            os.waitpid(child, 0)


def _forked(endpoint: Served, at: socket.socket, parent: int) -> int:
    """A process that serves until a signal stops it, or its parent is gone; its id."""
    child = os.fork()
    if child:
        return child
    try:
        _Server(config_of(endpoint), lambda: None, parent=parent).run(sockets=[at])
    finally:
        # Never back into the caller's program, of which there is one already.
        os._exit(0)


@contextmanager
def running(endpoint: Served, port: int = 0) -> Iterator[str]:
    """The endpoint on a loopback port, in a thread of its own, for the length of a `with` block: its base URL.

    Raises:
        OSError: the port is taken.
        RuntimeError: the server does not start; what it says of that is logged.
    """
    started = threading.Event()
    at = listening("127.0.0.1", port)
    server = _Server(config_of(endpoint), started.set)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [at]}, name="wireproof-endpoint", daemon=True)
    thread.start()
    while not started.wait(STARTING):
        if not thread.is_alive():
            at.close()
            raise RuntimeError("the server has ended before it had begun")
    try:
        yield base_url(at)
    finally:
        # Streams that hang have no end of their own.
        server.should_exit = server.force_exit = True
        thread.join()
        at.close()


def endpoint_of(settings: Settings, scripts: Scripts, journal: Journal | None = None) -> Endpoint:
    """An endpoint that begins now; `journal`: where its requests are noted, None: as the settings say."""
    return Endpoint(settings, scripts, created=int(time.time()), journal=journal)


def config_of(endpoint: Served) -> uvicorn.Config:
    """How uvicorn serves it."""
    return uvicorn.Config(
        Application(endpoint) if isinstance(endpoint, Endpoint) else endpoint,
        http=Protocol,
        loop="uvloop",
        ws="none",
        lifespan="off",
        # Nothing here asks who the client is, and each request would pay for it.
        proxy_headers=False,
        access_log=False,
        log_level=logging.WARNING,
        server_header=False,
        timeout_keep_alive=KEPT,
        timeout_graceful_shutdown=STOPPING,
        backlog=BACKLOG,
    )


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, ready: Callable[[], object], parent: int | None = None) -> None:
        super().__init__(config)
        self._ready = ready
        self._parent = parent

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop at a signal, and return: uvicorn's own way raises the signal again, which ends the process by it."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.getsignal(number) for number in ENDS}
        for number, handler in before.items():
            # nohup is a wish to outlive the terminal.
            if (number, handler) != (signal.SIGHUP, signal.SIG_IGN):
                signal.signal(number, self.handle_exit)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Give running answers their time to end, or none at the second signal."""
        del sig, frame
        self.force_exit = self.should_exit
        self.should_exit = True

    async def on_tick(self, counter: int) -> bool:
        """Whether to stop; asked every 100 ms."""
        if self._parent is not None and os.getppid() != self._parent:
            return True
        return await super().on_tick(counter)

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
