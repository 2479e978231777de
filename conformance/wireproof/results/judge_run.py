"""From runs to a certificate: what a target is judged by besides the catalogue, and the judgement itself.

Pure, so a run is judged in the same way when it has just been driven, when it was interrupted, and when it was saved.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from wireproof.judging.client_judge import judge_client
from wireproof.judging.judge import Judgement, judge_runs
from wireproof.judging.known_failing import apply
from wireproof.model.catalogue import Catalogue, Level
from wireproof.model.scenario import ConversationScenario
from wireproof.model.side import Side
from wireproof.model.target import Backend
from wireproof.model.verdict import VerdictLevel
from wireproof.results.certificate import Certificate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wireproof.judging.outcomes import ScenarioRun
    from wireproof.model.target import Target
    from wireproof.model.verdict import Outcome


@dataclass(frozen=True, kw_only=True)
class Terms:
    """How a run is driven and judged, as a person asked for it."""

    known: Mapping[str, str] = field(default_factory=dict)
    """`<scenario>:<requirement>` → why its failure is accepted."""
    selection: tuple[str, ...] = ()
    """The names by which the scenarios were selected; empty when these are all of them."""
    level: VerdictLevel | None = None
    """What decides the exit status; None: `default_level`."""
    jobs: int = 8
    """How many exchanges run at the same time."""


@dataclass(frozen=True, kw_only=True)
class RunInfo:
    """How a run went."""

    began: str
    """When it began, in ISO 8601, UTC."""
    seconds: float
    """How long it took."""
    at_a_time: int = 0
    """How many exchanges the target was found to serve at the same time; 0: not known."""
    interrupted: bool = False
    """It was ended before all scenarios were driven."""


def judge_run(
    runs: Sequence[ScenarioRun], target: Target, catalogue: Catalogue, terms: Terms, course: RunInfo
) -> Certificate:
    """The certificate of runs of a target, or of a client at Wireproof's own endpoint."""
    if target.side is Side.CLIENT:
        found = Judgement(outcomes=judge_client(runs, target, catalogue), causes=())
    else:
        found = judge_runs(runs, target, catalogue)
    return certificate_of(runs, found, target, catalogue, terms, course)


def certificate_of(
    runs: Sequence[ScenarioRun], found: Judgement, target: Target, catalogue: Catalogue, terms: Terms, course: RunInfo
) -> Certificate:
    """The certificate of runs that have been judged."""
    catalogue = catalogue.about(target.side)
    # After judging: a known failure is judged like any other, so that one that passes is noticed.
    outcomes = apply(found.outcomes, terms.known)
    return Certificate(
        target=target,
        date=catalogue.date,
        runs=tuple(runs),
        outcomes=outcomes,
        causes=found.causes,
        # A selection is complete without what it did not ask for; a whole run is measured by the catalogue, so that a
        # MUST that no scenario was about does not pass unnoticed.
        musts=_selected(catalogue, outcomes, terms.selection) if terms.selection else _musts(catalogue, target, runs),
        seconds=course.seconds,
        began=course.began,
        interrupted=course.interrupted,
        jobs=terms.jobs,
        at_a_time=course.at_a_time,
        selection=terms.selection,
        level=terms.level or default_level(target),
        strict_musts=frozenset(row.id for row in catalogue.requirements if not row.compat),
    )


def default_level(target: Target) -> VerdictLevel:
    """The level by which a target is judged if nobody chooses one: strict where the right answer is known."""
    # What a service in the field sends beside OpenAI's fields is not its user's to mend, and harms no client.
    return VerdictLevel.COMPAT if target.backend is Backend.LIVE else VerdictLevel.STRICT


def _musts(catalogue: Catalogue, target: Target, runs: Sequence[ScenarioRun]) -> frozenset[str]:
    """The MUSTs that are about a dialect of the target, or about the forms that a client asks for."""
    if target.side is Side.CLIENT:
        forms = {form for run in runs for form in run.exchanges}
        musts = (row for row in catalogue.requirements if row.level is Level.MUST)
        return frozenset(row.id for row in musts if any(map(row.speaks_of, forms)))
    spoken = set(target.dialects)
    # A surface that the target does not speak is an absence, not a gap; so is a second one to compare the first with.
    driven = {row for run in runs if run.forms(target.dialects) for row in run.scenario.exercises}
    of_conversations = {
        row for run in runs if isinstance(run.scenario, ConversationScenario) for row in run.scenario.exercises
    }
    return frozenset(
        row.id
        for row in catalogue.requirements
        if row.level is Level.MUST and set(row.dialects) & spoken and row.id not in of_conversations - driven
    )


def _selected(catalogue: Catalogue, outcomes: Sequence[Outcome], selection: Sequence[str]) -> frozenset[str]:
    """The MUSTs that the selected scenarios are about, and each requirement, MUST or not, that is named itself."""
    judged = {outcome.requirement for outcome in outcomes}
    return frozenset(
        row.id
        for row in catalogue.requirements
        # A SHOULD that a person names is what they want to see, so missing it counts too.
        if row.id in selection or (row.level is Level.MUST and row.id in judged)
    )
