"""When a target may be asked again: one clock for all that a command sends it, whatever asks.

A refusal for lack of capacity is about the account, or about the server, and not about the request that it answers: so
nothing at all is sent until the time that it names, or until a pause that grows with each further refusal. The clock
also says when to give up: where the target asks for a longer wait than is granted, and where it has served nothing for
as long as that.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from wireproof.requests.plain import UnseenError
from wireproof.targets.options import MAX_WAIT

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

        Args:
            status: Its HTTP status.
            asked: The seconds that it asks to wait; None: it does not say.
            sent_after: `refusals` when the request was sent.

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
