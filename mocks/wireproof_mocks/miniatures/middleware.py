"""The WSGI wrapper that puts one fault into a proxy.

It reads the whole request, lets the proxy answer, and changes what the fault says, frame by frame: a frame is passed
on before the next one is asked for, unless the fault itself holds it back.
"""

from __future__ import annotations

import io
import itertools
import json
import os
import sys
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from wireproof_mocks.miniatures.chunks import written
from wireproof_mocks.miniatures.fault import (
    CLIENT_KEY,
    Fault,
    FaultHead,
    FaultReply,
    Frame,
    Headers,
    Instead,
    Json,
    MiniatureExit,
    NeverAnswer,
    SentRequest,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

HELD_OPEN = 30.0
"""Seconds for which a body is held open; clients give up long before."""
GLANCE = 0.05
"""Seconds between two looks at whether a client has left."""
ABANDONED: list[object] = []
"""Answers that a proxy which ignores disconnects never closes; kept here, since a collected generator is closed."""


@dataclass(kw_only=True)
class WithFault:
    """A WSGI application with a fault (None: none).

    `key` is the right key; `slots` how many turns run at once; `stop` ends bodies that are held open.
    """

    app: WSGIApplication
    fault: Fault | None
    key: str | None = None
    slots: int = 64
    stop: threading.Event = field(default_factory=threading.Event)
    _number: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    _inside: list[object] = field(default_factory=list)
    """One entry for each request that the proxy has not begun to answer."""

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request."""
        fault = self.fault
        # Untouched: the faultless miniature shows that the wrapper is not what breaks a row.
        if fault is None:
            return self.app(environ, start_response)
        request = _take(environ)
        if not fault.touches(request):
            return self.app(environ, start_response)
        other = fault.instead(request, next(self._number)) if fault.instead else None
        if other is not None:
            return self._instead(other, environ, start_response)
        environ["wireproof.full"] = len(self._inside) >= self.slots
        _change_request(environ, fault, request, self.key)
        caught: list[FaultHead] = []

        def catch(status: str, headers: Headers, *_: object) -> Callable[[bytes], object]:
            caught.append(FaultHead(status=status, headers=headers))
            return _no_write

        self._inside.append(request)
        try:
            answer = self.app(environ, catch)
            pieces = iter(answer)
            # The proxy sets status and headers no later than its first piece, so they are known from here on.
            first = next(pieces, b"")
        finally:
            self._inside.remove(request)  # also when the proxy raised
        head = caught[0]
        body = _Body(answer, _chain(first, pieces), fault)
        if _is_stream(head):
            return self._stream(body, head, request, start_response)
        return self._whole(body, head, request, start_response)

    def _instead(self, other: Instead, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        match other:
            case FaultReply(head=head, body=body):
                start_response(head.status, head.headers)
                return [body]
            case NeverAnswer():
                while not (self.stop.wait(GLANCE) or environ[CLIENT_KEY].gone()):
                    pass
                # Nobody reads it: a WSGI application has to answer something.
                start_response("504 Gateway Timeout", [("Content-Length", "0")])
                return []
            case MiniatureExit(status=status, last_words=last_words):
                print(last_words, file=sys.stderr, flush=True)  # noqa: T201 (as a program that dies does)
                # At once, as a crash: no exception that the server would catch, no answer to anyone.
                os._exit(status)

    def _stream(
        self, body: _Body, head: FaultHead, request: SentRequest, start_response: StartResponse
    ) -> Iterable[bytes]:
        fault = body.fault
        head = fault.head(head, request) if fault.head else head
        start_response(head.status, head.headers)
        # Lazily: a fault that does not buffer must not make the wrapper do so (chat.stream.flushed).
        frames = _frames(body.pieces)
        body.pieces = (written(frame) for frame in (fault.frames(frames, request) if fault.frames else frames))
        if fault.body_open:
            body.pieces = self._held_open(body.pieces)
        return body

    def _held_open(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        said = b""
        for piece in pieces:
            said = piece
            yield piece
        # A stream that failed ends as it should: only the end of a good answer is held open.
        if b"[DONE]" in said or b"response.completed" in said:
            self.stop.wait(HELD_OPEN)

    def _whole(
        self, body: _Body, head: FaultHead, request: SentRequest, start_response: StartResponse
    ) -> Iterable[bytes]:
        fault = body.fault
        said = b"".join(body.pieces)
        # Before it is closed: a fault that ignores disconnects must not keep an answer that has ended.
        body.complete = True
        body.close()
        data = _json_object(said)
        faulty = fault.head(head, request) if fault.head else head
        if fault.salvage and data is not None and faulty.code < head.code:
            start_response(faulty.status, _as_stream(faulty))
            return [written(frame) for frame in fault.salvage(data)]
        if fault.whole and data is not None:
            # With the head as the proxy sent it: a fault may ask for the status that its own `head` has changed.
            said = json.dumps(fault.whole(data, request, head), ensure_ascii=False).encode()
            faulty = FaultHead(status=faulty.status, headers=_with_length(faulty, len(said)))
        start_response(faulty.status, faulty.headers)
        return [said]


def _no_write(data: bytes) -> object:
    raise NotImplementedError("the proxy writes by returning its body")


@dataclass(eq=False)
class _Body:
    """An answer on its way; closing it closes the proxy's own, unless the fault ignores the disconnect."""

    answer: Iterable[bytes]
    pieces: Iterator[bytes]
    fault: Fault
    complete: bool = False

    def __iter__(self) -> Iterator[bytes]:
        for piece in self.pieces:  # noqa: UP028 (`yield from` would close the pieces when the server lets go of this)
            yield piece
        self.complete = True

    def close(self) -> None:
        """What WSGI servers call at the end or when the client has gone."""
        if self.fault.ignores_disconnect and not self.complete:
            ABANDONED.append(self)
            return
        close: Callable[[], None] | None = getattr(self.answer, "close", None)
        if close is not None:
            close()


def _take(environ: WSGIEnvironment) -> SentRequest:
    """The request's body, read; the proxy finds it again."""
    # A body in chunks announces no length, and ends by itself.
    in_chunks = environ.pop("HTTP_TRANSFER_ENCODING", "") == "chunked"
    environ["wireproof.in_chunks"] = in_chunks
    body = environ["wsgi.input"].read(*(() if in_chunks else (int(environ.get("CONTENT_LENGTH") or 0),)))
    environ["wsgi.input"], environ["CONTENT_LENGTH"] = io.BytesIO(body), str(len(body))
    key = environ.get("HTTP_AUTHORIZATION", "")
    headers = {name[5:].replace("_", "-").lower(): text for name, text in environ.items() if name.startswith("HTTP_")}
    headers["content-type"] = environ.get("CONTENT_TYPE", "")
    return SentRequest(method=environ["REQUEST_METHOD"], path=environ["PATH_INFO"], body=body, key=key, headers=headers)


def _change_request(environ: WSGIEnvironment, fault: Fault, request: SentRequest, key: str | None) -> None:
    """Change the request as the fault says."""
    if fault.ignores_disconnect:
        # Without it the proxy learns of a disconnect only when it writes.
        environ.pop(CLIENT_KEY, None)
    if fault.environ:
        environ["wireproof.key"] = key or ""
        fault.environ(environ)
    if fault.request:
        data = _json_object(request.body)
        # Other bodies are no requests for an answer.
        if data is not None and {"messages", "input", "model"} & data.keys():
            # Kept, or a body that is too large would no longer be.
            padding = request.body[len(request.body.rstrip()) :]
            body = json.dumps(_changed(data, fault.request), ensure_ascii=False).encode() + padding
            environ["wsgi.input"], environ["CONTENT_LENGTH"] = io.BytesIO(body), str(len(body))


def _changed(data: Json, change: Callable[[Json], Json]) -> Json:
    """The request as a fault changes it; one that is too wrong for the fault to read goes on as it is."""
    try:
        return change(data)
    except (AttributeError, KeyError, TypeError):
        return data


def _json_object(body: bytes) -> Json | None:
    try:
        data: Any = json.loads(body)
    except ValueError:
        return None
    return data if isinstance(data, dict) else None


def _is_stream(head: FaultHead) -> bool:
    return any(name.lower() == "content-type" and "event-stream" in value for name, value in head.headers)


def _chain(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from rest


def _frames(pieces: Iterable[bytes]) -> Iterator[Frame]:
    """The frames as the reference proxy writes them: one `data:` line or comment, ended by an empty line.

    An `event:` line is left out: it says what the data says of itself.
    """
    rest = b""
    for piece in pieces:
        # The reference proxy writes no other line ends; a reader for strangers' streams is not needed.
        *blocks, rest = (rest + piece).split(b"\n\n")
        for block in blocks:
            yield _frame(block)
    if rest:
        yield rest


def _frame(block: bytes) -> Frame:
    line = block.partition(b"\n")[2] if block.startswith(b"event: ") else block
    if not line.startswith(b"data: "):
        return block + b"\n\n"
    data = line.removeprefix(b"data: ").decode()
    parsed: Frame = json.loads(data) if data.startswith("{") else data  # [DONE] is no JSON
    return parsed


def _with_length(head: FaultHead, length: int) -> Headers:
    # The wrong length would break the connection, and with it every row.
    kept = [(name, value) for name, value in head.headers if name.lower() != "content-length"]
    return [*kept, ("Content-Length", str(length))]


def _as_stream(head: FaultHead) -> Headers:
    return [
        *((n, v) for n, v in head.headers if n.lower() not in {"content-length", "content-type"}),
        ("Content-Type", "text/event-stream; charset=utf-8"),
        ("Cache-Control", "no-cache"),
        ("X-Accel-Buffering", "no"),
        ("Connection", "keep-alive"),
    ]
