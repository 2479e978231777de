"""What a run may cost: how many requests, tokens, and requests a minute; and when its target may be asked.

A model's service is paid for by tokens, those of the request and of the answer. How many a request has is known only
when it is answered, if at all; so each is counted before it is sent, by what it can cost at most (see
`wireproof.requests.cost`), and what an answer says of its tokens corrects that.

A refusal for lack of capacity is about the account, or about the server, and not about the request that it answers: so
nothing at all is sent until the time that it names, or until a pause that grows with each further refusal. The clock
also says when to give up: where the target asks for a longer wait than is granted, and where it has served nothing for
as long as that.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from wireproof.requests.cost import tokens
from wireproof.requests.plain import UnseenError
from wireproof.targets.options import MAX_WAIT

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

REQUESTS, TOKENS = 100, 20_000
"""What a run may cost at a model's service if nothing else is said."""
MINUTE = 60.0
FIRST, GROWTH, MOST = 0.5, 3.0, 30.0
"""Seconds of the first pause at least, how many times longer each next one is, and at most."""

LOOK = 1.0
"""Seconds between two looks at the clock while it is waited for."""

Show = Callable[[float, str], None]
"""Called when a wait begins, with its seconds and the reason."""


def now() -> float:
    """Seconds by the running loop's clock, which is the same for all loops of a process."""
    return asyncio.get_running_loop().time()


def show_nothing(_seconds: float, _why: str) -> None:
    """A wait is shown nowhere."""


class SpentError(UnseenError):
    """Nothing more may be sent; the message says which bound was reached."""


@dataclass(kw_only=True)
class TargetClock:
    """Holds all requests back that a target has asked to wait for."""

    max_wait: float = MAX_WAIT
    """Seconds."""
    show: Show = show_nothing
    over: str = ""
    """Why nothing more is sent; "": the run goes on."""
    refusals: int = 0
    """How many came since the target last served a request; those that were under way together count once."""
    _due: float = field(default=0.0, repr=False)
    """When the next request may be sent."""
    _since: float | None = field(default=None, repr=False)
    """When the first of these refusals came; None: there is none."""

    async def wait(self) -> None:
        """Wait until a request may be sent.

        Raises:
            SpentError: nothing more is sent.
        """
        while True:
            if self.over:
                raise SpentError(self.over)
            left = self._due - now()
            if left <= 0:
                return
            # Looked at again: another request may have been refused meanwhile, or the run be over.
            await asyncio.sleep(min(left, LOOK))

    @property
    def open(self) -> bool:
        """Whether a request may be sent now."""
        return not self.over and now() >= self._due

    def served(self) -> None:
        """Note that the target has served a request."""
        self.refusals, self._since = 0, None

    def refused(self, status: int, asked: float | None, *, sent_after: int) -> None:
        """Note a refusal for lack of capacity.

        `asked` are the seconds that it asks to wait; None: it does not say. `sent_after` are the `refusals` when the
        request was sent.

        Raises:
            SpentError: it asks for a longer wait than is granted, or nothing has been served for as long as that.
        """
        moment, said = now(), f"the target answers HTTP {status}"
        begun = self._since = moment if self._since is None else self._since
        if asked is not None and asked > self.max_wait:
            self.stop(f"{said} and asks to wait {asked:,.0f} s; {self._bound}")
        if sent_after == self.refusals:
            self.refusals += 1
        pause = max(asked or 0.0, min(FIRST * GROWTH ** min(self.refusals - 1, 10), MOST))
        due = moment + pause
        if due - begun > self.max_wait:
            self.stop(f"{said} to every request, and has served none for {moment - begun:.0f} s; {self._bound}")
        # A wait that is nearly the one that is under way is not worth another line.
        if due > self._due + 1:
            self.show(pause, said + (" and asks for that" if asked else ""))
        self._due = max(self._due, due)

    def stop(self, why: str) -> None:
        """End the run: nothing more is sent.

        Raises:
            SpentError: always.
        """
        self.over = self.over or why
        raise SpentError(self.over)

    @property
    def _bound(self) -> str:
        return f"--max-wait sets the bound of {self.max_wait:g} s"


@dataclass(kw_only=True)
class Budget:
    """The bounds of a command, from its first request to its last, and what of them is spent. None: no bound."""

    requests: int | None = None
    counts_refused: bool = False
    """Whether `requests` bounds those that were refused and waited for, too: a person has named it."""
    tokens: int | None = None
    rate: int | None = None
    """Requests a minute."""
    seconds: float | None = None
    """How long a run may send requests."""
    most_bytes: int | None = None
    """How many bytes all answers of a run may have."""
    clock: TargetClock = field(default_factory=TargetClock)
    """When the target may be asked."""
    received: int = 0
    """Bytes of the run's answers so far."""
    sent: int = 0
    """Requests so far."""
    spent: int = 0
    """Tokens so far: as answers count them, and at most where they do not."""
    _end: float | None = field(default=None, repr=False)
    """When the run's time is over, by the loop's clock; None: nothing was sent yet."""
    _next: float = field(default=0.0, repr=False)
    """When the next request may be sent, by the loop's clock."""

    def begin(self) -> None:
        """Begin a run, of which a command may repeat several: time and bytes are each run's own."""
        self._end, self.received = None, 0

    async def take(self, body: bytes) -> None:
        """Take what a request can cost, and wait until it may be sent.

        Raises:
            SpentError: a bound would be exceeded; nothing was taken.
        """
        cost = tokens(body)
        if self.left() <= 0:
            raise self._over()
        self._check(cost)
        async with self.time():
            await self._turn()
            while not self.clock.open:  # another request was refused meanwhile
                await self._turn()
        # What was left may have been taken meanwhile.
        self._check(cost)
        self.sent += 1
        self.spent += cost

    async def _turn(self) -> None:
        """Wait as the target asks, and for the rate of the run."""
        await self.clock.wait()
        if self.rate is not None:
            # Taken before it is waited for: those that ask meanwhile come after this one.
            due = max(self._next, now())
            self._next = due + MINUTE / self.rate
            await asyncio.sleep(due - now())

    def _check(self, cost: int) -> None:
        """Make sure that what a request can cost is left.

        Raises:
            SpentError: it is not.
        """
        self.receive(0)
        if self.requests is not None and self.sent >= self.requests:
            raise SpentError(f"the run's {self.requests} requests are spent; --max-requests sets the bound")
        if self.tokens is not None and self.spent + cost > self.tokens:
            raise SpentError(f"the run's {self.tokens:,} tokens are spent; --max-tokens sets the bound")

    def give_back(self, body: bytes) -> None:
        """Take back what a request was counted for that was refused, and is sent again after a wait."""
        self.settle(body, 0)
        if not self.counts_refused:
            self.sent -= 1

    def left(self) -> float:
        """How many seconds the run may go on; it begins when this is asked first."""
        if self.seconds is None:
            return math.inf
        if self._end is None:
            self._end = now() + self.seconds
        return self._end - now()

    @asynccontextmanager
    async def time(self) -> AsyncIterator[None]:
        """The time that the run has left, for an exchange.

        Raises:
            SpentError: it is over.
        """
        left = self.left()
        limit = asyncio.timeout(None if math.isinf(left) else left)
        try:
            async with limit:
                yield
        except TimeoutError:
            if limit.expired():
                raise self._over() from None
            raise

    def receive(self, size: int) -> None:
        """Count bytes of an answer.

        Raises:
            SpentError: they are more than the run may receive.
        """
        self.received += size
        if self.most_bytes is not None and self.received >= self.most_bytes:
            raise SpentError(f"the run received {self.most_bytes:,} bytes of answers; --max-bytes sets the bound")

    def _over(self) -> SpentError:
        return SpentError(f"the run's {self.seconds:g} s are over; --max-seconds sets the bound")

    def settle(self, body: bytes, used: int) -> None:
        """Count a request that was taken by what it used. 0: it was refused, which costs nothing."""
        self.spent += used - tokens(body)
