"""Which requirements a scenario is judged by: what it exercises, and what holds of any answer that its script gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof.model.asks import AskCalls
from wireproof.model.catalogue import Catalogue, JudgedOn, Requirement
from wireproof.model.scenario import LEAVES, Form, PlainScenario, Scenario
from wireproof.reading.expected import NO_ANSWER
from wireproof.reading.right_answers import answers_to

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wireproof.model.dialect import Dialect


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
