"""Which surfaces a target serves, found by what answers to a plain request for a text. Nothing is sent here.

A surface is spoken when its route gives a text answer, whole or streamed, right or wrong in its form; calls have no
part in it. One whose route answers with success is there, too, whatever its body is: what is wrong with that is judged.
Where no surface is spoken, one whose route is there all the same (it fails, refuses, hangs) is judged: those are
findings. One that a person names is judged whatever it answers. `Route` is what one route did, `surfaces_of` what that
makes of all of them. Why a target cannot be driven that gave no text is one sentence for a person, with what would be
right.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from wireproof.model.target import Backend, SurfaceReport, SurfaceState
from wireproof.model.transcript import End
from wireproof.targets.recognition import NO_ENTRY, Recognised, error_of, is_data, is_page, lasting, recognise, shown
from wireproof.targets.validity import usual_base

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wireproof.model.dialect import Surface
    from wireproof.model.scenario import Mode
    from wireproof.model.target import Target
    from wireproof.targets.probe import ProbeAnswer

BAD_REQUEST = 400
"""The lowest status that says that a request failed."""
NOT_FOUND = 404
TOO_MANY_REQUESTS = 429
SERVER_ERROR = 500
"""The lowest status that says that the server is to blame."""
NO_ROUTE = frozenset({404, 405, 410, 501})
"""Statuses of a server that has nothing at an address."""
NAMING_MODEL = frozenset({400, 404, 422})
"""Statuses with which an unknown model is refused."""


class Route(StrEnum):
    """What the route of a surface did with a request for a text."""

    TEXT = "text"
    """It answered."""
    FAILS = "fails"
    """It is there and gave no answer: a server's error, a closed connection, silence, a redirect, no capacity."""
    REFUSES = "refuses"
    """It is there and takes no such request."""
    LOCKED = "locked"
    """It lets no one in with this key, from this region, or of this account."""
    NO_MODEL = "no model"
    """It does not know the model."""
    ODD = "odd"
    """It answered with success, and what came has not the form of this surface."""
    NOTHING = "nothing"
    """There is no such route, or what is there is a page for a browser."""


DOUBTFUL = frozenset({Route.FAILS, Route.REFUSES})
"""What a route may do with a whole answer alone: it is asked for a stream, too."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sighting:
    """What was seen of a surface."""

    route: Route
    answer: ProbeAnswer
    """The answer that showed it."""
    mode: Mode
    """How the answer was asked for."""
    recognised: Recognised | None
    """What came; None where the route is not TEXT."""

    @property
    def text(self) -> str:
        """The text that came."""
        return self.recognised.text if self.recognised is not None else ""


def sighting(answer: ProbeAnswer, surface: Surface, mode: Mode, model: str) -> Sighting:
    """What an answer to a request for a text shows of its route."""
    recognised = recognise(answer.body, surface) if answer.ok else None
    route = Route.TEXT if recognised is not None else _route(answer, model)
    return Sighting(route=route, answer=answer, mode=mode, recognised=recognised)


def _route(answer: ProbeAnswer, model: str) -> Route:
    """What a route did that gave no answer of its surface."""
    status, error = answer.status, error_of(answer.body)
    # Before the body: whatever page comes with it, that a key is missing is worth more.
    if status in NO_ENTRY or (not answer.ok and lasting(status, error)):
        return Route.LOCKED
    if status is None:
        return Route.FAILS
    if answer.ok:
        # An error that was sent as a success, and an answer that broke off, are of this API all the same.
        fails = error is not None or not answer.body.strip() or answer.end is not End.COMPLETE
        return Route.FAILS if fails and not is_page(answer.body) else Route.ODD
    if error is not None and _unknown_model(status, error, model):
        return Route.NO_MODEL
    refused = BAD_REQUEST <= status < SERVER_ERROR and status != TOO_MANY_REQUESTS
    if status in NO_ROUTE or (refused and is_page(answer.body)):
        return Route.NOTHING
    return Route.REFUSES if refused else Route.FAILS


def _unknown_model(status: int, error: Mapping[str, object], model: str) -> bool:
    """Whether a refusal says that the model is unknown: by its code or field, or by the model's name in a 404."""
    if status in NAMING_MODEL and (error.get("code") == "model_not_found" or error.get("param") == "model"):
        return True
    # As a word of its own: a model called `m` is in most messages. Other refusals name the model in passing.
    named = re.search(rf"(?<![\w-]){re.escape(model)}(?![\w-])", str(error.get("message")))
    return status == NOT_FOUND and named is not None


def is_there(one: Sighting) -> bool:
    """Whether a route that gave no text is of this API all the same, so that what it does is judged."""
    return one.route in DOUBTFUL or (one.route is Route.ODD and is_data(one.answer.body))


def surfaces_of(sightings: Mapping[Surface, Sighting], *, named: bool) -> dict[Surface, SurfaceReport]:
    """What the sightings make of each surface; none is judged where there is no such API.

    `named`: a person has named these surfaces, so each is judged whatever it answers.
    """
    spoken = any(one.route is Route.TEXT for one in sightings.values())
    return {surface: _report(one, spoken=spoken, named=named) for surface, one in sightings.items()}


def _report(one: Sighting, *, spoken: bool, named: bool) -> SurfaceReport:
    """What is known of a surface; `spoken`: some surface gives text, so a refusal means that this one is absent."""
    match one.route:
        case Route.TEXT:
            state, reason = SurfaceState.JUDGED, ""
        case Route.ODD if spoken or named or is_there(one):
            state, reason = SurfaceState.JUDGED, f"although its answer has another form: {seen(one.answer)}"
        case Route.FAILS:
            state, reason = SurfaceState.JUDGED, f"although no text came: {seen(one.answer)}"
        case Route.REFUSES if not spoken:
            state, reason = SurfaceState.JUDGED, f"although it refuses a plain request: {seen(one.answer)}"
        case Route.REFUSES | Route.NO_MODEL | Route.NOTHING if named:
            state, reason = SurfaceState.JUDGED, f"as it was asked for, although no text came: {seen(one.answer)}"
        case Route.LOCKED:
            why = lasting(one.answer.status, error_of(one.answer.body)) or "it wants another key"
            state, reason = SurfaceState.NOT_JUDGED, f"{why}: {seen(one.answer)}"
        case Route.REFUSES | Route.NO_MODEL | Route.ODD | Route.NOTHING:
            state, reason = SurfaceState.ABSENT, seen(one.answer)
    answer, text = one.answer, one.route is Route.TEXT
    return SurfaceReport(
        state=state, reason=reason, status=answer.status, said=shown(answer.body),
        first_byte=answer.first_byte if text else None, seconds=answer.seconds if text else None,
    )  # fmt: skip


def refuses(one: Sighting, member: str) -> bool:
    """Whether an answer is a refusal that names a member of the request."""
    answer, error = one.answer, error_of(one.answer.body)
    if error is None or answer.status is None or not BAD_REQUEST <= answer.status < SERVER_ERROR:
        return False
    said = f"{error.get('param') or ''} {error.get('message')}"
    # "Store must be set to false": services write the name as a word of their sentence.
    return re.search(rf"\b{re.escape(member)}\b", said, re.IGNORECASE) is not None


def seen(answer: ProbeAnswer) -> str:
    """What came back, in a few words."""
    if answer.status is None:
        return _NO_HEAD.get(answer.end, "") or f"the connection broke ({answer.fault})"
    location = answer.headers.get("location")
    if location is not None:
        return f"HTTP {answer.status} redirects to {location}; name the URL that it leads to"
    error = error_of(answer.body)
    if error is not None and isinstance(error.get("message"), str):
        return f"HTTP {answer.status} ({shown(str(error['message']).encode(errors='replace'))})"
    what = f" with {answer.kind}" if answer.kind else ""
    if answer.ok and answer.end is not End.COMPLETE:
        return f"HTTP {answer.status}{what}, and then nothing more came"
    return f"HTTP {answer.status}{what}" + ("" if answer.body.strip() else " and an empty body")


_NO_HEAD: Mapping[End, str] = {
    End.TIMEOUT: "no answer came within the limit (--timeout sets it)",
    End.REFUSED: "nothing listens any more",
}


def barred(answer: ProbeAnswer, target: Target) -> str:
    """Why whoever asks is not let in; "": an answer that says nothing of that."""
    error = error_of(answer.body)
    why = lasting(answer.status, error)
    if not why and answer.status not in NO_ENTRY:
        return ""
    wants = "another key than the one given" if target.api_key else "a key; name its variable with --api-key-env"
    said = f" ({shown(str(error['message']).encode(errors='replace'))})" if error and "message" in error else ""
    return f"{answer.url} refuses with {answer.status}: {why or f'it wants {wants}'}{said}"


def no_models(answer: ProbeAnswer, target: Target) -> str:
    """Why there is no list of models, where none was named."""
    if why := barred(answer, target):
        return why
    if answer.status is None and answer.end is End.TIMEOUT:
        return f"{answer.url} gave no answer within {target.timeout:g} s (--timeout sets the limit)"
    if answer.status is None:
        return f"{answer.url} does not speak HTTP as it should: {answer.fault}"
    what = f"{answer.url} answers {seen(answer)}"
    if is_page(answer.body):
        return f"{what}, and that is no OpenAI-compatible API{_hint(target)}"
    hint = _hint(target) if answer.status in NO_ROUTE else ""
    return f"{what}, so no model is known{hint}{' Else' if hint else ';'} name one with --model"


def undrivable(target: Target, sightings: Mapping[Surface, Sighting], *, is_mute: bool) -> str:
    """Why a target is not driven of which no surface gave a text; "": it fails in front of a mock, which is judged.

    `is_mute`: it answers nothing as HTTP, and so may speak something else.
    """
    for one in sightings.values():
        if one.route is Route.LOCKED:
            return barred(one.answer, target)
        if one.route is Route.NO_MODEL:
            asked = f"to a plain request for the model {target.model!r}"
            return f"{one.answer.url} answers {seen(one.answer)} {asked}; name one with --model"
    each = "; ".join(f"POST {surface.endpoint}: {seen(one.answer)}" for surface, one in sightings.items())
    if is_mute:
        return f"{target.base_url} does not speak HTTP as it should: {each}"
    # A surface that a person has named is judged whatever it answers.
    if not (target.dialects or target.wanted or any(map(is_there, sightings.values()))):
        return f"{target.base_url} is no OpenAI-compatible API: {each}{_hint(target)}"
    # With the mock behind it, a proxy that fails at every request is judged all the same: those are findings.
    if target.backend is not Backend.LIVE:
        return ""
    return (
        f"{target.base_url} gives no text: {each}; {_no_text(sightings)}"
        " (--backend declares a mock, whose failures are judged)"
    )


def _no_text(sightings: Mapping[Surface, Sighting]) -> str:
    """What is wrong with a target that is such an API, gave no text, and may be paid for what it is asked."""
    one = next((one for one in sightings.values() if is_there(one)), next(iter(sightings.values())))
    if one.answer.status is None:
        return "it has to answer a plain request for a text before it can be judged"
    if one.answer.status >= SERVER_ERROR:
        return "it fails, also when it is asked again; its own log says why"
    if one.route is Route.REFUSES:
        return "it has to take a plain request for a text before it can be judged"
    return "that is no text of such an API"


def _hint(target: Target) -> str:
    # Without /v1 the address may be that of a server's web page; with an endpoint's path, a person has copied too much.
    base = usual_base(target.base_url)
    return f"; did you mean {base}?" if base else ""
