"""Asking a model: a turn is repeated until its answer does what was asked, or shows something else.

A model that does not do what it is asked is no finding, so it gets three tries. A fault of the answer's form is the
target's own, and no further try is needed to see it. An answer that was cut at its limit may have been on its way, as
those of models that reason are: the next try allows more. One that has begun with something else never gets there.

A model may be as sure of its answer as a fixture is. One that comes a second time word for word is the last, and a
target of which further tries have shown nothing but that gets no more of them: each may be paid for.

What a live endpoint refuses of the requests so far, the next ones do without. That is found by refusals alone: a target
is asked for everything once. What it has taken once it is not spared later: such a refusal is about something else.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from wireproof.judging.capabilities import surface_of
from wireproof.model.asks import AskCount, AskSay, Fits
from wireproof.model.dialect import Surface
from wireproof.model.scenario import ConversationScenario
from wireproof.model.target import Adjustment, Backend
from wireproof.model.transcript import End
from wireproof.reading.asked import LENGTH, LIMITS, limit_of
from wireproof.requests.adjusted import DISPENSABLE, OTHER_NAME, adjusted
from wireproof.requests.plain import UnseenError
from wireproof.targets.budget import SpentError
from wireproof.wire.message import read_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wireproof.model.asks import Asks
    from wireproof.model.scenario import Scenario
    from wireproof.model.target import Target
    from wireproof.model.transcript import Transcript
    from wireproof.reading.exchange import Exchange
    from wireproof.wire.events import Choice, Failed

REFUSALS = frozenset({400, 404, 422, 501})
"""Statuses of a plain refusal of what a request asks for."""
TRIES = 3
MORE = 4
"""How many times as many tokens a try may have after one that was cut at its limit."""
SLOWEST = 20.0
"""How many tokens a model may take as long for as a target may be silent: at the usual 10 s, two tokens a second."""
ENOUGH = 2
"""Scenarios whose further tries brought the same answer again, after which none gets any; unless one has helped."""

Send = Callable[[ConversationScenario], Awaitable["Exchange"]]
"""Sends a turn as its scenario says, which may have another limit of tokens than the turn before."""


@dataclass(kw_only=True)
class Tried:
    """What the further tries of a run have shown; all its exchanges share one."""

    alike: set[str] = field(default_factory=set)
    """The scenarios of which one brought the same answer again."""
    helped: bool = False
    """Whether one brought what was asked for."""
    asked: frozenset[str] = frozenset()
    """The exact texts that the prompts of the run ask for."""
    _one: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False)

    def turn(self) -> AbstractAsyncContextManager[object]:
        """Held while a turn is tried again: one after the other, as long as it is not known whether that helps."""
        return nullcontext() if self.helped else self._one

    def vain(self, scenario: ConversationScenario, exchange: Exchange) -> bool:
        """Whether a further try after this one would show nothing."""
        # With more room the answer is another one.
        if self.helped or _is_on_its_way(exchange):
            return False
        return scenario.name in self.alike or len(self.alike) >= ENOUGH

    def is_others(self, exchange: Exchange) -> bool:
        """Whether an answer is what another prompt asks for: the server mixed them up, and a try would hide that."""
        mine = exchange.asks.text.strip() if isinstance(exchange.asks, AskSay) else ""
        return any((choice.text or "").strip() in self.asked - {mine} for choice in _choices(exchange))

    def note(self, scenario: ConversationScenario, exchange: Exchange, before: Exchange) -> bool:
        """Whether this try is the last, since the one before it brought the same answer."""
        self.helped = self.helped or bool(exchange.wanted)
        same = not exchange.wanted and not _is_on_its_way(before) and _said(exchange) == _said(before)
        if same:
            self.alike.add(scenario.name)
        return same


async def until_done(scenario: ConversationScenario, send: Send, tried: Tried | None = None) -> Exchange:
    """The last try of a turn, with those before it; `send` sends the turn as the scenario that it gets says.

    Raises:
        SpentError: nothing may be sent any more, and nothing was.
        UnseenError: the target refuses what the request asks for.
    """
    exchange = await send(scenario)
    _examine_refusal(scenario, exchange)
    tried = tried or Tried()
    if settled(exchange) or tried.is_others(exchange):
        return exchange
    async with tried.turn():
        last = await _again(scenario, send, exchange, tried)
        return await _beside_bare(scenario, send, last)


async def _again(scenario: ConversationScenario, send: Send, first: Exchange, tried: Tried) -> Exchange:
    """The last of the further tries of a turn, with those before it; the first where they would show nothing."""
    exchanges = [first]
    while len(exchanges) < TRIES and not tried.vain(scenario, exchanges[-1]):
        scenario = _with_more(scenario, exchanges[-1])
        try:
            exchange = await send(scenario)
        except SpentError:
            break
        _examine_refusal(scenario, exchange)
        exchanges.append(exchange)
        if settled(exchange) | tried.note(scenario, exchange, exchanges[-2]):
            break
    *earlier, last = exchanges
    return replace(last, earlier=tuple(earlier))


async def _beside_bare(scenario: ConversationScenario, send: Send, last: Exchange) -> Exchange:
    """The last try; where its model does not know the picture, with the same question without one among its tries.

    Whether a picture was sent to a model shows in what the two requests cost.
    """
    if settled(last) or not (last.turn and last.turn.images):
        return last
    bare = replace(scenario, turns=tuple(replace(one, images=()) for one in scenario.turns))
    try:
        return replace(last, earlier=(*last.earlier, await send(bare)))
    except SpentError:
        return last


def settled(exchange: Exchange) -> bool:
    """Whether a further try would show nothing more: the model did what it was asked, or the answer is broken."""
    if exchange.asks is None or exchange.wanted:
        return True
    reading = exchange.reading
    return reading is None or bool(reading.violations) or exchange.transcript.end is not End.COMPLETE


def _with_more(scenario: ConversationScenario, exchange: Exchange) -> ConversationScenario:
    """The scenario with a higher limit, if the answer was cut at the one that it has and may be right with more."""
    if scenario.cap is None or not _is_on_its_way(exchange) or isinstance(exchange.asks, AskCount):
        return scenario
    return replace(scenario, cap=scenario.cap * MORE)


def _is_on_its_way(exchange: Exchange) -> bool:
    """Whether an answer was cut that may yet have done what was asked."""
    return any(choice.finish == LENGTH and _begins(exchange.asks, choice) for choice in _choices(exchange))


def _begins(asks: Asks | None, choice: Choice) -> bool:
    """Whether a text may be the beginning of what was asked for: of thoughts between tags it is not known yet."""
    said = (choice.text or "").strip()
    if not said or said.startswith("<"):
        return True
    match asks:
        case AskSay(text=text):
            return text.strip().startswith(said)
        case Fits():
            return said.startswith("{")
        case _:
            return True


def _said(exchange: Exchange) -> object:
    """All that an answer says."""
    return [(choice.text, [(call.name, call.arguments) for call in choice.calls]) for choice in _choices(exchange)]


def _choices(exchange: Exchange) -> Sequence[Choice]:
    # The answer of a further try may be none that can be read.
    return exchange.answer.choices if exchange.reading is not None else ()


def _examine_refusal(scenario: ConversationScenario, exchange: Exchange) -> None:
    """Make sure that the target does not plainly refuse what the request asks for beyond text: that is an absence.

    Raises:
        UnseenError: it does.
    """
    # Where a refusal is a right answer, it is judged as one.
    refused = None if scenario.refusable else refusal(exchange.transcript)
    # Where its envelope is not as it should be, that is a finding in any case.
    answer = exchange.transcript
    if refused is None or read_error(answer.body, answer.header("content-type"))[1]:
        return
    for name in asked_for(scenario, exchange):
        if names(refused, name):
            raise UnseenError(f"the target refuses {name}: {refused.message}", [exchange])


def asked_for(scenario: ConversationScenario, exchange: Exchange) -> tuple[str, ...]:
    """What a request asks for that not every target serves, by the names of the fields."""
    fits = isinstance(exchange.asks, Fits)
    # Of a scripted target the refusal itself is judged: its backend would have taken the image.
    images = bool(exchange.asks and exchange.turn and exchange.turn.images)
    fields = {
        "tool_choice": bool(scenario.tool_choice),
        "tools": bool(scenario.tools),
        "n": scenario.choices > 1,
        "response_format": fits,
        "text": fits,
        **dict.fromkeys(("developer", "role"), any(one["role"] == "developer" for one in scenario.history)),
        **dict.fromkeys(("image", "image_url", "images"), images),
    }
    own = exchange.turn.body if exchange.turn else {}
    return (*(name for name, is_set in fields.items() if is_set), *scenario.body, *own)


def asked_texts(scenarios: Sequence[Scenario]) -> frozenset[str]:
    """The exact texts that prompts ask for."""
    turns = [turn for one in scenarios if isinstance(one, ConversationScenario) for turn in one.turns]
    return frozenset(turn.asks.text.strip() for turn in turns if isinstance(turn.asks, AskSay))


def unhurried(target: Target, scenarios: Sequence[Scenario]) -> Target:
    """The target, with as much more time for each exchange as a slow model takes for the longest answer."""
    longest = max((one.cap or 0 for one in scenarios if isinstance(one, ConversationScenario)), default=0)
    needed = target.timeout * (1 + longest / SLOWEST)
    # What was seen of its pace may have given it more time already.
    return replace(target, timeout=max(target.timeout, needed / target.stretched(1.0)))


@dataclass(kw_only=True)
class Adjusting:
    """What the requests of a run do without; all its exchanges share one."""

    found: dict[str, Adjustment] = field(default_factory=dict)
    """Member of a request → what is sent instead, and why."""
    _taken: set[str] = field(default_factory=set)
    """The members that an answer came to."""

    def written(self, body: bytes, url: str) -> bytes:
        """The body as the target takes it at a URL, as far as that is known."""
        # Messages have names of their own: what chat refuses, a limit above all, this surface demands.
        return body if Surface.MESSAGES.endpoint in url else adjusted(body, self.found)

    def examine(self, exchange: Exchange) -> bool:
        """Whether to send the turn again, since the target refuses a member that it can do without.

        Raises:
            UnseenError: the turn is about an answer's limit, and the target takes none.
        """
        if exchange.target.backend is not Backend.LIVE or surface_of(exchange) is Surface.MESSAGES:
            return False
        members = _members(exchange)
        if not exchange.transcript.ok:
            return self._learn(exchange.transcript, members)
        self._taken |= members
        dropped = next((self.found[one] for one in LIMITS if one in self.found and not self.found[one].instead), None)
        if dropped and isinstance(exchange.asks, AskCount) and limit_of(exchange.transcript.request_body) is None:
            raise UnseenError(f"the target takes no limit of tokens: {dropped.message}", [exchange])
        return False

    def _learn(self, answer: Transcript, members: set[str]) -> bool:
        """Whether an answer refuses one of these members of its request, which is kept then."""
        refused = refusal(answer)
        name = refused and next((one for one in sorted(members - self._taken) if names(refused, one)), None)
        if not refused or not name:
            return False
        # Where both names of a limit are refused, there is none.
        other = OTHER_NAME.get(name, "")
        if other in self.found:
            self.found[other] = replace(self.found[other], instead="")
            other = ""
        said = " ".join(refused.message.split())
        self.found[name] = Adjustment(instead=other, status=answer.status or 0, message=said)
        return True


def _members(exchange: Exchange) -> set[str]:
    """The members of a request that it can do without."""
    # Without a cap of its own, a scenario that sets a limit is about that limit's name.
    own = frozenset(exchange.conversation.body) & {*LIMITS}
    return {name for name in exchange.sent if name in DISPENSABLE and name not in own}


def refusal(transcript: Transcript) -> Failed | None:
    """The error of a plain refusal, whatever its envelope lacks; None where it is none."""
    if transcript.status not in REFUSALS:
        return None
    return read_error(transcript.body, transcript.header("content-type"))[0]


def names(failed: Failed, field: str) -> bool:
    """Whether a refusal names a field of the request."""
    return (failed.param or "").startswith(field) or re.search(rf"\b{re.escape(field)}\b", failed.message) is not None
