"""RunSSE and BidiAppend: the service's messages in one response over HTTP/1.1, ours in a request each.

Both carry the turn's request id. The service orders our messages by `append_seqno` and drops a number that it has seen
as a retry: there is one counter for all of them, and one append at a time. Two counters make numbers repeat, and a turn
whose messages were dropped never goes on.
"""

from __future__ import annotations

import asyncio
import itertools
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

import httpx

from wireproof_cursor_protos.agent_pb2 import BidiRequestId
from wireproof_cursor_protos.aiserver_pb2 import BidiAppendRequest
from wireproof_proxy.backends.cursor.channel import (
    APPEND,
    RUN_SSE,
    LostError,
    ServiceAddress,
    UnreachedError,
    message_of,
)
from wireproof_proxy.backends.cursor.envelope import GRPC_WEB, EnvelopeEnd, EnvelopeReader, envelope, refused

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from wireproof_cursor_protos.agent_pb2 import AgentClientMessage, AgentServerMessage

_ATTEMPTS = 2
"""A connection that was kept open may be closed just when it is used; the same number is sent again, which is safe."""
CONNECT_SECONDS = 10.0
CLOSING_SECONDS = 0.5
"""How long a response may take to close behind its end."""


class RunSseTransport:
    """Turns over HTTP/1.1."""

    heartbeats = False

    def __init__(self, service: ServiceAddress) -> None:
        self._service = service
        # No limit of connections or of silence: those of the proxy hold. No proxy of the environment.
        self._client = httpx.AsyncClient(
            timeout=httpx.Timeout(None, connect=CONNECT_SECONDS),
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=32),
            trust_env=False,
        )

    @asynccontextmanager
    async def open(self, request_id: str) -> AsyncIterator[RunSseChannel]:
        """The two directions of one turn; the response is closed when it ends."""
        yield RunSseChannel(self._client, self._service, request_id)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()


@dataclass(eq=False)
class RunSseChannel:
    """One turn."""

    _client: httpx.AsyncClient
    _service: ServiceAddress
    _request_id: str
    _numbers: itertools.count[int] = field(default_factory=itertools.count)
    _sending: asyncio.Lock = field(default_factory=asyncio.Lock)

    def __post_init__(self) -> None:
        self._headers = self._service.headers(self._request_id, GRPC_WEB)

    async def send(self, message: AgentClientMessage) -> None:
        """Append a message, once those before it have been accepted."""
        async with self._sending:
            request = BidiAppendRequest(data=message.SerializeToString().hex(), append_seqno=next(self._numbers))
            request.request_id.request_id = self._request_id
            response = await self._append(envelope(request.SerializeToString()))
        _check(response.status_code, response.content)
        for found in EnvelopeReader().feed(response.content):
            if isinstance(found, EnvelopeEnd) and found.error:
                raise found.error

    async def receive(self) -> AsyncGenerator[AgentServerMessage]:
        """The messages of the response."""
        body = envelope(BidiRequestId(request_id=self._request_id).SerializeToString())
        url = self._service.base_url.rstrip("/") + RUN_SSE
        try:
            async with self._client.stream("POST", url, content=body, headers=self._headers) as response:
                if response.status_code != httpx.codes.OK:
                    _check(response.status_code, await response.aread())
                async with aclosing(cast("AsyncGenerator[bytes]", response.aiter_raw())) as pieces:
                    async for found in _envelopes(pieces):
                        if isinstance(found, bytes):
                            yield message_of(found)
                        elif found.error:
                            raise found.error
                        else:
                            await _read_out(pieces)
                            return
        except httpx.ConnectError as error:
            raise UnreachedError(str(error)) from error
        except httpx.TransportError as error:
            raise LostError(str(error)) from error
        raise LostError("the response was over without its end")

    async def _append(self, body: bytes) -> httpx.Response:
        url = self._service.base_url.rstrip("/") + APPEND
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                return await self._client.post(url, content=body, headers=self._headers)
            except httpx.ConnectError as error:
                raise UnreachedError(str(error)) from error
            except httpx.TransportError as error:
                if attempt == _ATTEMPTS:
                    raise LostError(str(error)) from error
        raise AssertionError("the last attempt returns or raises")


async def _envelopes(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes | EnvelopeEnd]:
    reader = EnvelopeReader()
    async for data in pieces:
        for found in reader.feed(data):
            yield found


async def _read_out(pieces: AsyncIterator[bytes]) -> None:
    """Read a response to its very end: only then its connection serves another turn."""
    with suppress(TimeoutError):
        async with asyncio.timeout(CLOSING_SECONDS):
            async for _ in pieces:
                pass


def _check(status: int, body: bytes) -> None:
    if status != httpx.codes.OK:
        raise refused(status, body)
