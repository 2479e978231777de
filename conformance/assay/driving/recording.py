"""One exchange over HTTP, kept as it comes: status, headers, the pieces of the body with their times, the end."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import httpx

from assay.driving.watching import now
from assay.model.transcript import End, Piece

if TYPE_CHECKING:
    from assay.driving.watching import Watch


@dataclass
class Record:
    """A transcript in the making; `silence` bounds the waiting, in seconds."""

    watch: Watch | None
    silence: float
    began: float = field(default_factory=time.monotonic)
    status: int | None = None
    headers: tuple[tuple[str, str], ...] = ()
    pieces: list[Piece] = field(default_factory=list)
    end: End = End.COMPLETE

    async def fill(self, client: httpx.AsyncClient, request: httpx.Request) -> None:
        """Send the request and keep what comes back, until all has come or the client leaves."""
        if self.watch is None:
            await self._fill(client, request)
            return
        filling, told = asyncio.create_task(self._fill(client, request)), asyncio.create_task(self.watch.told())
        try:
            await asyncio.wait({filling, told}, return_when=asyncio.FIRST_COMPLETED)
            if not filling.done():
                self.end = End.LEFT
        finally:
            for task in (filling, told):
                if not task.done():
                    task.cancel()
            await asyncio.wait({filling, told})
        for task in (filling, told):
            if not task.cancelled():
                task.result()

    async def _fill(self, client: httpx.AsyncClient, request: httpx.Request) -> None:
        try:
            response = await client.send(request, stream=True)
            try:
                self.status = response.status_code
                self.headers = tuple(
                    (name.decode("latin-1"), value.decode("latin-1")) for name, value in response.headers.raw
                )
                await self._body(response)
            finally:
                await response.aclose()
        except httpx.ConnectError:
            raise
        except (httpx.TimeoutException, TimeoutError):
            self.end = End.OPEN if self.watch is not None and self.watch.done else End.TIMEOUT
        except (httpx.TransportError, httpx.DecodingError):
            self.end = End.CUT

    async def _body(self, response: httpx.Response) -> None:
        deadline = now() + self.silence
        pieces = response.aiter_raw()
        while True:
            async with asyncio.timeout_at(deadline if self.watch is None else self.watch.deadline):
                data = await anext(pieces, None)
            if data is None:
                return
            self.pieces.append(Piece(at=time.monotonic() - self.began, data=data))
            if self.watch is not None:
                self.watch.feed(data)
                if self.watch.left:
                    self.end = End.LEFT
                    return
