"""Drive scenarios: send each over HTTP, once per form, many at a time, and keep a transcript of every exchange.

`planning` decides what is driven and in which order, `driver` sends the requests of a scenario, `watching` decides what
the client does while a stream is sent, `recording` keeps what arrives, `sending` sends again what a busy or a dead
target did not answer. Nothing is judged here: whatever the target does wrong is in its transcripts. What a target that
is gone for good leaves undone is not driven, with the reason.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from wireproof.driving.driver import BRIEF, IMPATIENT, Driver, is_refused
from wireproof.driving.own_instances import FormQueue, PutOffError, Troubles
from wireproof.driving.planning import leaves
from wireproof.driving.restarting import FullError, GoneError, RenewedError, Restarter
from wireproof.driving.sending import Sender
from wireproof.driving.slots import Slots
from wireproof.driving.target_lock import locked
from wireproof.driving.tries import Adjusting, Tried, asked_texts
from wireproof.judging.outcomes import ScenarioRun
from wireproof.judging.unjudged import ours
from wireproof.model.reasons import CROWDED, NEVER_LEFT, UNCOMMENTED
from wireproof.model.scenario import LEAVES, Act, ConversationScenario, Form, Mode, Scenario
from wireproof.model.target import WayTaken
from wireproof.model.transcript import End
from wireproof.model.verdict import HarnessError
from wireproof.reading.right_answers import says_only_text
from wireproof.requests import plain
from wireproof.requests.ways_round import FEWER_JOBS, FRESH_INSTANCE
from wireproof.targets.budget import Budget
from wireproof.targets.clients import client_of

if TYPE_CHECKING:
    from wireproof.driving.own_instances import Item
    from wireproof.driving.planning import DrivingPlan, Planned
    from wireproof.driving.target_lock import TargetLock
    from wireproof.model.target import Adjustment, Target
    from wireproof.reading.exchange import Exchange


TRIES = 3
"""How often a form is driven whose instance is replaced by a fresh one in the meantime."""
SILENT = 3
"""Forms without an answer after which an answer has less time; those at first show the silence in its full length."""

Keep = Callable[[ScenarioRun, Form], None]
"""Called with what came of one form of a scenario as soon as it has been driven: what a run that is interrupted has."""


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
    silences: int = 0
    """How many forms got no answer from a target that Wireproof has started."""


async def drive(
    plan: DrivingPlan,
    target: Target,
    *,
    jobs: int = 8,
    budget: Budget | None = None,
    keep: Keep = lambda _run, _form: None,
    silences: int = 0,
) -> Driving:
    """Drive what is planned, at most `jobs` exchanges at a time.

    Args:
        plan: What to drive.
        target: A target past its preflight, the one that the plan was made for.
        jobs: How many exchanges may run at the same time; fewer do where the target serves fewer.
        budget: What the run may cost; what is left when it is spent is not driven. None: there is no bound.
        keep: See `Keep`.
        silences: Those that a drive before it has seen: a silence was shown in its full length then.
    """
    slots, adjusting, budget = Slots(most=jobs), Adjusting(found=dict(target.adjusted)), budget or Budget()
    with locked(target.base_url) as lock:
        async with client_of(target.base_url) as client:
            restarter = Restarter(client=client, budget=budget)
            sender = Sender(
                client=client, target=target, base_url=target.base_url, slots=slots, budget=budget, restarter=restarter
            )
            tried = Tried(asked=asked_texts([one.scenario for one in plan.every]))
            drives = _Drives(
                driver=Driver(sender=sender, adjusting=adjusting, tried=tried),
                keep=keep,
                asks=_first_that(_asks, plan),
                departs=_first_that(_departs, plan),
                troubles=Troubles(silent=silences),
            )
            await _all(plan, drives, lock)
            drives.keep_evidence(sender.evidence.shown)
    return Driving(
        runs=[joined(one.scenario, [drives.done[one, form] for form in one.forms]) for one in plan.every],
        at_a_time=slots.found,
        adjusted=adjusting.found,
        ways=tuple(_ways(restarter, slots.found, jobs)),
        silences=drives.troubles.silent if sender.starts else 0,
    )


def _ways(restarter: Restarter, found: int, jobs: int) -> Iterator[WayTaken]:
    """The ways round faults that were taken in the course of a drive."""
    if found < jobs:
        yield WayTaken(name=FEWER_JOBS.name, answer=f"{found} at a time, {jobs} asked for")
    reasons = {
        "since it answered nothing or had no slot left": sum(bool(life.renewed) for life in restarter.lives),
        "since it died": sum(life.death is not None for life in restarter.lives),
    }
    if fresh := ", ".join(f"{times} times {why}" for why, times in reasons.items() if times):
        yield WayTaken(name=FRESH_INSTANCE.name, answer=fresh)


async def _all(plan: DrivingPlan, drives: _Drives, lock: TargetLock) -> None:
    """Drive all scenarios."""
    target = drives.driver.target
    # The same on each instance of the target, the first and the spare ones, one request at a time.
    drivers = [
        drives.driver.but(base_url=url, slots=Slots(most=1), alone=True)
        for url in (target.base_url, *target.spare_urls)
    ]
    first, *spares = [replace(drives, driver=driver, before=[]) for driver in drivers]
    queue = FormQueue(left=_items(plan.beside), troubles=drives.troubles)

    async def most() -> None:
        in_turn, rest = _items(plan.first), _items(plan.together)
        if drives.driver.sender.starts and drives.asks in rest:
            # With what is answered it is found out later whether an instance still answers.
            rest.remove(drives.asks)
            in_turn.append(drives.asks)
        left = await drives.at_once(in_turn, rest)
        queue.complete(left)
        if left:
            await first.take(queue)

    async with lock.together():
        # The spare ones are begun first: what they drive takes long.
        await asyncio.gather(*(one.take(queue) for one in spares), most())
    # What a spare instance was to drive that could not be started comes here, too.
    for one, form in [*queue.left, *_items(plan.alone)]:
        # Other runs may drive the same target; what kills its backend is not for them to meet.
        async with lock.alone() if one.scenario.alone else lock.together():
            await first.drive_in_time(one, form, queue)


def _first_that(fits: Callable[[Scenario], bool], plan: DrivingPlan) -> Item | None:
    """The first form that is driven of a scenario that fits."""
    forms = (
        (one, form)
        for one in plan.every
        if fits(one.scenario) and not one.reason
        for form in one.forms
        if form.mode is Mode.STREAM and form not in one.absent
    )
    return next(forms, None)


def _asks(scenario: Scenario) -> bool:
    reads = _acts(scenario) == [Act.READ] and not scenario.alone
    return reads and isinstance(scenario, ConversationScenario) and says_only_text(scenario)


def _departs(scenario: Scenario) -> bool:
    return _acts(scenario) == [Act.LEAVE_AT_TEXT, Act.READ]


def _acts(scenario: Scenario) -> list[Act]:
    return [turn.act for turn in scenario.turns] if isinstance(scenario, ConversationScenario) else []


def _items(every: Iterable[Planned]) -> list[Item]:
    return [(one, form) for one in every for form in one.forms]


@dataclass(frozen=True, kw_only=True)
class _Drives:
    """Drives forms of scenarios, one after the other or many at once."""

    driver: Driver
    keep: Keep
    asks: Item | None
    """A form of one request that is answered with text; None: none is driven."""
    departs: Item | None
    """A form of which the client leaves the first answer, and asks again; None: none is driven."""
    troubles: Troubles = field(default_factory=Troubles)
    done: dict[Item, ScenarioRun] = field(default_factory=dict)
    """What came of each form."""
    before: list[Item] = field(default_factory=list)
    """The form that was driven last on this instance, where it went well; none at first."""

    async def at_once(self, first: Iterable[Item], rest: Sequence[Item]) -> list[Item]:
        """Drive forms at the same time, after the first ones, which are driven in turn; returns what is left.

        Those are to be driven on instances of their own: others may have brought down what they were sent to.
        """
        for item in first:
            await self.drive_alone(*item)
        driven = await asyncio.gather(*(self._beside_others(*item) for item in rest))
        return [item for item, done in zip(rest, driven, strict=True) if not done]

    async def take(self, queue: FormQueue) -> None:
        """Drive what is left, one after the other; another instance does where this one cannot be started."""
        while (item := await queue.next()) is not None:
            if not await self.drive_in_time(*item, queue):
                queue.left.append(item)
                return

    async def drive_in_time(self, one: Planned, form: Form, queue: FormQueue) -> bool:
        """Drive a form if there is time left; False where the instance cannot be started."""
        if not queue.over:
            return await self.drive_alone(one, form)
        self._note(one, form, ScenarioRun(scenario=one.scenario, not_driven={form: queue.over}))
        return True

    async def drive_alone(self, one: Planned, form: Form) -> bool:
        """Drive a form with nothing beside it on its instance; whether that could be done."""
        why = ""
        for _ in range(TRIES):
            try:
                await self._look()
                run = await self._with_room(one, form)
            except RenewedError as renewed:
                self.troubles.note((one, form), silent=self.driver.sender.restarter.hangs)
                why = str(renewed)
            except FullError as full:
                self.troubles.note((one, form))
                why = str(full)
                await self._show_lost_slots(self.asks)
            except GoneError as gone:
                if self.driver.sender.base_url != self.driver.target.base_url:
                    return False  # a spare instance
                why = str(gone)
                break
            else:
                if not self._examine(one, form, run):
                    self.before[:] = [(one, form)]
                self._note(one, form, run)
                return True
        self._note(one, form, ScenarioRun(scenario=one.scenario, not_driven={form: why}))
        return True

    async def _look(self) -> None:
        """Put a fresh instance in the place of one that hangs: what was driven on it before has left it so."""
        before = [*self.before]
        self.before.clear()
        if await self.driver.sender.look():
            for item in before:
                self.troubles.note_after(item)

    async def _with_room(self, one: Planned, form: Form) -> ScenarioRun:
        """What comes of a form; on a fresh instance where there was no room for two requests at once that it needs."""
        driver = self._hurried((one, form))
        run = await self._driven(one, form, driver)
        crowded, leaving = self.troubles.crowded, leaves(one.scenario)
        if run.not_driven.get(form) != CROWDED or leaving in crowded:
            return run
        # One slot may be left, so that nothing but a departure can show that the others are lost.
        if await self._show_lost_slots(self.departs):
            run = await self._driven(one, form, driver)
            if run.not_driven.get(form) == CROWDED:
                crowded.add(leaving)
        return run

    async def _show_lost_slots(self, item: Item | None) -> bool:
        """Put a fresh instance in the place of one that lost slots, once a form has shown that it has none left.

        Returns:
            Whether there is a fresh one; not where this one can have lost none.
        """
        evidence = self.driver.sender.evidence
        was_taken = evidence.taken
        if item is not None and not was_taken:
            with contextlib.suppress(RenewedError, FullError):
                await self._driven(*item)
        # What has shown it has brought the fresh one.
        return evidence.taken != was_taken or await self.driver.sender.renew()

    async def _beside_others(self, one: Planned, form: Form) -> bool:
        """Drive a form; False where it is to be driven with nothing beside it."""
        starts = self.driver.sender.starts
        # Asked for each request, which may wait long for its slot.
        driver = self.driver.but(guard=self.troubles.guard) if starts else self.driver
        try:
            run = await self._driven(one, form, driver)
        except GoneError as gone:
            run = ScenarioRun(scenario=one.scenario, not_driven={form: str(gone)})
        except PutOffError:
            return False
        except (RenewedError, FullError):
            self.troubles.note((one, form))
            return False
        # What had no room for two requests at once may have it on an instance of its own.
        if starts and (self._examine(one, form, run) or run.not_driven.get(form) == CROWDED):
            return False
        self._note(one, form, run)
        return True

    def _examine(self, one: Planned, form: Form, run: ScenarioRun) -> bool:
        """Note whether a form has given trouble; whether something beside it may be the reason."""
        troubled = [exchange.transcript for exchange in run.exchanges.get(form, ()) if _is_trouble(exchange)]
        silent = any(transcript.end is End.TIMEOUT for transcript in troubled)
        self.troubles.note((one, form), trouble=bool(troubled), silent=silent)
        # One that is stuck is the evidence of what a fresh instance goes round.
        return any(transcript.beside and not transcript.stuck for transcript in troubled)

    def keep_evidence(self, shown: Sequence[Exchange]) -> None:
        """Keep what shows the fault that fresh instances went round, where its form was driven again."""
        for (one, form), run in self.done.items() if shown else ():
            if (one.scenario.name, form) == (shown[-1].scenario.name, shown[-1].form):
                self.done[one, form] = replace(run, exchanges={form: tuple(shown)}, not_driven={})
                return

    def _note(self, one: Planned, form: Form, run: ScenarioRun) -> None:
        self.done[one, form] = run
        self.keep(run, form)

    async def _driven(self, one: Planned, form: Form, driver: Driver | None = None) -> ScenarioRun:
        undriven = partial(ScenarioRun, scenario=one.scenario)
        if form in one.absent:
            return undriven(absent={form: one.absent[form]})
        if one.reason:
            return undriven(not_driven={form: one.reason})
        try:
            exchanges = await (driver or self.driver).exchanges(one.scenario, form)
        except plain.UnknownHeaderError as unknown:
            return undriven(absent={form: str(unknown)})
        # The target does not show what the scenario is about: that is no fault of anyone's, so it is not observed.
        except plain.UnseenError as unseen:
            shown = {form: unseen.shown} if unseen.shown else {}
            return undriven(not_driven={form: str(unseen)}, set_aside=shown)
        # The form is driven again; or the machine itself fails, and would fail at every other one.
        except (RenewedError, FullError, PutOffError, GoneError, OSError):
            raise
        # Kept, not raised, whatever it fails at: the exchanges of all other scenarios can still be judged.
        except Exception as error:  # noqa: BLE001
            known = isinstance(error, HarnessError)
            return undriven(error=str(error) if known else ours(f"drive {one.scenario.name} ({form})", error))
        why = next(filter(None, map(_unseen, exchanges)), "")
        return undriven(not_driven={form: why}) if why else undriven(exchanges={form: exchanges})

    def _hurried(self, item: Item) -> Driver:
        """What sends a form of a scenario: with less time for each answer where enough have not come."""
        if self.troubles.silent < SILENT:
            return self.driver
        return self.driver.impatient(item[0].scenario, BRIEF if self.troubles.is_expected(item) else IMPATIENT)


def _is_trouble(exchange: Exchange) -> bool:
    """Whether a target died, was silent, or had no room for a request."""
    transcript = exchange.transcript
    return transcript.death is not None or transcript.end is End.TIMEOUT or is_refused(exchange)


def joined(scenario: Scenario, runs: Sequence[ScenarioRun]) -> ScenarioRun:
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


def _unseen(exchange: Exchange) -> str:
    """Why what the client was to do or to see did not happen in an exchange; "" if it did."""
    act = exchange.turn.act if exchange.turn is not None else Act.READ
    # It got nothing to leave at.
    if act in LEAVES and exchange.transcript.end is End.TIMEOUT:
        return NEVER_LEFT
    # On a busy machine the answer came too late for the keep-alives that its client waited for. Where their interval is
    # not known, the silence may have been shorter, and all but the comments is judged.
    waited = act is Act.OPEN_AT_COMMENTS and exchange.target.keepalive is not None
    return UNCOMMENTED if waited and exchange.reading is not None and not exchange.reading.keepalives else ""
