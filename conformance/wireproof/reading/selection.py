"""Choosing scenarios by name, or by a requirement: those that exercise it, else those that are judged by it."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from wireproof.model.dialect import Dialect
from wireproof.reading.applicable import applicable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wireproof.model.catalogue import Catalogue
    from wireproof.model.scenario import Scenario


def keys(scenarios: Sequence[Scenario], catalogue: Catalogue) -> frozenset[str]:
    """Each `<scenario>:<requirement>` that can be judged, whatever dialects a target speaks."""
    return frozenset(f"{s.name}:{row.id}" for s in scenarios for row in applicable(s, catalogue, Dialect))


class UnknownScenarioError(LookupError):
    """No scenario and no requirement has this name; the message offers the close ones."""


def select(scenarios: Sequence[Scenario], catalogue: Catalogue, names: Sequence[str]) -> tuple[Scenario, ...]:
    """The scenarios that are named, or that a named requirement is about, in their order; all when none is named.

    Raises:
        UnknownScenarioError: a name is neither a scenario's nor a requirement's.
    """
    if not names:
        return tuple(scenarios)
    chosen = {scenario.name for name in names for scenario in _meant(scenarios, catalogue, name)}
    return tuple(scenario for scenario in scenarios if scenario.name in chosen)


def _meant(scenarios: Sequence[Scenario], catalogue: Catalogue, name: str) -> list[Scenario]:
    # Those that exercise it are a few; nearly every scenario is judged by a row of all answers.
    named = [scenario for scenario in scenarios if name == scenario.name or name in scenario.exercises]
    if named:
        return named
    if name in catalogue.by_id:
        return [scenario for scenario in scenarios if catalogue.by_id[name] in applicable(scenario, catalogue, Dialect)]
    close = difflib.get_close_matches(name, [*(scenario.name for scenario in scenarios), *catalogue.by_id], n=3)
    hint = f"; did you mean {' or '.join(close)}?" if close else ""
    raise UnknownScenarioError(f"no scenario and no requirement is named {name!r}{hint}")
