"""Send the requests of one scenario: its turns, one after the other, or its plain requests."""

from __future__ import annotations

import asyncio
import uuid
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from wireproof.driving.capacity import EAGER
from wireproof.driving.plain_requests import ask
from wireproof.driving.restarting import GoneError, RenewedError
from wireproof.driving.tries import Tried, settled, until_done
from wireproof.driving.watching import Watch
from wireproof.model.reasons import CROWDED
from wireproof.model.scenario import (
    LEAVES,
    Act,
    ConversationScenario,
    Form,
    Mode,
    PlainScenario,
    Request,
    Scenario,
    Turn,
)
from wireproof.model.transcript import End, Transcript
from wireproof.reading import recorded
from wireproof.reading.exchange import stream_reader
from wireproof.reading.expected import NO_ANSWER
from wireproof.reading.right_answers import answers_to, says_only_text
from wireproof.requests import plain
from wireproof.requests.carried import address, carried_headers
from wireproof.requests.conversation import Message, can_follow, prepare, remember, thoughts
from wireproof.requests.ways_round import only_streams, written
from wireproof.targets.budget import now
from wireproof.targets.clients import client_of
from wireproof.targets.probe import BUSY, REFUSED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from wireproof.driving.sending import Sender
    from wireproof.driving.tries import Adjusting
    from wireproof.model.dialect import Dialect
    from wireproof.model.target import Target
    from wireproof.reading.exchange import Exchange
    from wireproof.reading.expected import Expected
    from wireproof.wire.events import Choice


IMPATIENT = 0.3
"""The part of its time that a target has for an answer which has been silent at several others."""
BRIEF = 0.1
"""The same where each answer to what is alike was a silence."""
BESIDE = 2.5
"""Seconds in which a busy target must take a request beside a stream: the gates of scripts stay closed for 3."""


@dataclass(frozen=True, kw_only=True)
class Driver:
    """Sends the requests of scenarios; all scenarios of a run share one."""

    sender: Sender
    adjusting: Adjusting
    """What requests do without."""
    tried: Tried
    """What further tries have shown."""
    unready: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held by a scenario that uses the unready instance: that has few slots, and some scenarios take all of them."""

    @property
    def target(self) -> Target:
        """What is driven, at its own address."""
        return self.sender.target

    @property
    def at(self) -> Target:
        """The same at the address of the instance that requests are sent to."""
        return replace(self.target, base_url=self.sender.base_url)

    def but(self, **changes: Any) -> Driver:  # noqa: ANN401 (fields of a sender)
        """The same with another sender, which these fields make."""
        return replace(self, sender=replace(self.sender, **changes))

    def impatient(self, scenario: Scenario, part: float) -> Driver:
        """The same with that part of its time for each answer, unless the scenario is about time."""
        match scenario:
            case PlainScenario():
                # Before it refuses, an instance may wait for its backend.
                waits = any(one.unready for one in scenario.requests)
            case ConversationScenario():
                waits = any(turn.act is not Act.READ for turn in scenario.turns)
        hurried = replace(self.target, timeout=self.target.timeout * part)
        return self if waits or scenario.needs else self.but(target=hurried)

    async def exchanges(self, scenario: Scenario, form: Form) -> list[Exchange]:
        """All exchanges of a scenario in one form.

        Raises:
            RenewedError: another process of the target answered the later ones, which has nothing of what the first
                one kept.
        """
        mine = self.but(lives=set())
        match scenario:
            case PlainScenario():
                found = await mine.ask(scenario, form)
            case ConversationScenario():
                found = await mine.converse(scenario, form)
        died = any(one.transcript.death is not None for one in found)
        if len(found) > 1 and not died and len(mine.sender.lives) > 1 and _go_together(scenario):
            raise RenewedError("the process of the target ended between its requests")
        return found

    async def converse(self, scenario: ConversationScenario, form: Form) -> list[Exchange]:
        """The turns of a scenario, each with the history that the answers before it left.

        They end early where an answer lacks the calls that the next turn brings results for, where the process
        ended or was replaced, since another one knows nothing of the turns before, and where a turn found no room.
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
            if exchange.transcript.stuck:
                self.sender.evidence.shown = exchanges
            if exchange.transcript.death is not None or exchange.transcript.stuck or is_refused(exchange):
                break
            choice = _choice(exchange)
            if choice is not None:
                # A script's reasoning is no part of its history; some models want theirs back, where it is whole.
                whole = turn.asks is not None and turn.act not in LEAVES
                history = remember(messages, choice, thoughts(exchange) if whole else {})
        return exchanges

    async def _asked(
        self, scenario: ConversationScenario, number: int, form: Form, nonce: str, history: Sequence[Message]
    ) -> tuple[Exchange, Sequence[Message]]:
        """What came of a turn, tried again where a model did not do what it was asked; and the messages sent."""
        messages: Sequence[Message] = ()

        async def send(scenario: ConversationScenario) -> Exchange:
            while self.adjusting.examine(exchange := await send_once(scenario)):
                pass
            return exchange

        async def send_once(scenario: ConversationScenario) -> Exchange:
            nonlocal messages
            turn = scenario.turns[number]
            # The scenario's own headers last: some ask for another output mode than that of the dialect.
            headers = {**form.dialect.spec.headers, **scenario.headers}
            outgoing, messages = self._prepared(scenario, turn, form, nonce, history, headers)
            fails = turn.asks is None and _may_fail(answers_to(scenario, number, form))
            # A slot is for an exchange, not for a conversation: others may take their turn in between.
            transcript, watch = await self.sender.send(
                outgoing,
                partial(self._watch, turn, form, nonce),
                # Where a failure is due, 429 and 503 are among the right answers to it.
                waits=not fails,
                eager=turn.retry_on_503,
                shows=not fails,
                # Not one with results of calls or with the id of an answer before: another instance knows neither.
                repeats=number == 0 and turn.act is Act.READ and says_only_text(scenario),
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

    def _prepared(
        self,
        scenario: ConversationScenario,
        turn: Turn,
        form: Form,
        nonce: str,
        history: Sequence[Message],
        headers: Mapping[str, str],
    ) -> tuple[plain.PreparedRequest, Sequence[Message]]:
        """The request of a turn as the target takes it, and its messages."""
        prepared = prepare(scenario, turn, form=form, model=self.target.model, nonce=nonce, history=history)
        url = address(self.at.url(form.dialect.spec.surface.endpoint), self.target)
        body = written(prepared.body, scenario, form.dialect.spec.surface, form.mode, self.target)
        headers = {**carried_headers(self.target), **headers}
        ready = plain.PreparedRequest(method="POST", url=url, headers=headers, body=body)
        return self._usual(ready), prepared.messages

    def _usual(self, ready: plain.PreparedRequest) -> plain.PreparedRequest:
        """A request with the headers that all have, and without what the target refuses."""
        # Uncompressed: pieces must be the bytes that the proxy wrote, when it wrote them (chat.stream.flushed).
        usual = {"content-type": "application/json", "accept": "*/*", "accept-encoding": "identity"}
        return replace(ready, headers={**usual, **ready.headers}, body=self.adjusting.written(ready.body, ready.url))

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

    async def ask(self, scenario: PlainScenario, form: Form) -> list[Exchange]:
        """The exchanges of a scenario's plain requests.

        Raises:
            UnseenError: the target does not show what they are about.
        """
        if any(one.kept for one in scenario.requests):
            # Of its own: which connection is used again must not depend on what else is driven.
            async with client_of(self.target.base_url, kept=1) as client:
                transcripts = await self.but(client=client).plain(scenario.requests)
        else:
            transcripts = await self.plain(scenario.requests)
        return [
            recorded.of_request(scenario, number, form, self.target, transcript)
            for number, transcript in enumerate(transcripts)
        ]

    async def plain(self, requests: Sequence[Request]) -> list[Transcript]:
        """The transcripts of plain requests; raises as `ask`."""
        return await ask(requests, self.target, self._plain, self._plain_at_once, self.unready)

    async def _plain(self, request: Request) -> Transcript:
        try:
            transcript = await self._sent(request)
        except RenewedError:
            if request.continues or request.kept:
                raise
            transcript = await self._sent(request)
        # A server may close a connection that it kept at any time, and a client then sends again over a new one
        # (RFC 9112, section 9.3.1).
        closed = transcript.status is None and transcript.end is End.CUT
        return await self._sent(request) if request.kept and closed else transcript

    async def _sent(self, request: Request) -> Transcript:
        await self.sender.look()
        # What is due may be a refusal itself; and the unready instance is busy on purpose.
        waits = request.expect not in BUSY and not request.unready
        transcript = (await self.sender.send(self._usual(plain.prepare(request, self.at)), waits=waits))[0]
        self._settle(transcript)
        return transcript

    async def _plain_at_once(self, request: Request) -> Transcript:
        return await self.sender.send_at_once(self._usual(plain.prepare(request, self.at)))

    async def beside(self, nonce: str, dialect: Dialect, script: str) -> bool:
        """Send a request beside a stream, so that the backend plays another script under the stream's nonce.

        Returns whether the target took it. What it answered is not looked at, since what it does shows in the stream.
        """
        scenario = ConversationScenario(name="beside", title="", exercises=(), script=script)
        turn = Turn(say="Go on.", script=script)
        form = Form(dialect, Mode.STREAM if only_streams(dialect.spec.surface, self.target) else Mode.WHOLE)
        outgoing, _ = self._prepared(scenario, turn, form, nonce, (), dialect.spec.surface.headers)
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


def is_refused(exchange: Exchange) -> bool:
    """Whether there was no room for a request where that is no right answer."""
    if exchange.transcript.status not in BUSY:
        return False
    request = exchange.request
    if request is not None:
        return request.expect not in BUSY and not request.unready
    return not _may_fail(exchange.wanted)


def _go_together(scenario: Scenario) -> bool:
    """Whether one process must answer all requests of a scenario."""
    return not isinstance(scenario, PlainScenario) or any(one.continues or one.kept for one in scenario.requests)


def _may_fail(wanted: Iterable[Expected]) -> bool:
    """Whether an error is among the right answers."""
    return any(one.failure in NO_ANSWER for one in wanted)


def _choice(exchange: Exchange) -> Choice | None:
    return exchange.choice() if exchange.reading is not None else None
