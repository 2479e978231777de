"""Run: one stream in both directions over HTTP/2, one connection a turn.

A plain `http://` address is spoken to in HTTP/2 from the first byte (h2c with prior knowledge), `https://` by ALPN. h2
does the framing; here are its connection, the socket, and the waiting for room to send. A connection of its own for
each turn: one that is slow, or breaks, holds up no other.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import (
    ConnectionTerminated,
    DataReceived,
    Event,
    ResponseReceived,
    StreamEnded,
    StreamReset,
    TrailersReceived,
)
from h2.exceptions import ProtocolError

from wireproof_proxy.backends.cursor.channel import RUN, LostError, ServiceAddress, UnreachedError, message_of
from wireproof_proxy.backends.cursor.envelope import (
    CONNECT,
    EnvelopeEnd,
    EnvelopeReader,
    GarbledError,
    envelope,
    refused,
    status_error,
)
from wireproof_surfaces.whole_number import whole_number

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Sequence

    from wireproof_cursor_protos.agent_pb2 import AgentClientMessage, AgentServerMessage

log = logging.getLogger(__name__)

_READ = 2**16
_WINDOW = 2**24
"""Bytes that the service may send ahead: what arrives is taken at once."""
_REFUSAL = 2**16
"""Bytes of a refusal's body that are read; errors have some hundred."""
_OK = 200
CONNECT_SECONDS = 10.0


class RunTransport:
    """Turns over HTTP/2."""

    heartbeats = True

    def __init__(self, service: ServiceAddress) -> None:
        self._service = service

    @asynccontextmanager
    async def open(self, request_id: str) -> AsyncIterator[RunChannel]:
        """A connection for one turn."""
        service = self._service
        reader, writer = await _connect(service)
        channel = RunChannel(reader, writer)
        try:
            headers = [
                (":method", "POST"),
                (":scheme", "https" if service.secure else "http"),
                (":authority", service.parts.netloc.rpartition("@")[2]),
                (":path", service.parts.path.rstrip("/") + RUN),
                *service.headers(request_id, CONNECT),
                ("te", "trailers"),
            ]
            await channel.begin(headers)
            yield channel
        finally:
            channel.close()

    async def close(self) -> None:
        """Nothing is shared."""


async def _connect(service: ServiceAddress) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    context = ssl.create_default_context() if service.secure else None
    if context:
        context.set_alpn_protocols(["h2"])
    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            return await asyncio.open_connection(*service.at, ssl=context)
    except (OSError, TimeoutError) as error:
        raise UnreachedError(str(error)) from error


class RunChannel:
    """One stream of one connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        # Without an encoding of headers: a service may send any bytes, and h2 would fail at some.
        self._connection = H2Connection(H2Configuration(client_side=True))
        self._stream = 0
        self._room = asyncio.Event()
        self._sending = asyncio.Lock()
        self._status = 0
        self._refusal = bytearray()
        self._envelopes = EnvelopeReader()
        self._complete = False
        """Whether the service has ended the stream as it should."""
        self._ended = False
        """Whether the stream is over on the way from the service."""

    async def begin(self, headers: Sequence[tuple[str, str]]) -> None:
        """Open the connection and the stream."""
        self._connection.initiate_connection()
        self._stream = self._connection.get_next_available_stream_id()
        self._connection.send_headers(self._stream, headers)
        self._connection.increment_flow_control_window(_WINDOW)
        self._connection.increment_flow_control_window(_WINDOW, self._stream)
        await self._flush()

    async def send(self, message: AgentClientMessage) -> None:
        """Send a message, as fast as the service makes room for it."""
        data = memoryview(envelope(message.SerializeToString()))
        async with self._sending:
            while data:
                size = min(len(data), await self._await_room())
                try:
                    self._connection.send_data(self._stream, bytes(data[:size]))
                except ProtocolError as error:
                    raise LostError("the stream is over") from error
                data = data[size:]
                await self._flush()

    async def receive(self) -> AsyncGenerator[AgentServerMessage]:
        """The messages of the stream."""
        while data := await self._read():
            try:
                events = self._connection.receive_data(data)
                payloads = [payload for event in events for payload in self._take(event)]
            except ProtocolError as error:
                raise GarbledError(f"no HTTP/2: {error}") from error
            # Acknowledgements, and what follows from the service's settings.
            await self._flush()
            self._room.set()
            for payload in payloads:
                if isinstance(payload, bytes):
                    yield message_of(payload)
                elif payload.error:
                    raise payload.error
                else:
                    return
            if self._ended:
                break
        raise LostError("the stream was over without its end")

    def close(self) -> None:
        """End the stream, by a reset if it still runs, and the connection."""
        try:
            # Not after the service's own end: some servers have forgotten the stream by then.
            if self._stream and not (self._complete or self._ended):
                self._connection.reset_stream(self._stream, ErrorCodes.CANCEL)
            self._connection.close_connection()
            self._writer.write(self._connection.data_to_send())
        except (ProtocolError, OSError):
            # It was closed from the other end meanwhile, which is as good.
            log.debug("a stream was over before it was closed", exc_info=True)
        self._writer.close()

    async def _read(self) -> bytes:
        try:
            return await self._reader.read(_READ)
        except OSError as error:
            raise LostError(str(error)) from error

    async def _flush(self) -> None:
        try:
            self._writer.write(self._connection.data_to_send())
            await self._writer.drain()
        except OSError as error:
            raise LostError(str(error)) from error

    async def _await_room(self) -> int:
        """How many bytes may be sent now, waiting until it is at least one."""
        while True:
            try:
                window = self._connection.local_flow_control_window(self._stream)
            except ProtocolError as error:
                raise LostError("the stream is over") from error
            if window > 0:
                return min(window, self._connection.max_outbound_frame_size)
            self._room.clear()
            await self._room.wait()

    def _take(self, event: Event) -> list[bytes | EnvelopeEnd]:
        """What an event of the connection brings of the stream."""
        match event:
            case ResponseReceived():
                self._status = whole_number(_texts(event.headers).get(":status", "")) or 0
            case DataReceived():
                # At once: what arrives is never held up by a client that reads slowly.
                self._connection.acknowledge_received_data(event.flow_controlled_length, self._stream)
                return self._data(event.data)
            case TrailersReceived():
                error = status_error(_texts(event.headers))
                return [EnvelopeEnd(error)] if error else []
            case StreamEnded():
                self._ended = True
                return [] if self._status == _OK else [EnvelopeEnd(refused(self._status, bytes(self._refusal)))]
            # Without an error the connection is to be used no more, but the stream goes on.
            case StreamReset() | ConnectionTerminated() if event.error_code != ErrorCodes.NO_ERROR:
                self._ended = True
            case _:
                pass
        return []

    def _data(self, data: bytes) -> list[bytes | EnvelopeEnd]:
        if self._status != _OK:
            self._refusal += data[: _REFUSAL - len(self._refusal)]
            return []
        found = list(self._envelopes.feed(data))
        self._complete = any(isinstance(one, EnvelopeEnd) for one in found)
        return found


def _texts(headers: Iterable[tuple[str | bytes, str | bytes]] | None) -> dict[str, str]:
    return {_text(name): _text(value) for name, value in headers or ()}


def _text(value: str | bytes) -> str:
    return value if isinstance(value, str) else value.decode(errors="replace")
