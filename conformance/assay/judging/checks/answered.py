"""Whether a plain request was answered as it must be: status, headers, and what the error names.

Rows of stage `answer` are judged here, without a check of their own: the scenario's request says what must come. A
check that such a row has looks at what else the answer must say, once all of that is right.

Each answer is judged by one requirement: the one that its request names, else the scenario's subject. A scenario that
breaks several rules at once first sends each broken rule alone, judged by a requirement that the scenario does not
exercise: what is wrong there is a violation of that rule, and says nothing of their order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.judging.checks.diff import quoted
from assay.wire.message import read_error
from assay.wire.violation import Violation

if TYPE_CHECKING:
    from collections.abc import Iterable

    from assay.judging.registry import Checks
    from assay.model.scenario import JsonObject, Request
    from assay.reading.exchange import Exchange

BAD_REQUEST = 400
INVALID = "invalid_request_error"
SHOWN = 160
"""Bytes of a body that a finding shows."""


def asked(exchange: Exchange) -> Request:
    """The plain request of this exchange."""
    if exchange.scenario.request is None:
        raise ValueError("this exchange is no plain request")
    return exchange.scenario.request.each[exchange.number]


def answered(requirement: str, exchange: Exchange, checks: Checks) -> Iterable[Violation]:
    """What is wrong with the answer to a plain request, if this requirement is the one that judges it."""
    subject = exchange.scenario.exercises[0]
    judged = asked(exchange).judged or subject
    if requirement != (judged if judged in exchange.scenario.exercises else subject):
        return
    if seen := _wrong(exchange):
        yield Violation(requirement=judged, seen=seen, place=exchange.body_place)
    # Of a request that a row outside the scenario judges, only status, headers and error are looked at.
    elif judged == requirement:
        yield from checks.look(requirement, exchange)


def refused(exchange: Exchange) -> bool:
    """Whether a turn was answered by the refusal that its scenario allows: a 400 that names the field."""
    return _names(exchange, exchange.scenario.refusable)


def _names(exchange: Exchange, field: str) -> bool:
    """Whether the answer is a 400 that names the field."""
    transcript = exchange.transcript
    if not field or transcript.status != BAD_REQUEST:
        return False
    failed, _ = read_error(transcript.body, transcript.header("content-type"))
    return failed is not None and _within(failed.param or "", field)


def _wrong(exchange: Exchange) -> str:
    """The first thing that is wrong with the answer; '' if it is right."""
    request, transcript = asked(exchange), exchange.transcript
    if transcript.status is None:
        return f"no response came: {transcript.end} after {transcript.seconds:.1f} s; {_should(request)}"
    if _names(exchange, request.refusable):
        return ""
    if transcript.status != request.expect:
        return f"the status is {transcript.status}; {_should(request)}; {_excerpt(transcript.body)}"
    for name, wanted in request.shows.items():
        value = transcript.header(name)
        if value is None:
            return f"there is no {name} header" + (f", it should say {wanted}" if wanted else "")
        if wanted.lower() not in value.lower():
            return f"{name} is {value!r}, it should say {wanted}"
    return _misnamed(exchange, request)


def _should(request: Request) -> str:
    about = f" for {request.param}" if request.param else ""
    sent = f"{request.method} {request.path}" + (" with " + _short(request.json) if request.json else "")
    return f"{sent} should get {request.expect}{about}"


def _short(value: JsonObject) -> str:
    # `...` leaves a member out of a body that several requests share.
    return quoted({name: inner for name, inner in value.items() if inner is not ...}, SHOWN)


def _excerpt(body: bytes) -> str:
    return f"it says {quoted(body[:SHOWN].decode(errors='replace'), SHOWN)}"


def _misnamed(exchange: Exchange, request: Request) -> str:
    """What is wrong in the error object; an envelope that cannot be read violates another requirement."""
    if request.param is None and not request.code:
        return ""
    failed, broken = read_error(exchange.transcript.body, exchange.transcript.header("content-type"))
    # `http.error.envelope` has named it.
    if failed is None or broken:
        return ""
    if request.code and failed.code != request.code:
        return f"code is {quoted(failed.code)}, it should be {quoted(request.code)}"
    if request.param is not None and not _within(failed.param or "", request.param):
        return f"param is {quoted(failed.param)}, it should be {quoted(request.param or None)}; {_should(request)}"
    # An error that names a field of the request is one of the request.
    if request.param and failed.type != INVALID:
        return f"type is {quoted(failed.type)}, it should be {quoted(INVALID)}"
    return ""


def _within(param: str, wanted: str) -> bool:
    """Whether a param names the field, or a place inside it; header names are the same in any case."""
    # `messages` is also named by `messages[0].role`, as OpenAI does.
    return param.lower() == wanted.lower() or param.startswith((f"{wanted}.", f"{wanted}["))
