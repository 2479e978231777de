"""The ways round known faults: one line each, with what is changed and the words in which a verdict names it.

A fault that hides exchanges is found once, by the scenarios that are driven without the way round it (`shown_by`). For
all others the way is taken, so that what is behind the fault is judged. The target is asked once whether it has the
fault, before the run (`wireproof.targets.preflight`) or when it is started (`wireproof.targets.launch`); only what a
prompt to a live model has in passing is learnt from the answers to it (`wireproof.driving.tries`), which are paid
for. Pure.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from wireproof.model.dialect import Surface
from wireproof.model.scenario import ConversationScenario, Mode, PlainScenario, Scenario
from wireproof.model.target import WayTaken
from wireproof.reading.asked import LIMITS
from wireproof.requests.adjusted import DISPENSABLE
from wireproof.wire.fields import json_object

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from wireproof.model.scenario import Form, JsonObject
    from wireproof.model.target import Adjustment, Target

WITNESSES = 2
"""Scenarios of different subjects that are driven without a way round: a refusal that one subject alone gets is taken
for a matter of that subject. Where a member is refused, one is enough: other rows are about that member."""
SAID = "Answer as the conversation asks."
"""The `instructions` of requests that have none."""
CHAT, RESPONSES = (Surface.CHAT,), (Surface.RESPONSES,)

Change = Callable[[Mapping[str, Any]], Mapping[str, Any]]
"""Makes a request's body the one that goes round the fault; returns the body itself where nothing is to be changed."""


def _same(body: JsonObject) -> JsonObject:
    return body


def _with(members: JsonObject) -> Change:
    """Writes members out that a body leaves to their defaults."""
    return lambda body: body if members.keys() <= body.keys() else {**members, **body}


def _without(name: str) -> Change:
    """Leaves a member out."""

    def change(body: JsonObject) -> JsonObject:
        return {other: value for other, value in body.items() if other != name} if name in body else body

    return change


def _in_parallel(body: JsonObject) -> JsonObject:
    """The body without `parallel_tool_calls: true`. Without a `false` another answer would be right."""
    return _without("parallel_tool_calls")(body) if body.get("parallel_tool_calls") is True else body


def _renamed(name: str, other: str) -> Change:
    return lambda body: {other if one == name else one: value for one, value in body.items()} if name in body else body


def _streamed(body: JsonObject) -> JsonObject:
    """The body as one for a stream; but what has options of a stream, and asks for none, is wrong on purpose."""
    return body if "stream_options" in body else _with({"stream": True})(body)


def _as_system(body: JsonObject) -> JsonObject:
    """The body with each developer message as one of the system."""
    for name in ("messages", "input"):
        messages = body.get(name)
        if isinstance(messages, list) and any(_is_developer(one) for one in messages):
            changed = [{**one, "role": "system"} if _is_developer(one) else one for one in messages]
            return {**body, name: changed}
    return body


def _is_developer(message: object) -> bool:
    return isinstance(message, dict) and message.get("role") == "developer"


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class WayRound:
    """A line of the table."""

    name: str
    """What a report calls it."""
    fault: str
    """What it goes round, as a clause behind "since"."""
    recognised: str
    """How the fault is recognised, as a sentence."""
    taken: str
    """What is changed, to complete "judged …"."""
    surfaces: tuple[Surface, ...] = tuple(Surface)
    """The surfaces whose requests it changes."""
    change: Change = _same
    """What it changes in a request; nothing where it is about the launch, or about the course of a run."""
    member: str = ""
    """The member of a request that it spares the target; "": none."""
    probe: Mapping[str, Any] = field(default_factory=dict)
    """The members with which a target is asked whether it takes them."""
    instead: str = ""
    """The name under which the member is sent instead; "": it is left out."""


STREAM_FALSE = WayRound(
    name="stream-false",
    fault="without `stream` a stream comes",
    recognised="A request for a text without `stream` is answered by a stream, and one with `stream: false` is not.",
    taken="with `stream: false` written out",
    change=_with({"stream": False}),
)
ONLY_STREAMS = WayRound(
    name="only-streams",
    fault="what asks for no stream is refused",
    recognised="A request for a text is refused by name of `stream`, and the same for a stream is answered.",
    taken="by streams alone: whole answers are absent",
    change=_streamed,
)
STORE_FALSE = WayRound(
    name="store-false",
    fault="what does not say `store: false` is refused",
    recognised="A request for a text is refused by name of `store`.",
    taken="with `store: false`",
    surfaces=RESPONSES,
    change=_with({"store": False}),
    member="store",
)
INSTRUCTIONS = WayRound(
    name="instructions",
    fault="what has no `instructions` is refused",
    recognised="A request for a text is refused by name of `instructions`.",
    taken="with `instructions` in each request",
    surfaces=RESPONSES,
    change=_with({"instructions": SAID}),
    member="instructions",
)
WITHOUT_PARALLEL = WayRound(
    name="without-parallel-tool-calls",
    fault="`parallel_tool_calls` is refused",
    recognised="A request for a text fails with the member, and does not without it.",
    taken="without `parallel_tool_calls: true`, which is the default",
    change=_in_parallel,
    member="parallel_tool_calls",
    probe={"parallel_tool_calls": True},
)
OTHER_LIMIT = WayRound(
    name="max-completion-tokens",
    fault="`max_tokens` is refused",
    recognised="A request for a text fails with the member, and does not without it.",
    taken="with `max_completion_tokens` for `max_tokens`",
    surfaces=CHAT,
    change=_renamed("max_tokens", "max_completion_tokens"),
    member="max_tokens",
    probe={"max_tokens": 4096},
    instead="max_completion_tokens",
)
OLDER_LIMIT = WayRound(
    name="max-tokens",
    fault="`max_completion_tokens` is refused",
    recognised="A prompt to a live model is refused by name of the member.",
    taken="with `max_tokens` for `max_completion_tokens`",
    surfaces=CHAT,
    change=_renamed("max_completion_tokens", "max_tokens"),
    member="max_completion_tokens",
    instead="max_tokens",
)
WITHOUT_LIMIT = WayRound(
    name="without-limit",
    fault="every limit of tokens is refused",
    recognised="A prompt to a live model is refused by both names of the limit.",
    taken="without a limit of tokens",
    change=_without("max_output_tokens"),
    member="max_output_tokens",
)
WITHOUT_TEMPERATURE = WayRound(
    name="without-temperature",
    fault="`temperature` is refused",
    recognised="A request for a text fails with the member, and does not without it.",
    taken="without `temperature`",
    change=_without("temperature"),
    member="temperature",
    probe={"temperature": 0.5},
)
_WITHOUT = tuple(
    WayRound(
        name=f"without-{member.replace('_', '-')}",
        fault=f"`{member}` is refused",
        recognised="A prompt to a live model is refused by name of the member.",
        taken=f"without `{member}`",
        surfaces=CHAT,
        change=_without(member),
        member=member,
    )
    for member in DISPENSABLE
    if member not in {*LIMITS, WITHOUT_PARALLEL.member}
)
"""The ways of the other members that a request can do without."""
SYSTEM = WayRound(
    name="developer-as-system",
    fault="a developer message is refused",
    recognised="A request for a text fails with such a message before it, and does not without it.",
    taken="with developer messages as system messages",
    change=_as_system,
    member="developer",
    probe={"developer": "Be brief."},
)
FEWER_JOBS = WayRound(
    name="fewer-jobs",
    fault="more at once are refused",
    recognised="An exchange beside others gets 429 or 503, or no connection; each such refusal halves the number.",
    taken="with fewer exchanges at a time",
)
FRESH_INSTANCE = WayRound(
    name="fresh-instance",
    fault="the proxy died, took no more requests, or answered none",
    recognised="The process ends; or one request alone is refused for lack of capacity, or gets no answer, and neither"
    " does a plain one after it.",
    taken="with a fresh instance of the launched proxy",
)
CODEX_ON_PATH = WayRound(
    name="codex-on-path",
    fault="the proxy does not start what `CODEX_BIN` names",
    recognised="The command `codex` is run that Wireproof has put on the `PATH` of the launched proxy.",
    taken="with the mock as the `codex` on its `PATH`",
)
MODEL_BY_HAND = WayRound(
    name="model-by-hand",
    fault="the list of models names none",
    recognised="`GET /models` fails or is empty, and no `--model` is given.",
    taken="with a usual name of a model",
)
OTHER_HEALTH = WayRound(
    name="other-health-path",
    fault="the list of models fails",
    recognised="`GET /models` of a launched proxy is a server's error for some seconds.",
    taken="as ready since another path answers",
)

WAYS = (
    STREAM_FALSE, ONLY_STREAMS, STORE_FALSE, INSTRUCTIONS, WITHOUT_PARALLEL, OTHER_LIMIT, OLDER_LIMIT, WITHOUT_LIMIT,
    *_WITHOUT, WITHOUT_TEMPERATURE, SYSTEM, FEWER_JOBS, FRESH_INSTANCE, CODEX_ON_PATH, MODEL_BY_HAND, OTHER_HEALTH,
)  # fmt: skip
"""All of them, in the order of reports."""
REFUSALS = (STORE_FALSE, INSTRUCTIONS)
"""What a target may want that a plain request does not have."""
SPARED = tuple(one for one in WAYS if one.probe)
"""What a target may refuse that requests have in passing."""
_BY_NAME = {one.name: one for one in WAYS}


def way_of(taken: WayTaken) -> WayRound:
    """The line of a way that was taken."""
    return _BY_NAME[taken.name]


def of_adjustment(member: str, adjustment: Adjustment) -> WayTaken:
    """The way by which requests to a live model do without a member."""
    ways = (one for one in WAYS if one.member == member and one.instead == adjustment.instead)
    said = f"HTTP {adjustment.status}: {adjustment.message}"
    return WayTaken(name=next(ways, WITHOUT_LIMIT).name, answer=said)


def ways_of(target: Target) -> tuple[WayTaken, ...]:
    """All ways that were taken, those of a live run too."""
    return (*target.ways, *(of_adjustment(*one) for one in target.adjusted.items()))


def sentence(taken: WayTaken) -> str:
    """What a report says of a way that was taken."""
    way = way_of(taken)
    said = f" ({taken.answer})" if taken.answer else ""
    return f"judged {way.taken}, since {way.fault}{said}"


# Which requests


def written(body: bytes, scenario: Scenario, surface: Surface, mode: Mode, target: Target) -> bytes:
    """The body of a scenario's request as the target takes it; itself where no way that was taken changes it."""
    members = json_object(body) if target.ways else None
    changed = None if members is None else changed_members(members, scenario, surface, mode, target)
    return body if changed is members else json.dumps(changed, ensure_ascii=False).encode(errors="backslashreplace")


def changed_members(
    members: JsonObject, scenario: Scenario, surface: Surface, mode: Mode, target: Target
) -> JsonObject:
    """The same of a body that is read already."""
    for taken in target.ways:
        way = way_of(taken)
        shows = taken.surface is not surface or scenario.name in taken.shown_by
        if not shows and _is_meant(way, mode) and _changes(way, scenario):
            members = way.change(members)
    return members


def _is_meant(way: WayRound, mode: Mode) -> bool:
    """Whether a way is about requests for answers of this mode."""
    return way not in {STREAM_FALSE, ONLY_STREAMS} or mode is Mode.WHOLE


def _changes(way: WayRound, scenario: Scenario) -> bool:
    """Whether a way changes requests of a scenario, if they have what it is about."""
    if isinstance(scenario, ConversationScenario):
        return way is not ONLY_STREAMS
    # Plain requests have a member because they are about it. And what is not stored cannot be continued, nor what came
    # as a stream be compared with what is stored.
    return way in {STREAM_FALSE, ONLY_STREAMS, *REFUSALS} and not (
        way in {STORE_FALSE, ONLY_STREAMS} and _keeps(scenario)
    )


def _keeps(scenario: PlainScenario) -> bool:
    """Whether its requests need that a response is stored."""
    return any(one.continues for one in scenario.requests)


def only_streams(surface: Surface, target: Target) -> bool:
    """Whether a surface refuses to answer but by a stream."""
    return any(one.surface is surface and way_of(one) is ONLY_STREAMS for one in target.ways)


def absent_forms(scenario: Scenario, target: Target) -> dict[Surface, str]:
    """The surfaces whose whole answers to a scenario are absent → why."""
    if isinstance(scenario, PlainScenario):
        return {}
    return {
        taken.surface: f"the target only streams: {taken.answer}"
        for taken in target.ways
        if way_of(taken) is ONLY_STREAMS and taken.surface and scenario.name not in taken.shown_by
    }


def with_witnesses(target: Target, scenarios: Iterable[Scenario], body_of: Callable[..., bytes]) -> Target:
    """The target with the scenarios that are driven without each way round, and so show its fault.

    Args:
        target: A target past its preflight.
        scenarios: All that are driven.
        body_of: The body of the first request of a conversation in a form.
    """
    every = [one for one in scenarios if isinstance(one, ConversationScenario)]
    ways = tuple(replace(one, shown_by=_witnesses(one, target, every, body_of)) for one in target.ways)
    return replace(target, ways=ways)


def _witnesses(
    taken: WayTaken, target: Target, every: Sequence[ConversationScenario], body_of: Callable[..., bytes]
) -> tuple[str, ...]:
    """Scenarios of different subjects whose requests a way changes."""
    found: dict[str, str] = {}
    # Those of few requirements first, since what else they are about is not seen. What differs from others in one thing
    # only would be found under the name of that.
    plain = sorted((one for one in every if one.attribute_to is None), key=lambda one: len(one.exercises))
    for scenario in plain if taken.surface else ():
        forms = scenario.forms(target.dialects)
        if scenario.exercises[0] not in found and any(shows(taken, body_of(scenario, one), one) for one in forms):
            found[scenario.exercises[0]] = scenario.name
        if len(found) == (1 if way_of(taken) in SPARED else WITNESSES):
            break
    return tuple(found.values())


def shows(taken: WayTaken, body: bytes, form: Form) -> bool:
    """Whether a request with this body, sent in this form, would be changed by a way: it shows the fault."""
    way = way_of(taken)
    if form.dialect.spec.surface is not taken.surface or not _is_meant(way, form.mode):
        return False
    members = json_object(body)
    return members is not None and way.change(members) is not members
