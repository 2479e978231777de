"""Drive scenarios: send each over HTTP, once per form, many at a time, and keep a transcript of every exchange.

`driver` sends the requests of a scenario, `watching` decides what the client does while a stream is sent, `recording`
keeps what arrives, `sending` sends again what a busy or a dead target did not answer. Nothing is judged here: whatever
the target does wrong is in its transcripts. What a target that is gone for good leaves undone is not driven, with the
reason.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from wireproof.driving.adjusting import Adjusting, pioneers
from wireproof.driving.budget import Budget
from wireproof.driving.clients import client_of
from wireproof.driving.driver import Driver, Keep
from wireproof.driving.order import longest_first
from wireproof.driving.restarting import GoneError
from wireproof.driving.sending import Sender
from wireproof.driving.slots import Limit, Slots
from wireproof.driving.target_lock import locked
from wireproof.driving.tries import Tried
from wireproof.judging.outcomes import Run
from wireproof.model.reasons import NEVER_LEFT
from wireproof.model.scenario import LEAVES, Act, ConversationScenario, Form, Mode, Need, PlainScenario, Scenario
from wireproof.model.target import Adjustment, Backend, Target
from wireproof.model.transcript import End
from wireproof.model.verdict import HarnessError
from wireproof.reading import playable
from wireproof.reading.right_answers import answers_to
from wireproof.requests import plain
from wireproof.requests.adapted import adapted
from wireproof.targets.launch import launched_at

if TYPE_CHECKING:
    from wireproof.reading.exchange import Exchange


Progress = Callable[[Scenario, Form], None]
"""Called when a scenario has been driven in a form."""


def no_progress(_scenario: Scenario, _form: Form) -> None:
    """Progress that is shown nowhere."""


def keep_nothing(_run: Run) -> None:
    """What came is returned at the end, and only then."""


@dataclass(frozen=True, kw_only=True)
class Driving:
    """What came of driving scenarios."""

    runs: Sequence[Run]
    """In the order of the scenarios."""
    at_a_time: int
    """How many exchanges the target was found to serve at once, of as many as were asked for."""
    adjusted: Mapping[str, Adjustment] = field(default_factory=dict)
    """What the requests did without, see `Target.adjusted`."""


async def drive(
    scenarios: Sequence[Scenario],
    target: Target,
    *,
    jobs: int = 8,
    progress: Progress = no_progress,
    forms: Mapping[str, Collection[Form]] | None = None,
    budget: Budget | None = None,
    keep: Keep = keep_nothing,
) -> Driving:
    """Drive scenarios, at most `jobs` exchanges at a time; first those that wait longest.

    Those marked `alone` are driven one after the other: they kill the backend, which others would notice. They come
    last, or beside all others where the target has spare instances for them.

    Args:
        scenarios: What to drive.
        target: A target past its preflight.
        jobs: How many exchanges may run at the same time; fewer do where the target serves fewer.
        progress: Called when a scenario has been driven in a form.
        forms: Name of a scenario → the forms to drive it in, each of them alone. None: all forms of all scenarios.
        budget: What the run may cost; what is left when it is spent is not driven. None: there is no bound.
        keep: Called with each form as soon as it has been driven.
    """
    scenarios = [adapted(scenario, target) for scenario in scenarios]
    slots = Slots(limit=Limit(most=jobs))
    alone = [scenario for scenario in scenarios if scenario.alone or forms is not None]
    together = [scenario for scenario in scenarios if scenario not in alone]
    adjusting = Adjusting(found=dict(target.adjusted))
    # What an endpoint refuses of their requests, those of the others do without.
    first = pioneers(together) if target.backend is Backend.LIVE else []
    rest = [scenario for scenario in together if scenario not in first]
    with locked(target.base_url) as lock:
        async with client_of(target) as client:
            sender = Sender(
                client=client, target=target, slots=slots, process_at=launched_at, budget=budget or Budget()
            )
            driver = Driver(
                sender=sender, target=target, at=target, unready=asyncio.Lock(), adjusting=adjusting, tried=Tried(),
                keep=keep,
            )  # fmt: skip
            spares = driver.at_spares()
            beside = [scenario for scenario in alone if spares and scenario.alone]
            # Each instance takes the next of them; those of many forms first, each of which starts its backend again.
            waiting = iter(sorted(beside, key=lambda one: -len(one.forms(target.dialects))))
            async with lock.together():
                every = await asyncio.gather(
                    # Begun first: they take long.
                    *(_drive_in_turn(spare, waiting, progress, forms) for spare in spares),
                    _drive_together(driver, first, longest_first(rest, target), progress),
                )
            runs = [run for runs in every for run in runs]
            for scenario in [one for one in alone if one not in beside]:
                # Other runs may drive the same target; what kills its backend is not for them to meet.
                async with lock.alone() if scenario.alone else lock.together():
                    runs.append(await _drive_alone(driver, scenario, progress, forms))
    # Those that are `alone` were moved to the end: reports and snapshots follow the order that was asked for.
    by_name = {run.scenario.name: run for run in runs}
    return Driving(
        runs=[by_name[scenario.name] for scenario in scenarios],
        at_a_time=slots.limit.found,
        adjusted=adjusting.found,
    )


@dataclass(frozen=True, kw_only=True)
class _Driven:
    """What came of one form of a scenario: its exchanges, or why there are none."""

    form: Form
    exchanges: Sequence[Exchange] = ()
    reason: str = ""
    """Why it was not driven; "": it was."""
    aside: Sequence[Exchange] = ()
    """The exchanges that show the reason, if there are any."""
    error: str = ""
    """Why it could not be driven to the end, by our fault; "": it could."""


async def _drive_one(driver: Driver, scenario: Scenario, progress: Progress) -> Run:
    """A scenario in all its forms, at the same time."""
    forms = scenario.forms(driver.target.dialects)
    return _run(scenario, await asyncio.gather(*(_drive_form(driver, scenario, form, progress) for form in forms)))


async def _drive_alone(
    driver: Driver, scenario: Scenario, progress: Progress, chosen: Mapping[str, Collection[Form]] | None
) -> Run:
    """A scenario in its forms, or those that were chosen, one after the other."""
    forms = [form for form in scenario.forms(driver.target.dialects) if chosen is None or form in chosen[scenario.name]]
    return _run(scenario, [await _drive_form(driver, scenario, form, progress) for form in forms])


async def _drive_in_turn(
    driver: Driver,
    scenarios: Iterable[Scenario],
    progress: Progress,
    chosen: Mapping[str, Collection[Form]] | None,
) -> list[Run]:
    """Scenarios, one after the other."""
    return [await _drive_alone(driver, scenario, progress, chosen) for scenario in scenarios]


async def _drive_together(
    driver: Driver, first: Iterable[Scenario], rest: Iterable[Scenario], progress: Progress
) -> list[Run]:
    """Scenarios at the same time, after the first ones, which are driven one after the other."""
    runs = await _drive_in_turn(driver, first, progress, None)
    return runs + await asyncio.gather(*(_drive_one(driver, scenario, progress) for scenario in rest))


def _run(scenario: Scenario, every: Sequence[_Driven]) -> Run:
    errors = [driven.error for driven in every if driven.error]
    if errors:
        # One form that broke off makes the others worthless: the scenario is judged over all of them.
        return Run(scenario=scenario, error=errors[0])
    return Run(
        scenario=scenario,
        exchanges={driven.form: driven.exchanges for driven in every if not driven.reason},
        not_driven={driven.form: driven.reason for driven in every if driven.reason},
        set_aside={driven.form: driven.aside for driven in every if driven.aside},
    )


async def _drive_form(driver: Driver, scenario: Scenario, form: Form, progress: Progress) -> _Driven:
    driven = await _attempt(driver, scenario, form)
    driver.keep(_run(scenario, [driven]))
    progress(scenario, form)
    return driven


async def _attempt(driver: Driver, scenario: Scenario, form: Form) -> _Driven:
    reason = _unsupported_reason(scenario, driver.target)
    if reason:
        return _Driven(form=form, reason=reason)
    try:
        exchanges = await driver.exchanges(scenario, form)
    # The target does not show what the scenario is about: that is no fault of anyone's, so it is not observed. Nor is
    # what a target cannot show that is gone; that it is gone is in the transcripts of the exchanges that found it out.
    except plain.UnseenError as unseen:
        return _Driven(form=form, reason=str(unseen), aside=unseen.shown)
    except GoneError as gone:
        return _Driven(form=form, reason=str(gone))
    except HarnessError as error:
        # Kept, not raised: the exchanges of all other scenarios can still be judged.
        return _Driven(form=form, error=str(error))
    if _never_left(exchanges):
        return _Driven(form=form, reason=NEVER_LEFT)
    return _Driven(form=form, exchanges=exchanges)


def _unsupported_reason(scenario: Scenario, target: Target) -> str:
    """Why a scenario cannot be driven against this target; "" when it can."""
    late = _late_reason(scenario, target)
    if late:
        return late
    # The script of a scenario's first turn is no obstacle: of its answer the invariants are judged. A scenario that
    # kills its backend, or changes the script between turns, means nothing to a real model.
    if target.backend is Backend.LIVE and (scenario.alone or _changes_script(scenario)):
        return "only the scripted mock can play this; a live model is behind the target"
    if Need.DEFAULT_MODE in scenario.needs and target.default_mode is None:
        return "the target's own output mode is not known; declare it with --default-mode"
    return playable.unsupported_reason(scenario, target) or plain.unsupported_reason(scenario, target)


def _changes_script(scenario: Scenario) -> bool:
    return isinstance(scenario, ConversationScenario) and any(turn.script for turn in scenario.turns)


def _late_reason(scenario: Scenario, target: Target) -> str:
    """Why a scenario that is about time cannot be driven against this target; "" when it can."""
    if Need.KEEPALIVE in scenario.needs and target.keepalive is None:
        return "the target's keep-alive interval is not known; declare it with --keepalive SECONDS"
    if Need.IDLE_TIMEOUT in scenario.needs and target.idle_timeout is None:
        return "how long a backend may be silent is not known; declare it with --idle-timeout SECONDS"
    # The client would give up before the proxy does, and its own timeout would pass for the proxy's silence.
    if Need.IDLE_TIMEOUT in scenario.needs and (target.idle_timeout or 0) >= target.silence:
        return "a backend may be silent for longer than --timeout allows"
    if 2 * (target.pace or 0.0) > _shortest_gate(scenario, target):
        return f"a plain answer takes {target.pace:.1f} s, so the backend's gate would open by itself first"
    return ""


def _shortest_gate(scenario: Scenario, target: Target) -> float:
    """How long the backend waits at least for the client to open its gate, in seconds; endless where it need not.

    In that time a text has to come to the client, and a request to the backend.
    """
    if isinstance(scenario, PlainScenario):
        return math.inf
    forms = [form for form in scenario.forms(target.dialects) if form.mode is Mode.STREAM]
    opening = [number for number, turn in enumerate(scenario.turns) if turn.act is Act.OPEN_AT_TEXT]
    answers = [wanted for form in forms for number in opening for wanted in answers_to(scenario, number, form)]
    return min((gate.timeout for wanted in answers for gate in wanted.gates), default=math.inf)


def _never_left(exchanges: Sequence[Exchange]) -> bool:
    """Whether a client that was to leave got nothing to leave at."""
    return any(
        exchange.turn is not None and exchange.turn.act in LEAVES and exchange.transcript.end is End.TIMEOUT
        for exchange in exchanges
    )
