"""Drive scenarios: send each over HTTP, once per form, many at a time, and keep a transcript of every exchange.

`watching` decides what the client does while a stream is sent, `recording` keeps what arrives. Nothing is judged here:
whatever the target does wrong is in its transcripts. Only a target that cannot be reached any more is an error, and it
ends as the error of the scenario's `Run`.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import httpx

from assay.driving.plain_requests import Asker
from assay.driving.recording import Record
from assay.driving.watching import Watch
from assay.judging.outcomes import Run
from assay.model.scenario import LEAVES, Auth, Form, Mode, Request, Scenario, Turn
from assay.model.target import Backend, Target
from assay.model.transcript import End, Transcript
from assay.model.verdict import HarnessError
from assay.reading import playable
from assay.reading.applicable import answers_to
from assay.reading.exchange import Exchange, read, stream_reader
from assay.requests import plain
from assay.requests.adapted import adapted
from assay.requests.carried import address, carried_headers
from assay.requests.conversation import Message, can_follow, prepare, remember
from assay.targets.address import is_local

if TYPE_CHECKING:
    from assay.model.dialect import Dialect
    from assay.wire.calls import Choice
    from assay.wire.stream import Stream


NOT_READY = 503
"""The status of a proxy whose backend is not ready."""
BREATH = 0.05
"""Seconds until a client sends a request again."""

Progress = Callable[[Scenario, Form], None]
"""Called when a scenario has been driven in a form."""


def no_progress(_scenario: Scenario, _form: Form) -> None:
    """Progress that is shown nowhere."""


async def drive(
    scenarios: Sequence[Scenario], target: Target, *, jobs: int = 8, progress: Progress = no_progress
) -> list[Run]:
    """Drive scenarios, at most `jobs` exchanges at a time; the runs come in the order of the scenarios.

    Those marked `alone` come last, one after the other: they kill the backend, which others would notice.
    """
    scenarios = [adapted(scenario, target) for scenario in scenarios]
    async with _client(target) as client:
        driver = _Driver(client=client, target=target, slots=asyncio.Semaphore(jobs), unready=asyncio.Lock())
        together = [scenario for scenario in scenarios if not scenario.alone]
        runs = await asyncio.gather(*(_drive_one(driver, scenario, progress) for scenario in together))
        # Awaited within the comprehension, so one begins only when the one before has ended.
        runs += [await _drive_one(driver, scenario, progress) for scenario in scenarios if scenario.alone]
    # Those that are `alone` were moved to the end: reports and snapshots follow the order that was asked for.
    by_name = {run.scenario.name: run for run in runs}
    return [by_name[scenario.name] for scenario in scenarios]


@asynccontextmanager
async def _client(target: Target) -> AsyncIterator[httpx.AsyncClient]:
    """The client of all exchanges of a run."""
    limits = httpx.Limits(
        # `jobs` bounds the exchanges; a second bound here could only let a request wait inside its time limit.
        max_connections=None,
        # Each exchange has a connection of its own. A server may close an idle one at the very moment when the next
        # request is written to it, which would look like an answer that was cut off; and a client that leaves must
        # close its connection, not give it back.
        max_keepalive_connections=0,
    )
    # A proxy of the environment (HTTPS_PROXY) may be the only way to a remote target. To one on this machine it would
    # be a third party that buffers streams and answers 502 for a target that is down.
    async with httpx.AsyncClient(limits=limits, trust_env=not is_local(target.base_url)) as client:
        yield client


@dataclass(frozen=True, kw_only=True)
class _Driven:
    """What came of one form of a scenario: its exchanges, or why there are none."""

    exchanges: Sequence[Exchange] = ()
    reason: str = ""
    """Why it was not driven; "": it was."""
    error: str = ""
    """Why it could not be driven to the end, by our fault or because the target is gone; "": it could."""


async def _drive_one(driver: _Driver, scenario: Scenario, progress: Progress) -> Run:
    """A scenario in all its forms, at the same time unless it is to be alone."""

    async def one(form: Form) -> _Driven:
        driven = await _drive_form(driver, scenario, form)
        progress(scenario, form)
        return driven

    forms = scenario.forms(driver.target.dialects)
    every = [await one(form) for form in forms] if scenario.alone else await asyncio.gather(*map(one, forms))
    by_form = dict(zip(forms, every, strict=True))
    errors = [driven.error for driven in every if driven.error]
    if errors:
        # One form that broke off makes the others worthless: the scenario is judged over all of them.
        return Run(scenario=scenario, error=errors[0])
    return Run(
        scenario=scenario,
        exchanges={form: driven.exchanges for form, driven in by_form.items() if not driven.reason},
        not_driven={form: driven.reason for form, driven in by_form.items() if driven.reason},
    )


async def _drive_form(driver: _Driver, scenario: Scenario, form: Form) -> _Driven:
    reason = _unsupported_reason(scenario, driver.target)
    if reason:
        return _Driven(reason=reason)
    try:
        exchanges = await driver.exchanges(scenario, form)
    except plain.UnseenError as unseen:
        # The target does not show what the scenario is about: that is no fault of anyone's, so it is not observed.
        return _Driven(reason=str(unseen))
    except HarnessError as error:
        # Kept, not raised: the exchanges of all other scenarios can still be judged.
        return _Driven(error=str(error))
    if _never_left(exchanges):
        return _Driven(reason="the client never got the text at which it was to leave")
    return _Driven(exchanges=exchanges)


def _unsupported_reason(scenario: Scenario, target: Target) -> str:
    """Why a scenario cannot be driven against this target; "" when it can."""
    if scenario.needs_keepalive and target.keepalive is None:
        return "the target's keep-alive interval is not known; declare it with --keepalive SECONDS"
    if scenario.needs_idle_timeout and target.idle_timeout is None:
        return "how long a backend may be silent is not known; declare it with --idle-timeout SECONDS"
    # The client would give up before the proxy does, and its own timeout would pass for the proxy's silence.
    if scenario.needs_idle_timeout and (target.idle_timeout or 0) >= target.timeout:
        return "a backend may be silent for longer than --timeout allows"
    # The script of a scenario's first turn is no obstacle: of its answer the invariants are judged. A scenario that
    # kills its backend, or changes the script between turns, means nothing to a real model.
    if target.backend is Backend.LIVE and (scenario.alone or any(turn.script for turn in scenario.turns)):
        return "only the scripted mock can play this; a live model is behind the target"
    if scenario.needs_default_mode and target.default_mode is None:
        return "the target's own output mode is not known; declare it with --default-mode"
    return playable.unsupported_reason(scenario, target) or plain.unsupported_reason(scenario, target)


def _never_left(exchanges: Sequence[Exchange]) -> bool:
    """Whether a client that was to leave got nothing to leave at."""
    return any(
        exchange.turn is not None and exchange.turn.act in LEAVES and exchange.transcript.end is End.TIMEOUT
        for exchange in exchanges
    )


@dataclass(frozen=True, kw_only=True)
class _Driver:
    """Sends the requests of scenarios; all scenarios of a run share one."""

    client: httpx.AsyncClient
    target: Target
    slots: asyncio.Semaphore
    """One for each exchange that may run at the same time."""
    unready: asyncio.Lock
    """Held by a scenario that uses the unready instance: that has few slots, and some scenarios take all of them."""

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
            if number and not can_follow(turn, _choice(exchanges[-1])):
                break
            prepared = prepare(scenario, turn, form=form, model=self.target.model, nonce=nonce, history=history)
            # The scenario's own headers last: some ask for another output mode than that of the dialect.
            headers = {**self._headers(Auth.RIGHT), **form.dialect.spec.headers, **scenario.headers}
            url = address(self.target.url(form.dialect.spec.endpoint), self.target)
            # A slot is for an exchange, not for a conversation: others may take their turn in between.
            async with self.slots:
                transcript, stream = await self._turn(turn, form, nonce, url, headers, prepared.body)
            plain.examine_header(scenario.requires_echo, transcript)
            exchanges.append(self._read(scenario, number, form, transcript, stream))
            choice = _choice(exchanges[-1])
            if choice is not None:
                history = remember(prepared.messages, choice)
        return exchanges

    async def _turn(
        self, turn: Turn, form: Form, nonce: str, url: str, headers: Mapping[str, str], body: bytes
    ) -> tuple[Transcript, Stream | None]:
        """What came of a turn, and the reader of its stream; with `retry_on_503` repeated while the answer is a 503."""
        # The backend restarts with backoff after it died; how long a client would go on asking is the limit on silence.
        deadline = time.monotonic() + self.target.timeout
        while True:
            # For each try: a watch has read its stream and spent its act.
            watch = self._watch(turn, form, nonce)
            transcript = await self._exchange("POST", url, headers, body, watch)
            if not turn.retry_on_503 or transcript.status != NOT_READY or time.monotonic() > deadline:
                return transcript, watch.stream if watch else None
            await asyncio.sleep(BREATH)

    def _watch(self, turn: Turn, form: Form, nonce: str) -> Watch | None:
        # There is nothing to act on before a whole answer has come.
        if form.mode is Mode.WHOLE:
            return None
        return Watch(turn.act, self.target, stream_reader(form.dialect), partial(self.beside, nonce, form.dialect))

    def _read(
        self, scenario: Scenario, number: int, form: Form, transcript: Transcript, stream: Stream | None
    ) -> Exchange:
        live = self.target.backend is Backend.LIVE
        return Exchange(
            scenario=scenario,
            number=number,
            turn=scenario.turns[number],
            form=form,
            target=self.target,
            transcript=transcript,
            reading=read(transcript, form, stream),
            wanted=() if live else answers_to(scenario, number, form),  # of a real model's answer nothing is expected
        )

    async def ask(self, scenario: Scenario, request: Request, form: Form) -> list[Exchange]:
        """The exchanges of a scenario's plain requests.

        Raises:
            UnseenError: the target does not show what they are about.
        """
        asker = Asker(target=self.target, send=self._plain, slots=self.slots, unready=self.unready)
        return [
            Exchange(
                scenario=scenario, number=number, turn=None, form=form, target=self.target, transcript=transcript,
                reading=None,
            )
            # `reading` is None: status, headers and envelope are judged by the transcript alone.
            for number, transcript in enumerate(await asker.ask(request))
        ]  # fmt: skip

    async def _plain(self, request: Request) -> Transcript:
        ready = plain.prepare(request, self.target)
        # No key from here: `plain.prepare` writes the authorization, which is what some requests get wrong.
        return await self._exchange(ready.method, ready.url, {**self._headers(Auth.NONE), **ready.headers}, ready.body)

    async def beside(self, nonce: str, dialect: Dialect, script: str) -> None:
        """Send a request beside a stream, so that the backend plays another script under the stream's nonce."""
        scenario = Scenario(name="beside", title="", exercises=(), script=script)
        turn = Turn(say="Go on.", script=script)
        form = Form(dialect, Mode.WHOLE)
        prepared = prepare(scenario, turn, form=form, model=self.target.model, nonce=nonce, history=())
        # Without waiting for a slot: the stream beside holds one, and with `jobs` of 1 this would never be sent. Its
        # answer is not looked at, since what it does shows in the stream.
        url = address(self.target.url(dialect.spec.endpoint), self.target)
        await self._exchange("POST", url, self._headers(Auth.RIGHT), prepared.body)

    def _headers(self, auth: Auth) -> dict[str, str]:
        # Uncompressed: pieces must be the bytes that the proxy wrote, when it wrote them (chat.stream.flushed).
        headers = {"content-type": "application/json", "accept": "*/*", "accept-encoding": "identity"}
        return headers | (carried_headers(self.target) if auth is Auth.RIGHT else {})

    async def _exchange(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes, watch: Watch | None = None
    ) -> Transcript:
        record = Record(watch, self.target.timeout if watch is None else watch.silence)
        timeout = httpx.Timeout(record.silence, pool=None)  # of each read; `record` bounds the whole
        request = self.client.build_request(method, url, headers=dict(headers), content=body, timeout=timeout)
        try:
            await record.fill(self.client, request)
        except httpx.ConnectError as error:
            # The preflight has reached it, so it has died since: nothing can be said of the answer that never came.
            raise HarnessError(f"{url} cannot be reached any more: {error}") from error
        finally:
            # Also when the exchange failed: a gate that is being opened would otherwise be a task that nothing awaits.
            if watch is not None:
                await watch.finish()
        return Transcript(
            method=method,
            url=url,
            request_headers=tuple(request.headers.items()),
            request_body=body,
            status=record.status,
            headers=record.headers,
            pieces=tuple(record.pieces),
            end=record.end,
            seconds=time.monotonic() - record.began,
        )


def _choice(exchange: Exchange) -> Choice | None:
    return exchange.choice() if exchange.reading is not None else None
