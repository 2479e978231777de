"""Before the suite: is there a proxy, does it take this key and this model, what is behind it, what does it speak?

It sends a request for the list of models if none is named; for each surface one for a text, and a second one for a
stream where the first leaves a doubt; where a script answers, one with all members that a target may be spared
(`wireproof.requests.ways_round`); then, where the chat surface is spoken, one for each further dialect and one for the
argument mode. What is refused and has a known way round is asked for again by that way. Only a target that cannot be
driven at all ends in a HarnessError, of one line for a person: nothing listens, it is no HTTP or no such API, it wants
another key, it has no model. Whatever else is wrong is for the suite.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import uuid
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import httpx

from wireproof.model.dialect import DEFAULT, MODE_HEADER, ArgumentsMode, Dialect, Surface
from wireproof.model.scenario import ConversationScenario, Form, Mode, Turn
from wireproof.model.target import Backend, Missing, SurfaceReport, SurfaceState, Target, WayTaken
from wireproof.model.transcript import End
from wireproof.model.verdict import HarnessError
from wireproof.requests.conversation import prepare
from wireproof.requests.ways_round import MODEL_BY_HAND, ONLY_STREAMS, REFUSALS, SPARED, STREAM_FALSE, WayRound, written
from wireproof.scenarios.tools import LOCAL_SEARCH, READ_NOTE
from wireproof.targets.address import check_url, is_local
from wireproof.targets.capabilities import missing_in_mock
from wireproof.targets.detection import (
    DOUBTFUL,
    NO_ENTRY,
    Route,
    Sighting,
    is_there,
    refuses,
    seen,
    sighting,
    surfaces_of,
)
from wireproof.targets.probe import BUSY, ProbeAnswer, Prober
from wireproof.targets.recognition import Recognised, error_of, is_page, is_stream, recognise, shown
from wireproof.targets.tls import verify_for
from wireproof.wire.chat import read_stream
from wireproof.wire.events import Fragment
from wireproof.wire.fields import json_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

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
"""Part of the mock's answer to the probe; no model would write it by chance."""
ASKED: Mapping[Surface, Dialect] = {Surface.CHAT: DEFAULT, Surface.RESPONSES: Dialect.RESPONSES}
"""The dialect in which each surface is asked for a text: the one that is spoken wherever the surface is."""
BY_CHOICE = tuple(dialect for dialect in Dialect if dialect not in ASKED.values())
"""The dialects that a surface may lack."""


def preflight(target: Target) -> Target:
    """The target with its surfaces, backend, dialects, argument mode and pace, and a model where none was named.

    Raises:
        HarnessError: it cannot be reached, or is no proxy that can be driven.
    """
    check_url(target.base_url)
    return asyncio.run(_preflight(target))


async def _preflight(target: Target) -> Target:
    async with _client(target) as client:
        if not target.model:
            # A list of models is asked for only if none was named: a proxy that has no such route can still be
            # certified.
            target = await _with_model(Prober(client=client, target=target))
        look = _Look(target=target, prober=Prober(client=client, target=target))
        sightings = {surface: await look.at(surface) for surface in _wanted(target)}
        if not any(one.route is Route.TEXT for one in sightings.values()):
            await _check_drivable(look, sightings)
        target = await look.with_missing(_seen_at_once(target, sightings), sightings)
        if target.backend is not Backend.LIVE:
            for surface, one in sightings.items():
                await look.spare(surface, one)
        target = dataclasses.replace(target, ways=(*target.ways, *look.ways))
        if not target.dialects:
            target = await _with_dialects(look, target, sightings)
        return dataclasses.replace(target, arguments=target.arguments or await look.arguments(target))


def _client(target: Target) -> httpx.AsyncClient:
    # Each request has its own connection: a server may close an idle one at the very moment when the next request is
    # written to it, and that must not count as a proxy that cannot be reached. What limits the time: see `Prober`.
    limits = httpx.Limits(max_keepalive_connections=0)
    url = target.base_url
    return httpx.AsyncClient(timeout=None, limits=limits, trust_env=not is_local(url), verify=verify_for(url))  # noqa: S113


def _wanted(target: Target) -> tuple[Surface, ...]:
    """The surfaces that are looked at: all, or those that a person named, themselves or by dialects of theirs."""
    named = {dialect.spec.surface for dialect in target.dialects} or {*target.wanted}
    return tuple(surface for surface in Surface if not named or surface in named)


def _seen_at_once(target: Target, sightings: Mapping[Surface, Sighting]) -> Target:
    """The target with what the requests for a text have shown."""
    option = "--dialect" if target.dialects else "--surface"
    named = bool(target.dialects or target.wanted)
    left_out = SurfaceReport(state=SurfaceState.NOT_JUDGED, reason=f"{option} names others")
    texts = [one for one in sightings.values() if one.recognised is not None]
    said = [one.recognised.text for one in texts if one.recognised is not None]
    # Only ever lowered to LIVE, and by a text alone: a target that loses all text is no model. Whether the backend is a
    # mock or a real Codex that plays scripts is for who started it to say.
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


async def _with_dialects(look: _Look, target: Target, sightings: Mapping[Surface, Sighting]) -> Target:
    """The target with the dialects of its judged surfaces, and why others are left out."""
    judged = [surface for surface, report in target.surfaces.items() if report.state is SurfaceState.JUDGED]
    unspoken: dict[Dialect, str] = {}
    for dialect in BY_CHOICE:
        if dialect.spec.surface in judged:
            why = await look.unspoken_reason(dialect, target, sightings[dialect.spec.surface])
            unspoken |= {dialect: why} if why else {}
    spoken = tuple(dialect for dialect in Dialect if dialect.spec.surface in judged and dialect not in unspoken)
    return dataclasses.replace(target, dialects=spoken, unspoken=unspoken)


@dataclass(frozen=True, kw_only=True)
class _Look:
    """Asks a target for what shows its surfaces, dialects and argument mode."""

    target: Target
    prober: Prober
    ways: list[WayTaken] = dataclasses.field(default_factory=list)
    """The ways round faults that were found; each further request takes them."""

    async def at(self, surface: Surface) -> Sighting:
        """What a surface does with a request for a text: a whole one, and where that leaves a doubt a streamed one."""
        whole = await self._admitted(surface, Mode.WHOLE)
        if whole.route is Route.TEXT:
            await self._write_out(surface, whole)
        if whole.route not in DOUBTFUL:
            return whole
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
        # Each way once; what a target refuses first hides what it refuses next.
        for _ in REFUSALS:
            taken = {one.name for one in self.ways if one.surface is surface}
            left = (way for way in REFUSALS if surface in way.surfaces and way.name not in taken)
            way = next((one for one in left if refuses(found, one.member)), None)
            if way is None or found.route is Route.TEXT:
                break
            self._take(way, surface, found.answer)
            found = await self._text(TEXT, surface, mode)
        return found

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
            if alone.route is not Route.TEXT and alone.answer.status not in BUSY:
                self._take(way, surface, alone.answer)

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

    async def with_missing(self, target: Target, sightings: Mapping[Surface, Sighting]) -> Target:
        """The target with what the Codex that the mock plays cannot do; as it was where the mock does not say."""
        spoken = next((item for item in sightings.items() if item[1].recognised is not None), None)
        if target.backend is not Backend.MOCK or spoken is None or not _is_scripted(_text_of(spoken[1].recognised)):
            return target
        surface, sight = spoken
        answer = await self._send(BACKEND, Form(ASKED[surface], sight.mode))
        missing = missing_in_mock(_text_of(recognise(answer.body, surface)))
        return target if missing is None else dataclasses.replace(target, missing=missing)

    async def unspoken_reason(self, dialect: Dialect, target: Target, surface: Sighting) -> str:
        """Why a dialect that its surface may lack is not judged; "" where the target shows that it speaks it."""
        # A real model calls a tool when it likes, so the absence of a call shows nothing.
        if target.backend is Backend.LIVE:
            return f"a live model is behind the target, which need not call a tool; --dialect {dialect} judges it"
        if surface.route is not Route.TEXT:
            return "no text came, so it was not asked for"
        scenario = TEXT_CALL if Missing.TOOLS in target.missing else CALL
        answer = await self._send(scenario, Form(dialect, surface.mode))
        recognised = recognise(answer.body, dialect.spec.surface) if answer.ok else None
        if answer.status is None:
            return f"it is not known, since no answer came to a request for a call; --dialect {dialect} judges it"
        if recognised is None:
            return f"it is not served: {seen(answer)}"
        echoed = dialect.spec.output_mode != DEFAULT.spec.output_mode and answer.headers.get(MODE_HEADER)
        if dialect.spec.carrier in recognised.carriers or echoed == dialect.spec.output_mode:
            return ""
        return f"it is not served: asked for, the answer carries {_carried(recognised.carriers)}"

    async def arguments(self, target: Target) -> ArgumentsMode | None:
        """The argument mode of OpenAI's dialect where it is not the usual one; None where it is, or does not show."""
        # Codex waits for the complete call and sends no fragments of it, so behind a real one there is nothing to see.
        if target.backend not in {Backend.MOCK, Backend.ENDPOINT}:
            return None
        if DEFAULT not in target.dialects or target.pace is None:
            return None
        answer = await self._send(FRAGMENTS, Form(DEFAULT, Mode.STREAM))
        mode = detect_argument_mode(answer.body)
        return mode if mode is not DEFAULT.spec.arguments else None

    async def _send(self, scenario: ConversationScenario, form: Form, say: str = "Search the notes.") -> ProbeAnswer:
        nonce, spec = uuid.uuid4().hex[:12], form.dialect.spec
        prepared = prepare(scenario, Turn(say=say), form=form, model=self.target.model, nonce=nonce, history=())
        round_it = dataclasses.replace(self.target, ways=tuple(self.ways))
        body = written(prepared.body, scenario, spec.surface, form.mode, round_it)
        return await self.prober.send("POST", spec.endpoint, json.loads(body), spec.headers)


def _text_of(recognised: Recognised | None) -> str:
    return "" if recognised is None else recognised.text


def _carried(carriers: Iterable[str]) -> str:
    return " and ".join(sorted(carriers)) or "no call"


def detect_argument_mode(body: bytes) -> ArgumentsMode | None:
    """How a streamed answer with one call in several fragments carried them; None where it does not show."""
    # Empty ones are left out: a call's first delta has `arguments: ""` in either mode.
    fragments = [event.text for event in read_stream([body]).events if isinstance(event, Fragment) and event.text]
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
            refused = _no_models(answer, target)
    reads = answer.status is not None and answer.status not in NO_ENTRY and not is_page(answer.body)
    for model in USUAL_MODELS if reads else ():
        found = dataclasses.replace(target, model=model)
        look = _Look(target=found, prober=prober)
        texts = [await look.at(surface) for surface in _wanted(found)]
        # By a script alone: a model's service would be paid for under a name that no person has chosen.
        if any(_is_scripted(_text_of(one.recognised)) for one in texts):
            way = WayTaken(name=MODEL_BY_HAND.name, answer=f"{model}; {answer.url} answers {seen(answer)}")
            return dataclasses.replace(found, ways=(*target.ways, way))
    # Any other name would be refused as unknown, and that would pass for a proxy that serves nothing.
    raise HarnessError(refused)


def _no_models(answer: ProbeAnswer, target: Target) -> str:
    """Why there is no list of models, where none was named."""
    if answer.status in NO_ENTRY:
        return _locked(answer, target)
    if answer.status is None and answer.end is End.TIMEOUT:
        return f"{answer.url} gave no answer within {target.timeout:g} s (--timeout sets the limit)"
    if answer.status is None:
        return f"{answer.url} does not speak HTTP as it should: {answer.fault}"
    what = f"{answer.url} answers {seen(answer)}"
    if is_page(answer.body):
        return f"{what}, and that is no OpenAI-compatible API{_hint(target)}"
    return f"{what}, so no model is known; name one with --model"


async def _check_drivable(look: _Look, sightings: Mapping[Surface, Sighting]) -> None:
    """Refuse a target of which no surface gave a text, unless a surface is there and fails.

    Raises:
        HarnessError: the message says what each route answered.
    """
    target = look.target
    for one in sightings.values():
        if one.route is Route.LOCKED:
            raise HarnessError(_locked(one.answer, target))
        if one.route is Route.NO_MODEL:
            asked = f"to a plain request for the model {target.model!r}"
            raise HarnessError(f"{one.answer.url} answers {seen(one.answer)} {asked}; name one with --model")
    # A closed connection or silence may be a proxy's fault on these routes, or all that is there.
    if all(one.answer.status is None for one in sightings.values()):
        models = await look.prober.send("GET", "/models")
        if models.status is None:
            raise HarnessError(f"{target.base_url} does not speak HTTP as it should: {_each(sightings)}")
    # A surface that a person has named is judged whatever it answers.
    if not (target.dialects or target.wanted or any(map(is_there, sightings.values()))):
        raise HarnessError(f"{target.base_url} is no OpenAI-compatible API: {_each(sightings)}{_hint(target)}")


def _each(sightings: Mapping[Surface, Sighting]) -> str:
    """What each route answered."""
    return "; ".join(f"POST {surface.endpoint}: {seen(one.answer)}" for surface, one in sightings.items())


def _hint(target: Target) -> str:
    # Without /v1 the address may be that of a server's web page.
    return "" if target.base_url.rstrip("/").endswith("/v1") else "; did you mean a URL that ends in /v1?"


def _locked(answer: ProbeAnswer, target: Target) -> str:
    wants = "another key than the one given" if target.api_key else "a key; name its variable with --api-key-env"
    error = error_of(answer.body)
    said = f" ({shown(str(error['message']).encode(errors='replace'))})" if error and "message" in error else ""
    return f"{answer.url} refuses with {answer.status}: it wants {wants}{said}"
