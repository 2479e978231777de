"""Restart a target that died, or wait for one that cannot be reached; say which exchanges a death is attributed to.

A process that Wireproof has started it starts again; for one that runs elsewhere it waits a little. Both have a limit:
beyond it the rest is not driven, and what was driven until then is judged.

A death is attributed to the exchanges that were under way. If there were none, it is attributed to the first exchange
whose connection was refused after it, so that it is not lost.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

from wireproof.model.transcript import End
from wireproof.model.verdict import HarnessError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

    from wireproof.model.transcript import Death

MOST_STARTS = 1000
"""How often a target is started again, or waited for, in a run, whose time is bounded otherwise."""
PAUSES = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 2.0)
"""Seconds between two looks at a target that Wireproof cannot start again: five in all."""
LOOK, LOOKS = 0.01, 100
"""Seconds between two looks at a process that has closed its sockets, and how many: it may take a second to end."""
MORE_LOOKS = 5
"""How many at one that still took a connection."""
BROKEN = frozenset({End.CUT, End.REFUSED})
"""How an exchange ends when the process at its other end does."""


class Process(Protocol):
    """A process of the target that Wireproof has started, or starts when it is needed."""

    @property
    def asleep(self) -> bool:
        """Whether it was never started."""

    def death(self) -> Death | None:
        """How it ended; None while it runs."""

    def restart(self) -> None:
        """Start it, or start it again, and wait until it answers.

        Raises:
            HarnessError: it does not.
        """


class RenewedError(Exception):
    """The instance was replaced by a fresh one while the exchange was under way; the message says why."""


class FullError(Exception):
    """An instance had no slot left although nothing ran, which this exchange cannot show; the message says that."""


class GoneError(Exception):
    """The target cannot be reached any more; the message says why."""


@dataclass(kw_only=True)
class _Instance:
    """What is known of one address of the target."""

    url: str
    """The first one that was asked for there."""
    process: Process | None
    """What listens there; None: that is not ours."""
    lives: list[Death | None] = field(default_factory=list)
    """The lives that are over, and how each ended; None: it could not be reached, and why is not known."""
    blamed: set[int] = field(default_factory=set)
    """The lives whose end is attributed to an exchange."""
    renewed: dict[int, str] = field(default_factory=dict)
    """The lives that we ended, for a fresh instance in its place → why."""
    hung: int = 0
    """How many of them since it hung."""
    served: set[int] = field(default_factory=set)
    """The lives that have answered a request, and not to say that they are busy."""
    taken: set[int] = field(default_factory=set)
    """Those that have taken one, and may be busy with it still."""
    returning: asyncio.Task[None] | None = None
    """The task that starts or restarts it; None: it was never away."""


@dataclass(kw_only=True)
class Restarter:
    """Notes which instances of a target have died, and restarts them."""

    process_at: Callable[[str], Process | None]
    """What Wireproof has started at a URL."""
    reaches: Callable[[str], Awaitable[bool]]
    """Whether a server takes connections at a URL."""
    _instances: dict[str, _Instance] = field(default_factory=dict)

    async def ready(self, url: str) -> int:
        """Wait until the instance at a URL is there, as far as is known; the number of its life, for `ended`.

        Raises:
            GoneError: it was given up.
        """
        instance = self._instance(url)
        if instance.returning is not None:
            # Shielded: an exchange that is cancelled must not take the restart away from the others.
            await asyncio.shield(instance.returning)
        return len(instance.lives)

    async def ended(self, url: str, life: int, end: End, *, by_close: bool) -> Death | None:
        """The death that ended an exchange, which began in this life; None: it was not one of the target's.

        Args:
            url: The exchange's.
            life: What `ready` returned.
            end: How the exchange ended.
            by_close: Whether its body ended with the connection, which a death closes, too.
        """
        instance = self._instance(url)
        if end in BROKEN:
            await self._settle(instance, life, end)
        elif not by_close:
            return None
        else:
            self._notice(instance, life)
        death = instance.lives[life] if life < len(instance.lives) else None
        if death is not None and end is not End.REFUSED:
            instance.blamed.add(life)
        return death if end is not End.REFUSED else None

    async def back(self, url: str, life: int) -> tuple[bool, Death | None]:
        """After a refused connection: whether the request may be sent again, and else the death that is to be noted."""
        instance = self._instance(url)
        if life == len(instance.lives):  # no other exchange has noticed
            self._over(instance, None)
        try:
            await self.ready(url)
        except GoneError:
            reachable = False
        else:
            reachable = True
        if instance.lives[life] is not None and life not in instance.blamed:
            instance.blamed.add(life)
            return False, instance.lives[life]
        return reachable, None

    def why_renewed(self, url: str, life: int) -> str:
        """Why an instance was replaced in this life; "": it was not."""
        return self._instance(url).renewed.get(life, "")

    def note_served(self, url: str, life: int) -> None:
        """Note that an instance has answered in this life, and not to say that it is busy."""
        self._instance(url).served.add(life)

    def note_taken(self, url: str, life: int) -> None:
        """Note that an instance has taken a request in this life: it is not too busy for it."""
        self._instance(url).taken.add(life)

    def has_taken(self, url: str, life: int) -> bool:
        """Whether an instance that can be started again has taken one in this life."""
        instance = self._instance(url)
        return instance.process is not None and life in instance.taken

    def has_served(self, url: str, life: int) -> bool:
        """Whether an instance that can be started again has answered so in this life."""
        instance = self._instance(url)
        return instance.process is not None and life in instance.served

    @property
    def hangs(self) -> bool:
        """Whether an instance has hung."""
        return any(one.hung for one in self._instances.values())

    async def renew(self, url: str, life: int, why: str, *, hung: bool) -> None:
        """Put a fresh instance in the place of one that serves no more.

        Those that find the same at once find it renewed.
        """
        instance = self._instance(url)
        if life == len(instance.lives) and instance.process is not None:
            instance.renewed[life] = why
            instance.hung += hung
            instance.lives.append(None)
            self._bring(instance, _start(instance.process, "a fresh instance of the target could not be started"))
        await self.ready(url)

    @property
    def renewals(self) -> int:
        """How many fresh instances have taken the place of others."""
        return sum(len(one.renewed) for one in self._instances.values())

    @property
    def deaths(self) -> int:
        """How many processes of the target have ended by themselves."""
        return sum(life is not None for one in self._instances.values() for life in one.lives)

    def _instance(self, url: str) -> _Instance:
        address = urlsplit(url).netloc
        if address not in self._instances:
            instance = self._instances[address] = _Instance(url=url, process=self.process_at(url))
            if instance.process is not None and instance.process.asleep:
                self._bring(instance, _start(instance.process))
        return self._instances[address]

    def _notice(self, instance: _Instance, life: int) -> bool:
        """Look whether the process has ended in this life, and note it; whether the life is over."""
        if life == len(instance.lives) and instance.process is not None:
            death = instance.process.death()
            if death is not None:
                self._over(instance, death)
        return life < len(instance.lives)

    async def _settle(self, instance: _Instance, life: int, end: End) -> None:
        """Wait until it is known whether a broken exchange was broken by the end of the process."""
        if instance.process is None or self._notice(instance, life):
            return
        # A process that takes connections lives: it broke this one by itself. One that is ending takes them, too, until
        # its last socket is closed.
        lives = end is End.CUT and await self.reaches(instance.url)
        for _ in range(MORE_LOOKS if lives else LOOKS):
            await asyncio.sleep(LOOK)
            if self._notice(instance, life):
                return

    def _over(self, instance: _Instance, death: Death | None) -> None:
        """Note the end of a life, and bring the instance back."""
        instance.lives.append(death)
        self._bring(instance, self._bring_back(instance))

    def _bring(self, instance: _Instance, work: Coroutine[None, None, None]) -> None:
        instance.returning = asyncio.create_task(work)
        # If it fails, the exchanges that wait for it raise that; at the end of a run none may be waiting.
        instance.returning.add_done_callback(lambda task: task.cancelled() or task.exception())

    async def _bring_back(self, instance: _Instance) -> None:
        if len(instance.lives) - len(instance.renewed) > MOST_STARTS:
            raise GoneError(f"the target had to be started again {MOST_STARTS} times, and is gone once more")
        if instance.lives[-1] is None and await self._returns(instance.url):
            return
        if instance.process is None:
            raise GoneError("the target cannot be reached any more")
        await _start(instance.process, "the target died and could not be started again")

    async def _returns(self, url: str) -> bool:
        """Whether a server takes connections again before long."""
        for pause in PAUSES:
            await asyncio.sleep(pause)
            if await self.reaches(url):
                return True
        return False


async def _start(process: Process, failed: str = "an instance of the target could not be started") -> None:
    try:
        await asyncio.to_thread(process.restart)
    except HarnessError as error:
        raise GoneError(f"{failed}: {error}") from error
