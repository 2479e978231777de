"""A target on a loopback port that passes another one's answers on, and changes some of them.

Each is changed in itself, in how it is framed, or in its bytes as they are written, the head included.
"""

from __future__ import annotations

import contextlib
import http.client
import random
import socket
import socketserver
import struct
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from wireproof.model.transcript import End, Piece, Transcript
from wireproof_fuzz.mutations import BYTES, mutated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PATIENCE = 3.0
"""Seconds that the other target may be silent: some scenarios leave a stream open."""
_OF_ONE_HOP = {"connection", "content-length", "keep-alive", "transfer-encoding"}
_RAW = 0.15
"""How many of the changed answers are changed as bytes, too."""


@dataclass(kw_only=True)
class Spoiler:
    """What is changed, and how much came."""

    number: int
    """What all chance comes from."""
    rate: float
    """How many answers are changed, from 0 to 1."""
    base: str
    """The base URL of the target whose answers they are."""
    answered: int = 0
    spoilt: int = 0
    _counting: threading.Lock = field(default_factory=threading.Lock)

    def written(self, answer: Transcript) -> bytes:
        """The bytes of an answer; what stays as it was is framed by its length."""
        with self._counting:
            self.answered += 1
            chance = random.Random(f"{self.number} {self.answered}")  # noqa: S311 (it protects nothing)
            if chance.random() >= self.rate:
                return _framed(answer, _by_length)
            self.spoilt += 1
        data = _framed(mutated(chance, answer), chance.choice(_FRAMINGS))
        if chance.random() < _RAW:
            at = chance.randrange(len(data) + 1)
            data = data[:at] + chance.choice((b"", *BYTES)) + data[at + chance.choice((0, 1, 2, 50)) :]
        return data


def _by_length(body: bytes) -> tuple[str, bytes]:
    return f"Content-Length: {len(body)}\r\n", body


def _by_chunks(body: bytes) -> tuple[str, bytes]:
    return "Transfer-Encoding: chunked\r\n", b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)


_FRAMINGS: tuple[Callable[[bytes], tuple[str, bytes]], ...] = (
    _by_length, _by_length, _by_length, _by_chunks, _by_chunks,
    lambda body: ("", body),
    lambda body: (f"Content-Length: {len(body) + 10}\r\n", body),
    lambda body: (f"Content-Length: {len(body) // 2}\r\n", body),
    lambda body: ("Content-Length: -1\r\nContent-Length: x\r\n", body),
    lambda body: ("Transfer-Encoding: chunked\r\n", body),
    lambda body: ("Transfer-Encoding: chunked\r\n", b"%x\r\n%b" % (len(body), body)),
    lambda body: ("Transfer-Encoding: chunked\r\n", b"ffffffffffffffffff\r\n" + body),
    lambda body: ("Transfer-Encoding: gzip, chunked\r\nContent-Length: 3\r\n", _by_chunks(body)[1]),
    lambda body: ("Content-Encoding: gzip\r\n", body),
)  # fmt: skip
"""How a body is framed, rightly or not: the header lines, and the bytes behind the head."""


def _framed(answer: Transcript, framing: Callable[[bytes], tuple[str, bytes]]) -> bytes:
    lines, body = framing(answer.body)
    if answer.status is None:
        return b""
    head = "".join(f"{name}: {value}\r\n" for name, value in answer.headers)
    return f"HTTP/1.1 {answer.status} X\r\n{head}{lines}Connection: close\r\n\r\n".encode("latin-1", "replace") + body


@contextlib.contextmanager
def spoiling(base: str, number: int, rate: float) -> Iterator[tuple[str, Spoiler]]:
    """The base URL of a target that changes this part of another one's answers, for the length of a `with` block."""
    spoiler = Spoiler(number=number, rate=rate, base=base)

    class Passing(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            with contextlib.suppress(OSError, http.client.HTTPException):
                self._answer()

        do_GET = do_OPTIONS = do_POST  # noqa: N815 (as the standard library calls them)

        def _answer(self) -> None:
            answer = _asked(spoiler.base, self.command, self.path, dict(self.headers.items()), self._body())
            data = spoiler.written(answer)
            self.connection.sendall(data)
            if answer.end is End.CUT:
                # Ended by a reset, not by an orderly close.
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

        def _body(self) -> bytes:
            if "transfer-encoding" not in self.headers:
                return self.rfile.read(int(self.headers.get("content-length", 0)))
            found = b""
            while size := int(self.rfile.readline(), 16):
                found += self.rfile.read(size)
                self.rfile.readline()
            return found

        def log_message(self, *_: object) -> None:
            """Say nothing on stderr, which is searched for what Wireproof says."""

    class Threads(socketserver.ThreadingTCPServer):
        daemon_threads = True
        request_queue_size = 128

        def handle_error(self, *_: object) -> None:
            """Say nothing, as above: a client that left is no error here."""

    with Threads(("127.0.0.1", 0), Passing) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}{urlsplit(base).path}", spoiler
        finally:
            server.shutdown()
            thread.join()


def _asked(base: str, method: str, path: str, headers: dict[str, str], body: bytes) -> Transcript:
    """What the other target answers."""
    headers = {name: value for name, value in headers.items() if name.lower() not in {*_OF_ONE_HOP, "host"}}
    place = urlsplit(base)
    with contextlib.closing(http.client.HTTPConnection(place.netloc, timeout=PATIENCE)) as connection:
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        content, end = bytearray(), End.COMPLETE
        try:
            while data := response.read1(65536):
                content += data
        except (OSError, http.client.HTTPException):
            end = End.CUT
        kept = tuple((name, value) for name, value in response.getheaders() if name.lower() not in _OF_ONE_HOP)
    return Transcript(
        method=method, url=base, request_headers=(), request_body=body, status=response.status, headers=kept,
        pieces=(Piece(at=0.0, data=bytes(content)),), end=end, seconds=0.0,
    )  # fmt: skip
