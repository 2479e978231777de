"""Restart a target that died, or wait for one that cannot be reached; say which exchanges a death is attributed to.

A process that Wireproof has started it starts again; for one that runs elsewhere it waits a little. Both have a limit:
beyond it the rest is not driven, and what was driven until then is judged.

A death is attributed to the exchanges that were under way. If there were none, it is attributed to the first exchange
whose connection was refused after it, so that it is not lost.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx

from wireproof.model.transcript import End
from wireproof.model.verdict import HarnessError
from wireproof.targets.launch import launched_at, until_ended

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from wireproof.model.transcript import Death
    from wireproof.targets.budget import Budget
    from wireproof.targets.launch import Launched

MOST_STARTS = 1000
"""How often a target is started again, or waited for, in a run, whose time is bounded otherwise."""
PAUSES = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 2.0)
"""Seconds between two looks at a target that Wireproof cannot start again: five in all."""
REACHED = 2.0
"""Seconds in which a server takes a connection."""
BROKEN = frozenset({End.CUT, End.REFUSED})
"""How an exchange ends when the process at its other end does."""


class RenewedError(Exception):
    """The instance was replaced by a fresh one while the exchange was under way; the message says why."""


class FullError(Exception):
    """An instance had no slot left although nothing ran, which this exchange cannot show; the message says that."""


class GoneError(Exception):
    """The target cannot be reached any more; the message says why."""


@dataclass(kw_only=True, eq=False)
class Life:
    """The time of an instance from one start to its end."""

    instance: _Instance
    number: int
    """How many lives it had before."""
    over: bool = False
    death: Death | None = None
    """How its process ended; None: it has not, or it could not be reached, and why is not known."""
    blamed: bool = False
    """Whether its end is attributed to an exchange."""
    renewed: str = ""
    """Why we ended it, for a fresh instance in its place; "": we did not."""
    hung: bool = False
    """Whether we did since it hung."""
    served: bool = False
    """Whether it has answered a request, and not to say that it is busy."""
    taken: bool = False
    """Whether it has taken one, and may be busy with it still."""


@dataclass(kw_only=True, eq=False)
class _Instance:
    """What is known of one address of the target."""

    url: str
    """The first one that was asked for there."""
    process: Launched | None
    """What listens there; None: that is not ours."""
    lives: list[Life] = field(default_factory=list)
    """All but the last one are over."""
    returning: asyncio.Task[None] | None = None
    """The task that starts or restarts it; None: it was never away."""

    def begin(self) -> None:
        """Begin another life."""
        self.lives.append(Life(instance=self, number=len(self.lives)))


@dataclass(kw_only=True)
class Restarter:
    """Notes which instances of a target have died, and restarts them."""

    client: httpx.AsyncClient
    budget: Budget
    """What the run may cost: to look whether a server that runs elsewhere is back is a request, too."""
    _instances: dict[str, _Instance] = field(default_factory=dict)

    async def ready(self, url: str) -> Life:
        """Wait until the instance at a URL is there, as far as is known; its life.

        Raises:
            GoneError: it was given up.
        """
        instance = self._instance(url)
        if instance.returning is not None:
            # Shielded: an exchange that is cancelled must not take the restart away from the others.
            await asyncio.shield(instance.returning)
        return instance.lives[-1]

    async def ended(self, life: Life, end: End, *, by_close: bool) -> Death | None:
        """The death that ended an exchange, which began in this life; None: it was not one of the target's.

        `end` is how the exchange ended; `by_close`: its body ended with the connection, which a death closes, too.
        """
        if end in BROKEN:
            await self._settle(life, end)
        elif not by_close:
            return None
        else:
            self._notice(life)
        if end is End.REFUSED:
            return None
        life.blamed = life.blamed or life.death is not None
        return life.death

    async def back(self, life: Life) -> tuple[bool, Death | None]:
        """After a refused connection: whether the request may be sent again, and else the death that is to be noted."""
        if not life.over:  # no other exchange has noticed
            self._over(life, self._bring_back(life))
        reachable = True
        try:
            await self.ready(life.instance.url)
        except GoneError:
            reachable = False
        if life.death is not None and not life.blamed:
            life.blamed = True
            return False, life.death
        return reachable, None

    async def renew(self, life: Life, why: str, *, hung: bool) -> None:
        """Put a fresh instance in the place of one that serves no more.

        Those that find the same at once find it renewed.
        """
        process = life.instance.process
        if not life.over and process is not None:
            life.renewed, life.hung = why, hung
            self._over(life, _start(process, "a fresh instance of the target could not be started"))
        await self.ready(life.instance.url)

    @property
    def lives(self) -> list[Life]:
        """Those of all instances."""
        return [life for instance in self._instances.values() for life in instance.lives]

    @property
    def hangs(self) -> bool:
        """Whether an instance has hung."""
        return any(life.hung for life in self.lives)

    def _instance(self, url: str) -> _Instance:
        address = urlsplit(url).netloc
        if address not in self._instances:
            instance = self._instances[address] = _Instance(url=url, process=launched_at(url))
            instance.begin()
            process = instance.process
            # One that has died by now died of what was sent before the run: nothing that it sends is blamed for that.
            if process is not None and (process.asleep or process.death() is not None):
                self._bring(instance, _start(process))
        return self._instances[address]

    def _notice(self, life: Life) -> bool:
        """Look whether the process has ended in this life, and note it; whether the life is over."""
        process = life.instance.process
        if not life.over and process is not None:
            life.death = process.death()
            if life.death is not None:
                self._over(life, self._bring_back(life))
        return life.over

    async def _settle(self, life: Life, end: End) -> None:
        """Wait until it is known whether a broken exchange was broken by the end of the process."""
        if life.instance.process is None or self._notice(life):
            return
        # A process that takes connections lives: it broke this one by itself. One that is ending takes them, too, until
        # its last socket is closed.
        lives = end is End.CUT and await self._reaches(life.instance)
        await until_ended(lambda: self._notice(life), lives=lives)

    def _over(self, life: Life, work: Coroutine[None, None, None]) -> None:
        """Note the end of a life, and bring the instance back."""
        life.over = True
        life.instance.begin()
        self._bring(life.instance, work)

    def _bring(self, instance: _Instance, work: Coroutine[None, None, None]) -> None:
        instance.returning = asyncio.create_task(work)
        # If it fails, the exchanges that wait for it raise that; at the end of a run none may be waiting.
        instance.returning.add_done_callback(lambda task: task.cancelled() or task.exception())

    async def _bring_back(self, life: Life) -> None:
        instance = life.instance
        if sum(one.over and not one.renewed for one in instance.lives) > MOST_STARTS:
            raise GoneError(f"the target had to be started again {MOST_STARTS} times, and is gone once more")
        if life.death is None and await self._returns(instance):
            return
        if instance.process is None:
            raise GoneError("the target cannot be reached any more")
        await _start(instance.process, "the target died and could not be started again")

    async def _returns(self, instance: _Instance) -> bool:
        """Whether a server takes connections again before long."""
        for pause in PAUSES:
            await asyncio.sleep(pause)
            if await self._reaches(instance):
                return True
        return False

    async def _reaches(self, instance: _Instance) -> bool:
        """Whether a server takes connections. By the same way as all requests: it may lead through a proxy.

        Raises:
            SpentError: the run may send nothing more.
        """
        if instance.process is None:
            await self.budget.take(b"")
            self.budget.settle(b"", 0)
        try:
            async with (
                asyncio.timeout(2 * REACHED),
                self.client.stream("GET", instance.url, timeout=httpx.Timeout(REACHED, pool=None)),
            ):
                return True
        except TimeoutError:
            return True  # it sends heads without end
        except (httpx.ConnectError, httpx.ConnectTimeout):
            return False
        except httpx.TransportError:
            return True  # it took the connection, and whatever it does then is for the suite to judge


async def _start(process: Launched, failed: str = "an instance of the target could not be started") -> None:
    try:
        await asyncio.to_thread(process.restart)
    except HarnessError as error:
        raise GoneError(f"{failed}: {error}") from error
