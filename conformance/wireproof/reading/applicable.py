"""Which requirements a scenario is judged by: what it exercises, and what holds of any answer that its script gives.

And scenarios chosen by name, or by a requirement: those that exercise it, else those that are judged by it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof.model.asks import AskCalls
from wireproof.model.catalogue import Catalogue, JudgedOn, Requirement
from wireproof.model.dialect import Dialect
from wireproof.model.rows import suggest
from wireproof.model.scenario import LEAVES, Form, PlainScenario, Scenario
from wireproof.reading.expected import NO_ANSWER
from wireproof.reading.right_answers import answers_to

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def applicable(scenario: Scenario, catalogue: Catalogue, dialects: Iterable[Dialect]) -> tuple[Requirement, ...]:
    """The requirements that a scenario is judged by where these dialects are spoken, in the catalogue's order."""
    forms = by_form(scenario, catalogue, dialects).values()
    judged = {row.id for rows in forms for row in rows}
    return tuple(row for row in catalogue.requirements if row.id in judged)


def by_form(
    scenario: Scenario, catalogue: Catalogue, dialects: Iterable[Dialect]
) -> dict[Form, tuple[Requirement, ...]]:
    """The same for each form in which the scenario is driven."""
    judged = {form: _judged(scenario, form) for form in scenario.forms(dialects)}
    exercised, ever = set(scenario.exercises), set().union(*judged.values())
    # Most rows are about other scenarios, whatever the form.
    rows = [row for row in catalogue.requirements if row.id in exercised or row.judged in ever]
    return {
        form: tuple(row for row in rows if (row.id in exercised or row.judged in due) and row.speaks_of(form))
        for form, due in judged.items()
    }


def _judged(scenario: Scenario, form: Form) -> set[JudgedOn]:
    """What answers of this form are due: any at all, and any with calls; those to plain requests are named one by one.

    A client that leaves may be gone before a call has reached it.
    """
    judged: set[JudgedOn] = set()
    if isinstance(scenario, PlainScenario):
        return judged
    for number, turn in enumerate(scenario.turns):
        if turn.asks is not None:
            judged |= {JudgedOn.ALWAYS, JudgedOn.CALLS} if isinstance(turn.asks, AskCalls) else {JudgedOn.ALWAYS}
            continue
        due = [answer for answer in answers_to(scenario, number, form) if answer.failure not in NO_ANSWER]
        if due:
            judged.add(JudgedOn.ALWAYS)
        if turn.act not in LEAVES and any(answer.calls for answer in due):
            judged.add(JudgedOn.CALLS)
    return judged


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
    known = [*(scenario.name for scenario in scenarios), *catalogue.by_id]
    raise UnknownScenarioError(f"no scenario and no requirement is named {name!r}{suggest(name, known)}")
