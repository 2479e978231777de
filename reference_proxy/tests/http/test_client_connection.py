"""One connection without a socket: its tables, and what only a transport sees of what it does."""

from __future__ import annotations

import asyncio
import gc
import socket
import weakref
from typing import TYPE_CHECKING, Any, get_args

import pytest

from wireproof_surfaces.http.client_connection import ClientConnection
from wireproof_surfaces.http.connection_states import (
    READ_TABLE,
    WRITE_TABLE,
    ReadEvent,
    ReadState,
    WriteEvent,
    WriteState,
)
from wireproof_surfaces.http.edge_limits import EdgeLimits
from wireproof_surfaces.http.request_head import RequestHead
from wireproof_surfaces.http.served_exchange import ResponseFraming

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from wireproof_surfaces.http.served_exchange import ServedExchange

GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
LIMITS = EdgeLimits()


class FakeSocket:
    def __init__(self) -> None:
        self.options: list[int] = []

    def setsockopt(self, _level: int, option: int, _value: bytes) -> None:
        self.options.append(option)


class FakeTransport(asyncio.Transport):
    """Keeps what is written; `waiting` bytes of it are not taken by the client."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""
        self.waiting = 0
        self._reads = True
        self._ended = ""
        self.socket = FakeSocket()

    def reads(self) -> bool:
        """Whether it gives what comes."""
        return self._reads

    def ended(self) -> str:
        """How the connection was ended: "eof", "close" or "abort"."""
        return self._ended

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return {"peername": ("127.0.0.1", 5), "socket": self.socket}.get(name, default)

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        assert (high, low) == (0, None), "what is written leaves at once"

    def get_write_buffer_size(self) -> int:
        return self.waiting

    def write(self, data: Any) -> None:
        self.written += bytes(data)

    def pause_reading(self) -> None:
        self._reads = False

    def resume_reading(self) -> None:
        self._reads = True

    def write_eof(self) -> None:
        self._ended = "eof"

    def close(self) -> None:
        self._ended = "close"

    def abort(self) -> None:
        self._ended = "abort"


class Asked:
    """An application that keeps what it is asked, or answers at once."""

    def __init__(self, answers: Callable[[ServedExchange], object] | None = None, wants: int = 2**20) -> None:
        self.exchanges: list[ServedExchange] = []
        self._answers = answers
        self._wants = wants

    def wants(self, _exchange: ServedExchange) -> int:
        return self._wants

    def answer(self, exchange: ServedExchange) -> None:
        self.exchanges.append(exchange)
        if self._answers is not None:
            self._answers(exchange)

    def stop(self) -> None:
        pass


def ok(exchange: ServedExchange) -> None:
    exchange.reply(200, {}, exchange.head.path)


def connected(application: Any, main: Callable[[ClientConnection, FakeTransport], Awaitable[None]]) -> None:
    async def run() -> None:
        transport = FakeTransport()
        connection = ClientConnection(application, LIMITS, {}, lambda: b"now")
        connection.connection_made(transport)
        await main(connection, transport)

    asyncio.run(run())


def later(seconds: float) -> float:
    return asyncio.get_running_loop().time() + seconds


# The tables


def test_what_can_happen_to_what_comes() -> None:
    events = get_args(ReadEvent)
    missing = {(state, event) for state in get_args(ReadState) for event in events if event not in READ_TABLE[state]}
    assert missing == {
        ("idle", "body follows"),
        ("idle", "complete"),
        ("head", "begun"),
        ("body", "begun"),
        ("body", "body follows"),
        # The parser is not asked any more.
        *((state, event) for state in ("ignored", "ended") for event in events[:3]),
    }


def test_what_can_happen_to_what_goes() -> None:
    events = get_args(WriteEvent)
    missing = {(state, event) for state in get_args(WriteState) for event in events if event not in WRITE_TABLE[state]}
    ended = ("lingering", "closed")
    assert missing == {
        ("quiet", "answered"),
        ("answering", "asked"),
        ("answering", "said all"),
        *((state, event) for state in ended for event in events[:3]),
    }


# Framing


@pytest.mark.parametrize(
    ("method", "version", "status", "headers", "body"),
    [
        ("GET", "1.1", "200 OK", [("Content-Length", "2")], b"ok"),
        ("GET", "1.1", "200 OK", [], b"2\r\nok\r\n0\r\n\r\n"),
        ("GET", "1.0", "200 OK", [], b"ok"),
        ("GET", "1.0", "200 OK", [("Content-Length", "2")], b"ok"),
        ("HEAD", "1.1", "200 OK", [("Content-Length", "2")], b""),
        ("HEAD", "1.1", "200 OK", [], b""),
        ("GET", "1.1", "204 No Content", [], b""),
        ("GET", "1.1", "304 Not Modified", [], b""),
    ],
)
def test_a_client_knows_where_a_body_ends(
    method: str, version: str, status: str, headers: Sequence[tuple[str, str]], body: bytes
) -> None:
    request = RequestHead(method=method, version=version)
    framing = ResponseFraming(request, status, headers, date=b"now", closes=version == "1.0")
    assert framing.data(b"ok") + framing.end() == body
    assert (b"Transfer-Encoding: chunked" in framing.head) == body.startswith(b"2\r\n")
    assert framing.closes == (version == "1.0")
    assert (b"Connection: close" in framing.head) == framing.closes
    assert framing.left == 0


# Answers


def test_an_answer_is_one_write_and_the_connection_serves_on() -> None:
    async def main(connection: ClientConnection, transport: FakeTransport) -> None:
        for path in (b"/a", b"/b"):
            connection.data_received(b"GET %b HTTP/1.1\r\nHost: x\r\n\r\n" % path)
            assert transport.written.endswith(b"\r\n\r\n" + path)
        assert not transport.ended()

    connected(Asked(ok), main)


def test_an_application_that_fails_is_a_500_and_says_no_more(caplog: pytest.LogCaptureFixture) -> None:
    def fails(_exchange: ServedExchange) -> None:
        raise LookupError("a bug")

    async def main(connection: ClientConnection, transport: FakeTransport) -> None:
        connection.data_received(GET)
        assert transport.written.startswith(b"HTTP/1.1 500 Internal Server Error\r\n")
        assert b"a bug" not in transport.written
        assert transport.ended()

    connected(Asked(fails), main)
    assert "a bug" in caplog.text


def test_an_application_that_cannot_say_what_it_wants_is_a_500(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(Asked):
        def wants(self, _exchange: ServedExchange) -> int:
            raise LookupError("a bug")

    async def main(connection: ClientConnection, transport: FakeTransport) -> None:
        connection.data_received(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nok")
        assert transport.written.startswith(b"HTTP/1.1 500 ")

    connected(Broken(), main)
    assert "a bug" in caplog.text


def test_an_answer_that_has_begun_and_fails_is_broken_off() -> None:
    async def main(connection: ClientConnection, transport: FakeTransport) -> None:
        connection.data_received(GET)
        [exchange] = asked.exchanges
        exchange.begin("200 OK", [])
        exchange.send(b"half")
        exchange.fail()
        assert transport.written.endswith(b"4\r\nhalf\r\n")
        assert transport.ended() == "close"
        exchange.send(b"more")
        exchange.end()
        assert not transport.written.endswith(b"more\r\n0\r\n\r\n")

    asked = Asked()
    connected(asked, main)


def test_an_answer_shorter_than_it_announced_is_no_answer(caplog: pytest.LogCaptureFixture) -> None:
    async def main(connection: ClientConnection, transport: FakeTransport) -> None:
        connection.data_received(GET)
        asked.exchanges[0].begin("200 OK", [("Content-Length", "5")])
        asked.exchanges[0].end(b"four")
        assert transport.ended() == "abort"

    asked = Asked()
    connected(asked, main)
    assert "1 bytes short or long" in caplog.text


@pytest.mark.parametrize("reset", [False, True])
def test_a_connection_is_cut_behind_what_the_client_has_taken(*, reset: bool) -> None:
    async def main(connection: ClientConnection, transport: FakeTransport) -> None:
        connection.data_received(GET)
        [exchange] = asked.exchanges
        exchange.begin("200 OK", [])
        transport.waiting = 9
        connection.pause_writing()
        exchange.cut(reset=reset)
        assert transport.written.endswith(b"\r\n\r\n")  # the head, which waited for a piece
        assert transport.ended() == ("" if reset else "close")
        connection.resume_writing()
        assert transport.ended() == ("abort" if reset else "close")
        assert transport.socket.options == ([socket.SO_LINGER] if reset else [])

    asked = Asked()
    connected(asked, main)


# What comes


def test_a_large_head_may_come_in_pieces() -> None:
    head = b"GET / HTTP/1.1\r\nHost: x\r\n%b\r\n" % (b"A: %b\r\n" % (b"a" * 290) * 100)

    async def main(connection: ClientConnection, transport: FakeTransport) -> None:
        for at in range(0, len(head), 1000):
            connection.data_received(head[at : at + 1000])
        assert transport.written.startswith(b"HTTP/1.1 200 OK")

    connected(Asked(ok), main)


def test_a_large_body_behind_an_answer_waits_for_its_turn() -> None:
    async def main(connection: ClientConnection, transport: FakeTransport) -> None:
        connection.data_received(GET + b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n\r\n" + bytes(100_000))
        assert not transport.reads()
        asked.exchanges[0].reply(200, {}, b"")
        assert transport.reads()
        connection.data_received(bytes(100_000))
        assert len(asked.exchanges[1].body) == 200_000

    asked = Asked()
    connected(asked, main)


def test_a_client_waits_to_be_asked_until_it_is_its_turn() -> None:
    async def main(connection: ClientConnection, transport: FakeTransport) -> None:
        connection.data_received(
            GET + b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"
        )
        assert b"100" not in transport.written
        asked.exchanges[0].reply(200, {}, b"")
        assert transport.written.endswith(b"HTTP/1.1 100 Continue\r\n\r\n")
        connection.data_received(b"ok")
        assert asked.exchanges[1].body == b"ok"

    asked = Asked()
    connected(asked, main)


def test_what_is_not_wanted_is_thrown_away_up_to_a_limit() -> None:
    async def main(connection: ClientConnection, transport: FakeTransport) -> None:
        connection.data_received(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 999999999\r\n\r\n")
        assert transport.written.startswith(b"HTTP/1.1 200 OK")
        assert transport.ended() == "eof"
        for _ in range(LIMITS.unread_body // 2**20):
            connection.data_received(bytes(2**20))
        assert transport.reads()
        connection.data_received(b"a")
        assert not transport.reads()
        connection.look(later(0))
        connection.look(later(LIMITS.closing + 1))
        assert transport.ended() == "abort"

    connected(Asked(ok, wants=0), main)


def test_a_connection_that_has_ended_is_free_without_a_search_for_garbage() -> None:
    async def run() -> weakref.ref[ClientConnection]:
        asked = Asked(ok)
        connection = ClientConnection(asked, LIMITS, {}, lambda: b"now")
        connection.connection_made(FakeTransport())
        connection.data_received(GET + b"GET /half")
        connection.connection_lost(None)
        asked.exchanges.clear()
        return weakref.ref(connection)

    gc.disable()
    try:
        assert asyncio.run(run())() is None
    finally:
        gc.enable()


# Time


def test_a_client_that_reads_slowly_has_its_time_also_for_the_last_answer() -> None:
    async def main(connection: ClientConnection, transport: FakeTransport) -> None:
        connection.data_received(GET.replace(b"Host", b"Connection: close\r\nHost"))
        assert transport.ended() == "eof"
        transport.waiting = 10
        connection.pause_writing()
        for waiting in (9, 8, 7):
            transport.waiting = waiting
            connection.look(later(10 * LIMITS.taking * (10 - waiting)))
            assert transport.ended() == "eof"
        connection.look(later(100 * LIMITS.taking))
        assert transport.ended() == "abort"

    connected(Asked(ok), main)


def test_a_client_that_closes_its_end_behind_the_last_answer_is_let_go() -> None:
    async def main(connection: ClientConnection, transport: FakeTransport) -> None:
        connection.data_received(GET.replace(b"Host", b"Connection: close\r\nHost"))
        assert connection.eof_received()
        assert transport.ended() == "close"

    connected(Asked(ok), main)


def test_an_answer_has_as_long_as_it_takes() -> None:
    async def main(connection: ClientConnection, transport: FakeTransport) -> None:
        connection.data_received(GET + b"GET /half")
        connection.look(later(0))
        connection.look(later(10_000))
        assert not transport.ended()
        asked.exchanges[0].reply(200, {}, b"")
        connection.look(later(0))
        connection.look(later(LIMITS.reading + 1))
        assert b"HTTP/1.1 408 " in transport.written

    asked = Asked()
    connected(asked, main)


def test_a_connection_that_is_shut_ends_behind_what_is_answered() -> None:
    async def main(connection: ClientConnection, transport: FakeTransport) -> None:
        connection.data_received(GET + b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n")
        connection.shut()
        assert not transport.ended()
        asked.exchanges[0].reply(200, {}, b"")
        assert b"Connection: close" in transport.written
        assert transport.ended() == "eof"
        assert len(asked.exchanges) == 1

    asked = Asked()
    connected(asked, main)
