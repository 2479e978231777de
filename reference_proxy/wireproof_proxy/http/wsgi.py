"""A WSGI application, run in a thread for one request."""

from __future__ import annotations

import io
import logging
import sys
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_to_bytes

from wireproof_proxy.http.exchange import LeftError

if TYPE_CHECKING:
    from collections.abc import Callable

    from _typeshed.wsgi import WSGIApplication, WSGIEnvironment

    from wireproof_proxy.http.exchange import Exchange
    from wireproof_proxy.http.strictness import Head

log = logging.getLogger(__name__)

CLIENT_KEY = "wireproof_proxy.client"
"""Whether the client has left: the exchange, see `exchange`."""
CONNECTION_KEY = "wireproof_proxy.connection"
"""What is the same for all requests over one connection."""


def environ_of(head: Head, server: tuple[str, int], client: str = "") -> WSGIEnvironment:
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


def answer(app: WSGIApplication, environ: WSGIEnvironment, exchange: Exchange, fail: Callable[[], object]) -> None:
    """Have the application answer; `fail` is called, in this thread, when it cannot."""
    environ["wsgi.input"] = io.BytesIO(exchange.body)
    environ[CLIENT_KEY], environ[CONNECTION_KEY] = exchange, exchange.connection

    def start_response(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Callable[[bytes], object]:  # noqa: ANN401 - WSGI's
        del exc_info
        exchange.begin(status, headers)
        return exchange.put

    try:
        _send(app, environ, start_response, exchange)
    except LeftError:
        pass  # there is no one to answer
    except Exception:
        log.exception("the application failed")
        fail()
    else:
        exchange.end()


def _send(app: WSGIApplication, environ: WSGIEnvironment, start_response: Any, exchange: Exchange) -> None:  # noqa: ANN401 - WSGI's
    pieces = app(environ, start_response)
    try:
        for piece in pieces:
            if piece:
                exchange.put(piece)
    finally:
        close = getattr(pieces, "close", None)
        if close is not None:
            close()
