"""What ends the process of a target: learnt from what the requests under way at its deaths have in common. No I/O.

A proxy that dies of every tool call would be started again for hundreds of exchanges, and each death takes along what
is sent beside it. So a form of a scenario is put off as soon as something that it is about was under way at several
deaths and at none of the answers, and driven alone at the end.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from wireproof.model.scenario import LEAVES, ConversationScenario
from wireproof.reading.right_answers import answers_to

if TYPE_CHECKING:
    from wireproof.model.scenario import Form, Scenario

__all__ = ["MOST_ALONE", "Harms", "PutOffError", "traits"]

ENOUGH = 2
"""Deaths at which a trait was under way, and after which what has it is put off."""
RATIO = 3
"""How many times as many deaths as answers a trait must have."""
MOST_ALONE = 8
"""Deaths of what was put off, after which nothing more of it is driven: each costs a start, and all show the same."""


class PutOffError(Exception):
    """A form is likely to end the process, and so is driven at the end."""


@dataclass(kw_only=True)
class Harms:
    """What was under way when the process ended; all exchanges of a run share one."""

    at_deaths: Counter[str] = field(default_factory=Counter)
    at_answers: Counter[str] = field(default_factory=Counter)
    alone: int = 0
    """Deaths of what was put off."""

    def note(self, found: frozenset[str], *, died: bool) -> None:
        """Note how a form of a scenario with these traits went."""
        (self.at_deaths if died else self.at_answers).update(found)

    def suspects(self, found: frozenset[str]) -> bool:
        """Whether a form with these traits is likely to end the process."""
        # A few answers may be right without what kills: a call that was refused, say.
        return any(self.at_deaths[one] >= max(ENOUGH, RATIO * self.at_answers[one]) for one in found)

    def guard(self, found: frozenset[str]) -> None:
        """Keep a request from being sent that is likely to end the process.

        Raises:
            PutOffError: it is.
        """
        if self.suspects(found):
            raise PutOffError

    def given_up(self) -> str:
        """Why nothing more is driven of what was put off; "": it is."""
        return f"the process ended at {self.alone} requests like this one" if self.alone >= MOST_ALONE else ""


def traits(scenario: Scenario, form: Form) -> frozenset[str]:
    """What a form of a scenario is about, as far as a process may die of it."""
    found = {f"{form.dialect.spec.surface}", f"{form.mode}", f"{form.dialect}", scenario.exercises[0]}
    if not isinstance(scenario, ConversationScenario):
        return frozenset({*found, "plain"})
    if not scenario.script:
        return frozenset(found)  # a prompt to a live model, whose answer is not known
    wanted = [one for number in range(len(scenario.turns)) for one in answers_to(scenario, number, form)]
    found |= {f"backend: {one.failure}" for one in wanted}
    found |= {"calls"} if any(one.calls for one in wanted) else {"no calls"}
    found |= {"tools"} if scenario.tools else set()
    found |= {"leaves"} if any(turn.act in LEAVES for turn in scenario.turns) else set()
    return frozenset(found)
