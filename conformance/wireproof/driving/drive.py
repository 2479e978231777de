"""Drive scenarios: send each over HTTP, once per form, many at a time, and keep a transcript of every exchange.

`planning` decides what is driven and in which order, `driver` sends the requests of a scenario, `watching` decides what
the client does while a stream is sent, `recording` keeps what arrives, `sending` sends again what a busy or a dead
target did not answer. Nothing is judged here: whatever the target does wrong is in its transcripts. What a target that
is gone for good leaves undone is not driven, with the reason.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from wireproof.driving.adjusting import Adjusting
from wireproof.driving.clients import client_of
from wireproof.driving.driver import Driver
from wireproof.driving.harms import Harms, PutOffError, traits
from wireproof.driving.restarting import GoneError, RenewedError
from wireproof.driving.sending import Sender
from wireproof.driving.slots import Limit, Slots
from wireproof.driving.target_lock import locked
from wireproof.driving.tries import Tried
from wireproof.judging.outcomes import ScenarioRun
from wireproof.judging.unjudged import ours
from wireproof.model.reasons import NEVER_LEFT
from wireproof.model.scenario import LEAVES, Form, Scenario
from wireproof.model.target import WayTaken
from wireproof.model.transcript import End
from wireproof.model.verdict import HarnessError
from wireproof.requests import plain
from wireproof.requests.ways_round import FEWER_JOBS, FRESH_INSTANCE
from wireproof.targets.budget import Budget
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
    ways: tuple[WayTaken, ...] = ()
    """The ways round faults that were taken in its course."""


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
            drives = _Drives(driver=driver, progress=progress, keep=keep, harms=Harms())
            by_name = {run.scenario.name: run for run in await _all(plan, drives, lock)}
    return Driving(
        runs=[by_name[one.scenario.name] for one in plan.every],
        at_a_time=slots.limit.found,
        adjusted=adjusting.found,
        ways=tuple(_ways(sender, slots.limit.found, jobs)),
    )


def _ways(sender: Sender, found: int, jobs: int) -> Iterator[WayTaken]:
    """The ways round faults that were taken in the course of a drive."""
    if found < jobs:
        yield WayTaken(name=FEWER_JOBS.name, answer=f"{found} at a time, {jobs} asked for")
    if sender.fresh:
        yield WayTaken(name=FRESH_INSTANCE.name, answer=sender.fresh)


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


_Item = tuple["Planned", Form]
"""A scenario as it is planned, and one of its forms."""


@dataclass(frozen=True, kw_only=True)
class _Drives:
    """Drives scenarios, one after the other or many at once."""

    driver: Driver
    progress: Progress
    keep: Keep
    harms: Harms
    """What has ended the target's process so far."""

    def at_spares(self) -> list[_Drives]:
        """The same on each spare instance of the target."""
        return [replace(self, driver=spare) for spare in self.driver.at_spares()]

    async def in_turn(self, every: Iterable[Planned]) -> list[ScenarioRun]:
        """Scenarios and their forms, one after the other."""
        return [_joined(one.scenario, [await self._form(one, form) for form in one.forms]) for one in every]

    async def at_once(self, first: Iterable[Planned], rest: Iterable[Planned]) -> list[ScenarioRun]:
        """Scenarios in all their forms at the same time, after the first ones, which are driven in turn.

        What was under way when the process ended is driven again: with others if it is not likely to be what ended it,
        else by itself.
        """
        runs, rest = await self.in_turn(first), list(rest)
        every = [(one, form) for one in rest for form in one.forms]
        done = await self._at_once(every)
        left = [item for item in every if item not in done]
        if left:
            done |= await self._at_once(left)
            # Alone, so that a death is that of the one request; the others had their second try.
            done |= {item: await self._alone(*item) for item in every if item not in done}
        for item, run in done.items():
            if item in left:
                self._note(*item, run)
        return runs + [_joined(one.scenario, [done[one, form] for form in one.forms]) for one in rest]

    async def _at_once(self, every: Iterable[_Item]) -> dict[_Item, ScenarioRun]:
        """What came of these forms, but for those that are to be driven again."""
        items = list(every)
        found = await asyncio.gather(*(self._beside_others(*item) for item in items))
        return {item: run for item, run in zip(items, found, strict=True) if run is not None}

    async def _beside_others(self, one: Planned, form: Form) -> ScenarioRun | None:
        """What came of a form; None where it is not known whether it or another one has ended the process."""
        about = traits(one.scenario, form)
        # Asked for each request, which may wait long for its slot.
        sender = self.driver.sender.guarded(partial(self.harms.guard, about))
        try:
            run = await self._driven(one, form, replace(self.driver, sender=sender))
        except (RenewedError, PutOffError):
            return None
        exchanges = run.exchanges.get(form, ())
        died = any(exchange.transcript.death is not None for exchange in exchanges)
        if died or _went_well(exchanges):
            self.harms.note(about, died=died)
        if died and any(exchange.transcript.beside for exchange in exchanges):
            return None
        self._note(one, form, run)
        return run

    async def _alone(self, one: Planned, form: Form) -> ScenarioRun:
        """What comes of a form with nothing beside it."""
        given_up = self.harms.given_up()
        if given_up and self.harms.suspects(traits(one.scenario, form)):
            return ScenarioRun(scenario=one.scenario, not_driven={form: given_up})
        try:
            run = await self._driven(one, form)
        except RenewedError as renewed:
            return ScenarioRun(scenario=one.scenario, not_driven={form: str(renewed)})
        died = any(exchange.transcript.death is not None for exchange in run.exchanges.get(form, ()))
        self.harms.note(traits(one.scenario, form), died=died)
        self.harms.alone += died
        return run

    async def _form(self, one: Planned, form: Form) -> ScenarioRun:
        try:
            run = await self._driven(one, form)
        except RenewedError as renewed:
            run = ScenarioRun(scenario=one.scenario, not_driven={form: str(renewed)})
        self._note(one, form, run)
        return run

    def _note(self, one: Planned, form: Form, run: ScenarioRun) -> None:
        self.keep(run)
        self.progress(one.scenario, form)

    async def _driven(self, one: Planned, form: Form, driver: Driver | None = None) -> ScenarioRun:
        if form in one.absent:
            return ScenarioRun(scenario=one.scenario, absent={form: one.absent[form]})
        if one.reason:
            return ScenarioRun(scenario=one.scenario, not_driven={form: one.reason})
        return await self._try(one, form, driver or self.driver)

    async def _try(self, one: Planned, form: Form, driver: Driver) -> ScenarioRun:
        undriven = partial(ScenarioRun, scenario=one.scenario)
        try:
            exchanges = await driver.exchanges(one.scenario, form)
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
        # The form is driven again; or the machine itself fails, and would fail at every other one.
        except (RenewedError, PutOffError, OSError):
            raise
        except Exception as error:  # noqa: BLE001 (whatever it fails at, the others are driven)
            return undriven(error=ours(f"drive {one.scenario.name} ({form})", error))
        return (
            undriven(not_driven={form: NEVER_LEFT}) if _never_left(exchanges) else undriven(exchanges={form: exchanges})
        )


def _went_well(exchanges: Sequence[Exchange]) -> bool:
    """Whether all answers came, so that what the form is about has ended nothing."""
    return bool(exchanges) and all(one.transcript.end is End.COMPLETE for one in exchanges)


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
