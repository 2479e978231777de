"""The reference proxy with a fault that hides all else, as a command: `python faulty_proxy.py FAULT`.

What the faults of `wireproof_mocks.miniatures` leave out: those that refuse, hang or kill what has nothing to do with
them. It listens at PROXY_PORT with the settings of `wireproof-proxy`.
"""

from __future__ import annotations

import io
import itertools
import json
import os
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from wireproof_proxy.answers.turn_runner import TurnGate
from wireproof_proxy.app import create_app
from wireproof_proxy.backends.table import make_backend
from wireproof_proxy.http.wsgi import wsgi_server
from wireproof_proxy.settings import load
from wireproof_surfaces.http.edge_limits import EdgeLimits
from wireproof_surfaces.http.stop_signals import stop_signals

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

SLOTS = 2
"""How many requests the proxy that leaks serves at once."""
ENDS = (b"[DONE]", b"response.completed", b"response.incomplete", b"response.failed", b'"error"')
"""What is in the last piece of a stream."""
OFTEN = 10
"""The proxy that dies often dies at each request of this number."""


def asked(environ: WSGIEnvironment) -> dict[str, Any]:
    """The members of a request's body; none where it is no JSON object."""
    body = environ["wsgi.input"].read()
    put(environ, body)
    try:
        members = json.loads(body)
    except ValueError:
        return {}
    return members if isinstance(members, dict) else {}


def put(environ: WSGIEnvironment, body: bytes) -> None:
    """Give a request this body."""
    environ["wsgi.input"], environ["CONTENT_LENGTH"] = io.BytesIO(body), str(len(body))
    environ.pop("HTTP_TRANSFER_ENCODING", None)


def refuse(start: StartResponse, message: str, status: str = "400 Bad Request") -> list[bytes]:
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": None}
    start(status, [("Content-Type", "application/json")])
    return [json.dumps({"error": error}).encode()]


def is_answer(environ: WSGIEnvironment) -> bool:
    """Whether a request asks a model."""
    return bool(environ["REQUEST_METHOD"] == "POST" and environ["PATH_INFO"].endswith(("/completions", "/responses")))


def refusing(wrong: Callable[[dict[str, Any], bool], str]) -> Callable[[WSGIApplication], WSGIApplication]:
    """A proxy that refuses requests for a reason; "" for none. It is given the members, and whether they are chat's."""

    def faulty(app: WSGIApplication) -> WSGIApplication:
        def serve(environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
            members = asked(environ) if is_answer(environ) else {}
            said = wrong(members, "messages" in members) if {"messages", "input"} & members.keys() else ""
            return refuse(start, said) if said else app(environ, start)

        return serve

    return faulty


def streams(app: WSGIApplication) -> WSGIApplication:
    """Streams where nothing is said of `stream`."""

    def serve(environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        members = asked(environ) if is_answer(environ) else {}
        if members and "stream" not in members:
            put(environ, json.dumps({**members, "stream": True}).encode())
        return app(environ, start)

    return serve


def odd_responses(app: WSGIApplication) -> WSGIApplication:
    """Answers `/v1/responses` with a success of a form of its own."""

    def serve(environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        if environ["REQUEST_METHOD"] == "POST" and environ["PATH_INFO"].endswith("/responses"):
            asked(environ)
            start("200 OK", [("Content-Type", "application/json")])
            return [b'{"id": "x", "text": "Hello, world!"}']
        return app(environ, start)

    return serve


def no_output(app: WSGIApplication) -> WSGIApplication:
    """Leaves the output out of whole responses."""

    def serve(environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        body = app(environ, start)
        if not (is_answer(environ) and environ["PATH_INFO"].endswith("/responses")):
            return body
        return _emptied(body)

    return serve


def _emptied(body: Iterable[bytes]) -> Iterator[bytes]:
    try:
        for piece in body:
            members = json.loads(piece) if piece.startswith(b'{"id"') else None
            # As long as it was, since its length is announced.
            yield piece if members is None else json.dumps({**members, "output": []}).encode().ljust(len(piece))
    finally:
        getattr(body, "close", lambda: None)()


def no_models(app: WSGIApplication) -> WSGIApplication:
    """Fails where the list of models is asked for."""

    def serve(environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        if environ["PATH_INFO"].endswith("/models"):
            return refuse(start, "No list.", "500 Internal Server Error")
        return app(environ, start)

    return serve


@dataclass(frozen=True)
class End:
    """How an answer ended."""

    left: bool
    """Whether the client left before its end."""
    refused: bool
    """Whether its status is that of an error."""


Kept = Callable[[End], bool]


class _Ending:
    """The body of an answer, which reports how that ended."""

    def __init__(
        self, app: WSGIApplication, environ: WSGIEnvironment, start: StartResponse, ended: Callable[[End], None]
    ) -> None:
        self._ended, self._start = ended, start
        self._read = self._refused = self._streams = False
        self._body = app(environ, self._started)

    def _started(self, status: str, headers: list[tuple[str, str]], *more: Any) -> Any:
        self._refused = int(status[:3]) >= HTTPStatus.BAD_REQUEST
        kinds = [value for name, value in headers if name.lower() == "content-type"]
        self._streams = any("text/event-stream" in kind for kind in kinds)
        return self._start(status, headers, *more)

    def __iter__(self) -> Iterator[bytes]:
        last = b""
        for piece in self._body:
            last = piece
            yield piece
        # A proxy that sees that the client has left ends its stream by itself.
        self._read = not self._streams or any(end in last for end in ENDS)

    def close(self) -> None:
        getattr(self._body, "close", lambda: None)()
        self._ended(End(left=not self._read, refused=self._refused))


def leaks(kept: Kept) -> Callable[[WSGIApplication], WSGIApplication]:
    """A proxy with a few slots, which never gets back those of some requests."""

    def faulty(app: WSGIApplication) -> WSGIApplication:
        free = threading.BoundedSemaphore(SLOTS)

        def serve(environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
            if not is_answer(environ):
                return app(environ, start)
            if not free.acquire(blocking=False):
                start("429 Too Many Requests", [("Content-Type", "application/json"), ("Retry-After", "1")])
                error = {"message": "Busy.", "type": "rate_limit_error", "param": None, "code": "rate_limit_exceeded"}
                return [json.dumps({"error": error}).encode()]
            return _Ending(app, environ, start, lambda end: None if kept(end) else free.release())

        return serve

    return faulty


def hangs_after(last: Kept) -> Callable[[WSGIApplication], WSGIApplication]:
    """A proxy that answers nothing more after some request."""

    def faulty(app: WSGIApplication) -> WSGIApplication:
        stuck = threading.Event()

        def serve(environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
            if stuck.is_set():
                hang()
            return _Ending(app, environ, start, lambda end: stuck.set() if last(end) else None)

        return serve

    return faulty


def hang() -> None:
    threading.Event().wait()


def die() -> None:
    sys.stderr.write("KeyError: 'arguments'\n")  # what its owner would read
    sys.stderr.flush()
    os._exit(1)


def dies_often(app: WSGIApplication) -> WSGIApplication:
    """Ends at the start of every tenth request for an answer."""
    served = itertools.count(1)

    def serve(environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        if is_answer(environ) and next(served) % OFTEN == 0:
            die()
        return app(environ, start)

    return serve


def at_calls(act: Callable[[], None]) -> Callable[[WSGIApplication], WSGIApplication]:
    """A proxy that does something else when it is to send a tool call."""

    def faulty(app: WSGIApplication) -> WSGIApplication:
        def serve(environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
            return _until_call(app(environ, start), act) if is_answer(environ) else app(environ, start)

        return serve

    return faulty


def _until_call(body: Iterable[bytes], act: Callable[[], None]) -> Iterator[bytes]:
    try:
        for piece in body:
            if any(name in piece for name in (b'"tool_calls"', b'"function_call"', b"<use_tool>")):
                act()
            yield piece
    finally:
        getattr(body, "close", lambda: None)()


FAULTS: dict[str, Callable[[WSGIApplication], WSGIApplication]] = {
    "none": lambda app: app,
    "streams": streams,
    "only-streams": refusing(lambda body, _: "" if body.get("stream") is True else "Stream must be set to true"),
    "store": refusing(lambda body, chat: "" if chat or body.get("store") is False else "Store must be set to false"),
    "instructions": refusing(
        lambda body, chat: "" if chat or body.get("instructions") else "Instructions are required"
    ),
    "temperature": refusing(lambda body, _: "Unsupported parameter: temperature" if "temperature" in body else ""),
    "parallel": refusing(lambda body, _: "Unknown: parallel_tool_calls" if "parallel_tool_calls" in body else ""),
    "limit": refusing(lambda body, _: "Use max_completion_tokens, not max_tokens" if "max_tokens" in body else ""),
    "developer": refusing(lambda body, _: "No such role" if '"developer"' in json.dumps(body) else ""),
    "odd-responses": odd_responses,
    "no-models": no_models,
    "no-output": no_output,
    "leaks": leaks(lambda end: end.left),
    "leaks-errors": leaks(lambda end: end.refused),
    "hangs": hangs_after(lambda end: end.left),
    "hangs-errors": hangs_after(lambda end: end.refused),
    "hangs-calls": at_calls(hang),
    "dies": at_calls(die),
    "dies-often": dies_often,
}


def main() -> None:
    """Serve until SIGTERM."""
    settings = load()
    backend = make_backend(settings)
    app = FAULTS[sys.argv[1]](create_app(settings, backend, TurnGate(settings.max_concurrency)))
    limits = EdgeLimits(body=settings.max_body_bytes, stalled=settings.stalled_client_ms / 1000)
    with stop_signals() as wait:
        server = wsgi_server(app, settings.host, settings.port, turns=settings.max_concurrency, limits=limits)
        server.start()
        backend.start()
        wait()
        backend.stop()
        server.stop()


main()
