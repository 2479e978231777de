"""One exchange over HTTP, from the request to the accepted transcript: sent again where clients would do so.

A refusal for lack of capacity is waited for (`capacity`), and lets fewer exchanges run at once (`slots`). A connection
that is refused is tried again once the target is back (`restarting`).
"""

from __future__ import annotations

import asyncio
import random
import time
from copy import copy
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import httpx

from wireproof.driving.budget import Budget
from wireproof.driving.capacity import Experience, Patience
from wireproof.driving.limits import ExchangeLimits
from wireproof.driving.recording import Record
from wireproof.driving.restarting import Restarter
from wireproof.model.transcript import End, Transcript

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from wireproof.driving.restarting import Process
    from wireproof.driving.slots import Slots
    from wireproof.driving.watching import Watch
    from wireproof.model.target import Target

REACHED = 2.0
"""Seconds in which a server takes a connection."""
TRIES = 3
"""How often a request is sent whose connection is refused, while the target comes back each time."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Outgoing:
    """A request ready to be sent."""

    method: str
    url: str
    """Absolute."""
    headers: Mapping[str, str]
    body: bytes


@dataclass(kw_only=True)
class Sender:
    """Sends requests to a target; all exchanges of a run share one."""

    client: httpx.AsyncClient
    target: Target
    slots: Slots
    """What bounds the exchanges that run at the same time."""
    process_at: Callable[[str], Process | None]
    """What Wireproof has started at a URL."""
    budget: Budget = field(default_factory=Budget)
    """What the run may cost."""
    experience: Experience = field(default_factory=Experience)
    _large: asyncio.Lock = field(default_factory=asyncio.Lock)
    # Seeded: a run is to be like the one before it, as far as that depends on Wireproof.
    _chance: random.Random = field(default_factory=lambda: random.Random(0))  # noqa: S311 (it protects nothing)

    def __post_init__(self) -> None:
        """Restart the target's processes when they die."""
        self._restarter = Restarter(process_at=self.process_at, reaches=self._reaches)

    def over(self, client: httpx.AsyncClient) -> Sender:
        """The same with another client: for requests that use its connections again."""
        other = copy(self)  # not `replace`, which would give it a restarter of its own
        other.client = client
        return other

    def with_slots(self, slots: Slots) -> Sender:
        """The same with other slots: for requests to another instance of the target."""
        other = copy(self)
        other.slots = slots
        return other

    async def send(
        self,
        request: Outgoing,
        watch: Callable[[], Watch | None] = lambda: None,
        *,
        waits: bool = True,
        eager: bool = False,
    ) -> tuple[Transcript, Watch | None]:
        """Send a request; the accepted transcript and its watch.

        Args:
            request: What is sent.
            watch: Makes a client for each try, since a client acts once and reads one stream.
            waits: Whether a refusal for lack of capacity is waited for; not where it may be the right answer.
            eager: See `Patience`.

        Raises:
            GoneError: the target cannot be reached any more, as other exchanges have found.
            SpentError: the run may send nothing more.
        """
        patience = Patience(
            limit=self.target.silence, experience=self.experience, chance=self._chance.random, eager=eager
        )
        for left in reversed(range(TRIES)):
            answer, watching, life = await self._until_served(request, watch, patience if waits else None)
            if answer.end is not End.REFUSED:
                break
            again, death = await self._restarter.back(request.url, life)
            answer = replace(answer, death=death)
            if not (again and left):
                break
        return replace(answer, waits=tuple(patience.waits)), watching

    async def send_at_once(self, request: Outgoing, watch: Watch | None = None) -> Transcript:
        """Send a request once, without waiting for a slot: for requests beside others.

        Raises:
            GoneError: the target cannot be reached any more.
            SpentError: the run may send nothing more.
        """
        await self.budget.take(request.body)
        return (await self._try(request, watch))[0]

    async def _until_served(
        self, request: Outgoing, watch: Callable[[], Watch | None], patience: Patience | None
    ) -> tuple[Transcript, Watch | None, int]:
        """Send again while the target is busy; the accepted answer, its watch, and the target's life that gave it."""
        # Held while it waits: a target that is busy is not to get still other requests in the meantime.
        async with self.slots.take() as slot:
            while True:
                # Before the watch is made, whose time runs: the request may have to wait for its turn.
                await self.budget.take(request.body)
                watching = watch()
                with slot.request():
                    answer, life = await self._try(request, watching)
                answer = replace(answer, beside=slot.beside)
                wait = patience.after(answer, datetime.now(UTC)) if patience else None
                if wait is not None or _turned_away(answer):
                    slot.refused()
                else:
                    slot.served()
                if wait is None:
                    return answer, watching, life
                await asyncio.sleep(wait.seconds)

    async def _try(self, request: Outgoing, watch: Watch | None) -> tuple[Transcript, int]:
        """Send once; the transcript, and the life of the target in which the request was sent."""
        life = await self._restarter.ready(request.url)
        answer = await self._exchange(request, watch)
        death = await self._restarter.ended(request.url, life, answer.end, by_close=_ended_by_close(answer))
        return replace(answer, death=death), life

    async def _exchange(self, request: Outgoing, watch: Watch | None) -> Transcript:
        record = Record(
            watch,
            self.target.silence if watch is None else watch.silence,
            limits=ExchangeLimits.of(self.target, silence=self.target.silence if watch is None else watch.silence),
            budget=self.budget,
            large=self._large,
        )
        timeout = httpx.Timeout(record.silence, pool=None)  # of each read; `record` bounds the whole
        sent = self.client.build_request(
            request.method, request.url, headers=dict(request.headers), content=request.body, timeout=timeout
        )
        if "transfer-encoding" in sent.headers:
            # httpx adds a length all the same, and a request with both is refused by strict servers (RFC 9112, 6.1).
            sent.headers.pop("content-length", None)
        try:
            await record.fill(self.client, sent)
        finally:
            # Also when the exchange failed: a gate that is being opened would otherwise be a task that nothing awaits.
            if watch is not None:
                await watch.finish()
        return Transcript(
            method=request.method,
            url=request.url,
            request_headers=tuple(sent.headers.items()),
            request_body=request.body,
            status=record.status,
            headers=record.headers,
            pieces=tuple(record.pieces),
            end=record.end,
            over=record.over,
            seconds=time.monotonic() - record.began,
        )

    async def _reaches(self, url: str) -> bool:
        """Whether a server takes connections at a URL. By the same way as all requests: it may lead through a proxy."""
        try:
            async with (
                asyncio.timeout(2 * REACHED),
                self.client.stream("GET", url, timeout=httpx.Timeout(REACHED, pool=None)),
            ):
                return True
        except TimeoutError:
            return True  # it sends heads without end
        except (httpx.ConnectError, httpx.ConnectTimeout):
            return False
        except httpx.TransportError:
            return True  # it took the connection, and whatever it does then is for the suite to judge


def _turned_away(answer: Transcript) -> bool:
    """Whether no answer came because the connection was refused, or broken before the first byte."""
    return answer.status is None and answer.end in {End.REFUSED, End.CUT}


def _ended_by_close(answer: Transcript) -> bool:
    """Whether nothing but the end of the connection says where the body ends."""
    framed = answer.header("content-length") is not None or answer.header("transfer-encoding") is not None
    return answer.status is not None and not framed
