"""In which order scenarios are driven: those that wait longest first, so that a run does not end with one of them.

What waits costs no processor; begun first, it waits while all else is driven.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof.model.scenario import Need, PlainScenario

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wireproof.model.scenario import Scenario
    from wireproof.model.target import Target

UNREADY = 1.0
"""Seconds for each request to the unready instance, which waits for its backend; and only one scenario uses it at a
time."""


def longest_first(scenarios: Iterable[Scenario], target: Target) -> list[Scenario]:
    """The scenarios by how long they wait; in their own order where that is the same."""
    return sorted(scenarios, key=lambda scenario: -_waits(scenario, target))


def _waits(scenario: Scenario, target: Target) -> float:
    """How many seconds a form of a scenario waits, by what it declares; scripts hardly pause by themselves."""
    silent = target.idle_timeout or 0.0 if Need.IDLE_TIMEOUT in scenario.needs else 0.0
    quiet = target.keepalive or 0.0 if Need.KEEPALIVE in scenario.needs else 0.0
    requests = scenario.requests if isinstance(scenario, PlainScenario) else ()
    unready = sum(UNREADY for one in requests if one.unready)
    return silent + quiet + unready
