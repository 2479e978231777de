"""Plain requests: how they are written for a target, and whether an answer shows what the scenario is about."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import quote

from wireproof.model.dialect import Surface
from wireproof.model.scenario import LISTED, RESPONSE, PlainScenario, Request
from wireproof.model.target import ASKS_FOR_NO_KEY, Backend, Missing, root_of
from wireproof.requests.carried import address, carried_headers
from wireproof.wire.fields import json_object, json_of, list_of, object_of, text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wireproof.model.scenario import JsonObject, Scenario
    from wireproof.model.target import Target
    from wireproof.model.transcript import Transcript
    from wireproof.reading.exchange import Exchange

MODEL = "{model}"
"""The placeholder for the target's model, in paths and bodies."""
TOO_MANY_REQUESTS = 429


class UnseenError(Exception):
    """This target does not show what the scenario is about; the message says why.

    `shown` are the exchanges that show it, where there are any.
    """

    def __init__(self, reason: str, shown: Sequence[Exchange] = ()) -> None:
        """For this reason, which these exchanges show."""
        super().__init__(reason)
        self.shown = tuple(shown)


class UnknownHeaderError(UnseenError):
    """The target does not know a header of its own that the scenario is about, and owes it nothing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PreparedRequest:
    """A plain request ready to be sent."""

    method: str
    """The HTTP method."""
    url: str
    """The absolute URL."""
    headers: Mapping[str, str]
    """What each request to the target carries, and the request's own headers, which replace that."""
    body: bytes
    """The body, padded if the request asks for that."""


def following(request: Request, said: Sequence[Transcript], model: str) -> Request | None:
    """The request after these answers: its placeholder replaced by the id of the last response among them.

    Or by that of a listed model which is not the target's, `model`; None where there is none.

    None if it has the placeholder and no answer has a response: what it is to continue is not there.
    """
    if LISTED in request.path:
        other = _listed(said, model)
        return replace(request, path=request.path.replace(LISTED, other)) if other else None
    if not request.continues:
        return request
    known = [response_id(transcript) for transcript in said]
    last = next((one for one in reversed(known) if one), "")
    if not last:
        return None
    json_ = None if request.json is None else _named(request.json, last)
    return replace(request, path=request.path.replace(RESPONSE, last), json=json_)


def _listed(said: Sequence[Transcript], model: str) -> str:
    """The last model of the last list that is not this one, as it stands in a path; "" where there is none."""
    lists = [list_of((json_object(transcript.body) or {}).get("data")) for transcript in said]
    names = (text_of(object_of(one).get("id")) for one in (lists[-1] if lists else ()))
    others = [one for one in names if one and one != model]
    return quote(others[-1], safe="/:@+") if others else ""


def response_id(transcript: Transcript) -> str:
    """The id of a message, or of a response in a body or in the first frame of a stream; "" if there is none."""
    lines = transcript.body.splitlines()
    texts = [transcript.body, *(line.removeprefix(b"data:") for line in lines if line.startswith(b"data:"))]
    return next((id_ for one in texts if (id_ := _id_in(one))), "")


def _id_in(text: bytes) -> str:
    match json_of(text):
        # By its output, too: one without `object` is a response all the same, and that is found where it is judged.
        case {"object": "response", "id": str(id_)} | {"output": [*_], "id": str(id_)} | {"response": {"id": str(id_)}}:
            return id_
        case {"type": "message", "content": [*_], "id": str(id_)}:
            return id_
        case _:
            return ""


def _named(value: JsonObject, response: str) -> JsonObject:
    """A body with the id of a response in place of the placeholder."""
    return {
        name: _named(inner, response) if isinstance(inner, Mapping) else response if inner == RESPONSE else inner
        for name, inner in value.items()
    }


def prepare(request: Request, target: Target) -> PreparedRequest:
    """The request as it is sent to a target."""
    base = (target.unready_url or "") if request.unready else target.base_url
    stem = root_of(base) if request.root else base.rstrip("/")
    keyed = target if request.key_style is None else replace(target, key_style=request.key_style)
    return PreparedRequest(
        method=request.method,
        url=address(stem + request.path.replace(MODEL, target.model), target, request.auth),
        headers={**carried_headers(keyed, request.auth), **_of_surface(request), **request.headers},
        body=_padded(_body(request, target.model), request.padding, target.body_limit),
    )


def _of_surface(request: Request) -> Mapping[str, str]:
    """The headers that a request to a surface has."""
    path = request.path.partition("?")[0]
    return next((one.headers for one in Surface if path.startswith(one.endpoint)), {})


def _body(request: Request, model: str) -> bytes:
    if request.json is not None:
        return json.dumps(_filled(request.json, model), ensure_ascii=False).encode(errors="backslashreplace")
    # The body is JSON as text, perhaps broken on purpose: the model is written as inside a JSON string, without quotes.
    return request.body.replace(MODEL.encode(), json.dumps(model)[1:-1].encode())


def _filled(value: object, model: str) -> object:
    match value:
        case {}:
            # `...` leaves a member out that a shared body has.
            return {name: _filled(inner, model) for name, inner in value.items() if inner is not ...}
        case list() | tuple():
            return [_filled(inner, model) for inner in value]
        case _:
            return model if value == MODEL else value


def _padded(body: bytes, padding: int, limit: int | None) -> bytes:
    if padding and limit is not None:
        padding = max(limit + 1 - len(body), 0)
    return _with_spaces(body, padding) if padding else body


# Made once: several scenarios send the same megabytes, and a run keeps what it sent.
@lru_cache(maxsize=4)
def _with_spaces(body: bytes, padding: int) -> bytes:
    # Spaces behind JSON are still JSON (RFC 8259, section 2): nothing but the size is wrong.
    return body + b" " * padding


def unsupported_reason(scenario: Scenario, target: Target) -> str:
    """Why the plain requests of a scenario cannot be sent to this target; "" when they can."""
    if not isinstance(scenario, PlainScenario):
        return ""
    requests = scenario.requests
    if target.api_key is None and any(one.is_about_keys for one in requests):
        return ASKS_FOR_NO_KEY
    if target.unready_url is None and any(request.unready for request in requests):
        return "only a proxy that Wireproof starts can be seen with a backend that is not ready"
    if target.slots is None and any(request.full for request in requests):
        return "how many turns the target runs at once is not known; declare it with --slots N"
    # Such a backend can only be asked in words for a call, and the mock's default answer does not obey.
    if Missing.TOOLS in target.missing and any(_demands_call(request) for request in requests):
        return f"this Codex {Missing.TOOLS}"
    return ""


def _demands_call(request: Request) -> bool:
    choice = (request.json or {}).get("tool_choice")
    return choice == "required" or isinstance(choice, dict)


def examine(request: Request, transcript: Transcript, target: Target) -> None:
    """Make sure that an answer shows what the request is about.

    Raises:
        UnseenError: it does not: the target accepts what only a declared limit would make it refuse, or does not know
            the header that was sent.
    """
    # A refusal shows the rule, whatever the limit is.
    if request.padding and transcript.ok and target.body_limit is None:
        raise UnseenError(
            f"a body of {len(transcript.request_body):,} bytes is below the target's limit, which is not known; "
            "declare it with --body-limit BYTES"
        )
    examine_header(request.requires_echo, transcript, target)


def examine_header(name: str, transcript: Transcript, target: Target) -> None:
    """Make sure that the target knows a header of its own that it was sent ("" checks nothing): its successes echo it.

    Raises:
        UnknownHeaderError: it answered with success and without that header.
    """
    if not name or not transcript.ok:
        return
    sent = {key.lower(): value for key, value in transcript.request_headers}.get(name)
    echoed = transcript.header(name)
    # A gateway may hand on the header of an upstream that has not seen the request's: then the value is another one.
    foreign = target.backend is Backend.ENDPOINT and echoed != sent
    if echoed is None or foreign:
        raise UnknownHeaderError(f"the target does not echo {name}, so it does not know that header")
