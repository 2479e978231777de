"""Drive scenarios: send each over HTTP, once per form, many at a time, and keep a transcript of every exchange.

`planning` decides what is driven and in which order, `driver` sends the requests of a scenario, `watching` decides what
the client does while a stream is sent, `recording` keeps what arrives, `sending` sends again what a busy or a dead
target did not answer. Nothing is judged here: whatever the target does wrong is in its transcripts. What a target that
is gone for good leaves undone is not driven, with the reason.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from wireproof.driving.adjusting import Adjusting
from wireproof.driving.budget import Budget
from wireproof.driving.clients import client_of
from wireproof.driving.driver import Driver
from wireproof.driving.restarting import GoneError
from wireproof.driving.sending import Sender
from wireproof.driving.slots import Limit, Slots
from wireproof.driving.target_lock import locked
from wireproof.driving.tries import Tried
from wireproof.judging.outcomes import ScenarioRun
from wireproof.model.reasons import NEVER_LEFT
from wireproof.model.scenario import LEAVES, Form, Scenario
from wireproof.model.transcript import End
from wireproof.model.verdict import HarnessError
from wireproof.requests import plain
from wireproof.targets.launch import launched_at

if TYPE_CHECKING:
    from wireproof.driving.planning import DrivingPlan, Planned
    from wireproof.driving.target_lock import TargetLock
    from wireproof.model.target import Adjustment, Target
    from wireproof.reading.exchange import Exchange


Progress = Callable[[Scenario, Form], None]
"""Called when a scenario has been driven in a form."""
Keep = Callable[[ScenarioRun], object]
"""Called with what came of one form of a scenario as soon as it has been driven: what a run that is interrupted has."""


def no_progress(_scenario: Scenario, _form: Form) -> None:
    """Progress that is shown nowhere."""


def keep_nothing(_run: ScenarioRun) -> None:
    """Nothing is kept before the end, when all runs are returned."""


@dataclass(frozen=True, kw_only=True)
class Driving:
    """What came of driving scenarios."""

    runs: Sequence[ScenarioRun]
    """In the order of the scenarios."""
    at_a_time: int
    """How many exchanges the target was found to serve at once, of as many as were asked for."""
    adjusted: Mapping[str, Adjustment] = field(default_factory=dict)
    """What the requests did without, see `Target.adjusted`."""


async def drive(
    plan: DrivingPlan,
    target: Target,
    *,
    jobs: int = 8,
    progress: Progress = no_progress,
    budget: Budget | None = None,
    keep: Keep = keep_nothing,
) -> Driving:
    """Drive what is planned, at most `jobs` exchanges at a time.

    Args:
        plan: What to drive.
        target: A target past its preflight, the one that the plan was made for.
        jobs: How many exchanges may run at the same time; fewer do where the target serves fewer.
        progress: Called when a scenario has been driven in a form.
        budget: What the run may cost; what is left when it is spent is not driven. None: there is no bound.
        keep: Called with each form as soon as it has been driven.
    """
    slots, adjusting = Slots(limit=Limit(most=jobs)), Adjusting(found=dict(target.adjusted))
    with locked(target.base_url) as lock:
        async with client_of(target) as client:
            sender = Sender(
                client=client, target=target, slots=slots, process_at=launched_at, budget=budget or Budget()
            )
            driver = Driver(
                sender=sender, target=target, at=target, unready=asyncio.Lock(), adjusting=adjusting, tried=Tried(),
            )  # fmt: skip
            drives = _Drives(driver=driver, progress=progress, keep=keep)
            by_name = {run.scenario.name: run for run in await _all(plan, drives, lock)}
    return Driving(
        runs=[by_name[one.scenario.name] for one in plan.every],
        at_a_time=slots.limit.found,
        adjusted=adjusting.found,
    )


async def _all(plan: DrivingPlan, drives: _Drives, lock: TargetLock) -> list[ScenarioRun]:
    """The runs of all scenarios, in the order in which they were driven."""
    waiting = iter(plan.beside)
    async with lock.together():
        every = await asyncio.gather(
            # Begun first: they take long.
            *(spare.in_turn(waiting) for spare in drives.at_spares()),
            drives.at_once(plan.first, plan.together),
        )
    runs = [run for some in every for run in some]
    for one in plan.alone:
        # Other runs may drive the same target; what kills its backend is not for them to meet.
        async with lock.alone() if one.scenario.alone else lock.together():
            runs += await drives.in_turn([one])
    return runs


@dataclass(frozen=True, kw_only=True)
class _Drives:
    """Drives scenarios, one after the other or many at once."""

    driver: Driver
    progress: Progress
    keep: Keep

    def at_spares(self) -> list[_Drives]:
        """The same on each spare instance of the target."""
        return [replace(self, driver=spare) for spare in self.driver.at_spares()]

    async def in_turn(self, every: Iterable[Planned]) -> list[ScenarioRun]:
        """Scenarios and their forms, one after the other."""
        return [_joined(one.scenario, [await self._form(one, form) for form in one.forms]) for one in every]

    async def at_once(self, first: Iterable[Planned], rest: Iterable[Planned]) -> list[ScenarioRun]:
        """Scenarios in all their forms at the same time, after the first ones, which are driven in turn."""
        runs = await self.in_turn(first)
        return runs + await asyncio.gather(*(self._forms(one) for one in rest))

    async def _forms(self, one: Planned) -> ScenarioRun:
        return _joined(one.scenario, await asyncio.gather(*(self._form(one, form) for form in one.forms)))

    async def _form(self, one: Planned, form: Form) -> ScenarioRun:
        if form in one.absent:
            run = ScenarioRun(scenario=one.scenario, absent={form: one.absent[form]})
        elif one.reason:
            run = ScenarioRun(scenario=one.scenario, not_driven={form: one.reason})
        else:
            run = await self._try(one, form)
        self.keep(run)
        self.progress(one.scenario, form)
        return run

    async def _try(self, one: Planned, form: Form) -> ScenarioRun:
        undriven = partial(ScenarioRun, scenario=one.scenario)
        try:
            exchanges = await self.driver.exchanges(one.scenario, form)
        # The target does not show what the scenario is about: that is no fault of anyone's, so it is not observed. Nor
        # is what a target cannot show that is gone; that it is gone is in the transcripts of the exchanges before.
        except plain.UnseenError as unseen:
            shown = {form: unseen.shown} if unseen.shown else {}
            return undriven(not_driven={form: str(unseen)}, set_aside=shown)
        except GoneError as gone:
            return undriven(not_driven={form: str(gone)})
        except HarnessError as error:
            # Kept, not raised: the exchanges of all other scenarios can still be judged.
            return undriven(error=str(error))
        return (
            undriven(not_driven={form: NEVER_LEFT}) if _never_left(exchanges) else undriven(exchanges={form: exchanges})
        )


def _joined(scenario: Scenario, runs: Sequence[ScenarioRun]) -> ScenarioRun:
    """The run of a scenario, from those of its forms."""
    # One form that broke off makes the others worthless: the scenario is judged over all of them.
    errors = [run.error for run in runs if run.error]
    if errors:
        return ScenarioRun(scenario=scenario, error=errors[0])
    return ScenarioRun(
        scenario=scenario,
        exchanges={form: those for run in runs for form, those in run.exchanges.items()},
        not_driven={form: reason for run in runs for form, reason in run.not_driven.items()},
        set_aside={form: those for run in runs for form, those in run.set_aside.items()},
        absent={form: why for run in runs for form, why in run.absent.items()},
    )


def _never_left(exchanges: Sequence[Exchange]) -> bool:
    """Whether a client that was to leave got nothing to leave at."""
    return any(
        exchange.turn is not None and exchange.turn.act in LEAVES and exchange.transcript.end is End.TIMEOUT
        for exchange in exchanges
    )
