"""What views take of a request: its body, the headers that say how calls are written, and its client."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flask import g, request

from wireproof_proxy.answers.timing import ClientState
from wireproof_proxy.http.wsgi import CLIENT_KEY, CONNECTION_KEY
from wireproof_surfaces.api_forms import AUTHORIZATION, KEY, VERSION
from wireproof_surfaces.http.body import read_object
from wireproof_surfaces.surfaces.chat_dialect import HEADERS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wireproof_proxy.http.thread_answer import ThreadAnswer


def json_body(limit: int) -> Mapping[str, Any]:
    """The body's JSON object.

    Raises:
        ApiError: 413 for more than `limit` bytes, 415 or 400.
    """
    return read_object(request.stream, length=request.content_length, media_type=request.mimetype, limit=limit)


def format_headers() -> dict[str, str]:
    """The headers that say how calls are to be written, those that the request has; their names are lower-case."""
    return {name: request.headers[name] for name in HEADERS if name in request.headers}


DECIDING = (KEY, AUTHORIZATION, VERSION)
"""The headers by which it is decided whose API a request is of, and whether it has the key."""


def form_headers() -> dict[str, str]:
    """Those of `DECIDING` that the request has; their names are lower-case."""
    return {name: request.headers[name] for name in DECIDING if name in request.headers}


def client_of(*, stream: bool) -> ClientState:
    """Who waits for the answer, which is a stream or whole, as is noted for the metrics."""
    g.mode = "stream" if stream else "whole"
    environ = request.environ
    # The header `Connection` is the server's: PEP 3333 forbids it to applications, and of other servers some raise.
    keep_open = CONNECTION_KEY in environ and environ["SERVER_PROTOCOL"] == "HTTP/1.1"
    found: ThreadAnswer | None = environ.get(CLIENT_KEY)
    if found is None:
        return ClientState(keep_open=keep_open)
    return ClientState(gone=found.gone, when_gone=found.when_gone, stalled=found.stalled, keep_open=keep_open)
