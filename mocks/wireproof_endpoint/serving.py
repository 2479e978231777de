"""An endpoint, or another application, on a socket: in several processes, until a signal, or for a `with` block."""

from __future__ import annotations

import gc
import os
import resource
import signal
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from wireproof_endpoint.endpoint import Endpoint
from wireproof_endpoint.http.application import EndpointApplication
from wireproof_surfaces.http.http_server import HttpServer, listen
from wireproof_surfaces.http.socket_application import SocketApplication
from wireproof_surfaces.http.stop_signals import stop_signals

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterator

    from wireproof_endpoint.endpoint import Scripts
    from wireproof_endpoint.journal.ring import Journal
    from wireproof_endpoint.settings import EndpointSettings
    from wireproof_surfaces.http.client_connection import Application
    from wireproof_surfaces.http.edge_limits import EdgeLimits

    Served = Endpoint | Application

__all__ = ["endpoint_of", "listen", "running", "serve"]

STOPPING = 3
"""Seconds that running answers have when the endpoint is stopped; a second signal takes them."""
LOOK = 0.05
"""Seconds between two looks whether they have ended."""
SEARCHED = 25_000
"""Objects after which garbage is looked for."""


def serve(served: Served, at: socket.socket, ready: Callable[[str], object], workers: int = 1) -> None:
    """Serve at a listening socket until SIGINT, SIGTERM or SIGHUP; `ready` is given the base URL.

    With more than one worker as many processes serve, each with an endpoint of its own; they end with this one.
    """
    _raise_limit()
    # What is here by now stays, and is not looked through again for garbage. An answer leaves none behind that only a
    # search would find, and searches as often as usual were a tenth of all that a request costs.
    gc.freeze()
    gc.set_threshold(SEARCHED)
    gc.enable()
    # The other processes read the end of this pipe when this one ends, however it does.
    lifeline, held = os.pipe()
    # Forked before there is a loop or a thread: all share the socket, and what was imported.
    others = [child for _ in range(workers - 1) if (child := _forked(served, at, lifeline, held))]
    try:
        _serve(served, at, ready)
    finally:
        for child in others:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGTERM)
        for child in others:
            os.waitpid(child, 0)
        os.close(lifeline)
        os.close(held)


def _forked(served: Served, at: socket.socket, lifeline: int, held: int) -> int:
    """A process that serves until a signal stops it, or its parent is gone; its id."""
    child = os.fork()
    if child:
        return child
    try:
        os.close(held)
        _serve(served, at, lambda _url: None, lifeline)
    finally:
        # Never back into the caller's program, of which there is one already.
        os._exit(0)


def _serve(served: Served, at: socket.socket, ready: Callable[[str], object], lifeline: int | None = None) -> None:
    # A SIGHUP that is ignored stays so: nohup is a wish to outlive the terminal.
    hangup = () if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN else (signal.SIGHUP,)
    with stop_signals(*hangup, lifeline=lifeline) as wait, _server(served, at) as server:
        ready(server.url)
        wait()
        server.shut()
        until = time.monotonic() + STOPPING
        while server.answering and time.monotonic() < until and not wait(LOOK):
            pass


@contextmanager
def running(served: Served, port: int = 0, limits: EdgeLimits | None = None) -> Iterator[str]:
    """The endpoint on a loopback port, in a thread of its own, for the length of a `with` block: its base URL.

    Raises:
        OSError: the port is taken.
    """
    at = listen("127.0.0.1", port)
    # Streams that hang have no end of their own: the server ends them when it stops.
    with _server(served, at, limits) as server:
        yield server.url


def _server(served: Served, at: socket.socket, limits: EdgeLimits | None = None) -> HttpServer:
    if not isinstance(served, Endpoint):
        return HttpServer(served, at, limits)
    application = EndpointApplication(served)
    return HttpServer(SocketApplication(application, application.gate), at, limits)


def endpoint_of(settings: EndpointSettings, scripts: Scripts, journal: Journal | None = None) -> Endpoint:
    """An endpoint that begins now; `journal`: where its requests are noted, None: as the settings say."""
    return Endpoint(settings, scripts, created=int(time.time()), journal=journal)


def _raise_limit() -> None:
    """As many open files as may be: each stream is one, and the usual 1024 are few."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
