"""Checks of HTTP itself: error envelopes, routes, keys, bodies, CORS, the order of errors, models, health."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from assay.judging.checks.answered import answered, asked
from assay.reading.exchange import Exchange, violation
from assay.reading.schemas import errors as schema_errors
from assay.wire.fields import JsonObject, object_of
from assay.wire.message import read_error
from assay.wire.violation import Place, Violation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from assay.judging.checks.places import Check

OK = 200

INTERNALS: Mapping[str, re.Pattern[bytes]] = {
    "a stack trace": re.compile(
        rb"Traceback \(most recent|\bat [\w.<>]+ \([^)]*:\d+:\d+\)|File \\?\"[^\"]+\\?\", line \d+"
    ),
    "a path": re.compile(rb"(?<![\w/:.])/(?:home|usr|tmp|var|opt|root|srv|etc|Users|proc)/[\w./-]+|\b[A-Z]:\\\\\w"),
    "a JSON-RPC code": re.compile(rb"-32\d{3}\b"),
    "a process id": re.compile(rb"\bpid[ =:]+\d+", re.IGNORECASE),
    "an address of the backend": re.compile(rb"\b(?:https?|wss?)://(?:127\.0\.0\.1|localhost|\[::1\])"),
    "a key": re.compile(rb"\bsk-[\w-]{8,}|\bBearer (?=[A-Za-z_.-]*\d)[\w.-]{8,}"),
}
"""What → how it looks in a body."""


def error_envelope(exchange: Exchange) -> Iterable[Violation]:
    """Every error under the base URL is the envelope, as JSON."""
    transcript = exchange.transcript
    if transcript.status is None or transcript.ok:
        return
    _, violations = read_error(transcript.body, transcript.header("content-type"))
    yield from violations


def error_no_internals(exchange: Exchange) -> Iterable[Violation]:
    """No error, as HTTP or in a stream, shows what is behind the proxy."""
    for offset, said in _errors(exchange):
        for what, look in INTERNALS.items():
            found = look.search(said)
            if found:
                place = Place(offset=offset + found.start(), length=found.end() - found.start())
                seen = f"the error shows {what}: {found.group().decode(errors='replace')}"
                yield violation("http.error.no-internals", seen, place)
                return


def _errors(exchange: Exchange) -> Iterable[tuple[int, bytes]]:
    if not exchange.transcript.ok:
        yield 0, exchange.transcript.body
    elif exchange.reading is not None:
        yield from ((frame.offset, frame.raw) for frame, payload in exchange.reading.payloads if _fails(payload))


def _fails(payload: JsonObject) -> bool:
    """Whether a frame tells an error: chat's own, an error event, or a response that failed."""
    told = object_of(payload.get("response"))
    return payload.get("type") == "error" or any(one.get("error") is not None for one in (payload, told))


def _models(exchange: Exchange) -> str:
    """What is wrong with a list of models: it is one, and offers the model that is asked for."""
    body, wrong = _json(exchange, "model.list")
    if wrong:
        return wrong
    listed = [model["id"] for model in body["data"]]
    return "" if exchange.target.model in listed else f"{exchange.target.model!r} is served and not listed"


def _model(exchange: Exchange) -> str:
    """What is wrong with one model."""
    body, wrong = _json(exchange, "model")
    if wrong or asked(exchange).expect != OK:
        return "" if asked(exchange).expect != OK else wrong
    named = body["id"]
    return "" if named == exchange.target.model else f"id is {named!r}, it should be {exchange.target.model!r}"


def _json(exchange: Exchange, schema: str) -> tuple[Any, str]:
    """The body, and why it does not match a schema ('' if it does)."""
    try:
        body = json.loads(exchange.transcript.body)
    except ValueError:
        return None, "the body is not JSON"
    return body, next(iter(schema_errors(schema, body)), "")


def _preflight(exchange: Exchange) -> str:
    """What is wrong with the CORS headers, in the eyes of a browser."""
    request, transcript = asked(exchange), exchange.transcript
    origin = request.headers["origin"]
    allowed = transcript.header("access-control-allow-origin")
    if allowed not in {"*", origin}:
        return f"access-control-allow-origin is {allowed!r}, it should be {origin} or *"
    if request.method != "OPTIONS":
        return ""
    methods = _words(transcript.header("access-control-allow-methods"))
    if not {"post", "*"} & methods:
        return f"access-control-allow-methods lists {sorted(methods)}, it should list POST"
    headers = _words(transcript.header("access-control-allow-headers"))
    lacking = _words(request.headers["access-control-request-headers"]) - headers
    # A star covers every header but the one that holds the key.
    lacking &= {"authorization"} if "*" in headers else lacking
    return f"access-control-allow-headers does not list {', '.join(sorted(lacking))}" if lacking else ""


def _words(listed: str | None) -> set[str]:
    return {word.strip().lower() for word in (listed or "").split(",")}


def request_ids(exchanges: Sequence[Exchange]) -> Iterable[Violation]:
    """Each response has an id, and no two have the same."""
    ids = [exchange.transcript.header("x-request-id") for exchange in exchanges]
    for exchange, id_ in zip(exchanges, ids, strict=True):
        if not id_:
            request = f"{exchange.transcript.method} {exchange.target.path_of(exchange.transcript.url)}"
            yield violation("http.request-id", f"{request} ({exchange.transcript.status}) has no x-request-id")
            return
    if len(set(ids)) < len(ids):
        yield violation("http.request-id", f"{len(ids)} responses have {len(set(ids))} different x-request-id")


ERRORS: Mapping[str, Check] = {
    "http.error.envelope": error_envelope,
    "http.error.no-internals": error_no_internals,
}
"""Checks of every answer that is an error."""

LOOKS: Mapping[str, Callable[[Exchange], str]] = {
    "http.models.list": _models,
    "http.models.get": _model,
    "http.cors.preflight": _preflight,
}
"""What more than the status and the headers that its requests name a requirement asks for."""

PLAIN = (
    "http.route.unknown",
    "http.route.wrong-method",
    "http.auth.missing",
    "http.auth.wrong",
    "http.body.json",
    "http.body.object",
    "http.body.utf8",
    "http.body.size",
    "http.body.media-type",
    "http.cors.preflight",
    "http.precedence.route-before-auth",
    "http.precedence.auth-before-size",
    "http.precedence.size-before-media-type",
    "http.precedence.media-type-before-json",
    "http.precedence.json-before-model-missing",
    "http.precedence.model-missing-before-messages-missing",
    "http.precedence.messages-missing-before-parameters",
    "http.precedence.parameters-before-model-unknown",
    "http.precedence.model-unknown-before-capacity",
    "http.precedence.capacity-before-not-ready",
    "http.precedence.not-ready-before-backend-failure",
    "http.models.list",
    "http.models.get",
    "http.models.unknown",
    "http.health.live",
    "http.health.ready",
)
"""The requirements that are judged by the answers to plain requests."""

CONTENT: Mapping[str, Check] = {row: answered(row, LOOKS.get(row)) for row in PLAIN}
TOGETHER: Mapping[str, Callable[[Sequence[Exchange]], Iterable[Violation]]] = {"http.request-id": request_ids}
"""Checks of all exchanges of a scenario together."""
