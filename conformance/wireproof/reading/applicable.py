"""Which requirements a scenario is judged by: what it exercises, and what holds of any answer that its script gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof.model.answer_terms import answer_terms
from wireproof.model.asks import Calls
from wireproof.model.catalogue import Catalogue, Judged, Requirement
from wireproof.model.scenario import LEAVES, ConversationScenario, Form, PlainScenario, Scenario
from wireproof.reading.agent_calls import agent_call
from wireproof.reading.expected import Expected, Failure, expected
from wireproof_scripts.library import LIBRARY
from wireproof_scripts.steps import Usage

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wireproof.model.dialect import Dialect
    from wireproof.model.scenario import Turn
    from wireproof_scripts.steps import Parts, Step


NO_ANSWER = {Failure.BEFORE_OUTPUT, Failure.IN_CALL, Failure.SILENT, Failure.UNMET}
"""Failures after which there need not be an answer."""


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


def _judged(scenario: Scenario, form: Form) -> set[Judged]:
    """What answers of this form are due: any at all, and any with calls; those to plain requests are named one by one.

    A client that leaves may be gone before a call has reached it.
    """
    judged: set[Judged] = set()
    if isinstance(scenario, PlainScenario):
        return judged
    for number, turn in enumerate(scenario.turns):
        if turn.asks is not None:
            judged |= {Judged.ALWAYS, Judged.CALLS} if isinstance(turn.asks, Calls) else {Judged.ALWAYS}
            continue
        due = [answer for answer in answers_to(scenario, number, form) if answer.failure not in NO_ANSWER]
        if due:
            judged.add(Judged.ALWAYS)
        if turn.act not in LEAVES and any(answer.calls for answer in due):
            judged.add(Judged.CALLS)
    return judged


def answers_to(scenario: ConversationScenario, number: int, form: Form) -> tuple[Expected, ...]:
    """The right answers to the turn of that number, counted from 0: one for each choice."""
    turn = scenario.turns[number]
    terms = answer_terms(scenario, turn, form.dialect)
    choices = range(scenario.choices)
    return tuple(expected(_part(scenario, turn, number, choice), form, terms) for choice in choices)


def _part(scenario: ConversationScenario, turn: Turn, number: int, choice: int) -> tuple[Step, ...]:
    """What the backend plays for a choice of a turn."""
    script = LIBRARY[turn.script or scenario.script]
    parts = script.choices[choice] if script.choices else script.parts
    # A turn's own script begins another conversation, so with its first part. No turn goes beyond the last part.
    at = 0 if turn.script else min(number, len(parts) - 1)
    part = parts[at] if scenario.tools else _run_on(parts[at:])
    return part if script.choices else _of_choice(part, choice)


def _run_on(parts: Parts) -> tuple[Step, ...]:
    """The parts that one answer plays where the proxy, not its client, runs what Cursor's agent service asks for."""
    played: list[Step] = []
    for part in parts:
        played += part
        if not any(map(agent_call, part)):
            break
    return tuple(played)


def _of_choice(part: tuple[Step, ...], choice: int) -> tuple[Step, ...]:
    """The steps of one choice, where all choices play the same part.

    Steps that name no choice belong to the first one. If no step names a choice, each choice plays all of them. The
    counts are those of all choices together, so the first choice has them and the others have zero.
    """
    if all(getattr(step, "choice", None) is None for step in part):
        return part
    elsewhere = tuple(Usage(input=0, output=0) for step in part if isinstance(step, Usage) and choice)
    return (*elsewhere, *(step for step in part if (getattr(step, "choice", None) or 0) == choice))
