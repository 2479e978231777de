"""Which scripts a service can play, and why it cannot play the others: what is the same for all services.

Many scripts describe what the app-server of Codex sends. A service has text, reasoning, calls, counts, ends and
failures, too. How they are spelled, cut into output or sent in another dialect is the app-server's own doing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from wireproof_scripts.steps import Call, Finish, Notifications, Parts, Say, Script, Step

_SHAPES = frozenset({"native", "sentinel", "use-tool"})
_DIALECTS: Mapping[Notifications, str] = {
    "story": "the app-server chooses the dialect of its notifications",
    "double": "the version of the app-server decides which notifications are sent",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class ServiceLimits:
    """What a service cannot play, each with the reason that is given."""

    chance: str
    """Why no script of several choices."""
    ends: Callable[[Step], bool]
    """Whether nothing is played behind such a step."""
    over: str
    """Why not."""
    elsewhere: Callable[[Step], str]
    """Why such a step is another player's, whatever its fields say; "" if it is not."""
    checks: Mapping[type[Step], Callable[[Any, Sequence[Step]], str]]
    """What is wrong with a step, by its type, behind those before it in its part; "" if nothing is."""

    def why_unplayable(self, script: Script) -> str:
        """Why the service cannot play a script; "" if it can."""
        return self.chance if script.choices else self.why_not(script.parts, script.notifications)

    def why_not(self, parts: Parts, notifications: Notifications = "v2") -> str:
        """Why the service cannot play these parts with these notifications; "" if it can."""
        return _DIALECTS.get(notifications) or next(filter(None, map(self._of_part, parts)), "")

    def _of_part(self, part: Sequence[Step]) -> str:
        for at, step in enumerate(part):
            check = self.checks.get(type(step))
            why = self.over if at and self.ends(part[at - 1]) else self.elsewhere(step)
            why = why or (check(step, part[:at]) if check else "")
            if why:
                return f"{type(step).__name__}: {why}"
        return ""


def one_choice(step: Say | Finish, _before: Sequence[Step]) -> str:
    """What is wrong with a step of a choice."""
    return "an answer of the service is one choice" if step.choice is not None else ""


def unknown_shape(call: Call) -> str:
    """What is wrong with the shapes of a call."""
    other = [shape for shape in call.shapes if shape not in _SHAPES]
    return f"the service has no shape {other[0]}" if other else ""
