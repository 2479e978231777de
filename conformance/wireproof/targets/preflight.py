"""Before the suite: is there a proxy, does it take this key and this model, what is behind it, what does it speak?

It sends a request for the list of models if none is named; for each surface one for a text, and a second one for a
stream where the first leaves a doubt; where a script answers, one that has the mock say what it is, and one with all
members that a target may be spared (`wireproof.requests.ways_round`); then, where the chat surface is spoken, one for
each further dialect and one for the argument mode. What is refused and has a known way round is asked for again by that
way.

A target whose backend is not known comes as LIVE, and is driven as a model's service that is paid for, unless an
answer proves a mock: a script that reflects what plays it, and says the nonce of this very request. Such a target that
gives no text ends in a HarnessError, of one line for a person. With a mock behind it that is so only where it cannot be
driven at all: nothing listens, it is no HTTP or no such API, it lets no one in, it has no model. Whatever else is wrong
is for the suite.
"""

from __future__ import annotations

import asyncio
import dataclasses
import uuid
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import httpx

from wireproof.model.dialect import DEFAULT, MODE_HEADER, ONE_OF_EACH, ArgumentsMode, Dialect, Surface
from wireproof.model.scenario import ConversationScenario, Form, Mode, Turn
from wireproof.model.target import Backend, Missing, SurfaceReport, SurfaceState, Target, WayTaken
from wireproof.model.verdict import HarnessError
from wireproof.reading.asked import LIMITS
from wireproof.requests.conversation import prepare
from wireproof.requests.cost import UNLIMITED
from wireproof.requests.ways_round import MODEL_BY_HAND, ONLY_STREAMS, REFUSALS, SPARED, STREAM_FALSE, WayRound, written
from wireproof.scenarios.tools import LOCAL_SEARCH, READ_NOTE
from wireproof.targets import detection
from wireproof.targets.budget import REQUESTS, TOKENS, Budget
from wireproof.targets.clients import settings
from wireproof.targets.codex import missing_in_mock
from wireproof.targets.detection import DOUBTFUL, Route, Sighting, refuses, seen, sighting, surfaces_of
from wireproof.targets.probe import BUSY, ProbeAnswer, Prober
from wireproof.targets.recognition import is_page, is_stream, recognise
from wireproof.targets.validity import check_url
from wireproof.wire.chat import chat_stream
from wireproof.wire.events import Fragment
from wireproof.wire.fields import json_of
from wireproof.wire.stream import read_pieces

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# Scenarios, so that the probes are written as the suite's own requests are; nothing judges them.
TEXT = ConversationScenario(name="probe-text", title="", exercises=(), script="probe")
"""Its answer shows that a surface is spoken."""
CALL = ConversationScenario(
    name="probe-call", title="", exercises=(), script="call/one", tools=(LOCAL_SEARCH, READ_NOTE)
)
"""Its answer shows whether calls come in a dialect."""
# Codex before 0.92 ignores the tools of its client in silence.
TEXT_CALL = dataclasses.replace(CALL, script="sentinel/plain")
"""The same for a backend that takes no tools, and so writes its calls as text."""
FRAGMENTS = dataclasses.replace(CALL, script="shapes/a")
"""Its answer shows the argument mode: the backend sends the arguments in several fragments."""
BACKEND = ConversationScenario(name="probe-backend", title="", exercises=(), script="reflect/backend")
"""Its answer says which Codex the mock plays: that may be the one that the proxy's own requests ask for."""
USUAL_MODELS = ("gpt-5", "codex", "gpt-4o")
"""The names under which a target is asked that lists none."""
SIGNATURE = "scripted backend"
"""Part of the mock's answer to the probe: it is asked for a proof."""
ASKED: Mapping[Surface, Dialect] = {dialect.spec.surface: dialect for dialect in ONE_OF_EACH}
"""The dialect in which each surface is asked for a text: the one that is spoken wherever the surface is."""
CAPS: Mapping[Surface, tuple[str, ...]] = {
    Surface.CHAT: ("max_tokens", "max_completion_tokens"),
    Surface.RESPONSES: ("max_output_tokens",),
    Surface.MESSAGES: ("max_tokens",),
}
"""The names by which a limit of an answer's tokens is asked for, one after the other."""
REPORT = 512
"""Tokens of a mock's report of itself: it is asked for only where a text says that a mock is there."""
NAMELESS = frozenset({Route.NO_MODEL, Route.REFUSES, Route.NOTHING})
"""What a route may do with a name that the target does not know; it may answer to another one."""
BY_CHOICE = tuple(dialect for dialect in Dialect if dialect not in ASKED.values())
"""The dialects that a surface may lack."""


def preflight(target: Target, budget: Budget | None = None) -> Target:
    """The target with its surfaces, backend, dialects, argument mode and pace, and a model where none was named.

    Args:
        target: Its backend is LIVE where nothing is known of it.
        budget: What the run may cost; None: what it may cost where nothing is said.

    Raises:
        HarnessError: it cannot be reached, or is no proxy that can be driven.
    """
    check_url(target.base_url)
    return asyncio.run(_preflight(target, budget or Budget(requests=REQUESTS, tokens=TOKENS)))


async def _preflight(target: Target, budget: Budget) -> Target:
    # Each request has its own connection: a server may close an idle one at the very moment when the next request is
    # written to it, and that must not count as a proxy that cannot be reached. What limits the time: see `Prober`.
    limits = httpx.Limits(max_keepalive_connections=0)
    async with httpx.AsyncClient(timeout=None, limits=limits, **settings(target.base_url)) as client:  # noqa: S113
        prober = Prober(client=client, target=target, budget=budget)
        if not target.model:
            # A list of models is asked for only if none was named: a proxy that has no such route can still be
            # certified.
            target = await _with_model(prober)
        look = _Look(target=target, prober=prober)
        sightings = {surface: await look.at(surface) for surface in _wanted(target)}
        if not any(one.route is Route.TEXT for one in sightings.values()):
            # A closed connection or silence may be a proxy's fault on these routes, or all that is there.
            heads = any(one.answer.status is not None for one in sightings.values())
            is_mute = not heads and (await prober.send("GET", "/models")).status is None
            if why := detection.undrivable(target, sightings, is_mute=is_mute):
                raise HarnessError(why)
        look.target = _seen_at_once(target, sightings)
        await look.identify(sightings)
        if look.target.backend is not Backend.LIVE:  # nobody pays for what a mock says
            for surface, one in sightings.items():
                await look.spare(surface, one)
        look.target = dataclasses.replace(look.target, ways=(*target.ways, *look.ways))
        if not target.dialects:
            await look.find_dialects(sightings)
        return dataclasses.replace(look.target, arguments=target.arguments or await look.arguments())


def _wanted(target: Target) -> tuple[Surface, ...]:
    """The surfaces that are looked at: all, or those that a person named, themselves or by dialects of theirs."""
    named = {dialect.spec.surface for dialect in target.dialects} or {*target.wanted}
    return tuple(surface for surface in Surface if not named or surface in named)


def _seen_at_once(target: Target, sightings: Mapping[Surface, Sighting]) -> Target:
    """The target with what the requests for a text have shown."""
    option = "--surface" if target.wanted else "--dialect"
    named = bool(target.dialects or target.wanted)
    left_out = SurfaceReport(state=SurfaceState.NOT_JUDGED, reason=f"{option} names others")
    texts = [one for one in sightings.values() if one.recognised is not None]
    said = [one.text for one in texts]
    # Only ever lowered to LIVE here, and by a text alone: a proxy that loses all text is to be judged with the mock
    # that was declared. Whether the backend is a mock or a real Codex that plays scripts is for who started it to say.
    live = any(said) and not any(map(_is_scripted, said))
    return dataclasses.replace(
        target,
        surfaces=dict.fromkeys(Surface, left_out) | surfaces_of(sightings, named=named),
        backend=Backend.LIVE if live else target.backend,
        # The least: the first answer may have waited for a backend that was still starting.
        pace=target.pace or min((one.answer.seconds for one in texts), default=None),
    )


def _is_scripted(text: str) -> bool:
    """Whether the mock wrote a text; blanks and case do not count, since a proxy may spoil them."""
    return "".join(SIGNATURE.split()).casefold() in "".join(text.split()).casefold()


@dataclass(kw_only=True)
class _Look:
    """Asks a target for what shows its surfaces, dialects and argument mode."""

    target: Target
    """With what is known so far."""
    prober: Prober
    unanswered: bool = False
    """Whether no answer came to a request for a call."""
    ways: list[WayTaken] = dataclasses.field(default_factory=list)
    """The ways round faults that were found; each further request takes them."""
    uncapped: list[tuple[Surface, str]] = dataclasses.field(default_factory=list)
    """The names of limits that a surface does not take."""

    async def at(self, surface: Surface) -> Sighting:
        """What a surface does with a request for a text: a whole one, and where that leaves a doubt a streamed one."""
        whole = await self._admitted(surface, Mode.WHOLE)
        if whole.route is Route.TEXT:
            await self._write_out(surface, whole)
        if whole.route not in DOUBTFUL:
            return whole
        if not refuses(whole, "stream"):
            # A proxy may fail at a limit without naming it.
            self.uncapped.extend((surface, name) for name in self._caps(surface))
        streamed = await self._admitted(surface, Mode.STREAM)
        if streamed.route is not Route.TEXT:
            # What did not help is no way. And of two refusals that of a stream says less of the route.
            self.ways[:] = [one for one in self.ways if one.surface is not surface]
            return whole
        if refuses(whole, "stream"):
            self._take(ONLY_STREAMS, surface, whole.answer)
        return streamed

    async def _admitted(self, surface: Surface, mode: Mode) -> Sighting:
        """The same in one mode, with what the target refuses to do without."""
        found = await self._text(TEXT, surface, mode)
        # Each once; what a target refuses first hides what it refuses next.
        while found.route is not Route.TEXT and self._does_otherwise(surface, found):
            found = await self._text(TEXT, surface, mode)
        return found

    def _does_otherwise(self, surface: Surface, found: Sighting) -> bool:
        """Whether a refusal names what further requests can do otherwise, which they then do."""
        caps = self._caps(surface)
        if caps and any(refuses(found, name) for name in LIMITS):
            self.uncapped.append((surface, caps[0]))
            return True
        taken = {one.name for one in self.ways if one.surface is surface}
        left = (way for way in REFUSALS if surface in way.surfaces and way.name not in taken)
        way = next((one for one in left if refuses(found, one.member)), None)
        if way is not None:
            self._take(way, surface, found.answer)
        return way is not None

    def _caps(self, surface: Surface) -> list[str]:
        """The names that are left for a limit of tokens; none where nobody pays for them."""
        paid = self.target.backend is Backend.LIVE
        return [name for name in CAPS[surface] if paid and (surface, name) not in self.uncapped]

    async def _write_out(self, surface: Surface, whole: Sighting) -> None:
        """Ask for no stream in so many words, where one came that was not asked for."""
        if not is_stream(whole.answer.body):
            return
        self._take(STREAM_FALSE, surface, whole.answer)
        asked = await self._text(TEXT, surface, Mode.WHOLE)
        if asked.route is not Route.TEXT or is_stream(asked.answer.body):
            self.ways.pop()  # whatever is asked for, a stream comes: there is no way round that

    async def spare(self, surface: Surface, one: Sighting) -> None:
        """Find out which members of requests a surface is to be spared."""
        ways = [way for way in SPARED if surface in way.surfaces]
        # Nearly every target takes all of them, and is asked once.
        if one.route is not Route.TEXT or (await self._with(ways, surface, one.mode)).route is Route.TEXT:
            return
        for way in ways:
            alone = await self._with([way], surface, one.mode)
            if alone.route is Route.TEXT or alone.answer.status in BUSY:
                continue
            self._take(way, surface, alone.answer)
            without = await self._with([way], surface, one.mode)
            if without.route is not Route.TEXT:
                self.ways.pop()  # what stands beside the member is refused, or what is sent instead of it
            if without.answer.status is None:
                break  # nothing answers any more

    async def _with(self, ways: Sequence[WayRound], surface: Surface, mode: Mode) -> Sighting:
        """What a surface does with a request for a text that has the members of these ways."""
        body = {name: value for way in ways for name, value in way.probe.items()}
        developer = body.pop("developer", None)
        history = () if developer is None else ({"role": "developer", "content": developer},)
        # OpenAI refuses `parallel_tool_calls` beside no tools.
        tools = (READ_NOTE,) if "parallel_tool_calls" in body else ()
        return await self._text(dataclasses.replace(TEXT, body=body, history=history, tools=tools), surface, mode)

    def _take(self, way: WayRound, surface: Surface, answer: ProbeAnswer) -> None:
        self.ways.append(WayTaken(name=way.name, answer=seen(answer), surface=surface))

    async def _text(self, scenario: ConversationScenario, surface: Surface, mode: Mode) -> Sighting:
        answer = await self._send(scenario, Form(ASKED[surface], mode), say="Who is there? Say it in a few words.")
        return sighting(answer, surface, mode, self.target.model)

    async def identify(self, sightings: Mapping[Surface, Sighting]) -> None:
        """Find out what the mock says of itself, if one does: that it is one, and what its Codex cannot do."""
        scripted = (item for item in sightings.items() if _is_scripted(item[1].text))
        surface, sight = next(scripted, (None, None))
        if self.target.backend not in {Backend.MOCK, Backend.LIVE} or surface is None or sight is None:
            return
        nonce = _new_nonce()
        answer = await self._send(BACKEND, Form(ASKED[surface], sight.mode), nonce=nonce, cap=REPORT)
        recognised = recognise(answer.body, surface)
        said = recognised.text if recognised is not None else ""
        missing = missing_in_mock(said)
        # The request has the nonce, but not as a member of an object: what repeats its text proves nothing.
        is_proved = f'"nonce":"{nonce}"' in "".join(said.split())
        self.target = dataclasses.replace(
            self.target,
            missing=self.target.missing if missing is None else missing,
            backend=Backend.MOCK if is_proved else self.target.backend,
        )

    async def find_dialects(self, sightings: Mapping[Surface, Sighting]) -> None:
        """Find out the dialects of the judged surfaces, and why others are left out."""
        judged = [one for one, report in self.target.surfaces.items() if report.state is SurfaceState.JUDGED]
        unspoken: dict[Dialect, str] = {}
        for dialect in BY_CHOICE:
            if dialect.spec.surface in judged:
                why = await self._unspoken_reason(dialect, sightings[dialect.spec.surface])
                unspoken |= {dialect: why} if why else {}
        spoken = tuple(dialect for dialect in Dialect if dialect.spec.surface in judged and dialect not in unspoken)
        self.target = dataclasses.replace(self.target, dialects=spoken, unspoken=unspoken)

    async def _unspoken_reason(self, dialect: Dialect, surface: Sighting) -> str:
        """Why a dialect that its surface may lack is not judged; "" where the target shows that it speaks it."""
        # A real model calls a tool when it likes, so the absence of a call shows nothing.
        if self.target.backend is Backend.LIVE:
            return f"a live model is behind the target, which need not call a tool; --dialect {dialect} judges it"
        if surface.route is not Route.TEXT:
            return "no text came, so it was not asked for"
        scenario = TEXT_CALL if Missing.TOOLS in self.target.missing else CALL
        answer = await self._send(scenario, Form(dialect, surface.mode))
        recognised = recognise(answer.body, dialect.spec.surface) if answer.ok else None
        if answer.status is None:
            self.unanswered = True
            return f"it is not known, since no answer came to a request for a call; --dialect {dialect} judges it"
        echoed = dialect.spec.output_mode != DEFAULT.spec.output_mode and answer.headers.get(MODE_HEADER)
        carried = recognised.carriers if recognised is not None else frozenset()
        # The header is enough: what is wrong with the form of an answer is judged, and hides no dialect.
        if dialect.spec.carrier in carried or (answer.ok and echoed == dialect.spec.output_mode):
            return ""
        named = f"asked for, the answer carries {' and '.join(sorted(carried)) or 'no call'}"
        return f"it is not served: {named if recognised is not None else seen(answer)}"

    async def arguments(self) -> ArgumentsMode | None:
        """The argument mode of OpenAI's dialect where it is not the usual one; None where it is, or does not show."""
        # Codex waits for the complete call and sends no fragments of it, so behind a real one there is nothing to see.
        if self.target.backend not in {Backend.MOCK, Backend.ENDPOINT}:
            return None
        # After a call that was not answered it would be waited for in vain once more.
        if DEFAULT not in self.target.dialects or self.target.pace is None or self.unanswered:
            return None
        answer = await self._send(FRAGMENTS, Form(DEFAULT, Mode.STREAM))
        mode = detect_argument_mode(answer.body)
        return mode if mode is not DEFAULT.spec.arguments else None

    async def _send(
        self,
        scenario: ConversationScenario,
        form: Form,
        say: str = "Search the notes.",
        *,
        nonce: str = "",
        cap: int = UNLIMITED,
    ) -> ProbeAnswer:
        turn, spec = Turn(say=say), form.dialect.spec
        limit = dict.fromkeys(self._caps(spec.surface)[:1], cap)
        scenario = dataclasses.replace(scenario, body={**limit, **scenario.body})
        prepared = prepare(
            scenario, turn, form=form, model=self.target.model, nonce=nonce or _new_nonce(), history=()
        )  # fmt: skip
        round_it = dataclasses.replace(self.target, ways=tuple(self.ways))
        body = written(prepared.body, scenario, spec.surface, form.mode, round_it)
        streamed = form.mode is Mode.STREAM
        return await self.prober.send("POST", spec.surface.endpoint, body, spec.headers, streamed=streamed)


def _new_nonce() -> str:
    return uuid.uuid4().hex[:12]


def detect_argument_mode(body: bytes) -> ArgumentsMode | None:
    """How a streamed answer with one call in several fragments carried them; None where it does not show."""
    # Empty ones are left out: a call's first delta has `arguments: ""` in either mode.
    events = read_pieces(chat_stream(), [body]).events
    fragments = [event.text for event in events if isinstance(event, Fragment) and event.text]
    if len(fragments) < 2:  # noqa: PLR2004 (one fragment is the whole, in either mode)
        return None
    # The probe's fragments begin with different characters, so an incremental stream never looks like this.
    grows = all(len(later) > len(earlier) and later.startswith(earlier) for earlier, later in pairwise(fragments))
    return ArgumentsMode.CUMULATIVE if grows else ArgumentsMode.INCREMENTAL


async def _with_model(prober: Prober) -> Target:
    """The target with the first model that it lists, else with a usual name that it answers to.

    Raises:
        HarnessError: there is none.
    """
    target, answer = prober.target, await prober.send("GET", "/models")
    match json_of(answer.body):
        case {"data": [{"id": str(model)}, *_]} if model and answer.ok:
            return dataclasses.replace(target, model=model)
        case {} if answer.ok:
            refused = f"{answer.url} lists no model; name one with --model"
        case _:
            refused = detection.no_models(answer, target)
    reads = answer.status is not None and not detection.barred(answer, target) and not is_page(answer.body)
    for model in USUAL_MODELS if reads else ():
        found = dataclasses.replace(target, model=model)
        look = _Look(target=found, prober=prober)
        texts = [await look.at(surface) for surface in _wanted(found)]
        # By a script alone: a model's service would be paid for under a name that no person has chosen.
        if any(_is_scripted(one.text) for one in texts):
            way = WayTaken(name=MODEL_BY_HAND.name, answer=f"{model}; {answer.url} answers {seen(answer)}")
            return dataclasses.replace(found, ways=(*target.ways, way))
        if not all(one.route in NAMELESS for one in texts):
            break  # another name would fare no better, or be paid for, too
    # Any other name would be refused as unknown, and that would pass for a proxy that serves nothing.
    raise HarnessError(refused)
