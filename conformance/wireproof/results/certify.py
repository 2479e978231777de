"""A whole run: drive the scenarios, judge what they left behind, and hold the result in a certificate.

Of a run that is ended before its end, an interrupt carries on what had been driven until then.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from wireproof.driving.drive import drive, joined
from wireproof.driving.planning import planned
from wireproof.judging.checks import CHECKS
from wireproof.judging.judge import judge_runs
from wireproof.requests.adapted import adapted
from wireproof.requests.conversation import prepare
from wireproof.requests.ways_round import with_witnesses
from wireproof.results.judge_run import judge_run
from wireproof.results.masking import masked_runs, masked_target
from wireproof.results.recheck import recheck_timing

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping, Sequence

    from wireproof.driving.drive import Driving
    from wireproof.judging.outcomes import ScenarioRun
    from wireproof.judging.registry import Checks
    from wireproof.model.catalogue import Catalogue
    from wireproof.model.scenario import ConversationScenario, Form, Scenario
    from wireproof.model.target import Target
    from wireproof.model.verdict import VerdictLevel
    from wireproof.results.certificate import Certificate
    from wireproof.targets.budget import Budget

    Progress = Callable[[Scenario, Form], None]
    """Called when a scenario has been driven in a form."""


NOT_REACHED = "the run was interrupted before it"
"""Why a form of a scenario was not driven."""


def no_progress(_scenario: Scenario, _form: Form) -> None:
    """Progress that is shown nowhere."""


class InterruptedRun(KeyboardInterrupt):
    """An interrupt of a run that was under way.

    It is still an interrupt to everything on its way up, which stops what was started.
    """

    def __init__(self, certificate: Callable[[], Certificate]) -> None:
        super().__init__()
        self.certificate = certificate
        """Judges what had been driven; to be called when the target has been stopped, since it takes a while."""


@dataclass(kw_only=True)
class Kept:
    """The forms of scenarios that have been driven so far."""

    scenarios: tuple[Scenario, ...]
    target: Target
    progress: Progress
    done: dict[str, list[ScenarioRun]] = field(default_factory=dict)
    """Scenario → what came of each of its forms, as a run of that form alone."""

    def take(self, run: ScenarioRun, form: Form) -> None:
        """Keep a run of one form."""
        self.done.setdefault(run.scenario.name, []).append(run)
        self.progress(run.scenario, form)

    def runs(self) -> list[ScenarioRun]:
        """A run of every scenario; what was not reached is not driven, and that is the reason."""
        every = [adapted(scenario, self.target) for scenario in self.scenarios]
        runs = [joined(scenario, self.done.get(scenario.name, [])) for scenario in every]
        return [run if run.error else replace(run, not_driven={**run.not_driven, **self._left(run)}) for run in runs]

    def _left(self, run: ScenarioRun) -> dict[Form, str]:
        reached = {*run.exchanges, *run.not_driven, *run.absent}
        return dict.fromkeys(
            (one for one in run.scenario.forms(self.target.dialects) if one not in reached), NOT_REACHED
        )


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

    A target that cannot be driven to the end raises nothing: what it cost has the verdict ERROR. The certificate holds
    no secret of the target.

    Raises:
        InterruptedRun: the run was interrupted; it has the certificate of what had been driven.
    """
    target = with_witnesses(target, scenarios, partial(_first_body, target))
    # The time of day may be set in the meantime.
    since, began = time.monotonic(), datetime.now(UTC).isoformat(timespec="seconds")
    judged = partial(
        judge_run, catalogue=catalogue, known=known, selection=selection, level=level, jobs=jobs, began=began
    )
    kept = Kept(scenarios=tuple(scenarios), target=target, progress=progress)
    try:
        plan = planned(scenarios, target)
        driving = _driven(drive(plan, target, jobs=jobs, budget=budget, keep=kept.take))
        target = replace(target, adjusted=driving.adjusted, ways=(*target.ways, *driving.ways))
        shown = masked_target(target)
        judge = partial(judge_runs, target=shown, catalogue=catalogue, checks=checks)
        again = partial(_again, scenarios, target, budget, driving.silences)
        runs, found = recheck_timing(masked_runs(driving.runs, target), judge=judge, again=again, catalogue=catalogue)
        seconds = time.monotonic() - since
        return judged(runs, shown, found=found, at_a_time=driving.at_a_time, seconds=seconds)
    except KeyboardInterrupt as interrupt:
        seconds = time.monotonic() - since
        raise InterruptedRun(
            lambda: judged(masked_runs(kept.runs(), target), masked_target(target), interrupted=True, seconds=seconds)
        ) from interrupt


def _first_body(target: Target, scenario: ConversationScenario, form: Form) -> bytes:
    """The body of a conversation's first request, before any way round is taken."""
    nonce = ""  # it is looked at and not sent
    return prepare(scenario, scenario.turns[0], form=form, model=target.model, nonce=nonce, history=()).body


def _again(
    scenarios: Sequence[Scenario],
    target: Target,
    budget: Budget | None,
    silences: int,
    forms: Mapping[str, Sequence[Form]],
) -> Sequence[ScenarioRun]:
    """Forms of scenarios, driven again with nothing beside them; without their secrets. `silences`: see `drive`."""
    # Not the scenarios of the runs, which are adapted to the target, as these will be.
    plan = planned([one for one in scenarios if one.name in forms], target, forms)
    return masked_runs(_driven(drive(plan, target, jobs=1, budget=budget, silences=silences)).runs, target)


def _driven(work: Coroutine[object, object, Driving]) -> Driving:
    """What a drive comes to, on an event loop of its own."""
    found: list[Driving] = []

    async def keep() -> None:
        found.append(await work)

    # Not as the task's result: when `asyncio.run` ends, the signal module writes the task down, with all transcripts in
    # it, for an error that it then swallows. A whole run took a gigabyte for that.
    asyncio.run(keep())
    return found[0]
