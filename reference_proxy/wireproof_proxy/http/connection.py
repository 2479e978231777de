"""One client's connection, on the event loop: llhttp reads the requests, and answers go as their threads write them.

What a client can do without being answered is bounded in bytes and in time (`limits`), and holds no thread. A body is
taken only where the application says, by the head alone, that it will look at it. A refusal is sent without waiting
for the rest; nothing more is read then, and the connection ends.

Requests that are sent ahead of their answers wait for their turn. A request that is refused while others are answered
is refused after them.
"""

from __future__ import annotations

import asyncio
import http
import json
import logging
from collections import deque
from typing import TYPE_CHECKING, cast
from urllib.parse import quote

import httptools

from wireproof_proxy.http.exchange import Exchange
from wireproof_proxy.http.json_response import request_id
from wireproof_proxy.http.limits import FRAMED
from wireproof_proxy.http.strictness import Head, RefusedError, check, ends_with_answer
from wireproof_surfaces.errors import BAD_REQUEST, INTERNAL, Problem, envelope

if TYPE_CHECKING:
    from collections.abc import Callable

    from wireproof_proxy.http.limits import Limits

log = logging.getLogger(__name__)

QUOTED = 120
"""Characters of what a client sent that a line of the log quotes."""
INVALID = "invalid_request_error"
TOO_LONG = Problem(414, INVALID, "uri_too_long", "The request's target is too long.")
TOO_MANY = Problem(431, INVALID, "header_fields_too_large", "The request's header fields are too large.")
TOO_SLOW = Problem(408, INVALID, "request_timeout", "The request did not come to its end in time.")
VERSION = Problem(505, INVALID, "http_version_not_supported", "Only HTTP/1.1 and HTTP/1.0 are spoken here.")
LAST = b"0\r\n\r\n"


class _DeafError(Exception):
    """Nothing more is read from this connection: the parser is to stop."""


class Connection(asyncio.Protocol):
    """Serves one client.

    `accept` is asked once the head of a request is there: how many bytes of its body are looked at. `answer` has an
    exchange answered by a thread. `date` is the value of the `Date` header.
    """

    def __init__(
        self,
        *,
        limits: Limits,
        among: dict[Connection, None],
        accept: Callable[[Exchange], int],
        answer: Callable[[Exchange], None],
        date: Callable[[], bytes],
    ) -> None:
        self._limits = limits
        self._among = among
        self._accept = accept
        self._answer = answer
        self._date = date
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport = None  # type: ignore[assignment] # set as soon as there is a connection
        self._parser = httptools.HttpRequestParser(self)
        self._replaying = False
        self._exchanges: deque[Exchange] = deque()
        """Those that are not answered yet, in their order; the first is the one whose answer is sent."""
        self._receiving: Exchange | None = None
        """The one whose body comes."""
        self._head: Head | None = None
        """The head that comes."""
        self._head_size = 0
        self._framing = 0
        self._refusal: RefusedError | None = None
        """Sent when all that came before is answered."""
        self._deaf = False
        self._paused_at: tuple[float, int] | None = None
        """Since when the client has taken nothing, and how many bytes wait for it; None: it takes what comes."""
        self._half_closed = False
        """Whether the client has closed its end."""
        self._thrown_away = 0
        self._throws = limits.thrown_away
        """Bytes that are thrown away at most."""
        self._sent = 0
        """How many times something was sent."""
        self._deadline = 0.0
        self._closing = False

    # the connection

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client has come."""
        # uvloop's is no subclass, but for type checkers.
        self._transport = cast("asyncio.Transport", transport)
        self._among[self] = None
        self._wait(self._limits.idle)

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection has ended, by whichever side."""
        del exc
        self._among.pop(self, None)
        self._closing = self._deaf = True
        self._receiving = self._head = None
        exchanges, self._exchanges = self._exchanges, deque()
        for exchange in exchanges:
            exchange.leave()

    def eof_received(self) -> bool:
        """The client sends no more. That is all one sees of a departure, too, until something is sent."""
        self._half_closed = self._deaf = True
        if self._receiving is not None and not self._receiving.started:
            self._exchanges.remove(self._receiving)  # it broke off, so there is nothing to answer
        self._receiving = self._head = None
        if not self._exchanges:
            self._transport.close()
        # What was asked is answered: some clients close their end first (`nc -N`).
        self._loop.call_later(self._limits.leaving, self._still_there, self._sent)
        return True

    def _still_there(self, sent: int) -> None:
        """Let a client go that has closed its end, unless it has taken something since.

        Who has closed the whole connection answers that by a reset.
        """
        if self._exchanges and sent == self._sent:
            self.abort()
        elif self._exchanges:
            self._loop.call_later(self._limits.leaving, self._still_there, self._sent)

    def pause_writing(self) -> None:
        """The client takes less than comes."""
        self._paused_at = (self._loop.time(), self._transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        """It has caught up."""
        self._paused_at = None
        if self._exchanges:
            self._send(self._exchanges[0])

    @property
    def idle(self) -> bool:
        """Whether nothing is being answered."""
        return not self._exchanges

    def look(self, now: float) -> None:
        """End what has taken too long; called often."""
        if self._paused_at is not None:
            since, size = self._paused_at
            waiting = self._transport.get_write_buffer_size()
            if waiting < size:
                self._paused_at = (now, waiting)
            elif now - since > self._limits.taking:
                self.abort()
            elif now - since > self._limits.stalled and self._exchanges and not self._exchanges[0].stalled():
                self._exchanges[0].stall()
                self._send(self._exchanges[0])
        if now > self._deadline and (not self._exchanges or self._receiving is not None):
            self._late()

    def abort(self) -> None:
        """End it at once, whatever is still to be sent."""
        self._transport.abort()

    @property
    def stuck(self) -> bool:
        """Whether its client takes less than comes."""
        return self._paused_at is not None

    def _late(self) -> None:
        if self._closing:
            self.abort()
        elif self._head is not None or self._receiving is not None:
            self._refuse(RefusedError(TOO_SLOW))
        else:
            self._close()

    def _wait(self, seconds: float) -> None:
        self._deadline = self._loop.time() + seconds

    # what comes

    def data_received(self, data: bytes) -> None:
        """Read on."""
        if self._deaf:
            self._throw_away(len(data))
            return
        receiving, before = self._receiving, len(self._receiving.body) if self._receiving else 0
        in_head = self._head is not None
        try:
            self._feed(data)
            if in_head and self._head is not None:
                self._count_head(len(data))
            elif receiving is not None and receiving is self._receiving:
                self._count_framing(len(data) - len(receiving.body) + before, len(receiving.body))
        except RefusedError as refused:
            self._refuse(refused)

    def _throw_away(self, size: int) -> None:
        self._thrown_away += size
        if self._thrown_away > self._throws:
            self._transport.pause_reading()

    def _feed(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self._stay(data[upgrade.args[0] :])
        except httptools.HttpParserError as error:
            cause = error.__context__
            if isinstance(cause, RefusedError):
                raise cause from None
            if not self._deaf:
                problem = VERSION if "HTTP version" in str(error) else BAD_REQUEST
                raise RefusedError(problem, f"The request is no HTTP: {error}.") from None

    def _stay(self, rest: bytes) -> None:
        """Go on in HTTP/1.1 though the client offers another protocol, as Java's does; the parser ends there."""
        receiving = self._receiving
        self._parser = httptools.HttpRequestParser(self)
        if receiving is not None:
            # A parser knows of a body by a head alone.
            framing = (
                b"Transfer-Encoding: chunked"
                if receiving.head.chunked
                else b"Content-Length: %d" % receiving.head.length
            )
            self._replaying = True
            self._parser.feed_data(b"POST / HTTP/1.1\r\nHost: x\r\n" + framing + b"\r\n\r\n")
            self._replaying = False
        if rest:
            self._feed(rest)

    def _count_head(self, size: int) -> None:
        self._head_size += size
        if self._head_size > self._limits.head + self._limits.target:
            raise RefusedError(TOO_MANY)

    def _count_framing(self, size: int, body: int) -> None:
        self._framing += size
        if self._framing > self._limits.framing + FRAMED * body:
            raise RefusedError(BAD_REQUEST, "The request's body has more framing than data.")

    # what the parser has read

    def on_message_begin(self) -> None:
        """A request begins."""
        if self._replaying:
            return
        self._head, self._head_size, self._framing = Head(), 0, 0
        self._wait(self._limits.reading)

    def on_url(self, url: bytes) -> None:
        """A piece of its target."""
        if self._replaying or self._head is None:
            return
        self._head.target += url
        if len(self._head.target) > self._limits.target:
            raise RefusedError(TOO_LONG)

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header field, or a trailer."""
        if self._replaying:
            return
        self._head_size += len(name) + len(value) + 4
        if self._head_size > self._limits.head:
            raise RefusedError(TOO_MANY)
        if self._head is None:  # a trailer: nothing reads those
            return
        self._head.fields.append((name.lower(), value))
        if len(self._head.fields) > self._limits.fields:
            raise RefusedError(TOO_MANY, "The request has too many header fields.")

    def on_headers_complete(self) -> None:
        """The head is complete."""
        if self._replaying or self._head is None:
            return None
        head, self._head, self._head_size = self._head, None, 0
        head.method = self._parser.get_method().decode()
        head.version = self._parser.get_http_version()
        if head.version not in {"1.0", "1.1"}:
            raise RefusedError(VERSION)
        check(head)
        url = httptools.parse_url(head.target) if head.target != b"*" and head.method != "CONNECT" else None
        head.path, head.query = ((url.path or b"/"), (url.query or b"")) if url else (head.target, b"")
        exchange = Exchange(head, self, self._wake)
        # The parser would end the connection with an upgrade; here there is none.
        offers = self._parser.should_upgrade()
        exchange.closes = not self._parser.should_keep_alive() if not offers else ends_with_answer(head)
        self._exchanges.append(exchange)
        if not head.has_body:
            return self._complete(exchange)
        exchange.wanted = self._accept(exchange)
        if not exchange.wanted:
            # Refused, or answered without a look at the body: what follows is not told from a next request.
            self._deafen(exchange)
        self._receiving = exchange
        self._wait(self._limits.sending)
        if len(self._exchanges) == 1:
            self._invite(exchange)
        return None

    def on_body(self, data: bytes) -> None:
        """A piece of its body."""
        exchange = self._receiving
        if exchange is None:
            return
        exchange.body += data
        # One byte more than is wanted says that it is too large.
        if len(exchange.body) > exchange.wanted:
            self._deafen(exchange)
        if len(self._exchanges) > 1 and len(exchange.body) > self._limits.head:
            self._transport.pause_reading()

    def on_message_complete(self) -> None:
        """The request is complete."""
        exchange = self._receiving
        # With an offer to upgrade the parser ends here, whatever body follows: see `_stay`.
        if self._replaying or exchange is None or self._parser.should_upgrade():
            return
        self._receiving = None
        self._complete(exchange)

    def _complete(self, exchange: Exchange) -> None:
        exchange.complete = True
        self._advance()
        if len(self._exchanges) > self._limits.waiting:
            self._deafen(exchange)

    def _deafen(self, exchange: Exchange) -> None:
        """Read no more: this exchange is the last."""
        self._deaf, exchange.closes, exchange.complete = True, True, True
        self._throws = self._limits.unread_body
        self._receiving = None
        self._transport.pause_reading()
        self._advance()
        raise _DeafError

    def _invite(self, exchange: Exchange) -> None:
        """Have a client go on that waits to be asked."""
        if exchange.head.values(b"expect") and exchange.head.version == "1.1" and not exchange.body:
            self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    # what goes

    def _advance(self) -> None:
        """Have the first exchange answered, if it is complete and nothing has begun it."""
        if self._exchanges and self._exchanges[0].complete and not self._exchanges[0].started:
            self._exchanges[0].started = True
            self._answer(self._exchanges[0])

    def _wake(self, exchange: Exchange) -> None:
        """Have the loop send what its thread has written; called in any thread."""
        self._loop.call_soon_threadsafe(self._send, exchange)

    def _send(self, exchange: Exchange) -> None:
        """Send what its thread has written."""
        if not self._exchanges or self._exchanges[0] is not exchange:
            return
        if self._paused_at is not None and not exchange.stalled():
            return  # `resume_writing` comes back to it
        status, data, over = exchange.take()
        pieces = [self._begun(exchange, *status)] if status else []
        if data and exchange.head.method != "HEAD":
            pieces += [b"%x\r\n" % len(data), data, b"\r\n"] if exchange.chunked else [data]
        if exchange.left is not None:
            exchange.left -= len(data)
        if over and exchange.chunked and exchange.head.method != "HEAD":
            pieces.append(LAST)
        if pieces:
            self._sent += 1
            self._transport.write(b"".join(pieces))
        if over:
            self._over(exchange)

    def _begun(self, exchange: Exchange, status: str, headers: list[tuple[str, str]]) -> bytes:
        """Status line and headers of an answer, framed as its request and its own headers allow."""
        exchange.begun = True
        names = {name.lower(): value for name, value in headers}
        bare = status.startswith(("1", "204", "304"))
        if "content-length" in names and exchange.head.method != "HEAD" and not bare:
            exchange.left = int(names["content-length"])
        exchange.chunked = not bare and "content-length" not in names and exchange.head.version == "1.1"
        # HTTP/1.0 has no chunks: there an answer without a length ends with the connection.
        exchange.closes |= not bare and "content-length" not in names and not exchange.chunked
        exchange.closes |= "close" in names.get("connection", "").lower() or self._half_closed
        lines = [f"HTTP/1.1 {status}"]
        lines += [
            f"{name}: {value}" for name, value in headers if not (exchange.closes and name.lower() == "connection")
        ]
        lines += ["Transfer-Encoding: chunked"] if exchange.chunked else []
        lines += ["Connection: close"] if exchange.closes else []
        lines += ["Connection: keep-alive"] if exchange.head.version == "1.0" and not exchange.closes else []
        text = "\r\n".join(lines).encode("latin-1", "replace")
        return text + b"\r\nDate: " + self._date() + b"\r\n\r\n"

    def _over(self, exchange: Exchange) -> None:
        """An answer is complete: on to the next request."""
        self._exchanges.popleft()
        if exchange.left:
            log.warning("an answer was %d bytes short or long", exchange.left)
            self.abort()
        elif exchange.closes:
            self._exchanges.clear()
            self._close()
        elif self._exchanges:
            self._next()
        elif self._refusal is not None:
            self._refuse(self._refusal)
        elif self._half_closed:
            self._close()
        else:
            self._wait(self._limits.reading if self._head is not None else self._limits.idle)

    def _next(self) -> None:
        if not self._deaf:
            self._transport.resume_reading()
        if self._exchanges[0] is self._receiving:
            self._wait(self._limits.sending)
            self._invite(self._exchanges[0])
        self._advance()

    def _refuse(self, refused: RefusedError) -> None:
        """Answer before the application is asked, and end the connection."""
        self._refusal, self._deaf = refused, True
        self._head = None
        if self._receiving is not None:
            self._exchanges.remove(self._receiving)
            self._receiving = None
        self._transport.pause_reading()
        if self._exchanges or self._closing:
            return  # after those
        said = refused.message or refused.problem.message
        log.info("refused with %d: %s", refused.problem.status, quote(said[:QUOTED], safe=" `'/.,:-"))
        self._transport.write(self._whole(refused.problem, refused.message))
        self._close()

    def fail(self, exchange: Exchange) -> None:
        """An application has failed to answer: say so if nothing was said yet, else break off."""
        if not self._exchanges or self._exchanges[0] is not exchange:
            return
        if exchange.begun:
            self.abort()
            return
        self._transport.write(self._whole(INTERNAL))
        self._exchanges.clear()
        self._close()

    def _whole(self, problem: Problem, message: str | None = None) -> bytes:
        status = problem.status
        phrase = http.HTTPStatus(status).phrase
        body = json.dumps(envelope(problem, message=message)).encode()
        head = f"HTTP/1.1 {status} {phrase}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        head += f"x-request-id: {request_id()}\r\nConnection: close\r\n"
        return head.encode() + b"Date: " + self._date() + b"\r\n\r\n" + body

    def shut(self) -> None:
        """End it once what is being answered is answered."""
        if self._exchanges:
            self._exchanges[-1].closes = True
            self._deaf = True
        elif not self._closing:
            self._close()

    def _close(self) -> None:
        """End it when all is sent; a client that is still sending has a moment to read what was said.

        RFC 9112, 9.6: were the connection closed with something unread, the answer would be lost on the way to many
        clients. So our end is closed alone, and what still comes is thrown away, of which there is a limit.
        """
        self._closing = True
        if self._deaf and not self._half_closed:
            self._transport.write_eof()
            self._transport.resume_reading()
            self._wait(self._limits.closing)
        else:
            self._transport.close()
            self._wait(self._limits.taking)
