"""A whole run: drive the scenarios, judge what they left behind, and hold the result in a certificate."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from assay.driving.drive import Progress, drive, no_progress
from assay.judging.checks import CHECKS
from assay.judging.judge import judge_runs
from assay.judging.known_failing import apply
from assay.model.catalogue import Catalogue, Level
from assay.model.target import Backend
from assay.model.verdict import VerdictLevel
from assay.results.certificate import Certificate
from assay.results.repeating import settled

if TYPE_CHECKING:
    from collections.abc import Coroutine, Mapping, Sequence

    from assay.driving.budget import Budget
    from assay.driving.drive import Driving
    from assay.judging.outcomes import Run
    from assay.judging.registry import Checks
    from assay.model.scenario import Form, Scenario
    from assay.model.target import Target
    from assay.model.verdict import Outcome


def certify(  # noqa: PLR0913 (what a run is made of, each with a default)
    target: Target,
    scenarios: Sequence[Scenario],
    catalogue: Catalogue,
    *,
    known: Mapping[str, str] | None = None,
    jobs: int = 8,
    progress: Progress = no_progress,
    selection: Sequence[str] = (),
    checks: Checks = CHECKS,
    level: VerdictLevel | None = None,
    budget: Budget | None = None,
) -> Certificate:
    """Drive every scenario and judge what it left behind; what rests on time is driven again first.

    Args:
        target: A target past its preflight.
        scenarios: What to drive.
        catalogue: The requirements to judge by.
        known: `<scenario>:<requirement>` → why its failure is accepted.
        jobs: How many exchanges run at the same time.
        progress: Called after each scenario and form.
        selection: The names by which the scenarios were selected; empty when these are all of them.
        checks: What finds out whether a requirement is broken.
        level: What decides the exit status; None: `default_level`.
        budget: What the run may cost; None: there is no bound.

    A target that cannot be driven to the end raises nothing: what it cost has the verdict ERROR.
    """
    # Not the time of day: that may be set in the meantime.
    began = time.monotonic()
    driving = _driven(drive(scenarios, target, jobs=jobs, progress=progress, budget=budget))
    target = replace(target, adjusted=driving.adjusted)
    judge = partial(judge_runs, target=target, catalogue=catalogue, checks=checks)
    again = partial(_again, driving.runs, target, budget)
    runs, judged = settled(driving.runs, judge=judge, again=again, catalogue=catalogue)
    # After judging: a known failure is judged like any other, so that one that passes is noticed.
    outcomes = apply(judged.outcomes, known or {})
    return Certificate(
        target=target,
        date=catalogue.date,
        runs=tuple(runs),
        outcomes=outcomes,
        causes=judged.causes,
        # A selection is complete without what it did not ask for; a whole run is measured by the catalogue, so that a
        # MUST that no scenario was about does not pass unnoticed.
        musts=_selected(catalogue, outcomes, selection) if selection else _musts(catalogue, target),
        seconds=time.monotonic() - began,
        jobs=jobs,
        at_a_time=driving.at_a_time,
        selection=tuple(selection),
        level=level or default_level(target),
        strict_musts=frozenset(row.id for row in catalogue.requirements if not row.compat),
    )


def _again(
    runs: Sequence[Run], target: Target, budget: Budget | None, forms: Mapping[str, Sequence[Form]]
) -> Sequence[Run]:
    """Forms of scenarios, driven again with nothing beside them."""
    scenarios = [run.scenario for run in runs if run.scenario.name in forms]
    return _driven(drive(scenarios, target, jobs=1, forms=forms, budget=budget)).runs


def _driven(work: Coroutine[object, object, Driving]) -> Driving:
    """What a drive comes to, on an event loop of its own."""
    found: list[Driving] = []

    async def keep() -> None:
        found.append(await work)

    # Not as the task's result: when `asyncio.run` ends, the signal module writes the task down, with all transcripts in
    # it, for an error that it then swallows. A whole run took a gigabyte for that.
    asyncio.run(keep())
    return found[0]


def default_level(target: Target) -> VerdictLevel:
    """The level by which a target is judged if nobody chooses one: strict where the right answer is known."""
    # What a service in the field sends beside OpenAI's fields is not its user's to mend, and harms no client.
    return VerdictLevel.COMPAT if target.backend is Backend.LIVE else VerdictLevel.STRICT


def _musts(catalogue: Catalogue, target: Target) -> frozenset[str]:
    """The MUSTs that are about a dialect of the target."""
    spoken = set(target.dialects)
    # A surface that the target does not speak is an absence, not a gap.
    return frozenset(row.id for row in catalogue.requirements if row.level is Level.MUST and set(row.dialects) & spoken)


def _selected(catalogue: Catalogue, outcomes: Sequence[Outcome], selection: Sequence[str]) -> frozenset[str]:
    """The MUSTs that the selected scenarios are about, and each requirement, MUST or not, that is named itself."""
    judged = {outcome.requirement for outcome in outcomes}
    return frozenset(
        row.id
        for row in catalogue.requirements
        # A SHOULD that a person names is what they want to see, so missing it counts too.
        if row.id in selection or (row.level is Level.MUST and row.id in judged)
    )
