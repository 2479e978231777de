"""Checks of HTTP itself: error envelopes, routes, keys, bodies, CORS, the order of errors, models, health."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from wireproof.judging.checks.answered import asked, report_in
from wireproof.judging.checks.places import member_place
from wireproof.judging.registry import Checks, Seen, no_header
from wireproof.model.scenario import WRONG_KEY
from wireproof.model.served import SERVED_KEY
from wireproof.model.target import Backend
from wireproof.reading.errors import error_in
from wireproof.reading.schemas import SchemaFault, faults
from wireproof.wire.fields import object_of, parse_json
from wireproof.wire.quoting import quoted
from wireproof.wire.violation import Place, StatusDue

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from wireproof.reading.exchange import Exchange

check = Checks()

OK, TOO_MANY = 200, 429
ALLOWED = "access-control-allow-origin"
"""The header that says which pages may read an answer."""
KEPT = 4
"""How many characters of a key may be shown at each end."""

INTERNALS: Mapping[str, re.Pattern[bytes]] = {
    # Python's first line, a frame of JavaScript, a line of Python (whose quotes JSON escapes).
    "a stack trace": re.compile(
        rb"Traceback \(most recent|\bat [\w.<>]+ \([^)]*:\d+:\d+\)|File \\?\"[^\"]+\\?\", line \d+"
    ),
    # Not inside a URL or a relative path, which have such names, too.
    "a path": re.compile(rb"(?<![\w/:.])/(?:home|usr|tmp|var|opt|root|srv|etc|Users|proc)/[\w./-]+|\b[A-Z]:\\\\\w"),
    # JSON-RPC 2.0 reserves -32768 to -32000.
    "a JSON-RPC code": re.compile(rb"-32\d{3}\b"),
    "a process id": re.compile(rb"\bpid[ =:]+\d+", re.IGNORECASE),
    "an address of the backend": re.compile(rb"\b(?:https?|wss?)://(?:127\.0\.0\.1|localhost|\[::1\])"),
    # Behind `Bearer` only what has a digit: "Bearer authentication" is prose.
    "a key": re.compile(rb"\bsk-[\w-]{8,}|\bBearer (?=[A-Za-z_.-]*\d)[\w.-]{8,}"),
}
"""What → how it looks in a body."""


@check("http.error.envelope", "messages.error.envelope")
def error_envelope(exchange: Exchange) -> Iterable[Seen]:
    """Every error is JSON in the error envelope of its surface."""
    transcript = exchange.transcript
    if transcript.status is None or transcript.ok:
        return
    _, violations = error_in(exchange)
    yield from (Seen(found.seen, found.place) for found in violations)


@check("http.error.no-internals")
def error_no_internals(exchange: Exchange) -> Iterable[Seen]:
    """No error, as HTTP or in a stream, shows what is behind the proxy."""
    for offset, said in _errors(exchange):
        for what, look in INTERNALS.items():
            found = look.search(said)
            # The client's own key is no internal, and has a row of its own (http.echo-no-key).
            own = found is not None and bool(_key_of(exchange)) and _key_of(exchange).encode() in found.group()
            if found and not own:
                place = Place(offset=offset + found.start(), length=found.end() - found.start())
                seen = f"the error shows {what}: {found.group().decode(errors='replace')}"
                yield Seen(seen, place)
                return


def _errors(exchange: Exchange) -> Iterable[tuple[int, bytes]]:
    """Where errors stand, and their bytes: a body, chat's own frames, error events, and responses that failed."""
    if not exchange.transcript.ok:
        yield 0, exchange.transcript.body
    for frame, payload in exchange.reading.payloads if exchange.transcript.ok and exchange.reading else ():
        holders = (payload, object_of(payload.get("response")))
        if payload.get("type") == "error" or any(one.get("error") is not None for one in holders):
            yield frame.offset, frame.raw


@check("http.error.rate-limit")
def rate_limit(exchange: Exchange) -> Iterable[Seen]:
    """The backend's 429 is one of the proxy's. That a failure has an error's status at all is for others."""
    status = exchange.transcript.status
    if status is not None and not exchange.transcript.ok and status != TOO_MANY:
        due = StatusDue(came=status, due=TOO_MANY)
        yield Seen(f"the backend is rate limited, and the answer is HTTP {status}", exchange.body_place, status=due)


@check("http.echo-no-key")
def echo_no_key(exchange: Exchange) -> Iterable[Seen]:
    """What was sent as a key does not come back, in the body or in a header, but for its ends."""
    key = _key_of(exchange)
    if exchange.transcript.ok or not key:
        return
    # The endpoint's own key is its name, which its `Server` header says, too. Gateways pass that on, some under a name
    # of their own (`llm_provider-server`): it is no echo.
    headers = [
        (name, text)
        for name, text in exchange.transcript.headers
        if key != SERVED_KEY or not name.lower().endswith("server")
    ]
    said = [("the body", exchange.transcript.body.decode(errors="replace")), *headers]
    for where, text in said:
        shown = _repeated(key, text)
        if shown:
            place = exchange.body_place if where == "the body" else None
            seen = f"{where} repeats {len(shown)} characters in a row of the key that was refused: {shown}"
            yield Seen(seen, place)
            return


def _key_of(exchange: Exchange) -> str:
    """The key that the request carried; "" for none."""
    headers = {name.lower(): value for name, value in exchange.transcript.request_headers}
    return headers.get("authorization", "").partition(" ")[2]


def _repeated(key: str, text: str) -> str:
    """The longest part of a key in a text, if it is more than the key's first or last four characters; else ""."""
    # Only random keys can be looked for in parts: those of a test may be made of words that an error uses, too.
    shortest = KEPT + 1 if key == WRONG_KEY else max(len(key), 2 * KEPT + 1)
    parts = (key[at : at + size] for size in range(len(key), shortest - 1, -1) for at in range(len(key) - size + 1))
    return next((part for part in parts if part in text), "")


@check("http.connection-reuse")
def connection_reuse(exchange: Exchange) -> Iterable[Seen]:
    """The answer is one to this request: the backend says that it has received it."""
    for text, said in _unreceived(exchange):
        seen = f"over a kept connection {quoted(text)} was sent; the answer is to something else: {quoted(said)}"
        yield Seen(seen, exchange.body_place)


@check("http.body.chunked")
def body_chunked(exchange: Exchange) -> Iterable[Seen]:
    """What came in chunks has reached the backend."""
    for text, said in _unreceived(exchange):
        seen = f"{quoted(text)} was sent in chunks; the backend has not received it: {quoted(said)}"
        yield Seen(seen, exchange.body_place)


def _unreceived(exchange: Exchange) -> Iterable[tuple[str, str]]:
    """The texts that the backend does not report to have received, each with what was answered instead."""
    # A model answers in words of its own.
    if exchange.target.backend is Backend.LIVE:
        return
    # The text as the body has it where that is no chat answer: what came instead is to be seen.
    report = report_in(exchange)
    said = exchange.transcript.body.decode(errors="replace") if report is None else report
    yield from ((text, said) for text in asked(exchange).reflects if text not in said)


@check("http.one-framing")
def one_framing(exchange: Exchange) -> Iterable[Seen]:
    """An answer in chunks announces no length."""
    length, coding = (exchange.transcript.header(name) for name in ("content-length", "transfer-encoding"))
    if length is not None and coding is not None:
        seen = f"the answer has Content-Length: {length} beside Transfer-Encoding: {coding}; one of them is wrong"
        yield Seen(seen)


@check("http.models.list")
def models(exchange: Exchange) -> Iterable[Seen]:
    """The body is a list of models, and the model of the target is in it."""
    body, wrong = _json(exchange, "model.list")
    if wrong:
        yield wrong
    elif exchange.target.model not in [model["id"] for model in body["data"]]:
        yield Seen(f"{quoted(exchange.target.model)} is served and not listed", member_place(exchange, "data"))


@check("http.models.get")
def model(exchange: Exchange) -> Iterable[Seen]:
    """The body is the model that was asked for, unless an error was due."""
    if asked(exchange).expect != OK:
        return
    body, wrong = _json(exchange, "model")
    if wrong:
        yield wrong
    elif body["id"] != (name := unquote(urlsplit(exchange.transcript.url).path.partition("/models/")[2])):
        yield Seen(f"id is {quoted(body['id'])}, it should be {quoted(name)}", member_place(exchange, "id"))


def _json(exchange: Exchange, schema: str) -> tuple[Any, Seen | None]:
    """The body, and why it does not match a schema (None if it does)."""
    try:
        body = parse_json(exchange.transcript.body)
    except ValueError:
        return None, Seen("the body is not JSON", exchange.body_place)
    # What harms clients first: they need the ids.
    found = sorted(faults(schema, body), key=_unread)
    wrong = next((Seen(one.sentence, member_place(exchange, *one.at), strict_only=_unread(one)) for one in found), None)
    return body, wrong


def _unread(fault: SchemaFault) -> bool:
    """Whether a fault of a model object is about a member that clients do not read."""
    return fault.unknown or fault.path[-1:] in {("object",), ("created",), ("owned_by",)}


@check("http.cors.preflight")
def preflight(exchange: Exchange) -> Iterable[Seen]:
    """The CORS headers let a browser send the request."""
    origin, allowed = asked(exchange).headers["origin"], exchange.transcript.header(ALLOWED)
    if allowed is None:
        yield no_header(ALLOWED, f"be {origin} or *", exchange.body_place)
    elif seen := _refused(exchange, origin, allowed):
        yield Seen(seen, exchange.body_place)


def _refused(exchange: Exchange, origin: str, allowed: str) -> str:
    """Why a browser would refuse; '' if it would not."""
    request, transcript = asked(exchange), exchange.transcript
    if allowed not in {"*", origin}:
        return f"{ALLOWED} is {quoted(allowed)}, it should be {origin} or *"
    # An answer, also one that is an error, needs no more than the origin; methods and headers are asked for before.
    if request.method != "OPTIONS":
        return ""
    methods = _words(transcript.header("access-control-allow-methods"))
    if not {"post", "*"} & methods:
        return f"access-control-allow-methods lists {', '.join(sorted(methods)) or 'nothing'}, it should list POST"
    headers = _words(transcript.header("access-control-allow-headers"))
    missing = _words(request.headers["access-control-request-headers"]) - headers
    # A star covers every header but the one that holds the key.
    missing &= {"authorization"} if "*" in headers else missing
    return f"access-control-allow-headers does not list {', '.join(sorted(missing))}" if missing else ""


def _words(listed: str | None) -> set[str]:
    return {word.strip().lower() for word in (listed or "").split(",")}


@check("http.request-id")
def request_ids(*exchanges: Exchange) -> Iterable[Seen]:
    """Each response has an id, and no two have the same."""
    ids = [exchange.transcript.header("x-request-id") for exchange in exchanges]
    for exchange, id_ in zip(exchanges, ids, strict=True):
        if not id_:
            # Without the query, which may hold a key.
            path = exchange.target.path_of(exchange.transcript.url).partition("?")[0]
            request = f"{exchange.transcript.method} {path}"
            yield Seen(f"{request} ({exchange.transcript.status}) has no x-request-id")
    if len(set(ids) - {None}) < len(ids) - ids.count(None):
        yield Seen("two responses have the same x-request-id")
