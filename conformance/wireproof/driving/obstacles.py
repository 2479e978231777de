"""Why a scenario cannot be driven against a target: what is not known of the target, or what its backend cannot do."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from wireproof.model.scenario import Act, ConversationScenario, Mode, Need, PlainScenario
from wireproof.model.target import Backend
from wireproof.reading import playable
from wireproof.reading.right_answers import answers_to
from wireproof.requests import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from wireproof.model.scenario import Scenario
    from wireproof.model.target import Target

_DECLARED: Mapping[Need, tuple[Callable[[Target], object], str]] = {
    Need.IDLE_TIMEOUT: (
        lambda target: target.idle_timeout,
        "how long a backend may be silent is not known; declare it with --idle-timeout SECONDS",
    ),
    Need.DEFAULT_MODE: (
        lambda target: target.default_mode,
        "the target's own output mode is not known; declare it with --default-mode",
    ),
}
"""What a person declares of a target → where it is, and what is said where it is not declared."""


def obstacle(scenario: Scenario, target: Target) -> str:
    """Why a scenario cannot be driven against this target; "" when it can."""
    undeclared = (why for need, (known, why) in _DECLARED.items() if need in scenario.needs and known(target) is None)
    return (
        next(undeclared, "")
        or _late(scenario, target)
        or _only_scripted(scenario, target)
        or playable.unsupported_reason(scenario, target)
        or plain.unsupported_reason(scenario, target)
    )


def _late(scenario: Scenario, target: Target) -> str:
    """Why the client, or the backend, would give up before the scenario has shown what it is about; "": none would."""
    # Its own timeout would pass for the proxy's silence.
    if Need.IDLE_TIMEOUT in scenario.needs and (target.idle_timeout or 0) >= target.silence:
        return "a backend may be silent for longer than --timeout allows"
    if 2 * (target.pace or 0.0) > _shortest_gate(scenario, target):
        return f"a plain answer takes {target.pace:.1f} s, so the backend's gate would open by itself first"
    return ""


def _shortest_gate(scenario: Scenario, target: Target) -> float:
    """How long the backend waits at least for the client to open its gate, in seconds; endless where it need not.

    In that time a text has to come to the client, and a request to the backend.
    """
    if isinstance(scenario, PlainScenario):
        return math.inf
    forms = [form for form in scenario.forms(target.dialects) if form.mode is Mode.STREAM]
    opening = [number for number, turn in enumerate(scenario.turns) if turn.act is Act.OPEN_AT_TEXT]
    answers = [wanted for form in forms for number in opening for wanted in answers_to(scenario, number, form)]
    return min((gate.timeout for wanted in answers for gate in wanted.gates), default=math.inf)


def _only_scripted(scenario: Scenario, target: Target) -> str:
    """Why a live model cannot answer; "" where it can, or none is behind the target."""
    # The script of a scenario's first turn is no obstacle: of its answer the invariants are judged. A scenario that
    # kills its backend, or changes the script between turns, means nothing to a real model.
    changes = isinstance(scenario, ConversationScenario) and any(turn.script for turn in scenario.turns)
    if target.backend is Backend.LIVE and (scenario.alone or changes):
        return "only the scripted mock can play this; a live model is behind the target"
    return ""
