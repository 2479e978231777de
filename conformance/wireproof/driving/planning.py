"""What a run drives, beside what and in which order, and what it cannot drive: decided before anything is sent.

Scenarios that wait longest come first, so that a run does not end with one of them: what waits costs no processor, and
waits while all else is driven. Those marked `alone` kill the backend, which others would notice. They come last, or
beside all others where the target has spare instances for them. One cannot be driven where something is not known of
the target, or where its backend cannot do what the scenario needs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from wireproof.driving.watching import PATIENCE
from wireproof.model.scenario import LEAVES, OPENS_AT, Act, ConversationScenario, Mode, Need, PlainScenario
from wireproof.model.target import Backend
from wireproof.reading import playable
from wireproof.reading.asked import LIMITS
from wireproof.reading.right_answers import answers_to
from wireproof.requests import plain
from wireproof.requests.adapted import adapted
from wireproof.requests.adjusted import DISPENSABLE
from wireproof.requests.ways_round import absent_forms

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from wireproof.model.scenario import Form, Scenario
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
UNREADY = 1.0
"""Seconds for each request to the unready instance, which waits for its backend; and only one scenario uses it at a
time."""


# By identity: there is one for each scenario of a run.
@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Planned:
    """A scenario as it is driven."""

    scenario: Scenario
    """Adapted to the target."""
    forms: tuple[Form, ...]
    reason: str
    """Why none of its forms can be driven; "": they can."""
    absent: Mapping[Form, str] = field(default_factory=dict)
    """The forms in which the target does not answer → why."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DrivingPlan:
    """A run: each scenario stands in `every`, and in one of the others."""

    every: Sequence[Planned]
    """In the order of reports."""
    first: Sequence[Planned]
    """Driven one after the other before those `together`, which do without what a live endpoint refuses of them."""
    together: Sequence[Planned]
    """Driven at the same time, those that wait longest first."""
    beside: Sequence[Planned]
    """Driven on the spare instances meanwhile, each instance taking the next one."""
    alone: Sequence[Planned]
    """Driven at the end, one after the other."""


def planned(
    scenarios: Iterable[Scenario], target: Target, forms: Mapping[str, Collection[Form]] | None = None
) -> DrivingPlan:
    """The plan of a run against a target past its preflight.

    `forms` are those to drive a scenario in, by its name, each of them alone; None: all forms of all scenarios.
    """
    every = [_planned(adapted(scenario, target), target, forms) for scenario in scenarios]
    alone = [one for one in every if one.scenario.alone or forms is not None]
    together = [one for one in every if one not in alone]
    beside = [one for one in alone if one.scenario.alone and target.spare_urls]
    first = _pioneers(together) if target.backend is Backend.LIVE else []
    rest = [one for one in together if one not in first]
    return DrivingPlan(
        every=every,
        first=first,
        # Those whose clients leave come last: what a proxy keeps of such a client, others would have to do without.
        together=sorted(rest, key=lambda one: (leaves(one.scenario), -_waits(one.scenario, target))),
        # Those of many forms first, each of which starts its backend again.
        beside=sorted(beside, key=lambda one: -len(one.forms)),
        alone=[one for one in alone if one not in beside],
    )


def _planned(scenario: Scenario, target: Target, forms: Mapping[str, Collection[Form]] | None) -> Planned:
    spoken = scenario.forms(target.dialects)
    chosen = spoken if forms is None else tuple(form for form in spoken if form in forms[scenario.name])
    absent = absent_forms(scenario, target)
    whole = [form for form in chosen if form.mode is Mode.WHOLE and form.dialect.spec.surface in absent]
    return Planned(
        scenario=scenario,
        forms=chosen,
        reason=obstacle(scenario, target),
        absent={form: absent[form.dialect.spec.surface] for form in whole},
    )


def _pioneers(every: Sequence[Planned]) -> list[Planned]:
    """The scenarios whose requests are the first to have the members that a request can do without."""
    # Every prompt has a limit, and most ask for a usage chunk; what else there is stands in a scenario's own body.
    members = DISPENSABLE.keys() - {*LIMITS}
    own = (
        one for one in every[1:] if isinstance(one.scenario, ConversationScenario) and members & {*one.scenario.body}
    )
    return [*every[:1], *own]


def leaves(scenario: Scenario) -> bool:
    """Whether the client leaves before the end of an answer."""
    return isinstance(scenario, ConversationScenario) and any(turn.act in LEAVES for turn in scenario.turns)


def _waits(scenario: Scenario, target: Target) -> float:
    """How many seconds a form of a scenario waits, by what it declares; scripts hardly pause by themselves."""
    silent = target.idle_timeout or 0.0 if Need.IDLE_TIMEOUT in scenario.needs else 0.0
    turns = scenario.turns if isinstance(scenario, ConversationScenario) else ()
    quiet = (target.keepalive or PATIENCE) if any(turn.act in OPENS_AT for turn in turns) else 0.0
    requests = scenario.requests if isinstance(scenario, PlainScenario) else ()
    return silent + quiet + sum(UNREADY for one in requests if one.unready)


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
