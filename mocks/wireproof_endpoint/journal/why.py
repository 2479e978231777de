"""Why a script answers a request, and why the others do not."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from wireproof_endpoint.received import Received
from wireproof_scripts.asked.matching import described, why_not
from wireproof_scripts.selection import DEFAULT
from wireproof_scripts.steps.when import condition
from wireproof_scripts.values import value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wireproof_scripts.asked.request import AskedTurn
    from wireproof_scripts.selection import By
    from wireproof_scripts.steps import Library
    from wireproof_scripts.steps.when import When
    from wireproof_surfaces.conversation import Conversation


@dataclass(frozen=True, kw_only=True, slots=True)
class Considered:
    """A script that could have answered."""

    script: str
    answers: bool
    """Whether it does."""
    why: str
    """Why it does, or does not, as a sentence without its full stop."""


@value(frozen=True, kw_only=True, slots=True)
class Why:
    """Says, when it is called, which scripts were considered for a request, and why they answer or do not.

    Every request has one, and its entry keeps it, so it holds no more than it takes to find that out.
    """

    library: Library
    """The scripts as they were then."""
    conversation: Conversation
    headers: Mapping[str, str]
    number: int
    """Which request for an answer it was."""
    script: str
    """The one that was chosen, and how."""
    by: By
    problem: str | None
    first: int
    """The part that it plays."""
    parts: int
    """How many it has."""
    refused: bool
    """Whether the default would have answered, and did not."""

    def __call__(self) -> tuple[Considered, ...]:
        """The scripts that are chosen by what a request says, in order, and the one that answers if it is another.

        Scripts that only a marker chooses are not among them, unless one does.
        """
        received, model = Received(self.conversation), self.conversation.model
        asked = replace(received.asked, model=model, headers=self.headers, number=self.number)
        found = [
            self._considered(script.name, condition(script.when), asked)
            for script in self.library.values()
            if script.when is not None
        ]
        if self.refused or any(one.answers for one in found):
            return tuple(found)
        why = _NOT_MATCHED if self.script == DEFAULT else self.problem or "the marker names it"
        return (*found, Considered(script=self.script or "none", answers=True, why=why + _part(self)))

    def _considered(self, name: str, when: When, asked: AskedTurn) -> Considered:
        if name == self.script:
            why = "the marker names it" if self.by == "marker" else described(when)
            return Considered(script=name, answers=True, why=why + _part(self))
        against = why_not(when, asked)
        why = against or f"it matches, too: {self.script} comes before it, or a marker names that"
        return Considered(script=name, answers=False, why=why)


_NOT_MATCHED = "no script matches, so the default answers"


def _part(chosen: Why) -> str:
    """Which part of the script plays."""
    parts, first = chosen.parts, chosen.first
    if chosen.script == DEFAULT or parts == 1 == first + 1:
        return ""
    if first == parts:
        return "; all its parts are played, so the default answer goes on"
    return f"; part {first + 1} of {parts}"
