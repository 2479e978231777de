"""Why a target cannot be driven that gave no text: one sentence for a person, with what would be right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof.model.transcript import End
from wireproof.targets.detection import SERVER_ERROR, Route, is_there, seen
from wireproof.targets.lasting import NO_ENTRY, lasting
from wireproof.targets.recognition import error_of, is_page, shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wireproof.model.dialect import Surface
    from wireproof.model.target import Target
    from wireproof.targets.detection import Sighting
    from wireproof.targets.probe import ProbeAnswer


def barred(answer: ProbeAnswer, target: Target) -> str:
    """Why whoever asks is not let in; "": an answer that says nothing of that."""
    error = error_of(answer.body)
    why = lasting(answer.status, error)
    if not why and answer.status not in NO_ENTRY:
        return ""
    wants = "another key than the one given" if target.api_key else "a key; name its variable with --api-key-env"
    said = f" ({shown(str(error['message']).encode(errors='replace'))})" if error and "message" in error else ""
    return f"{answer.url} refuses with {answer.status}: {why or f'it wants {wants}'}{said}"


def no_model(answer: ProbeAnswer, target: Target) -> str:
    """Why a plain request for the model is refused as unknown."""
    asked = f"to a plain request for the model {target.model!r}"
    return f"{answer.url} answers {seen(answer)} {asked}; name one with --model"


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
    return f"{what}, so no model is known; name one with --model"


def is_mute(sightings: Mapping[Surface, Sighting]) -> bool:
    """Whether no response head came from any route: the server may speak something else than HTTP."""
    return all(one.answer.status is None for one in sightings.values())


def no_http(target: Target, sightings: Mapping[Surface, Sighting]) -> str:
    """What a server did that answers no request as HTTP."""
    return f"{target.base_url} does not speak HTTP as it should: {_each(sightings)}"


def no_api(target: Target, sightings: Mapping[Surface, Sighting]) -> str:
    """What the routes answered of a server without such an API."""
    return f"{target.base_url} is no OpenAI-compatible API: {_each(sightings)}{_hint(target)}"


def no_text(target: Target, sightings: Mapping[Surface, Sighting]) -> str:
    """Why a target is not driven that is such an API, gave no text, and may be paid for what it is asked."""
    one = next((one for one in sightings.values() if is_there(one)), next(iter(sightings.values())))
    status = one.answer.status
    if status is None:
        why = "it has to answer a plain request for a text before it can be judged"
    elif status >= SERVER_ERROR:
        why = "it fails, also when it is asked again; its own log says why"
    elif one.route is Route.REFUSES:
        why = "it has to take a plain request for a text before it can be judged"
    else:
        why = "that is no text of such an API"
    # With the mock behind it, a proxy that fails at every request is judged all the same: those are findings.
    return (
        f"{target.base_url} gives no text: {_each(sightings)}; {why}"
        " (--backend declares a mock, whose failures are judged)"
    )


def _each(sightings: Mapping[Surface, Sighting]) -> str:
    """What each route answered."""
    return "; ".join(f"POST {surface.endpoint}: {seen(one.answer)}" for surface, one in sightings.items())


def _hint(target: Target) -> str:
    # Without /v1 the address may be that of a server's web page.
    return "" if target.base_url.rstrip("/").endswith("/v1") else "; did you mean a URL that ends in /v1?"
