"""One answer of the model while it is played: what it was so far, and what comes next."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay_scripts.blocks import is_structured_call
from assay_scripts.steps import Usage

if TYPE_CHECKING:
    from assay_codex.versions.failures import Cause
    from assay_scripts.player import Action, Performance, Until
    from assay_scripts.steps import Step


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an answer broke off; `counted`: the service told its tokens all the same."""

    cause: Cause
    counted: bool = False


class Response:
    """One answer of the model.

    `usage` is the last that was scripted. `calls_to_come` counts the calls that are still to be told, `calls` those
    that were begun, by choice. `opened`: the model has begun to answer; `unreached`: it could not be asked; `asked`:
    the client was asked to run a tool; `complete`: the answer is over; `failure`: it broke off, which is not told yet.
    `last_character` is that of its text, a line break before there is any.
    """

    def __init__(self, part: tuple[Step, ...], performance: Performance) -> None:
        self.usage = Usage()
        self.calls_to_come = sum(is_structured_call(step) for step in part)
        self.calls: Counter[int] = Counter()  # by choice
        self.asked = False
        self.complete = False
        self.failure: Failure | None = None
        self.opened = False
        self.unreached = False
        self.last_character = "\n"
        self._performance = performance
        self._begun = False

    def play(self, performance: Performance) -> None:
        """Go on with this instead."""
        self._performance, self._begun = performance, False

    def next(self, now: float) -> Action | Until | None:
        """What happens next; None when the part is over."""
        try:
            if self._begun:
                return self._performance.send(now)
            self._begun = True
            return next(self._performance)
        except StopIteration:
            return None

    def reason(self, told: str, choice: int | None = None) -> str:
        """Why the answer, or this choice of it, ends: calls win."""
        called = self.calls.total() if choice is None else self.calls[choice]
        return "tool_calls" if called else told
