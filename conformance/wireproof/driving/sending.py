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

from wireproof.driving.capacity import Experience, Patience, is_busy, retry_after
from wireproof.driving.limits import ExchangeLimits
from wireproof.driving.recording import Record
from wireproof.driving.restarting import RenewedError, Restarter
from wireproof.model.target import Backend
from wireproof.model.transcript import End, Transcript
from wireproof.targets.budget import Budget
from wireproof.targets.lasting import NO_ENTRY, lasting
from wireproof.targets.recognition import error_of
from wireproof.targets.target_clock import SpentError

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


FULL = 2
"""Refusals for lack of capacity, one after the other and with nothing beside them, that show that no slot is left."""
GLANCE = 3.0
"""Seconds that a target has for any answer to a request that it has answered before."""
_FULL = "the target refused for lack of capacity what was sent alone"
_HUNG = "the target answered nothing any more"


@dataclass(frozen=True, kw_only=True, slots=True)
class Outgoing:
    """A request ready to be sent."""

    method: str
    url: str
    """Absolute."""
    headers: Mapping[str, str]
    body: bytes


def _send_it() -> None:
    """The guard of a request that nothing keeps from being sent."""


@dataclass(kw_only=True)
class _Evidence:
    """What a run knows of instances that serve no more."""

    known_good: Outgoing | None = None
    """The last request that was answered; None: none was yet."""
    taken: bool = False
    """Whether an exchange has the finding of what a fresh instance goes round: the first one has, and no other."""

    def take(self) -> bool:
        """Whether it was still to be taken."""
        was, self.taken = self.taken, True
        return not was


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
    lives: set[int] = field(default_factory=set)
    """The numbers of the target's lives that have answered: another one has nothing of what one keeps."""
    guard: Callable[[], None] = _send_it
    """Called before a request is sent that has waited for its slot; what it raises is raised."""
    evidence: _Evidence = field(default_factory=_Evidence)
    _large: asyncio.Lock = field(default_factory=asyncio.Lock)
    # Seeded: a run is to be like the one before it, as far as that depends on Wireproof.
    _chance: random.Random = field(default_factory=lambda: random.Random(0))  # noqa: S311 (it protects nothing)

    def __post_init__(self) -> None:
        """Restart the target's processes when they die."""
        self._restarter = Restarter(process_at=self.process_at, reaches=self._reaches)

    @property
    def fresh(self) -> str:
        """How often a fresh instance of the target was started, and why; "": never."""
        kinds = {"renewed": self._restarter.renewals, "died": self._restarter.deaths}
        words = {"renewed": "{} times since it answered nothing or had no slot left", "died": "{} times since it died"}
        return ", ".join(words[kind].format(times) for kind, times in kinds.items() if times)

    def over(self, client: httpx.AsyncClient) -> Sender:
        """The same with another client: for requests that use its connections again."""
        other = copy(self)  # not `replace`, which would give it a restarter of its own
        other.client = client
        return other

    def noting(self) -> Sender:
        """The same with a list of its own of the lives that have answered."""
        other = copy(self)
        other.lives = set()
        return other

    def guarded(self, guard: Callable[[], None]) -> Sender:
        """The same with something to do before a request is sent."""
        other = copy(self)
        other.guard = guard
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
        shows: bool = False,
    ) -> tuple[Transcript, Watch | None]:
        """Send a request; the accepted transcript and its watch.

        Args:
            request: What is sent.
            watch: Makes a client for each try, since a client acts once and reads one stream.
            waits: Whether a refusal for lack of capacity is waited for; not where it may be the right answer.
            eager: See `Patience`.
            shows: Whether its silence, or its refusal, may be the evidence of a fault that a fresh instance goes round.

        Raises:
            GoneError: the target cannot be reached any more, as other exchanges have found.
            SpentError: the run may send nothing more.
        """
        limit = self.target.silence
        # How long one that runs elsewhere is waited for, in all, is for its clock to say.
        limit = limit if self._is_ours(request) else max(limit, self.budget.clock.max_wait)
        patience = Patience(limit=limit, experience=self.experience, chance=self._chance.random, eager=eager)
        for left in reversed(range(TRIES)):
            answer, watching, life = await self._until_served(request, watch, patience if waits else None, shows=shows)
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
        self, request: Outgoing, watch: Callable[[], Watch | None], patience: Patience | None, *, shows: bool
    ) -> tuple[Transcript, Watch | None, int]:
        """Send again while the target is busy; the accepted answer, its watch, and the target's life that gave it."""
        while (served := await self._in_slot(request, watch, patience, shows=shows)) is None:
            pass  # its slot is free for others; whichever is next waits for the target's clock
        return served

    async def _in_slot(
        self, request: Outgoing, watch: Callable[[], Watch | None], patience: Patience | None, *, shows: bool
    ) -> tuple[Transcript, Watch | None, int] | None:
        """The same with one slot; None: it is to be given back, and taken again."""
        # Held while it waits: a target that is busy is not to get still other requests in the meantime.
        async with self.slots.take() as slot:
            refused = 0
            self.guard()
            while True:
                # Before the watch is made, whose time runs: the request may have to wait for its turn.
                await self.budget.take(request.body)
                sent_after, watching = self.budget.clock.refusals, watch()
                with slot.request():
                    answer, life = await self._try(request, watching)
                answer = replace(answer, beside=slot.beside)
                wait = patience.after(answer, datetime.now(UTC)) if patience else None
                if wait is not None or _turned_away(answer):
                    slot.refused()
                else:
                    slot.served()
                waits = patience is not None and not patience.eager and is_busy(answer)
                alone = self.slots.running == 0 and not slot.beside
                refused = refused + 1 if waits and alone else 0
                if refused >= FULL and self._is_first(request) and self._restarter.can_renew(request.url, hung=False):
                    await self._restarter.renew(request.url, life, _FULL, hung=False)
                    slot.slots.limit.renew()
                    if shows and self.evidence.take():
                        return replace(answer, stuck=True), watching, life
                    raise RenewedError(_FULL)
                clocked = patience is not None and not patience.eager and not self._is_ours(request)
                if clocked and not self._set_clock(answer, sent_after):
                    wait = None
                if wait is None:
                    return await self._examined(request, answer, life, shows=shows), watching, life
                self.budget.give_back(request.body)
                if clocked:
                    return None
                await asyncio.sleep(wait.seconds)

    def _is_ours(self, request: Outgoing) -> bool:
        """Whether Wireproof has started what a request goes to, so that no account and no other client is behind it."""
        return self.process_at(request.url) is not None

    def _set_clock(self, answer: Transcript, sent_after: int) -> bool:
        """Have all requests wait as an answer asks; whether they do, and the run is not over with it.

        Raises:
            SpentError: it is, and the answer is about the account.
        """
        clock, live = self.budget.clock, self.target.backend is Backend.LIVE
        # With a script behind the target, the script may say so.
        why = lasting(answer.status, error_of(answer.body)) if live and not answer.ok else ""
        try:
            if why and answer.status not in NO_ENTRY:
                clock.stop(f"the target answers HTTP {answer.status}: {why}")
            elif is_busy(answer):
                clock.refused(answer.status or 0, retry_after(answer, datetime.now(UTC)), sent_after=sent_after)
            elif answer.status is not None:
                clock.served()
        except SpentError:
            # With no account behind it, that it has no capacity any more is the target's own fault.
            if live:
                raise
            return False
        return True

    def _is_first(self, request: Outgoing) -> bool:
        """Whether a request goes to the instance that answers all that no other one is meant for."""
        return request.url.startswith(self.target.base_url)

    async def _examined(self, request: Outgoing, answer: Transcript, life: int, *, shows: bool) -> Transcript:
        """The answer; where none came, and the target gives none at all, a fresh instance has taken its place.

        Raises:
            RenewedError: the exchange is to be driven again, since it was the instance that gave no answer.
        """
        if answer.status is not None:
            return answer
        why = self._restarter.why_renewed(request.url, life)
        if not why and answer.end is End.TIMEOUT and await self._hangs(request):
            why = _HUNG
            await self._restarter.renew(request.url, life, why, hung=True)
            if shows and self.evidence.take():
                return replace(answer, stuck=True)
        if why:
            raise RenewedError(why)
        return answer

    async def _hangs(self, request: Outgoing) -> bool:
        """Whether the target answers nothing any more, so that a fresh instance is to take its place."""
        known = self.evidence.known_good if self._is_first(request) else None
        return (
            known is not None and self._restarter.can_renew(request.url, hung=True) and not await self._answers(known)
        )

    async def _answers(self, request: Outgoing) -> bool:
        """Whether the target gives any answer to a request that it has answered before."""
        sent = self.client.build_request(
            request.method, request.url, headers=dict(request.headers), content=request.body,
            timeout=httpx.Timeout(GLANCE, pool=None),
        )  # fmt: skip
        try:
            async with asyncio.timeout(GLANCE):
                answer = await self.client.send(sent, stream=True)
                await answer.aclose()
        except (TimeoutError, httpx.TransportError):
            return False
        return True

    async def _try(self, request: Outgoing, watch: Watch | None) -> tuple[Transcript, int]:
        """Send once; the transcript, and the life of the target in which the request was sent."""
        life = await self._restarter.ready(request.url)
        answer = await self._exchange(request, watch)
        if answer.ok and answer.end is End.COMPLETE and request.method == "POST" and self._is_first(request):
            self.evidence.known_good = request
        if answer.end is not End.REFUSED:
            self.lives.add(life)
        if self._restarter.why_renewed(request.url, life):
            return answer, life  # we have ended it
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
        """Whether a server takes connections at a URL. By the same way as all requests: it may lead through a proxy.

        Raises:
            SpentError: the run may send nothing more.
        """
        if self.process_at(url) is None:
            await self.budget.take(b"")
            self.budget.settle(b"", 0)
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
