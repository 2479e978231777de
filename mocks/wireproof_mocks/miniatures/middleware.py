"""The WSGI wrapper that puts a fault into a proxy, or several.

It reads the whole request, lets the proxy answer, and changes what the fault says, frame by frame: a frame is passed
on before the next one is asked for, unless a fault itself holds it back.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

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
    put_body,
)
from wireproof_mocks.miniatures.rewriting import written
from wireproof_surfaces.messages.error_form import type_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

    from wireproof_mocks.miniatures.fault import Frames

HELD_OPEN = 30.0
"""Seconds for which a body is held open; clients give up long before."""
GLANCE = 0.05
"""Seconds between two looks at whether a client has left."""
_UNREADABLE = (AttributeError, LookupError, TypeError, ValueError)
"""What a fault raises at a request that is too wrong for it, or at what another fault has left of an answer."""
ABANDONED: list[object] = []
"""Answers that a proxy which ignores disconnects never closes; kept here, since a collected generator is closed."""


@dataclass(kw_only=True)
class WithFaults:
    """A WSGI application with faults (an empty tuple: with none).

    What a later fault changes, it changes after the earlier ones. `key` is the right key; `slots` how many turns run at
    once; `stop` ends bodies that are held open.
    """

    app: WSGIApplication
    faults: tuple[Fault, ...]
    key: str | None = None
    slots: int = 64
    stop: threading.Event = field(default_factory=threading.Event)
    _numbers: Mapping[str, Iterator[int]] = field(init=False)
    """Fault → the numbers of the requests that it touches."""
    # A set of objects that are equal to nothing else: to search a list is no one step, and other threads change it.
    _inside: set[object] = field(default_factory=set)
    """One entry for each request that the proxy has not begun to answer."""

    def __post_init__(self) -> None:
        self._numbers = {fault.name: itertools.count(1) for fault in self.faults}

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request."""
        # Untouched: the faultless miniature shows that the wrapper is not what breaks a row.
        if not self.faults:
            return self.app(environ, start_response)
        request = sent_request(environ)
        faults = tuple(fault for fault in self.faults if fault.touches(request))
        if not faults:
            return self.app(environ, start_response)
        other = self._other(faults, request)
        if other is not None:
            return self._instead(other, environ, start_response)
        environ["wireproof.full"] = len(self._inside) >= self.slots
        _change_request(environ, faults, self.key)
        caught: list[FaultHead] = []

        def catch(status: str, headers: Headers, *_: object) -> Callable[[bytes], object]:
            caught.append(FaultHead(status=status, headers=headers))
            return _no_write

        entry = object()
        self._inside.add(entry)
        try:
            answer = self.app(environ, catch)
            pieces = iter(answer)
            # The proxy sets status and headers no later than its first piece, so they are known from here on.
            first = next(pieces, b"")
        finally:
            self._inside.remove(entry)  # also when the proxy raised
        head = caught[0]
        body = _Body(answer, itertools.chain([first], pieces), faults)
        if head.of_stream:
            return self._stream(body, head, request, start_response)
        return self._whole(body, head, request, start_response)

    def _other(self, faults: Iterable[Fault], request: SentRequest) -> Instead | None:
        """What a fault does instead of the answer, the first that does anything; None: the proxy answers."""
        for fault in faults:
            other = fault.instead(request, next(self._numbers[fault.name])) if fault.instead else None
            if other is not None:
                return other
        return None

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
        for fault in body.faults:
            head = fault.head(head, request) if fault.head else head
        start_response(head.status, head.headers)
        # Lazily: a fault that does not buffer must not make the wrapper do so (chat.stream.flushed).
        body.pieces = map(written, _changed_frames(body.faults, _frames(body.pieces), request))
        if any(fault.body_open for fault in body.faults):
            body.pieces = self._held_open(body.pieces)
        return body

    def _held_open(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        said = b""
        for piece in pieces:
            said = piece
            yield piece
        # A stream that failed ends as it should: only the end of a good answer is held open.
        if any(end in said for end in (b"[DONE]", b"response.completed", b"message_stop")):
            self.stop.wait(HELD_OPEN)

    def _whole(
        self, body: _Body, head: FaultHead, request: SentRequest, start_response: StartResponse
    ) -> Iterable[bytes]:
        said = b"".join(body.pieces)
        # Before it is closed: a fault that ignores disconnects must not keep an answer that has ended.
        body.complete = True
        body.close()
        data = sent = _json_object(said)
        for number, fault in enumerate(body.faults):
            faulty = fault.head(head, request) if fault.head else head
            if fault.salvage and data is not None and faulty.code < head.code:
                start_response(faulty.status, _as_stream(faulty))
                return map(written, _changed_frames(body.faults[number + 1 :], fault.salvage(data), request))
            if fault.whole and data is not None:
                # With the head as it was before: a fault may ask for the status that its own `head` has changed.
                alone = len(body.faults) == 1
                data = fault.whole(data, request, head) if alone else _changed(data, fault.whole, request, head)
            if data is not None and faulty.code != head.code:
                data = _named_by_status(data, faulty.code)
            head = faulty
        if data is not sent or (data is not None and any(fault.whole for fault in body.faults)):
            said = json.dumps(data, ensure_ascii=False).encode()
            # The wrong length would break the connection, and with it every row.
            head = head.with_header("Content-Length", str(len(said)))
        start_response(head.status, head.headers)
        return [said]


# Several faults: what one leaves of an answer, another may not be able to read. A fault alone that cannot read what the
# proxy sends is a mistake of ours, and raises.


def _changed_frames(faults: Sequence[Fault], frames: Iterable[Frame], request: SentRequest) -> Iterator[Frame]:
    """The frames of a stream, as all faults change them, one after the other."""
    changes = [fault.frames for fault in faults if fault.frames]
    changed = iter(frames)
    for change in changes:
        changed = iter(change(changed, request)) if len(changes) == 1 else _readable(change, changed, request)
    return changed


def _readable(change: Frames, frames: Iterator[Frame], request: SentRequest) -> Iterator[Frame]:
    """The frames as a fault changes them; those that it cannot read pass, and it begins again behind them."""
    taken: list[Frame] = []
    gone_on = True
    while gone_on:
        gone_on = False
        try:
            for frame in change(_noted(frames, taken), request):
                taken.clear()
                yield frame
        except _UNREADABLE:
            # What it took since it last gave a frame; for most faults that is no more than the one unreadable frame.
            yield from taken
            gone_on = bool(taken)  # at the end of the stream there is nothing left to go on with
            taken.clear()


def _noted(frames: Iterator[Frame], taken: list[Frame]) -> Iterator[Frame]:
    for frame in frames:
        taken.append(frame)
        yield frame


def _named_by_status(body: Json, code: int) -> Json:
    """The body with another status. Errors of Messages have the type of theirs: a fault is of the status alone."""
    error = body.get("error")
    if body.get("type") != "error" or not isinstance(error, dict):
        return body
    return {**body, "error": {**error, "type": type_of(code)}}


def _no_write(data: bytes) -> object:
    raise NotImplementedError("the proxy writes by returning its body")


@dataclass(eq=False)
class _Body:
    """An answer on its way; closing it closes the proxy's own, unless the fault ignores the disconnect."""

    answer: Iterable[bytes]
    pieces: Iterator[bytes]
    faults: tuple[Fault, ...]
    complete: bool = False

    def __iter__(self) -> Iterator[bytes]:
        for piece in self.pieces:  # noqa: UP028 (`yield from` would close the pieces when the server lets go of this)
            yield piece
        self.complete = True

    def close(self) -> None:
        """What WSGI servers call at the end or when the client has gone."""
        if any(fault.ignores_disconnect for fault in self.faults) and not self.complete:
            ABANDONED.append(self)
            return
        close: Callable[[], None] | None = getattr(self.answer, "close", None)
        if close is not None:
            close()


def sent_request(environ: WSGIEnvironment) -> SentRequest:
    """The request's body, read; the proxy finds it again."""
    # A body in chunks announces no length, and ends by itself.
    in_chunks = environ.pop("HTTP_TRANSFER_ENCODING", "") == "chunked"
    environ["wireproof.in_chunks"] = in_chunks
    body = environ["wsgi.input"].read(*(() if in_chunks else (int(environ.get("CONTENT_LENGTH") or 0),)))
    put_body(environ, body)
    key = environ.get("HTTP_AUTHORIZATION", "")
    headers = {name[5:].replace("_", "-").lower(): text for name, text in environ.items() if name.startswith("HTTP_")}
    headers["content-type"] = environ.get("CONTENT_TYPE", "")
    return SentRequest(method=environ["REQUEST_METHOD"], path=environ["PATH_INFO"], body=body, key=key, headers=headers)


def _change_request(environ: WSGIEnvironment, faults: Sequence[Fault], key: str | None) -> None:
    """Change the request as the faults say."""
    if any(fault.ignores_disconnect for fault in faults):
        # Without it the proxy learns of a disconnect only when it writes.
        environ.pop(CLIENT_KEY, None)
    for fault in faults:
        if fault.environ:
            environ["wireproof.key"] = key or ""
            fault.environ(environ)
    changes = [fault.request for fault in faults if fault.request]
    if not changes:
        return
    body = environ["wsgi.input"].read()  # a fault of the environment may have changed it
    data = _json_object(body)
    # Other bodies are no requests for an answer.
    if data is not None and {"messages", "input", "model"} & data.keys():
        for change in changes:
            data = _changed(data, change)
        # Kept, or a body that is too large would no longer be.
        padding = body[len(body.rstrip()) :]
        body = json.dumps(data, ensure_ascii=False).encode() + padding
    put_body(environ, body)


def _changed(data: Json, change: Callable[..., Json], *more: object) -> Json:
    """A body as a fault changes it; one that is too wrong for the fault to read goes on as it is."""
    try:
        return change(data, *more)
    except _UNREADABLE:
        return data


def _json_object(body: bytes) -> Json | None:
    try:
        data: Any = json.loads(body)
    except ValueError:
        return None
    return data if isinstance(data, dict) else None


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


def _as_stream(head: FaultHead) -> Headers:
    return [
        *head.without("content-length", "content-type").headers,
        ("Content-Type", "text/event-stream; charset=utf-8"),
        ("Cache-Control", "no-cache"),
        ("X-Accel-Buffering", "no"),
        ("Connection", "keep-alive"),
    ]
