"""`Direct` against httpx's own transport: the same of every answer, good or broken."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING

import httpx
import pytest

from wireproof.driving.clients import HEAD, Direct
from wireproof.targets.clients import verify_for
from wireproof.targets.ports import free_port

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

OK = b"HTTP/1.1 200 OK\r\n"
FIVE = OK + b"Content-Length: 5\r\n\r\nhello"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
ANSWERS = {
    "length": FIVE,
    "length-short": OK + b"Content-Length: 9\r\n\r\nhello",
    "length-long": OK + b"Content-Length: 3\r\n\r\nhello",
    "chunked": CHUNKED + b"5\r\nhello\r\n0\r\n\r\n",
    "chunked-ext": CHUNKED + b"5;a=b\r\nhello\r\n0\r\n\r\n",
    "chunked-trailer": CHUNKED + b"5\r\nhello\r\n0\r\nX-T: a\r\n\r\n",
    "chunked-cut": CHUNKED + b"5\r\nhello\r\n",
    "chunked-no-end": CHUNKED + b"5\r\nhello\r\n0\r\n",
    "chunked-badsize": CHUNKED + b"zz\r\nhello\r\n0\r\n\r\n",
    "chunked-nocrlf": CHUNKED + b"5\r\nhelloX0\r\n\r\n",
    "chunked-lf": CHUNKED + b"5\nhello\n0\n\n",
    "chunked-upper": OK + b"Transfer-Encoding: Chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    "gzip-chunked": OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    "te-other": OK + b"Transfer-Encoding: gzip\r\n\r\nhello",
    "both": OK + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    "two-lengths": OK + b"Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
    "two-different": OK + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
    "length-comma": OK + b"Content-Length: 5, 5\r\n\r\nhello",
    "length-neg": OK + b"Content-Length: -5\r\n\r\nhello",
    "length-plus": OK + b"Content-Length: +5\r\n\r\nhello",
    "length-text": OK + b"Content-Length: five\r\n\r\nhello",
    "length-empty": OK + b"Content-Length: \r\n\r\nhello",
    "close": OK + b"Content-Type: text/plain\r\n\r\nhello",
    "close-named": OK + b"Connection: close\r\n\r\nhello",
    "none": OK + b"Content-Length: 0\r\n\r\n",
    "204": b"HTTP/1.1 204 No Content\r\n\r\n",
    "204-body": b"HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello",
    "304": b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n",
    "100": b"HTTP/1.1 100 Continue\r\n\r\n" + FIVE,
    "103": b"HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n" + FIVE,
    "100x3": b"HTTP/1.1 100 Continue\r\n\r\n" * 3 + FIVE,
    "100-only": b"HTTP/1.1 100 Continue\r\n\r\n",
    "101": b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nabc",
    "http10": b"HTTP/1.0 200 OK\r\n\r\nhello",
    "http10-length": b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello",
    "http10-chunked": b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    "http20": b"HTTP/2.0 200 OK\r\nContent-Length: 5\r\n\r\nhello",
    "http12": b"HTTP/1.2 200 OK\r\nContent-Length: 5\r\n\r\nhello",
    "no-reason": b"HTTP/1.1 200\r\nContent-Length: 5\r\n\r\nhello",
    "no-reason-sp": b"HTTP/1.1 200 \r\nContent-Length: 5\r\n\r\nhello",
    "status-99": b"HTTP/1.1 99 x\r\nContent-Length: 5\r\n\r\nhello",
    "status-600": b"HTTP/1.1 600 x\r\nContent-Length: 5\r\n\r\nhello",
    "status-1000": b"HTTP/1.1 1000 x\r\nContent-Length: 5\r\n\r\nhello",
    "garbage": b"garbage\r\n\r\n",
    "nothing": b"",
    "half-head": b"HTTP/1.1 200 OK\r\nContent-Le",
    "lf-head": b"HTTP/1.1 200 OK\nContent-Length: 5\n\nhello",
    "obs-fold": OK + b"X-A: one\r\n two\r\nContent-Length: 5\r\n\r\nhello",
    "space-name": OK + b"X A: one\r\nContent-Length: 5\r\n\r\nhello",
    "space-colon": OK + b"X-A : one\r\nContent-Length: 5\r\n\r\nhello",
    "empty-name": OK + b": one\r\nContent-Length: 5\r\n\r\nhello",
    "no-colon": OK + b"XA\r\nContent-Length: 5\r\n\r\nhello",
    "value-ows": OK + b"X-A: \t one two \t\r\nContent-Length: 5\r\n\r\nhello",
    "value-empty": OK + b"X-A:\r\nContent-Length: 5\r\n\r\nhello",
    "value-latin": OK + b"X-A: \xe9\r\nContent-Length: 5\r\n\r\nhello",
    "value-utf8": OK + "X-A: é€\r\nContent-Length: 5\r\n\r\nhello".encode(),
    "value-nul": OK + b"X-A: a\0b\r\nContent-Length: 5\r\n\r\nhello",
    "value-ctl": OK + b"X-A: a\x01b\r\nContent-Length: 5\r\n\r\nhello",
    "case": OK + b"X-MiXed: one\r\ncontent-LENGTH: 5\r\n\r\nhello",
    "dup-header": OK + b"X-A: 1\r\nX-A: 2\r\nContent-Length: 5\r\n\r\nhello",
    "leading-crlf": b"\r\n" + FIVE,
    "second-answer": FIVE + OK + b"Content-Length: 3\r\n\r\nbye",
    "after-chunked": CHUNKED + b"5\r\nhello\r\n0\r\n\r\nrubbish",
    "after-close": OK + b"Connection: close\r\nContent-Length: 5\r\n\r\nhellorubbish",
    "big-head": OK + b"X-A: " + b"a" * HEAD + b"\r\nContent-Length: 5\r\n\r\nhello",
    "head-90k": OK + b"X-A: " + b"a" * 90000 + b"\r\nContent-Length: 5\r\n\r\nhello",
    "lower-http": b"http/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
    "upgrade-200": OK + b"Upgrade: h2c\r\nConnection: upgrade\r\nContent-Length: 5\r\n\r\nhello",
    "upgrade-200-chunked": OK
    + b"Upgrade: h2c\r\nConnection: upgrade\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    "huge-chunk": CHUNKED + b"fffffffffffffffff\r\nhello",
    "empty-chunks": CHUNKED + b"00\r\n\r\n",
    "bws-chunk": CHUNKED + b"5 \r\nhello\r\n0\r\n\r\n",
    "te-twice": OK + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
}


@dataclass(kw_only=True)
class Seen:
    """What came of an exchange."""

    status: int | None = None
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    body: bytes = b""
    failed: type[httpx.TransportError] | None = None


@asynccontextmanager
async def serving(serve: Serve) -> AsyncIterator[str]:
    """A server by its URL; at the end all of its connections are over, so that nothing of it is left to other tests."""
    served: list[asyncio.Task[object] | None] = []

    async def whole(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        served.append(asyncio.current_task())
        # A client may leave before it has all.
        with suppress(OSError, asyncio.IncompleteReadError):
            await serve(reader, writer)
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()

    async with await asyncio.start_server(whole, "127.0.0.1") as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/a%20b?c=%41"
        await asyncio.gather(*filter(None, served))


@asynccontextmanager
async def answering(data: bytes, *, size: int, sent: list[bytes] | None = None) -> AsyncIterator[str]:
    """A server that answers with these bytes, `size` at a time, and closes; `sent` is given what it received."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = await reader.readuntil(b"\r\n\r\n")
        while sent is not None and not request.endswith((b"}", b"0\r\n\r\n")):
            request += await reader.read(1 << 16)
        if sent is not None:
            sent.append(request)
        for at in range(0, len(data), size):
            writer.write(data[at : at + size])
            await writer.drain()
            await asyncio.sleep(0)

    async with serving(serve) as url:
        yield url


def usual() -> httpx.AsyncHTTPTransport:
    """What httpx has by itself, without the certificates that it would read each time."""
    return httpx.AsyncHTTPTransport(verify=verify_for("http://127.0.0.1"))


async def seen(transport: httpx.AsyncBaseTransport, url: str, method: str = "GET", seconds: float = 5.0) -> Seen:
    found = Seen()
    try:
        async with (
            httpx.AsyncClient(transport=transport, timeout=seconds) as client,
            client.stream(method, url) as response,
        ):
            found.status, found.headers = response.status_code, response.headers.raw
            async for piece in response.aiter_raw():
                found.body += piece
    except httpx.TransportError as error:
        found.failed = type(error)
    return found


def test_an_answer_is_what_it_is_for_httpx() -> None:
    async def both(data: bytes, method: str, size: int) -> tuple[Seen, Seen]:
        # Of a head beyond all bounds some pieces suffice to see that its bytes are counted.
        async with answering(data, size=max(size, len(data) // 1000)) as url:
            return await seen(Direct(), url, method), await seen(usual(), url, method)

    byte_by_byte, at_once = 1, 1 << 20
    for answer, method, size in product(ANSWERS, ("GET", "HEAD"), (byte_by_byte, at_once)):
        ours, others = asyncio.run(both(ANSWERS[answer], method, size))
        assert ours == others, (answer, method, size)
        assert ours.status or ours.failed, (answer, method, size)


def test_the_answers_are_good_and_broken_ones() -> None:
    async def all_of_them() -> list[Seen]:
        found = []
        for data in ANSWERS.values():
            async with answering(data, size=1 << 20) as url:
                found.append(await seen(Direct(), url))
        return found

    every = asyncio.run(all_of_them())
    assert {one.failed for one in every} >= {None, httpx.RemoteProtocolError}
    assert {one.body for one in every if one.failed is None} >= {b"", b"hello"}


def test_a_request_is_sent_as_httpx_sends_it() -> None:
    async def sent_by(transport: httpx.AsyncBaseTransport, headers: dict[str, str]) -> bytes:
        sent: list[bytes] = []
        async with (
            answering(FIVE, size=1 << 20, sent=sent) as url,
            httpx.AsyncClient(transport=transport, headers={"User-Agent": "x"}, trust_env=False) as client,
        ):
            request = client.build_request("POST", url, content=b'{"a": 1}', headers=headers)
            if "transfer-encoding" in request.headers:
                del request.headers["content-length"]
            # The same port in both, which is in the request.
            request.headers["host"] = "here"
            await client.send(request)
        return sent[0]

    for headers in ({"X-Own": "b"}, {"Transfer-Encoding": "chunked"}):
        ours, others = (asyncio.run(sent_by(one, headers)) for one in (Direct(), usual()))
        assert ours == others
        assert b"POST /a%20b?c=%41 HTTP/1.1" in ours


def test_a_server_that_is_not_there_refuses() -> None:
    found = asyncio.run(seen(Direct(), f"http://127.0.0.1:{free_port()}/"))
    assert found.failed is httpx.ConnectError


def test_a_name_of_this_machine_is_tried_at_all_its_addresses() -> None:
    async def by_name() -> Seen:
        async with answering(FIVE, size=1 << 20) as url:
            return await seen(Direct(), url.replace("127.0.0.1", "localhost"))

    assert asyncio.run(by_name()).body == b"hello"


@pytest.mark.parametrize("data", [b"", FIVE[:-1]], ids=["head", "body"])
def test_silence_is_waited_for_as_long_as_a_client_says(data: bytes) -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        # Until the client leaves.
        await reader.read()

    async def ask() -> type[httpx.TransportError] | None:
        async with serving(silent) as url:
            return (await seen(Direct(), url, seconds=0.05)).failed

    assert asyncio.run(ask()) is httpx.ReadTimeout


def test_an_answer_to_a_request_that_is_not_read_is_read() -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()
        # Closed for writing alone: what it has not read would take the answer with it.
        writer.write_eof()
        await reader.read()

    async def ask() -> int:
        async with serving(refuse) as url, httpx.AsyncClient(transport=Direct(), trust_env=False) as client:
            return (await client.post(url, content=b"x" * (1 << 22))).status_code

    assert asyncio.run(ask()) == httpx.codes.REQUEST_ENTITY_TOO_LARGE
