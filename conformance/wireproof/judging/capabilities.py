"""Which capabilities a target served, refused or ignored, as recorded runs show it.

Pure, and of recorded bytes alone, so that a saved run gives the same table. Only requests that are right are looked at:
turns of conversations, and plain requests that a success is due to. What cannot be seen in an answer (whether an image
reached the backend that does not say so) is "not seen".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from wireproof.judging.checks.live_answers import cut_short
from wireproof.model.capability import Absence, Capability, Use
from wireproof.model.dialect import Surface
from wireproof.model.scenario import Mode
from wireproof.model.transcript import End
from wireproof.wire.events import TokenUsage
from wireproof.wire.fields import json_object, list_of, object_of, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from wireproof.judging.outcomes import ScenarioRun
    from wireproof.reading.exchange import Exchange

REFUSALS = frozenset({400, 404, 422, 501})
"""Statuses of a plain refusal."""
DEMANDS = frozenset({Capability.FORCED_TOOL_CHOICE, Capability.STRUCTURED_OUTPUT})
"""Capabilities that an answer may keep by chance: one that does not shows that they are ignored."""
_JSON_FORMATS = frozenset({"json_object", "json_schema"})
_IMAGES = frozenset({"image_url", "input_image", "image"})
_NOT_FORCING = frozenset({"auto", "none"})
"""The types of an object `tool_choice` that force no call (Messages)."""


def uses(runs: Iterable[ScenarioRun]) -> Mapping[Surface, Mapping[Capability, Use]]:
    """What the target did with each capability, by surface; surfaces that no request went to are left out."""
    seen: dict[Surface, dict[Capability, dict[Mode, set[Use]]]] = {}
    for exchange in _exchanges(runs):
        of_surface = seen.setdefault(surface_of(exchange), {})
        for capability in asked_for(exchange):
            of_mode = of_surface.setdefault(capability, {}).setdefault(exchange.mode, set())
            of_mode.add(_use(exchange, capability))
    return {
        surface: {one: _summed(one, found.get(one, {})) for one in Capability if surface in one.surfaces}
        for surface, found in seen.items()
    }


def _summed(capability: Capability, found: Mapping[Mode, set[Use]]) -> Use:
    """What all answers together show. What one mode serves is not ignored because the other one does without it."""
    demanded = capability in DEMANDS
    return _best({Use.IGNORED if demanded and Use.IGNORED in those else _best(those) for those in found.values()})


def _best(found: set[Use]) -> Use:
    # One that was served once is served, however often it was refused: the refusals were of a value, not of the field.
    return next(use for use in Use if use in {*found, Use.NOT_SEEN})


def absences(runs: Iterable[ScenarioRun]) -> Mapping[Capability, Absence]:
    """The capabilities that the target plainly refuses.

    That is with 400, 404, 422 or 501, an error envelope, and a `param` or message that names the field which the
    request carried. A capability that any answer on the same surface served is not among them. `Absence.surfaces` says
    where it is refused: a scenario whose requests need a capability (`asked_for`) is not applicable there.
    """
    runs = tuple(runs)
    state, found = uses(runs), dict[Capability, Absence]()
    for exchange in _exchanges(runs):
        surface = surface_of(exchange)
        for capability in asked_for(exchange):
            refused = refusal(exchange, capability)
            if refused is None or state[surface][capability] is not Use.REFUSED:
                continue
            known = found.get(capability)
            surfaces = (known.surfaces if known else frozenset[Surface]()) | {surface}
            status, message, field = refused
            found[capability] = Absence(
                capability=capability, surfaces=surfaces,
                status=known.status if known else status,
                message=known.message if known else message,
                field=known.field if known else field,
            )  # fmt: skip
    return found


def asked_for(exchange: Exchange) -> tuple[Capability, ...]:
    """The capabilities that the request of an exchange asks for, as it was sent; none for a request that is wrong."""
    if not _due(exchange):
        return ()
    body = exchange.sent
    surface = surface_of(exchange)
    return tuple(one for one in Capability if surface in one.surfaces and _ASKS[one](body))


def refusal(exchange: Exchange, capability: Capability) -> tuple[int, str, str] | None:
    """The status, the message and the named field, where the answer plainly refuses a capability; None where not."""
    status = exchange.transcript.status
    if status not in REFUSALS:
        return None
    error = exchange.came.get("error")
    if not isinstance(error, dict) or not isinstance(error.get("message"), str):
        return None
    message, param = error["message"], error.get("param")
    field = next((one for one in capability.fields if _names(one, param or None, message)), None)
    return None if field is None else (status, " ".join(message.split()), field)


def _names(field: str, param: object, message: str) -> bool:
    """Whether an error names a field: by its `param` if it has one, else by a word of its message."""
    if isinstance(param, str):
        return field in re.split(r"[.\[\]]+", param) or field.startswith(f"{param}.") or param.startswith(field)
    return re.search(rf"(?<![\w'.-]){re.escape(field)}(?![\w'-])", message, re.IGNORECASE) is not None


def _exchanges(runs: Iterable[ScenarioRun]) -> Iterator[Exchange]:
    """All exchanges; of those by which nothing is judged the plain refusals alone."""
    for run in runs:
        for exchanges in run.exchanges.values():
            yield from exchanges
        for exchanges in run.set_aside.values():
            yield from (one for one in exchanges if any(refusal(one, asked) for asked in asked_for(one)))


def surface_of(exchange: Exchange) -> Surface:
    """The surface that an exchange was sent to: plain requests name theirs by the path alone."""
    path = exchange.transcript.url.partition("?")[0]
    return next((one for one in Surface if one.endpoint in path), exchange.form.dialect.spec.surface)


def _due(exchange: Exchange) -> bool:
    """Whether the request is right, so that a refusal of it is one of what it asks for."""
    if exchange.turn is not None:
        return True
    return exchange.request is not None and exchange.request.succeeds


def _parts(body: Mapping[str, Any]) -> Iterator[object]:
    """The parts of all contents of a request, of any surface."""
    for name in ("messages", "input"):
        for message in list_of(body.get(name)):
            yield from list_of(object_of(message).get("content"))


def _forces(choice: object) -> bool:
    """Whether a `tool_choice` asks for a call."""
    return choice == "required" or (isinstance(choice, dict) and text_of(choice.get("type")) not in _NOT_FORCING)


_ASKS: Mapping[Capability, Callable[[Mapping[str, Any]], bool]] = {
    Capability.STREAMS: lambda body: body.get("stream") is True,
    Capability.USAGE_IN_STREAMS: lambda body: (
        body.get("stream") is True and object_of(body.get("stream_options")).get("include_usage") is True
    ),
    Capability.CALLS: lambda body: bool(body.get("tools") or body.get("functions")),
    Capability.FORCED_TOOL_CHOICE: lambda body: _forces(body.get("tool_choice")),
    Capability.SEVERAL_CHOICES: lambda body: isinstance(body.get("n"), int) and body["n"] > 1,
    Capability.STRUCTURED_OUTPUT: lambda body: (
        text_of(object_of(body.get("response_format")).get("type")) in _JSON_FORMATS
        or text_of(object_of(object_of(body.get("text")).get("format")).get("type")) in _JSON_FORMATS
        or text_of(object_of(object_of(body.get("output_config")).get("format")).get("type")) in _JSON_FORMATS
    ),
    Capability.STOP_SEQUENCES: lambda body: bool(body.get("stop_sequences")),
    Capability.IMAGES: lambda body: any(text_of(object_of(part).get("type")) in _IMAGES for part in _parts(body)),
    Capability.PREVIOUS_RESPONSE: lambda body: isinstance(body.get("previous_response_id"), str),
}
"""Capability → whether a request asks for it."""


def _use(exchange: Exchange, capability: Capability) -> Use:
    """What one answer shows of a capability that its request asked for."""
    if refusal(exchange, capability) is not None:
        return Use.REFUSED
    if not exchange.transcript.ok:
        return Use.NOT_SEEN
    shown = _SHOWS[capability](exchange)
    return Use.NOT_SEEN if shown is None else Use.SERVED if shown else Use.IGNORED


def _streams(exchange: Exchange) -> bool | None:
    if exchange.reading is None:
        return None
    # An answer of choices came in frames: those of a large one are not at hand.
    said = exchange.mode is Mode.STREAM and exchange.answer.choices
    if said or any(frame.data is not None for frame in exchange.reading.frames):
        return True
    # A body without a single frame: JSON that came at once. No body at all shows nothing, nor does an error.
    return False if exchange.transcript.body.strip() and "error" not in exchange.came else None


def _usage(exchange: Exchange) -> bool | None:
    if exchange.reading is None or not _ended(exchange):
        return None
    return any(isinstance(event, TokenUsage) for event in exchange.reading.events)


def _calls(exchange: Exchange, *, due: bool) -> bool | None:
    if exchange.reading is None:
        return None
    return True if exchange.answer.calls else False if due and _ended(exchange) else None


def _choices(exchange: Exchange) -> bool | None:
    if exchange.reading is None or not _ended(exchange):
        return None
    return len(exchange.answer.choices) >= int(exchange.sent["n"])


def _structured(exchange: Exchange) -> bool | None:
    if exchange.reading is None or not exchange.answer.choices or not _ended(exchange):
        return None
    answer = json_object(exchange.choice().text or "") or {}
    # What a backend reports is JSON in any case; the schema that it received is not.
    reports = any(wanted.text is None for wanted in exchange.wanted)
    return answer.get("schema") is not None if reports else bool(answer)


def _stops(exchange: Exchange) -> bool | None:
    if exchange.reading is None or not _ended(exchange):
        return None
    if any(stop in (exchange.choice().text or "") for stop in exchange.terms.stops):
        return False
    # An answer in which none of them comes up shows nothing.
    return True if any(wanted.stop for wanted in exchange.wanted) else None


def _images(exchange: Exchange) -> bool | None:
    # Only a backend that reports what it received shows whether it received them.
    if exchange.reading is None or not any(wanted.text is None for wanted in exchange.wanted):
        return None
    sent = exchange.turn.images if exchange.turn else ()
    text = exchange.choice().text or ""
    return all(image in text for image in sent) if sent and text else None


def _previous(exchange: Exchange) -> bool | None:
    body = exchange.came
    if body.get("object") != "response":
        return None
    asked = exchange.sent
    return bool(body.get("previous_response_id") == asked["previous_response_id"])


def _ended(exchange: Exchange) -> bool:
    """Whether the answer came to its end, so that what is not in it was left out; one that was cut says no more."""
    return exchange.transcript.end is End.COMPLETE and exchange.answer.error is None and not cut_short(exchange)


_SHOWS: Mapping[Capability, Callable[[Exchange], bool | None]] = {
    Capability.STREAMS: _streams,
    Capability.USAGE_IN_STREAMS: _usage,
    # A model need not call a tool that it is offered; a script that calls one is followed.
    Capability.CALLS: lambda exchange: _calls(exchange, due=any(wanted.calls for wanted in exchange.wanted)),
    Capability.FORCED_TOOL_CHOICE: lambda exchange: _calls(exchange, due=True),
    Capability.SEVERAL_CHOICES: _choices,
    Capability.STRUCTURED_OUTPUT: _structured,
    Capability.STOP_SEQUENCES: _stops,
    Capability.IMAGES: _images,
    Capability.PREVIOUS_RESPONSE: _previous,
}
"""Capability → whether an answer serves it; None: the answer does not show that."""
