"""One request as a server has it, and the answer on its way to the client. For the event loop alone, like all here."""

from __future__ import annotations

import http
import json
from typing import TYPE_CHECKING, Any, Literal, Protocol

from wireproof_surfaces.api_forms import form_of
from wireproof_surfaces.errors import INTERNAL, ApiError
from wireproof_surfaces.random_ids import request_id

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wireproof_surfaces.errors import Problem
    from wireproof_surfaces.http.request_head import RequestHead


BodyEnd = Literal[
    "none",  # there is no body
    "length",  # its length is announced
    "chunks",  # the last of its chunks is empty
    "close",  # the connection ends
]
"""What says where a body ends."""


class ResponseFraming:
    """Frames the answer to the request of this head.

    `closes`: whether the connection ends with it. `framed`: whether it may come in chunks; without, it ends with the
    connection if its length is not announced.
    """

    __slots__ = ("_end", "closes", "head", "left")

    def __init__(
        self,
        request: RequestHead,
        status: str,
        headers: Sequence[tuple[str, str]],
        *,
        date: bytes,
        closes: bool,
        framed: bool = True,
    ) -> None:
        length, options = None, ""
        for name, value in headers:
            match name.lower():
                case "content-length":
                    length = value
                case "connection":
                    options = value.lower()
                case _:
                    pass
        self._end = _body_end(request, status, measured=length is not None, framed=framed)
        self.left = int(length) if length is not None and self._end == "length" else 0
        """Bytes of the body that were announced and not sent; fewer than none: too many were sent."""
        self.closes = closes or self._end == "close" or "close" in options
        """Whether the connection ends with the answer."""
        if self.closes and options:
            headers = [(name, value) for name, value in headers if name.lower() != "connection"]
        lines = [f"HTTP/1.1 {status}", *map(": ".join, headers)]
        if self._end == "chunks":
            lines.append("Transfer-Encoding: chunked")
        if self.closes:
            lines.append("Connection: close")
        elif request.version == "1.0":
            lines.append("Connection: keep-alive")  # it ends a connection unless both say otherwise
        self.head = "\r\n".join(lines).encode("latin-1", "replace") + b"\r\nDate: " + date + b"\r\n\r\n"

    def data(self, data: bytes) -> bytes:
        """A piece of the body as it is sent."""
        if not data or self._end == "none":
            return b""
        if self._end == "length":
            self.left -= len(data)
        return b"%x\r\n%b\r\n" % (len(data), data) if self._end == "chunks" else data

    def end(self) -> bytes:
        """What is sent behind the last piece."""
        return b"0\r\n\r\n" if self._end == "chunks" else b""


def _body_end(request: RequestHead, status: str, *, measured: bool, framed: bool) -> BodyEnd:
    if request.method == "HEAD" or status.startswith(("1", "204", "304")):
        return "none"
    if measured:
        return "length"
    # HTTP/1.0 has no chunks.
    return "chunks" if framed and request.version == "1.1" else "close"


class Watcher(Protocol):
    """Wants to know what becomes of an answer that is under way."""

    def on_gone(self) -> None:
        """The client has left, or the connection has ended otherwise: nothing more can be sent."""

    def on_resume(self) -> None:
        """The client takes what comes again."""

    def on_stall(self) -> None:
        """The client has taken nothing for `EdgeLimits.stalled`: the answer is to be given up."""


class AnswerChannel(Protocol):
    """The connection of an exchange, as far as an answer needs it."""

    peer: str
    """The client's address."""

    @property
    def date(self) -> bytes:
        """The value of the header `Date`."""

    @property
    def half_closed(self) -> bool:
        """Whether the client sends nothing more."""

    def write(self, data: bytes) -> None:
        """Send bytes as they are."""

    def answered(self, exchange: ServedExchange) -> None:
        """Go on behind an exchange whose answer has been sent."""

    def cut(self, *, reset: bool) -> None:
        """End the connection behind what was sent; `reset`: by RST, not by FIN."""

    def hand_over(self, receiver: Receiver) -> None:
        """Give all that comes from now on to `receiver`: it is no HTTP any more."""


class Receiver(Protocol):
    """Takes what comes over a connection on which another protocol is spoken."""

    def received(self, data: bytes) -> None:
        """Take bytes."""

    def shut(self) -> None:
        """End it once what is being answered is answered: the server stops."""


class ServedExchange:
    """A request, and its answer: `begin`, `send` for each piece, `end`; or one of `reply`, `fail` and `cut`.

    Once the client has left, all of them do nothing.
    """

    # Many wait at once. Nothing here refers back to an exchange that is answered (`answered` forgets the watcher), so
    # its memory is free then, its body's too, without a run of the collector of cycles.
    __slots__ = (
        "_framing", "_opening", "body", "closes", "complete", "connection", "context", "gone", "head", "invited",
        "paused", "wanted", "watcher",
    )  # fmt: skip

    def __init__(self, head: RequestHead, connection: AnswerChannel) -> None:
        self.head = head
        self.connection = connection
        """Over which it came."""
        self.body = bytearray()
        self.wanted = 0
        """The most bytes of the body that the application looks at; 0: none."""
        self.complete = False
        """Whether the request has been read, as far as it is wanted."""
        self.invited = not head.expects
        """Whether the client sends the body by itself, or was asked to."""
        self.closes = head.closes
        """Whether the connection ends with the answer."""
        self.gone = False
        """Whether nothing more can be sent."""
        self.paused = False
        """Whether the client takes less than comes: what is sent now waits in memory."""
        self.watcher: Watcher | None = None
        self.context: Any = None
        """What the application keeps from `wants` to `answer`, where it takes it."""
        self._framing: ResponseFraming | None = None
        self._opening = b""
        """The head of the answer, until it is sent."""

    @property
    def begun(self) -> bool:
        """Whether the answer's head has been sent."""
        return self._framing is not None and not self._opening

    @property
    def left(self) -> int:
        """Bytes of the answer that were announced and not sent."""
        return 0 if self._framing is None else self._framing.left

    def begin(self, status: str, headers: Sequence[tuple[str, str]], *, framed: bool = True) -> None:
        """Set status and headers, which go out with the first piece; `framed`: see `ResponseFraming`."""
        framing = ResponseFraming(
            self.head,
            status,
            headers,
            date=self.connection.date,
            closes=self.closes or self.connection.half_closed,
            framed=framed,
        )
        self._framing, self._opening = framing, framing.head

    def take_opening(self) -> bytes:
        """The head of the answer, for who sends it by `write`."""
        opening, self._opening = self._opening, b""
        return opening

    def send(self, data: bytes = b"") -> None:
        """Send a piece; without one, what waits to be sent."""
        if self._framing is not None:
            self.write(self.take_opening() + self._framing.data(data))

    def end(self, data: bytes = b"") -> None:
        """Send the last piece."""
        if self.gone or self._framing is None:
            return
        self.write(self.take_opening() + self._framing.data(data) + self._framing.end())
        self.closes |= self._framing.closes
        self.connection.answered(self)

    def reply(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        """Send a whole answer; its length is announced here, where an answer of that status may have one."""
        length = [] if status in _WITHOUT_LENGTH else [("Content-Length", str(len(body)))]
        self.begin(status_line(status), [*headers.items(), *length])
        self.end(body)

    def write(self, data: bytes) -> None:
        """Send bytes as they are, beside HTTP."""
        if data and not self.gone:
            self.connection.write(data)

    def cut(self, *, reset: bool = False) -> None:
        """End the connection behind what was sent; `reset`: by RST, not by FIN."""
        if not self.gone:
            self.write(self.take_opening())
            self.connection.cut(reset=reset)

    def fail(self) -> None:
        """Say that there is no answer if nothing was sent yet, else break off; the connection ends."""
        if self.begun:
            self.cut()
        else:
            self.refuse(INTERNAL, "The request could not be answered.")

    def refuse(self, problem: Problem, message: str | None = None) -> None:
        """Answer with an error, and end the connection."""
        self.closes = True
        self.reply_error(problem, message, {})

    def reply_error(self, problem: Problem, message: str | None, more: Mapping[str, str]) -> None:
        """Answer with an error, in the form of the API of its path; `more`: headers besides."""
        id_, form = request_id(), form_of(self.head.path.decode("latin-1"), ())
        reply = form.reply(ApiError(problem, message=message), id_)
        headers = {"Content-Type": "application/json", **reply.headers, **form.named(id_), **more}
        self.reply(reply.status, headers, json.dumps(reply.body).encode())

    def leave(self) -> None:
        """Note that nothing more can be sent."""
        self.gone = True
        watcher, self.watcher = self.watcher, None
        if watcher is not None:
            watcher.on_gone()


def status_line(status: int) -> str:
    """Code and phrase; a code without one keeps the space (RFC 9112, 4)."""
    return f"{status} {_PHRASES.get(status, '')}"


_WITHOUT_LENGTH = frozenset({http.HTTPStatus.NO_CONTENT, http.HTTPStatus.NOT_MODIFIED})
_PHRASES = {status.value: status.phrase for status in http.HTTPStatus}
