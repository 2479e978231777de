"""Drive scenarios: send each over HTTP, once per form, many at a time, and keep a transcript of every exchange.

`watching` decides what the client does while a stream is sent, `recording` keeps what arrives, `sending` sends again
what a busy or a dead target did not answer. Nothing is judged here: whatever the target does wrong is in its
transcripts. What a target that is gone for good leaves undone is not driven, with the reason.
"""

from __future__ import annotations

import asyncio
import math
import uuid
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

import httpx

from assay.driving.adjusting import Adjusting, pioneers
from assay.driving.budget import Budget
from assay.driving.capacity import BUSY, EAGER
from assay.driving.direct import Direct
from assay.driving.order import longest_first
from assay.driving.plain_requests import Asker
from assay.driving.reviving import GoneError
from assay.driving.sending import Outgoing, Sender
from assay.driving.sharing import turns
from assay.driving.slots import Limit, Slots
from assay.driving.tries import Tried, settled, until_done
from assay.driving.watching import Watch, now
from assay.judging.outcomes import Run
from assay.model.reasons import CROWDED, NEVER_LEFT
from assay.model.scenario import LEAVES, Act, Auth, Form, Mode, Request, Scenario, Turn
from assay.model.target import Adjustment, Backend, Target
from assay.model.transcript import End, Transcript
from assay.model.verdict import HarnessError
from assay.reading import playable, recorded
from assay.reading.applicable import NO_ANSWER, answers_to
from assay.reading.exchange import stream_reader
from assay.requests import plain
from assay.requests.adapted import adapted
from assay.requests.carried import address, carried_headers
from assay.requests.conversation import Message, can_follow, prepare, remember
from assay.targets.address import is_local
from assay.targets.launch import launched_at
from assay.targets.trust import trust

if TYPE_CHECKING:
    from assay.model.dialect import Dialect
    from assay.reading.exchange import Exchange
    from assay.reading.expected import Expected
    from assay.wire.calls import Choice


REFUSED = range(400, 500)
"""Statuses of a request that no model was sent."""
BESIDE = 2.5
"""Seconds in which a busy target must take a request beside a stream: the gates of scripts stay closed for 3."""

Progress = Callable[[Scenario, Form], None]
"""Called when a scenario has been driven in a form."""


Keep = Callable[[Run], object]
"""Called with what came of one form of a scenario as soon as it has been driven: what a run that is interrupted has."""


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
    with turns(target.base_url) as shared:
        async with _client(target) as client:
            sender = Sender(
                client=client, target=target, slots=slots, process_at=launched_at, budget=budget or Budget()
            )
            driver = _Driver(
                sender=sender, target=target, at=target, unready=asyncio.Lock(), adjusting=adjusting, tried=Tried(),
                keep=keep,
            )  # fmt: skip
            spares = driver.at_spares()
            beside = [scenario for scenario in alone if spares and scenario.alone]
            # Each instance takes the next of them; those of many forms first, each of which starts its backend again.
            waiting = iter(sorted(beside, key=lambda one: -len(one.forms(target.dialects))))
            async with shared.together():
                every = await asyncio.gather(
                    # Begun first: they take long.
                    *(_drive_in_turn(spare, waiting, progress, forms) for spare in spares),
                    _drive_together(driver, first, longest_first(rest, target), progress),
                )
            runs = [run for runs in every for run in runs]
            for scenario in [one for one in alone if one not in beside]:
                # Other runs may drive the same target; what kills its backend is not for them to meet.
                async with shared.alone() if scenario.alone else shared.together():
                    runs.append(await _drive_alone(driver, scenario, progress, forms))
    # Those that are `alone` were moved to the end: reports and snapshots follow the order that was asked for.
    by_name = {run.scenario.name: run for run in runs}
    return Driving(
        runs=[by_name[scenario.name] for scenario in scenarios],
        at_a_time=slots.limit.found,
        adjusted=adjusting.found,
    )


@asynccontextmanager
async def _client(target: Target, *, kept: int = 0) -> AsyncIterator[httpx.AsyncClient]:
    """The client of all exchanges of a run, or with `kept` connections that of one scenario which uses them again."""
    limits = httpx.Limits(
        # `jobs` bounds the exchanges; a second bound here could only let a request wait inside its time limit.
        max_connections=None,
        # Each exchange has a connection of its own. A server may close an idle one at the very moment when the next
        # request is written to it, which would look like an answer that was cut off; and a client that leaves must
        # close its connection, not give it back.
        max_keepalive_connections=kept,
    )
    # A proxy of the environment (HTTPS_PROXY) may be the only way to a remote target. To one on this machine it would
    # be a third party that buffers streams and answers 502 for a target that is down.
    url = target.base_url
    if url.startswith("http://") and is_local(url) and not kept:
        client = httpx.AsyncClient(transport=Direct(), trust_env=False)
    else:
        client = httpx.AsyncClient(limits=limits, trust_env=not is_local(url), verify=trust(url))
    async with client:
        yield client


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


async def _drive_one(driver: _Driver, scenario: Scenario, progress: Progress) -> Run:
    """A scenario in all its forms, at the same time."""
    forms = scenario.forms(driver.target.dialects)
    return _run(scenario, await asyncio.gather(*(_drive_form(driver, scenario, form, progress) for form in forms)))


async def _drive_alone(
    driver: _Driver, scenario: Scenario, progress: Progress, chosen: Mapping[str, Collection[Form]] | None
) -> Run:
    """A scenario in its forms, or those that were chosen, one after the other."""
    forms = [form for form in scenario.forms(driver.target.dialects) if chosen is None or form in chosen[scenario.name]]
    return _run(scenario, [await _drive_form(driver, scenario, form, progress) for form in forms])


async def _drive_in_turn(
    driver: _Driver,
    scenarios: Iterable[Scenario],
    progress: Progress,
    chosen: Mapping[str, Collection[Form]] | None,
) -> list[Run]:
    """Scenarios, one after the other."""
    return [await _drive_alone(driver, scenario, progress, chosen) for scenario in scenarios]


async def _drive_together(
    driver: _Driver, first: Iterable[Scenario], rest: Iterable[Scenario], progress: Progress
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


async def _drive_form(driver: _Driver, scenario: Scenario, form: Form, progress: Progress) -> _Driven:
    driven = await _attempt(driver, scenario, form)
    driver.keep(_run(scenario, [driven]))
    progress(scenario, form)
    return driven


async def _attempt(driver: _Driver, scenario: Scenario, form: Form) -> _Driven:
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
    if target.backend is Backend.LIVE and (scenario.alone or any(turn.script for turn in scenario.turns)):
        return "only the scripted mock can play this; a live model is behind the target"
    if scenario.needs_default_mode and target.default_mode is None:
        return "the target's own output mode is not known; declare it with --default-mode"
    return playable.unsupported_reason(scenario, target) or plain.unsupported_reason(scenario, target)


def _late_reason(scenario: Scenario, target: Target) -> str:
    """Why a scenario that is about time cannot be driven against this target; "" when it can."""
    if scenario.needs_keepalive and target.keepalive is None:
        return "the target's keep-alive interval is not known; declare it with --keepalive SECONDS"
    if scenario.needs_idle_timeout and target.idle_timeout is None:
        return "how long a backend may be silent is not known; declare it with --idle-timeout SECONDS"
    # The client would give up before the proxy does, and its own timeout would pass for the proxy's silence.
    if scenario.needs_idle_timeout and (target.idle_timeout or 0) >= target.silence:
        return "a backend may be silent for longer than --timeout allows"
    if 2 * (target.pace or 0.0) > _shortest_gate(scenario, target):
        return f"a plain answer takes {target.pace:.1f} s, so the backend's gate would open by itself first"
    return ""


def _shortest_gate(scenario: Scenario, target: Target) -> float:
    """How long the backend waits at least for the client to open its gate, in seconds; endless where it need not.

    In that time a text has to come to the client, and a request to the backend.
    """
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


@dataclass(frozen=True, kw_only=True)
class _Driver:
    """Sends the requests of scenarios; all scenarios of a run share one."""

    sender: Sender
    target: Target
    at: Target
    """The same at the address of the instance that requests are sent to."""
    unready: asyncio.Lock
    """Held by a scenario that uses the unready instance: that has few slots, and some scenarios take all of them."""
    adjusting: Adjusting
    """What requests do without."""
    tried: Tried
    """What further tries have shown."""
    keep: Keep
    """Called with each form as soon as it has been driven."""

    def at_spares(self) -> list[_Driver]:
        """What sends to the spare instances of the target, one request at a time to each."""
        return [
            replace(
                self,
                sender=self.sender.with_slots(Slots(limit=Limit(most=1))),
                at=replace(self.target, base_url=url),
            )
            for url in self.target.spare_urls
        ]

    async def exchanges(self, scenario: Scenario, form: Form) -> list[Exchange]:
        """All exchanges of a scenario in one form."""
        if scenario.request is not None:
            return await self.ask(scenario, scenario.request, form)
        return await self.converse(scenario, form)

    async def converse(self, scenario: Scenario, form: Form) -> list[Exchange]:
        """The turns of a scenario, each with the history that the answers before it left.

        They end early where an answer lacks the calls that the next turn brings results for.
        """
        # One for all turns of a form, since the mock counts a script's parts under it; and each form has its own, so
        # that forms driven at the same time never open each other's gates. Snapshots mask exactly twelve such digits.
        nonce = uuid.uuid4().hex[:12]
        exchanges: list[Exchange] = []
        history: Sequence[Message] = ()
        for number, turn in enumerate(scenario.turns):
            if number and not (can_follow(turn, _choice(exchanges[-1])) and settled(exchanges[-1])):
                break
            exchange, messages = await self._asked(scenario, number, form, nonce, history)
            exchanges.append(exchange)
            choice = _choice(exchange)
            if choice is not None:
                history = remember(messages, choice)
        return exchanges

    async def _asked(
        self, scenario: Scenario, number: int, form: Form, nonce: str, history: Sequence[Message]
    ) -> tuple[Exchange, Sequence[Message]]:
        """What came of a turn, tried again where a model did not do what it was asked; and the messages sent."""
        turn = scenario.turns[number]
        messages: Sequence[Message] = ()

        async def send(scenario: Scenario) -> Exchange:
            while self.adjusting.examine(exchange := await send_once(scenario)):
                pass
            return exchange

        async def send_once(scenario: Scenario) -> Exchange:
            nonlocal messages
            prepared = prepare(scenario, turn, form=form, model=self.target.model, nonce=nonce, history=history)
            messages = prepared.messages
            # The scenario's own headers last: some ask for another output mode than that of the dialect.
            headers = {**self._headers(Auth.RIGHT), **form.dialect.spec.headers, **scenario.headers}
            url = address(self.at.url(form.dialect.spec.endpoint), self.target)
            body = self.adjusting.written(prepared.body)
            outgoing = Outgoing(method="POST", url=url, headers=headers, body=body)
            # A slot is for an exchange, not for a conversation: others may take their turn in between.
            transcript, watch = await self.sender.send(
                outgoing,
                partial(self._watch, turn, form, nonce),
                # Where a failure is due, 429 and 503 are among the right answers to it.
                waits=turn.asks is not None or not _may_fail(answers_to(scenario, number, form)),
                eager=turn.retry_on_503,
            )
            if watch is not None and watch.crowded:
                raise plain.UnseenError(CROWDED)
            plain.examine_header(scenario.requires_echo, transcript, self.target)
            # Of an answer without end only the beginning is kept, and that is read again.
            stream = watch.stream if watch and transcript.end is not End.ENDLESS else None
            exchange = recorded.of_turn(scenario, number, form, self.target, transcript, stream=stream)
            self._settle(transcript, exchange)
            return exchange

        return await until_done(scenario, send, self.tried), messages

    def _settle(self, transcript: Transcript, exchange: Exchange | None = None) -> None:
        """Count a request by what it used, where the answer shows that."""
        counted = exchange.answer.usage if exchange and exchange.reading else None
        if transcript.status in REFUSED:
            self.sender.budget.settle(transcript.request_body, 0)
        # One that is not counted has used tokens all the same.
        elif counted and counted.prompt > 0 and counted.completion > 0:
            self.sender.budget.settle(transcript.request_body, counted.prompt + counted.completion)

    def _watch(self, turn: Turn, form: Form, nonce: str) -> Watch | None:
        # There is nothing to act on before a whole answer has come.
        if form.mode is Mode.WHOLE:
            return None
        return Watch(turn.act, self.target, stream_reader(form.dialect), partial(self.beside, nonce, form.dialect))

    async def ask(self, scenario: Scenario, request: Request, form: Form) -> list[Exchange]:
        """The exchanges of a scenario's plain requests.

        Raises:
            UnseenError: the target does not show what they are about.
        """
        if any(one.kept for one in request.each):
            # Of its own: which connection is used again must not depend on what else is driven.
            async with _client(self.target, kept=1) as client:
                transcripts = await replace(self, sender=self.sender.over(client)).plain(request)
        else:
            transcripts = await self.plain(request)
        return [
            recorded.of_request(scenario, number, form, self.target, transcript)
            for number, transcript in enumerate(transcripts)
        ]

    async def plain(self, request: Request) -> list[Transcript]:
        """The transcripts of plain requests; raises as `ask`."""
        asker = Asker(target=self.target, send=self._plain, send_at_once=self._plain_at_once, unready=self.unready)
        return await asker.ask(request)

    async def _plain(self, request: Request) -> Transcript:
        transcript = await self._sent(request)
        # A server may close a connection that it kept at any time, and a client then sends again over a new one
        # (RFC 9112, section 9.3.1).
        closed = transcript.status is None and transcript.end is End.CUT
        return await self._sent(request) if request.kept and closed else transcript

    async def _sent(self, request: Request) -> Transcript:
        # What is due may be a refusal itself; and the unready instance is busy on purpose.
        waits = request.expect not in BUSY and not request.unready
        transcript = (await self.sender.send(self._written(request), waits=waits))[0]
        self._settle(transcript)
        return transcript

    async def _plain_at_once(self, request: Request) -> Transcript:
        return await self.sender.send_at_once(self._written(request))

    def _written(self, request: Request) -> Outgoing:
        ready = plain.prepare(request, self.at)
        # No key from here: `plain.prepare` writes the authorization, which is what some requests get wrong.
        headers = {**self._headers(Auth.NONE), **ready.headers}
        body = self.adjusting.written(ready.body)
        return Outgoing(method=ready.method, url=ready.url, headers=headers, body=body)

    async def beside(self, nonce: str, dialect: Dialect, script: str) -> bool:
        """Send a request beside a stream, so that the backend plays another script under the stream's nonce.

        Returns whether the target took it. What it answered is not looked at, since what it does shows in the stream.
        """
        scenario = Scenario(name="beside", title="", exercises=(), script=script)
        turn = Turn(say="Go on.", script=script)
        form = Form(dialect, Mode.WHOLE)
        prepared = prepare(scenario, turn, form=form, model=self.target.model, nonce=nonce, history=())
        url = address(self.at.url(dialect.spec.endpoint), self.target)
        outgoing = Outgoing(method="POST", url=url, headers=self._headers(Auth.RIGHT), body=prepared.body)
        deadline = now() + BESIDE
        try:
            # Without waiting for a slot: the stream beside holds one, and with `jobs` of 1 this would never be sent.
            while (await self.sender.send_at_once(outgoing)).status in BUSY:
                if now() > deadline:
                    return False
                await asyncio.sleep(EAGER)
        except GoneError:
            return False
        return True

    def _headers(self, auth: Auth) -> dict[str, str]:
        # Uncompressed: pieces must be the bytes that the proxy wrote, when it wrote them (chat.stream.flushed).
        headers = {"content-type": "application/json", "accept": "*/*", "accept-encoding": "identity"}
        return headers | (carried_headers(self.target) if auth is Auth.RIGHT else {})


def _may_fail(wanted: Iterable[Expected]) -> bool:
    """Whether an error is among the right answers."""
    return any(one.failure in NO_ANSWER for one in wanted)


def _choice(exchange: Exchange) -> Choice | None:
    return exchange.choice() if exchange.reading is not None else None
