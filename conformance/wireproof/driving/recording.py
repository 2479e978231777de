"""One exchange over HTTP, kept as it arrives: status, headers, the pieces of the body with their times, the end.

A target may send without end, by fault or on purpose. How long, how large and in how many pieces an answer may be is
limited: the client disconnects from one that exceeds that, and only the beginning of the body is kept. Its content is
not judged, and a run must not fill the memory with it.
"""

from __future__ import annotations

import asyncio
import math
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import httpx

from wireproof.model.transcript import End, Piece
from wireproof.targets.budget import Budget, now

if TYPE_CHECKING:
    from wireproof.driving.watching import Watch

SILENCES = 3
"""An exchange may last at least so many times as long as the target may be silent."""
PIECES = 250_000
"""Pieces that an answer may have: a proxy may write a mebibyte a few bytes at a time, and that is no fault."""
FRAMES = 50_000
"""Frames that an answer may have. One that says anything has more than 100 bytes, so that streams of them exceed the
limit of bytes first: this one is for frames without anything in them."""
LARGE_BYTES, LARGE_PIECES = 2**17, 1000
"""Beyond either of them an answer is large, and only one is read at a time: what is read takes many times its bytes."""
KEPT = 2**16
"""Bytes that are kept of an answer beyond the limits."""
KEPT_PIECES = 1000


def is_large(size: int, pieces: int) -> bool:
    """True if an answer of this size, with so many pieces or frames, counts as large."""
    return size > LARGE_BYTES or pieces > LARGE_PIECES


@dataclass(frozen=True, kw_only=True)
class ExchangeLimits:
    """The limits of one exchange."""

    seconds: float = math.inf
    most_bytes: int = 2**62
    pieces: int = PIECES
    frames: int = FRAMES

    def over(self, size: int, pieces: int, frames: int) -> str:
        """Which limit a body of `size` bytes, so many pieces and frames exceeds; "": none."""
        if size > self.most_bytes:
            return f"it has more than {self.most_bytes:,} bytes (--answer-bytes sets the limit)"
        if frames > self.frames:
            return f"it has more than {self.frames:,} frames"
        return f"it comes in more than {self.pieces:,} pieces" if pieces > self.pieces else ""


@dataclass
class Record:
    """A transcript in the making."""

    watch: Watch | None
    """What the client does while a stream is sent; None: it reads to the end."""
    silence: float
    """How long to wait for the first byte, in seconds; for the whole body, too, where there is no `watch`."""
    began: float = field(default_factory=time.monotonic)
    status: int | None = None
    headers: tuple[tuple[str, str], ...] = ()
    pieces: list[Piece] = field(default_factory=list)
    end: End = End.COMPLETE
    over: str = ""
    """Which limit the answer exceeds; "": none."""
    limits: ExchangeLimits = field(default_factory=ExchangeLimits)
    budget: Budget = field(default_factory=Budget)
    """What the run may cost: its bytes are counted as they come, and nothing is read beyond it."""
    large: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while a large answer is read; all exchanges of a run share one."""
    _size: int = 0

    @property
    def came(self) -> dict[str, Any]:
        """What has come back until now, as fields of a transcript."""
        return {
            "status": self.status, "headers": self.headers, "pieces": tuple(self.pieces), "end": self.end,
            "over": self.over, "seconds": time.monotonic() - self.began,
        }  # fmt: skip

    async def fill(self, client: httpx.AsyncClient, request: httpx.Request) -> None:
        """Send the request and keep what comes back, until the response ends or the client leaves.

        Every fault of the response is its `end`, and so is a connection that cannot be made.
        """
        if self.watch is None:
            await self._fill(client, request)
            return
        # Two tasks, since a client may have to leave while it waits for a first byte that never comes.
        filling = asyncio.create_task(self._fill(client, request))
        leaving = asyncio.create_task(self.watch.leave_when_sent())
        try:
            await asyncio.wait({filling, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if not filling.done():
                self.end = End.LEFT
        finally:
            # Cancelling the exchange closes its connection: to the target that is a client that has left.
            for task in (filling, leaving):
                if not task.done():
                    task.cancel()
            # Both have ended before the transcript is made, else pieces could still be added to it.
            await asyncio.wait({filling, leaving})
        for task in (filling, leaving):
            if not task.cancelled():
                task.result()  # raises what went wrong in it

    async def _fill(self, client: httpx.AsyncClient, request: httpx.Request) -> None:
        seconds = self.limits.seconds
        whole = asyncio.timeout(None if math.isinf(seconds) else seconds)
        try:
            # Over the head, too: heads of status 100 may come without end, each of which a client waits behind.
            async with whole, self.budget.time():
                await self._answer(client, request, whole)
        except httpx.ConnectError:  # a TransportError, but no fault of a response: there was none
            self.end = End.REFUSED
        except (httpx.TimeoutException, TimeoutError):
            if whole.expired():
                self._leave(f"it went on for {seconds:g} s (--answer-seconds sets the limit)")
                return
            # After [DONE] the answer is all there, and silence means only that the body was left open
            # (chat.stream.done-last): JavaScript clients wait for its end.
            self.end = End.OPEN if self.watch is not None and self.watch.done else End.TIMEOUT
        except (httpx.TransportError, httpx.DecodingError):
            self.end = End.CUT

    async def _answer(self, client: httpx.AsyncClient, request: httpx.Request, whole: asyncio.Timeout) -> None:
        # Never followed: a redirect is an answer to be judged (httpx follows none unless asked).
        response = await client.send(request, stream=True)
        try:
            self.status = response.status_code
            # As on the wire: `response.headers` would guess a charset, and join or lower what a check looks at.
            self.headers = tuple(
                (name.decode("latin-1"), value.decode("latin-1")) for name, value in response.headers.raw
            )
            async with AsyncExitStack() as held:
                await self._body(response, whole, held)
        finally:
            await response.aclose()

    def _leave(self, over: str) -> None:
        """End an answer without end, and keep its beginning."""
        self.end, self.over = End.ENDLESS, over
        kept, size = [], 0
        for piece in self.pieces[:KEPT_PIECES]:
            kept.append(replace(piece, data=piece.data[: KEPT - size]))
            size += len(piece.data)
            if size >= KEPT:
                break
        self.pieces = kept
        if self.watch is not None:
            # At once, before another large answer is read.
            self.watch.stream.discard()

    async def _body(self, response: httpx.Response, whole: asyncio.Timeout, held: AsyncExitStack) -> None:
        deadline = now() + self.silence  # a body without a watch must come whole within the limit, not byte by byte
        # Raw: a proxy that compresses although it was asked not to is not to be undone here.
        pieces, alone = response.aiter_raw(), False
        while True:
            # Asked again for each piece: what the watch saw in the last one may have moved the deadline.
            async with asyncio.timeout_at(deadline if self.watch is None else self.watch.deadline):
                data = await anext(pieces, None)
            if data is None:
                return
            over = self._take(data)
            if over:
                self._leave(over)
                return
            # What else the piece held stays recorded: it had arrived when the client left.
            if self.watch is not None and self.watch.left:
                self.end = End.LEFT
                return
            if not alone and is_large(self._size, self._pieces):
                deadline, alone = deadline + await self._turn(whole, held), True

    def _take(self, data: bytes) -> str:
        """Keep a piece and read it; returns which limit the answer exceeds with it, "" for none."""
        self.pieces.append(Piece(at=time.monotonic() - self.began, data=data))
        self.budget.receive(len(data))
        self._size += len(data)
        over = self.limits.over(self._size, len(self.pieces), 0)
        if self.watch is None or over:
            return over
        self.watch.feed(data)
        return self.limits.over(self._size, len(self.pieces), self.watch.stream.frames)

    @property
    def _pieces(self) -> int:
        """How many pieces have come, or frames where those are more."""
        return max(len(self.pieces), self.watch.stream.frames if self.watch else 0)

    async def _turn(self, whole: asyncio.Timeout, held: AsyncExitStack) -> float:
        """Wait until no other large answer is read; returns the seconds, which are not the target's."""
        since, due = now(), whole.when()
        whole.reschedule(None)
        await held.enter_async_context(self.large)
        waited = now() - since
        whole.reschedule(None if due is None else due + waited)
        if self.watch is not None:
            self.watch.deadline += waited
        return waited
