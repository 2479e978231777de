"""One exchange over HTTP, from the request to the accepted transcript: sent again where clients would do so.

A refusal for lack of capacity is waited for (`capacity`), and lets fewer exchanges run at once (`slots`). A connection
that is refused is tried again once the target is back (`restarting`).
"""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import httpx

from wireproof.driving.capacity import Experience, Patience, bars, is_busy, set_clock
from wireproof.driving.recording import SILENCES, ExchangeLimits, Record
from wireproof.driving.responsiveness import GLANCE, LOOK, Responsiveness
from wireproof.driving.restarting import FullError, RenewedError
from wireproof.model.transcript import End, Transcript
from wireproof.targets.launch import launched_at
from wireproof.targets.probe import BUSY

if TYPE_CHECKING:
    from collections.abc import Callable

    from wireproof.driving.restarting import Life, Restarter
    from wireproof.driving.slots import Slots
    from wireproof.driving.watching import Watch
    from wireproof.model.target import Target
    from wireproof.reading.exchange import Exchange
    from wireproof.requests.plain import PreparedRequest
    from wireproof.targets.budget import Budget

TRIES = 3
"""How often a request is sent whose connection is refused, while the target comes back each time."""
FULL = 2
"""Refusals for lack of capacity, one after the other and with nothing beside them, that show that no slot is left."""
AGAIN = 0.2
"""Seconds between them where waiting has brought nothing before."""
BARRED = 2
"""Refusals of a key that was taken before until the run ends, one after the other: one alone may be a slip."""
KEY_REFUSED = "it refuses the key that it took before; give one that is still good, with --api-key-env"
_FULL = "the target refused for lack of capacity what was sent alone"
_HUNG = "the target answered nothing any more"


@dataclass(kw_only=True)
class _Evidence:
    """What a run knows of instances that serve no more."""

    taken: bool = False
    """Whether an exchange has the finding of what a fresh instance goes round: the first one has, and no other."""
    shown: list[Exchange] = field(default_factory=list)
    """That exchange, with those before it in its form."""

    def take(self) -> bool:
        """Whether it was still to be taken."""
        was, self.taken = self.taken, True
        return not was


@dataclass(frozen=True, kw_only=True)
class Sender:
    """Sends requests to a target. All exchanges of a run share what it holds, but for what `replace` gives some."""

    client: httpx.AsyncClient
    target: Target
    base_url: str
    """That of the instance that answers all that no other one is meant for."""
    slots: Slots
    """What bounds the exchanges that run at the same time."""
    budget: Budget
    """What the run may cost."""
    restarter: Restarter
    experience: Experience = field(default_factory=Experience)
    lives: set[int] = field(default_factory=set)
    """The numbers of the target's lives that have answered: another one has nothing of what one keeps."""
    guard: Callable[[int], None] = lambda _: None
    """Called each time before a request is sent that has waited for its slot, with how often it was refused while no
    other one was served; what it raises is raised."""
    alone: bool = False
    """Whether one form after the other is sent to the instance, and nothing else."""
    evidence: _Evidence = field(default_factory=_Evidence)
    responsiveness: Responsiveness = field(default_factory=Responsiveness)
    """By what it is found out whether an instance still answers."""
    _large: asyncio.Lock = field(default_factory=asyncio.Lock)
    # Seeded: a run is to be like the one before it, as far as that depends on Wireproof.
    _chance: random.Random = field(default_factory=lambda: random.Random(0))  # noqa: S311 (it protects nothing)

    @property
    def starts(self) -> bool:
        """Whether Wireproof has started the target, and can start it again."""
        return launched_at(self.base_url) is not None

    async def look(self) -> bool:
        """Put a fresh instance in the place of one that hangs, where one has hung before; whether that was done.

        Raises:
            GoneError: the instance cannot be started.
        """
        life = await self.restarter.ready(self.base_url)
        # Until an exchange has shown the silence, the next one may be the one that does.
        if not (self.restarter.hangs and self.evidence.taken):
            return False
        if await self.responsiveness.goes_on(self.client, self.base_url, self.budget):
            return False
        await self.restarter.renew(life, _HUNG, hung=True)
        return True

    async def renew(self) -> bool:
        """Put a fresh instance in the place of one that may have lost slots; False where it can have lost none.

        Raises:
            GoneError: the instance cannot be started.
        """
        life = await self.restarter.ready(self.base_url)
        if not (self.starts and life.taken):
            return False
        await self.restarter.renew(life, _FULL, hung=False)
        return True

    async def send(
        self,
        request: PreparedRequest,
        watch: Callable[[], Watch | None] = lambda: None,
        *,
        waits: bool = True,
        eager: bool = False,
        shows: bool = False,
        repeats: bool = False,
    ) -> tuple[Transcript, Watch | None]:
        """Send a request; the accepted transcript and its watch.

        Args:
            request: What is sent.
            watch: Makes a client for each try, since a client acts once and reads one stream.
            waits: Whether a refusal for lack of capacity is waited for; not where it may be the right answer.
            eager: See `Patience`.
            shows: Whether its silence, or its refusal, may be the evidence of a fault that a fresh instance goes round.
            repeats: Whether any instance answers it alike at any time, and is as before afterwards: with such a
                request it is found out whether one still answers.

        Raises:
            FullError: the instance has no slot left, and no exchange has shown that yet; it was not replaced.
            GoneError: the target cannot be reached any more, as other exchanges have found.
            SpentError: the run may send nothing more.
        """
        limit = self.target.silence
        # How long one that runs elsewhere is waited for, in all, is for its clock to say, by which no eager one waits.
        limit = limit if eager or self._is_ours(request) else max(limit, self.budget.clock.max_wait)
        patience = Patience(limit=limit, experience=self.experience, chance=self._chance.random, eager=eager)
        for left in reversed(range(TRIES)):
            while (served := await self._in_slot(request, watch, patience if waits else None, shows=shows)) is None:
                pass  # its slot is free for others; whichever is next waits for the target's clock
            answer, watching, life = served
            if answer.end is not End.REFUSED:
                break
            again, death = await self.restarter.back(life)
            answer = replace(answer, death=death)
            if not (again and left):
                break
        if repeats and self._is_own(request):
            self.responsiveness.know(request, self.base_url, answer)
        return replace(answer, waits=tuple(patience.waits)), watching

    async def send_at_once(self, request: PreparedRequest) -> Transcript:
        """Send a request once, without waiting for a slot: for requests beside others.

        Raises:
            GoneError: the target cannot be reached any more.
            SpentError: the run may send nothing more.
        """
        await self.budget.take(request.body)
        return (await self._try(request, None))[0]

    async def _in_slot(
        self, request: PreparedRequest, watch: Callable[[], Watch | None], patience: Patience | None, *, shows: bool
    ) -> tuple[Transcript, Watch | None, Life] | None:
        """Send again while the target is busy; the accepted answer, its watch, and the target's life that gave it.

        None: the slot is to be given back, and taken again.
        """
        # Held while it waits: a target that is busy is not to get still other requests in the meantime.
        async with self.slots.take() as slot:
            refused = in_vain = barred = 0
            while True:
                self.guard(in_vain)
                # Before the watch is made, whose time runs: the request may have to wait for its turn.
                await self.budget.take(request.body)
                sent_after, watching = self.budget.clock.refusals, watch()
                with slot.request():
                    answer, life = await self._try(request, watching)
                answer = replace(answer, beside=slot.beside)
                wait = patience.after(answer, datetime.now(UTC)) if patience else None
                if wait is not None or self._turned_away(answer):
                    slot.refused()
                else:
                    slot.served()
                if bars(self.target, answer):
                    barred += 1
                    if barred >= BARRED:
                        self.budget.clock.stop(f"the target answers HTTP {answer.status}: {KEY_REFUSED}")
                    continue
                in_vain = in_vain + 1 if slot.stands_still else 0
                waits = patience is not None and not patience.eager and is_busy(answer)
                alone = self.slots.running == 0 and not slot.beside
                refused = refused + 1 if waits and alone else 0
                # One that has taken nothing yet can have lost no slot.
                full = refused and self._is_own(request) and self.starts and life.taken
                if full and refused >= FULL:
                    await self._renew_full(life, shows=shows)
                    return replace(answer, stuck=True), watching, life
                clocked = patience is not None and not patience.eager and not self._is_ours(request)
                if clocked and not set_clock(self.target, self.budget.clock, answer, sent_after):
                    wait = None
                if wait is None and not full:
                    return await self._examined(request, answer, life, shows=shows), watching, life
                self.budget.give_back(request.body)
                if clocked:
                    return None
                # Whatever waiting has brought so far: alone it shows whether a slot is left.
                await asyncio.sleep(wait.seconds if wait else AGAIN)

    async def _renew_full(self, life: Life, *, shows: bool) -> None:
        """Put a fresh instance in the place of one that has no slot left; return if this exchange is to show that."""
        if not shows and not self.evidence.taken:
            raise FullError(_FULL)
        await self.restarter.renew(life, _FULL, hung=False)
        self.slots.renew()
        if not (shows and self.evidence.take()):
            raise RenewedError(_FULL)

    def _is_ours(self, request: PreparedRequest) -> bool:
        """Whether Wireproof has started what a request goes to, so that no account and no other client is behind it."""
        return launched_at(request.url) is not None

    def _is_own(self, request: PreparedRequest) -> bool:
        """Whether a request goes to the instance that answers all that no other one is meant for."""
        return request.url.startswith(self.base_url)

    async def _examined(self, request: PreparedRequest, answer: Transcript, life: Life, *, shows: bool) -> Transcript:
        """The answer; where none came, and the target gives none at all, a fresh instance has taken its place.

        Raises:
            RenewedError: the exchange is to be driven again, since it was the instance that gave no answer.
        """
        why, own = life.renewed, False
        if answer.status is not None:
            if why and (answer.end is End.CUT or _ended_by_close(answer)):
                raise RenewedError(why)  # it was cut by us
            return answer
        if not why and answer.end is End.TIMEOUT and await self._hangs(request):
            asked = self.responsiveness.hangs(self.base_url)
            why, own = _HUNG, not asked and self._hangs_by_itself(answer, life)
            await self.restarter.renew(life, why, hung=True)
        # Whichever of those that got no answer comes first has the finding.
        if why == _HUNG and answer.end is End.TIMEOUT and (own or (shows and self.evidence.take())):
            return replace(answer, stuck=True)
        if why:
            raise RenewedError(why)
        return answer

    def _hangs_by_itself(self, answer: Transcript, life: Life) -> bool:
        """Whether nothing but its own form can have made the instance hang."""
        # Where one has hung before, it was looked at before the form was begun.
        looked_at = self.alone and self.restarter.hangs
        return not answer.beside and (looked_at or not life.served)

    async def _hangs(self, request: PreparedRequest) -> bool:
        """Whether the target answers nothing any more, so that a fresh instance is to take its place."""
        if not (self._is_own(request) and self.starts):
            return False
        seconds = LOOK if self.restarter.hangs else GLANCE
        return not await self.responsiveness.is_answered(self.client, self.base_url, self.budget, seconds)

    async def _try(self, request: PreparedRequest, watch: Watch | None) -> tuple[Transcript, Life]:
        """Send once; the transcript, and the life of the target in which the request was sent."""
        life = await self.restarter.ready(request.url)
        answer = await self._exchange(request, watch)
        busy, refused = answer.status in BUSY, answer.end is End.REFUSED
        life.served = life.served or (answer.end is End.COMPLETE and not busy)
        life.taken = life.taken or not (busy or refused)
        if not refused:
            self.lives.add(life.number)
        silent = refused or answer.end is End.TIMEOUT
        if self._is_own(request) and not busy and not (silent and answer.status is None):
            self.responsiveness.note(self.base_url, answer)
        if life.renewed:
            return answer, life  # we have ended it
        death = await self.restarter.ended(life, answer.end, by_close=_ended_by_close(answer))
        return replace(answer, death=death), life

    async def _exchange(self, request: PreparedRequest, watch: Watch | None) -> Transcript:
        silence = self.target.silence if watch is None else watch.silence
        seconds = max(self.target.longest, SILENCES * silence)
        limits = ExchangeLimits(seconds=seconds, most_bytes=self.target.answer_bytes)
        record = Record(watch, silence, limits=limits, budget=self.budget, large=self._large)
        timeout = httpx.Timeout(silence, pool=None)  # of each read; `record` bounds the whole
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
            **record.came,
        )

    def _turned_away(self, answer: Transcript) -> bool:
        """Whether no connection could be made, or one broke before the first byte, and that is no sign of a death."""
        if answer.end is End.REFUSED:
            return not self.starts
        return answer.end is End.CUT and answer.status is None and answer.death is None


def _ended_by_close(answer: Transcript) -> bool:
    """Whether nothing but the end of the connection says where the body ends."""
    framed = answer.header("content-length") is not None or answer.header("transfer-encoding") is not None
    return answer.status is not None and not framed
