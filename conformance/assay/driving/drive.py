"""Driving: each scenario once per mode over HTTP, many at a time, leaving transcripts.

What the client does while a stream comes is `watching`'s, what is kept of it `recording`'s. A target that cannot be
reached raises HarnessError; what it does wrong does not.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

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
from assay.requests.conversation import Message, can_follow, prepare, remember

if TYPE_CHECKING:
    from assay.model.dialect import Dialect
    from assay.wire.calls import Choice
    from assay.wire.stream import Stream


NOT_READY = 503
BREATH = 0.05
"""Seconds until a client asks again."""

Progress = Callable[[Scenario, Form], None]


def no_progress(_scenario: Scenario, _form: Form) -> None:
    """Nobody watches the progress."""


async def drive(
    scenarios: Sequence[Scenario], target: Target, *, jobs: int = 8, progress: Progress = no_progress
) -> list[Run]:
    """Drive scenarios, at most `jobs` exchanges at a time; those that stand alone come last, one after the other."""
    slots, unready = asyncio.Semaphore(jobs), asyncio.Lock()
    async with _client(target) as client:

        async def bounded(scenario: Scenario) -> Run:
            return await _drive_one(_Driver(client, target, slots, unready), scenario, progress)

        crowd = [scenario for scenario in scenarios if not scenario.alone]
        runs = await asyncio.gather(*(bounded(scenario) for scenario in crowd))
        done = dict(zip((scenario.name for scenario in crowd), runs, strict=True))
        for scenario in scenarios:
            if scenario.alone:
                done[scenario.name] = await bounded(scenario)
    return [done[scenario.name] for scenario in scenarios]


@asynccontextmanager
async def _client(target: Target) -> AsyncIterator[httpx.AsyncClient]:
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
    async with httpx.AsyncClient(limits=limits, trust_env=not is_local(target.base_url)) as client:
        yield client


def is_local(url: str) -> bool:
    """Whether a URL names this machine: then no proxy of the environment stands between."""
    with suppress(ValueError):
        host = urlsplit(url).hostname or ""
        return host == "localhost" or ip_address(host).is_loopback
    return False


async def _drive_one(driver: _Driver, scenario: Scenario, progress: Progress) -> Run:
    driven: dict[Form, Sequence[Exchange]] = {}
    reasons: dict[Form, str] = {}
    errors: list[str] = []
    forms = scenario.forms(driver.target.dialects)

    async def one(form: Form) -> None:
        reason = _unsupported_reason(scenario, driver.target)
        try:
            exchanges = [] if reason else await driver.exchanges(scenario, form)
        except plain.UnseenError as unseen:
            exchanges, reason = [], str(unseen)
        except HarnessError as error:
            errors.append(str(error))
            exchanges = []
        if _never_left(exchanges):
            reason = "the client never got the text at which it was to leave"
        if reason:
            reasons[form] = reason
        else:
            driven[form] = exchanges
        progress(scenario, form)

    if scenario.alone:
        for form in forms:
            await one(form)
    else:
        await asyncio.gather(*(one(form) for form in forms))
    return (
        Run(scenario=scenario, error=errors[0])
        if errors
        else Run(scenario=scenario, exchanges=driven, not_driven=reasons)
    )


def _unsupported_reason(scenario: Scenario, target: Target) -> str:
    """Why a scenario cannot be driven against this target; '' when it can."""
    if scenario.needs_keepalive and target.keepalive is None:
        return "the target's keep-alive interval is not known; declare it with --keepalive SECONDS"
    if scenario.needs_idle_timeout and target.idle_timeout is None:
        return "how long a backend may be silent is not known; declare it with --idle-timeout SECONDS"
    if scenario.needs_idle_timeout and (target.idle_timeout or 0) >= target.timeout:
        return "a backend may be silent for longer than --timeout allows"
    if target.backend is Backend.LIVE and (scenario.alone or any(turn.script for turn in scenario.turns)):
        return "only the scripted mock can play this; a live model is behind the target"
    if scenario.needs_default_mode and target.default_mode is None:
        return "the target's own output mode is not known; declare it with --default-mode"
    return playable.unsupported_reason(scenario, target) or plain.unsupported_reason(scenario, target)


def _never_left(exchanges: Sequence[Exchange]) -> bool:
    """Whether a client that was to leave had no occasion."""
    return any(
        exchange.turn is not None and exchange.turn.act in LEAVES and exchange.transcript.end is End.TIMEOUT
        for exchange in exchanges
    )


@dataclass
class _Driver:
    client: httpx.AsyncClient
    target: Target
    slots: asyncio.Semaphore
    unready: asyncio.Lock

    async def exchanges(self, scenario: Scenario, form: Form) -> list[Exchange]:
        """All that a scenario asks in one form."""
        if scenario.request is not None:
            return await self.ask(scenario, scenario.request, form)
        return await self.converse(scenario, form)

    async def converse(self, scenario: Scenario, form: Form) -> list[Exchange]:
        """All turns of a scenario, each with the history that the answers before it left."""
        nonce = uuid.uuid4().hex[:12]
        exchanges: list[Exchange] = []
        history: Sequence[Message] = ()
        for number, turn in enumerate(scenario.turns):
            if number and not can_follow(turn, _choice(exchanges[-1])):
                break
            prepared = prepare(scenario, turn, form=form, model=self.target.model, nonce=nonce, history=history)
            headers = {**self._headers(Auth.RIGHT), **form.dialect.spec.headers, **scenario.headers}
            url = self.target.url(form.dialect.spec.endpoint)
            async with self.slots:
                transcript, stream = await self._turn(turn, form, nonce, url, headers, prepared.body)
            plain.examine_header(scenario.requires_echo, transcript)
            exchanges.append(self._hear(scenario, number, form, transcript, stream))
            choice = _choice(exchanges[-1])
            if choice is not None:
                history = remember(prepared.messages, choice)
        return exchanges

    async def _turn(
        self, turn: Turn, form: Form, nonce: str, url: str, headers: Mapping[str, str], body: bytes
    ) -> tuple[Transcript, Stream | None]:
        """What came of a turn, and what read its stream; an insistent one is asked again as long as it finds nobody."""
        deadline = time.monotonic() + self.target.timeout
        while True:
            watch = self._watch(turn, form, nonce)
            transcript = await self._exchange("POST", url, headers, body, watch)
            if not turn.retry_on_503 or transcript.status != NOT_READY or time.monotonic() > deadline:
                return transcript, watch.stream if watch else None
            await asyncio.sleep(BREATH)

    def _watch(self, turn: Turn, form: Form, nonce: str) -> Watch | None:
        if form.mode is Mode.WHOLE:
            return None
        return Watch(turn.act, self.target, stream_reader(form.dialect), partial(self.beside, nonce, form.dialect))

    def _hear(
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
            wanted=() if live else answers_to(scenario, number, form),
        )

    async def ask(self, scenario: Scenario, request: Request, form: Form) -> list[Exchange]:
        """The plain requests of a scenario.

        Raises:
            UnseenError: the target does not show what they are about.
        """
        asker = Asker(target=self.target, send=self._plain, slots=self.slots, unready=self.unready)
        return [
            Exchange(
                scenario=scenario, number=number, turn=None, form=form, target=self.target, transcript=transcript,
                reading=None,
            )
            for number, transcript in enumerate(await asker.ask(request))
        ]  # fmt: skip

    async def _plain(self, request: Request) -> Transcript:
        ready = plain.prepare(request, self.target)
        return await self._exchange(ready.method, ready.url, {**self._headers(Auth.NONE), **ready.headers}, ready.body)

    async def beside(self, nonce: str, dialect: Dialect, script: str) -> None:
        """A request of its own, in which the backend plays another script under this nonce."""
        scenario = Scenario(name="beside", title="", exercises=(), script=script)
        turn = Turn(say="Go on.", script=script)
        form = Form(dialect, Mode.WHOLE)
        prepared = prepare(scenario, turn, form=form, model=self.target.model, nonce=nonce, history=())
        await self._exchange("POST", self.target.url(dialect.spec.endpoint), self._headers(Auth.RIGHT), prepared.body)

    def _headers(self, auth: Auth) -> dict[str, str]:
        headers = {"content-type": "application/json", "accept": "*/*", "accept-encoding": "identity"}
        if auth is Auth.RIGHT and self.target.api_key is not None:
            headers["authorization"] = f"Bearer {self.target.api_key}"
        return headers

    async def _exchange(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes, watch: Watch | None = None
    ) -> Transcript:
        record = Record(watch, self.target.timeout if watch is None else watch.silence)
        timeout = httpx.Timeout(record.silence, pool=None)
        request = self.client.build_request(method, url, headers=dict(headers), content=body, timeout=timeout)
        try:
            await record.fill(self.client, request)
        except httpx.ConnectError as error:
            raise HarnessError(f"{url} cannot be reached any more: {error}") from error
        finally:
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
