"""From runs to a certificate: what a target is judged by besides the catalogue, and the judgement itself.

Pure, so a run is judged in the same way when it has just been driven, when it was interrupted, and when it was saved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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


def judge_run(
    runs: Sequence[ScenarioRun],
    target: Target,
    catalogue: Catalogue,
    *,
    found: Judgement | None = None,
    known: Mapping[str, str] | None = None,
    selection: Sequence[str] = (),
    level: VerdictLevel | None = None,
    **course: Any,  # noqa: ANN401 (fields of a certificate)
) -> Certificate:
    """The certificate of runs of a target, or of a client at Wireproof's own endpoint.

    Args:
        runs: What was driven.
        target: What it was driven against.
        catalogue: The requirements to judge by.
        found: What the runs come to; None: they are not judged yet.
        known: `<scenario>:<requirement>` → why its failure is accepted.
        selection: The names by which the scenarios were selected; empty when these are all of them.
        level: What decides the exit status; None: `default_level`.
        **course: How the run went, as fields of the certificate.
    """
    if found is None and target.side is Side.CLIENT:
        found = Judgement(outcomes=judge_client(runs, target, catalogue), causes=())
    found = found or judge_runs(runs, target, catalogue)
    catalogue = catalogue.about(target.side)
    # After judging: a known failure is judged like any other, so that one that passes is noticed.
    outcomes = apply(found.outcomes, known or {})
    return Certificate(
        target=target,
        date=catalogue.date,
        runs=tuple(runs),
        outcomes=outcomes,
        causes=found.causes,
        # A selection is complete without what it did not ask for; a whole run is measured by the catalogue, so that a
        # MUST that no scenario was about does not pass unnoticed.
        musts=_selected(catalogue, outcomes, selection) if selection else _musts(catalogue, target, runs),
        selection=tuple(selection),
        level=level or default_level(target),
        strict_musts=frozenset(row.id for row in catalogue.requirements if not row.compat),
        **course,
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
