"""One answer of the model while it is played: what it was so far, and what comes next."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wireproof_scripts.calls.blocks import is_structured_call
from wireproof_scripts.steps import Usage

if TYPE_CHECKING:
    from wireproof_codex.versions.failures import FailureCause
    from wireproof_scripts.player import Action, Performance, Until
    from wireproof_scripts.steps import Step


@dataclass(frozen=True, slots=True)
class BrokenOff:
    """Why an answer broke off."""

    cause: FailureCause
    counted: bool = False
    """The service has reported its token counts all the same."""


class Response:
    """One answer of the model, as far as it was played."""

    def __init__(self, part: tuple[Step, ...], performance: Performance) -> None:
        self.usage = Usage()
        """The counts that the script gave last."""
        self.calls_to_come = sum(is_structured_call(step) for step in part)
        """How many calls of the part are still to be sent."""
        self.calls: Counter[int] = Counter()
        """How many calls have begun, by choice."""
        self.asked = False
        """The client was asked to run a tool."""
        self.complete = False
        """The answer is over."""
        self.failure: BrokenOff | None = None
        """Why it broke off, if that is not reported yet."""
        self.opened = False
        """The model has begun to answer."""
        self.unreached = False
        """The model's service could not be reached."""
        self.last_character = "\n"  # so a block that comes first needs no line break before it
        """The last one of the text; a line break before there is any."""
        self._performance = performance
        self._begun = False

    def play(self, performance: Performance) -> None:
        """Go on with another performance."""
        self._performance, self._begun = performance, False

    def next(self, now: float) -> Action | Until | None:
        """What happens next; None when the part is over."""
        try:
            # A generator that has not begun takes no value: its first step is `next`.
            if self._begun:
                return self._performance.send(now)
            self._begun = True
            return next(self._performance)
        except StopIteration:
            return None

    def reason(self, scripted: str, choice: int | None = None) -> str:
        """Why the answer, or this choice of it, ends: the scripted reason, unless it has calls, which win."""
        # chat.whole.finish: any call in the choice makes it `tool_calls`, whatever the script says.
        called = self.calls.total() if choice is None else self.calls[choice]
        return "tool_calls" if called else scripted
