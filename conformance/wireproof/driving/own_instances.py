"""What brings a launched target down: driven at the end, each form alone on an instance that nothing else is sent to.

A death takes along what is sent beside it, a target that hangs answers nothing more, and one that loses its slots
refuses all. So after a few such troubles nothing more is sent beside other requests. The forms that are left, and those
that were under way, are driven by several instances of the target, one at a time on each: what happens there is due to
that form. The time for all of them is bounded, so those come first that are least likely to give trouble. That is
learnt from what forms are about which have given some.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from wireproof.driving.planning import leaves
from wireproof.model.scenario import ConversationScenario
from wireproof.reading.right_answers import answers_to
from wireproof.targets.budget import now

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wireproof.driving.planning import Planned
    from wireproof.model.scenario import Form

ENOUGH = 2
"""Troubles after which nothing more is driven beside others."""
MANY, FEW = 10, 0.25
"""Forms about something that have given trouble, after which it is expected of the next; and how many for each of them
may have given none."""
REFUSED = 3
"""Refusals after which a request is no longer sent beside others, if nothing else is served meanwhile."""
LONGEST = 120.0
"""Seconds from the beginning after which no form is begun any more where the target gives trouble: a run is to end
within three minutes."""

Item = tuple["Planned", "Form"]
"""A scenario as it is planned, and one of its forms."""


class PutOffError(Exception):
    """A form is to be driven on an instance of its own."""


@dataclass(kw_only=True)
class Troubles:
    """How forms went: whether they ended the target, got no answer or no slot; all exchanges of a run share one."""

    times: int = 0
    silent: int = 0
    """How many of them were silences."""
    crowded: set[bool] = field(default_factory=set)
    """Whether the client leaves in the forms for which a fresh instance has no room for two requests at once.

    No other fresh instance is tried for their like. Those that leave may have used up the slot themselves, so they say
    nothing about the others.
    """
    _with_trouble: Counter[str] = field(default_factory=Counter)
    """What a form may be about → how many such forms have given trouble."""
    _without: Counter[str] = field(default_factory=Counter)
    """How many have given none."""

    def note(self, item: Item, *, trouble: bool = True, silent: bool = False) -> None:
        """Note how a form went."""
        self.times += trouble
        self.silent += silent
        (self._with_trouble if trouble else self._without).update({*_about(item), item[0].scenario.name})

    def note_after(self, item: Item) -> None:
        """Note that a form, which went well, has left an instance behind that answers nothing more."""
        self._without.subtract({*_about(item), item[0].scenario.name})
        self.note(item, silent=True)

    def likely(self, item: Item) -> tuple[float, int]:
        """How likely a form is to give trouble: as much so as what it is about that gives most.

        Of those that are equally likely one is later whose scenario has given some: each is to be seen in one form.
        """
        rates = (self._with_trouble[one] / (1 + self._with_trouble[one] + self._without[one]) for one in _about(item))
        return max(rates), self._with_trouble[item[0].scenario.name]

    def is_expected(self, item: Item) -> bool:
        """Whether a form is about something of which nearly each form has given trouble, and enough have."""
        counts = [(self._with_trouble[one], self._without[one]) for one in _about(item)]
        return any(trouble >= MANY and none <= FEW * trouble for trouble, none in counts)

    def guard(self, refused: int) -> None:
        """Keep a request from being sent beside others where that has brought enough troubles.

        `refused`: how often it was refused for lack of capacity while no other one was served.

        Raises:
            PutOffError: it has.
        """
        self.times += refused == REFUSED
        if self.times >= ENOUGH or refused >= REFUSED:
            raise PutOffError


@dataclass(kw_only=True)
class FormQueue:
    """The forms that are left; the instances take one after the other."""

    left: list[Item]
    troubles: Troubles
    until: float = field(default_factory=lambda: now() + LONGEST)
    """When the time for them is over, by the loop's clock."""
    _complete: asyncio.Event = field(default_factory=asyncio.Event)

    def complete(self, items: Iterable[Item]) -> None:
        """Add the last ones."""
        self.left += items
        self._complete.set()

    async def next(self) -> Item | None:
        """The form to drive next: the first of those that are least likely to give trouble; None: there is none."""
        if not self.left:
            await self._complete.wait()
        if not self.left:
            return None
        least = min(self.left, key=self.troubles.likely)
        self.left.remove(least)
        return least

    @property
    def over(self) -> str:
        """Why no form is begun any more; "": one is."""
        if now() < self.until or self.troubles.times < ENOUGH:
            return ""
        return (
            f"the target died, was silent or had no slot left {self.troubles.times} times,"
            " and the time for fresh instances was over"
        )


@cache  # asked for each form that is left before each that is driven
def _about(item: Item) -> frozenset[str]:
    """What a form of a scenario is about, as far as a target may have trouble with it."""
    scenario, form = item[0].scenario, item[1]
    found = {f"{form.dialect.spec.surface}", f"{form.mode}", f"{form.dialect}", scenario.exercises[0]}
    if not isinstance(scenario, ConversationScenario):
        return frozenset({*found, "plain"})
    if not scenario.script:
        return frozenset(found)  # a prompt to a live model, whose answer is not known
    wanted = [one for number in range(len(scenario.turns)) for one in answers_to(scenario, number, form)]
    found |= {f"backend: {one.failure}" for one in wanted}
    calls = "calls" if any(one.calls for one in wanted) else "no calls"
    found |= {calls, f"{form.dialect}: {calls}"}
    found |= {"tools"} if scenario.tools else set()
    found |= {"leaves"} if leaves(scenario) else set()
    return frozenset(found)
