"""The channel over HTTP/2 with a service that answers what no service should."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import RequestReceived

from wireproof_proxy.backends.cursor.channel import ServiceAddress
from wireproof_proxy.backends.cursor.envelope import ServiceError
from wireproof_proxy.backends.cursor.run import RunTransport

if TYPE_CHECKING:
    from collections.abc import Sequence

Headers = list[tuple[bytes, bytes]]
DEADLINE = 30.0


async def received(headers: Headers, body: Sequence[bytes]) -> None:
    """Open a channel to a service that answers this, and read from it until it ends."""

    answered = asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = H2Connection(H2Configuration(client_side=False, validate_outbound_headers=False))
        connection.initiate_connection()
        while data := await reader.read(2**16):
            for event in connection.receive_data(data):
                if isinstance(event, RequestReceived):
                    connection.send_headers(event.stream_id, headers)
                    for piece in body:
                        connection.send_data(event.stream_id, piece)
                    connection.end_stream(event.stream_id)
            writer.write(connection.data_to_send())
        writer.close()
        answered.set()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    transport = RunTransport(ServiceAddress(base_url=f"http://127.0.0.1:{port}", token="t"))
    async with server, asyncio.timeout(DEADLINE):
        try:
            async with transport.open("1") as channel:
                async for _ in channel.receive():
                    pass
        finally:
            await answered.wait()  # before Python 3.12 a server does not wait for what it has under way


@pytest.mark.parametrize("status", [b"abc", b"", b"9" * 5000, "²".encode(), b"\xff"])
def test_a_status_that_is_no_number_is_a_refusal(status: bytes) -> None:
    with pytest.raises(ServiceError) as raised:
        asyncio.run(received([(b":status", status)], []))
    assert raised.value.code == "unknown"


def test_headers_are_any_bytes() -> None:
    headers = [(b":status", b"401"), (b"x-any", b"\xff\xfe")]
    with pytest.raises(ServiceError) as raised:
        asyncio.run(received(headers, []))
    assert raised.value.code == "unauthenticated"


def test_of_a_refusal_a_beginning_is_read() -> None:
    body = [*[b" " * 2**14] * 4, b'{"code": "resource_exhausted"}']
    with pytest.raises(ServiceError) as raised:
        asyncio.run(received([(b":status", b"401")], body))
    assert raised.value.code == "unauthenticated"
