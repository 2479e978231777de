from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast

from websockets.exceptions import ConnectionClosedOK

from wireproof_codex.transports import websocket_client
from wireproof_codex.transports.websocket_client import CROWDED, Client

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    import pytest
    from websockets.asyncio.server import ServerConnection


class Socket:
    """A connection whose client reads as long as `reads` is set."""

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.reads = asyncio.Event()
        self.said_last = asyncio.Event()
        self.aborted = False
        self.closed = False
        self.transport = self

    async def send(self, text: str) -> None:
        await self.reads.wait()
        if self.closed:
            raise ConnectionClosedOK(None, None)
        self.sent.append(text)
        if text == "the last":
            self.said_last.set()

    def abort(self) -> None:
        self.aborted = True


def _run(scene: Callable[[Socket, Client], Awaitable[None]]) -> Socket:
    async def run() -> Socket:
        socket = Socket()
        client = Client(cast("ServerConnection", socket))
        sending = asyncio.create_task(client.run())
        async with asyncio.timeout(30):
            await scene(socket, client)
        sending.cancel()
        return socket

    return asyncio.run(run())


def test_a_client_that_reads_gets_all_in_order() -> None:
    async def scene(socket: Socket, client: Client) -> None:
        socket.reads.set()
        for number in range(3 * CROWDED):
            await client.send(str(number))
        await client.flush()

    assert _run(scene).sent == [str(number) for number in range(3 * CROWDED)]


def test_a_crowd_of_messages_waits_for_the_client_to_read() -> None:
    async def scene(socket: Socket, client: Client) -> None:
        for number in range(CROWDED):
            await client.send(str(number))
        one_more = asyncio.create_task(client.send("one more"))
        await asyncio.sleep(0)
        assert not one_more.done()
        socket.reads.set()
        await one_more
        await client.flush()

    assert _run(scene).sent[-1] == "one more"


def test_one_that_rests_holds_nobody_up_and_finds_what_it_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(websocket_client, "PATIENCE", 0.0)

    async def scene(socket: Socket, client: Client) -> None:
        for number in range(3 * CROWDED):
            await client.send(str(number))
        await client.flush()
        assert socket.sent == []
        socket.reads.set()
        await client.send("the last")
        await socket.said_last.wait()

    socket = _run(scene)
    assert len(socket.sent) == 3 * CROWDED + 1
    assert not socket.aborted


def test_one_that_rests_for_too_long_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(websocket_client, "PATIENCE", 0.0)
    monkeypatch.setattr(websocket_client, "MOST", CROWDED + 1)

    async def scene(socket: Socket, client: Client) -> None:
        for number in range(CROWDED + 1):
            await client.send(str(number))
        assert not socket.aborted
        await client.send("too many")

    assert _run(scene).aborted


def test_nothing_more_is_sent_to_one_that_is_gone() -> None:
    async def scene(socket: Socket, client: Client) -> None:
        socket.closed = True
        socket.reads.set()
        await client.send("a")
        await client.run()

    assert _run(scene).sent == []
