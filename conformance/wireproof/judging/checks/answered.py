"""Whether a plain request was answered as it must be: status, headers, and what the error names.

Rows of stage `answer` are judged here, without a check of their own: the scenario's request says what must come. A
check that such a row has looks at what else the answer must say, once all of that is right.

Each answer is judged by one requirement: the one that its request names, else the scenario's subject. A scenario that
breaks several rules at once first sends each broken rule alone, judged by a requirement that the scenario does not
exercise: what is wrong there is a violation of that rule, and says nothing of their order.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from wireproof.judging.error_texts import Sent, said_in
from wireproof.judging.registry import Checks, Seen, no_header
from wireproof.model.catalogue import row_of
from wireproof.model.dialect import Surface
from wireproof.model.scenario import Mode, Request
from wireproof.model.target import Backend
from wireproof.reading.errors import error_in, in_words, names
from wireproof.reading.exchange import Exchange, answer_in, came_as_stream
from wireproof.reading.expected import ExpectedFailure
from wireproof.wire.facet import Facet
from wireproof.wire.quoting import quoted, visible
from wireproof.wire.violation import StatusDue, Violation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from wireproof.wire.message import ReadError

BAD_REQUEST = 400
_REFUSALS = range(400, 500)
"""The statuses that put the fault on the request."""
INVALID = "invalid_request_error"
SHOWN = 160
"""Bytes of a request's body that a finding shows."""


def asked(exchange: Exchange) -> Request:
    """The plain request of this exchange."""
    if exchange.request is None:
        raise ValueError("this exchange is no plain request")
    return exchange.request


def answered(requirement: str, exchange: Exchange, checks: Checks) -> Iterable[Violation]:
    """What is wrong with the answer to a plain request, if this requirement is the one that judges it."""
    subject = exchange.scenario.exercises[0]
    judged = asked(exchange).judged or subject
    if requirement != (judged if judged in exchange.scenario.exercises else subject):
        return
    if wrong := not_as_due(exchange):
        yield wrong.of(judged)
    # No client looks at the param of an error or at its type: it shows the message.
    elif seen := _misnamed(exchange):
        yield Violation(requirement=judged, seen=seen, place=exchange.body_place, strict_only=True)
    # Of a request that a row outside the scenario judges, only status, headers and error are looked at.
    elif judged == requirement:
        yield from checks.look(requirement, exchange)


def report_in(exchange: Exchange) -> str | None:
    """The text in which the backend of a plain request reports what it received; None where no answer can be read."""
    choices = answer_in(exchange).answer.choices
    return (choices[0].text or "") if choices else None


def lost_report(exchange: Exchange) -> Iterable[Violation]:
    """That an answer has no text although the backend reported in it what it received: what that was is not known.

    Another text than the report shows that the backend was asked something else, which is for the scenario's own row.
    """
    request, transcript = asked(exchange), exchange.transcript
    scripted = exchange.target.backend is not Backend.LIVE
    if scripted and request.reflects and request.method == "POST" and transcript.ok and report_in(exchange) == "":
        form = replace(exchange.form, mode=Mode.STREAM) if came_as_stream(exchange) else exchange.form
        seen = "the backend sent a text, its report of what it received; the answer has none"
        yield Violation(requirement=row_of(Facet.TEXT, form), seen=seen, place=exchange.body_place)


def refused(exchange: Exchange) -> bool:
    """Whether a turn was answered by the refusal that its scenario allows: a 400 that names the field."""
    failed, broken = _bad_request(exchange)
    unmet = any(one.failure is ExpectedFailure.UNMET for one in exchange.wanted)
    # The refusal that was due is an error without param, which `http.error.envelope` has named.
    cannot_name = unmet and failed is not None and failed.param is None and bool(broken)
    return cannot_name or _names(exchange, _refusable(exchange))


def _names(exchange: Exchange, field: str) -> bool:
    """Whether the answer is a 400 that names the field."""
    failed, _ = _bad_request(exchange)
    return failed is not None and bool(field) and names(failed, field, exchange.dialect.spec.surface)


def refused_in_words(exchange: Exchange) -> bool:
    """Whether it was answered by that refusal, but for its param, and the message alone names the field."""
    field, (failed, _) = _refusable(exchange), _bad_request(exchange)
    return failed is not None and bool(field and in_words(failed.message, field))


def _refusable(exchange: Exchange) -> str:
    """The field that a turn may be refused for; "" for a plain request, which names its own."""
    return exchange.conversation.refusable if exchange.turn else ""


def _bad_request(exchange: Exchange) -> ReadError:
    """The error of a 400, and what is wrong with its envelope."""
    return error_in(exchange) if exchange.transcript.status == BAD_REQUEST else (None, ())


def not_as_due(exchange: Exchange) -> Seen | None:
    """The first thing of status, headers and code that is wrong with the answer to a plain request; None: all right."""
    wrong = next(_wrong(exchange), None)
    return wrong and replace(wrong, strict_only=_is_refusal(exchange))


def _wrong(exchange: Exchange) -> Iterator[Seen]:
    """What of status, headers and code is wrong."""
    request, transcript, place = asked(exchange), exchange.transcript, exchange.body_place
    should = f"it should be {request.expect}{f' with param {request.param}' if request.param else ''}"
    if transcript.status is None:
        how = f"{transcript.end} after {transcript.seconds:.1f} s"
        yield Seen(f"no response came to {_sent(exchange)} ({how}); {should}", place)
        return
    if _names(exchange, request.refusable):
        return
    if transcript.status != request.expect and not (request.any_success and transcript.ok):
        empty = "" if transcript.body else " with an empty body"
        seen = f"{_sent(exchange)} was answered HTTP {transcript.status}{empty}; {should}"
        yield Seen(seen, place, status=StatusDue(came=transcript.status, due=request.expect))
    for name, wanted in request.shows.items():
        value = transcript.header(name)
        if value is None:
            yield no_header(name, f"say {wanted}" if wanted else "", place)
        elif wanted.lower() not in value.lower():
            yield Seen(f"{name} is {quoted(value)}, it should say {wanted}", place)
    failed, broken = error_in(exchange)
    # Where the envelope is broken, `http.error.envelope` has named it.
    if request.code and failed is not None and not broken and failed.code != request.code:
        yield Seen(f"code is {quoted(failed.code)}, it should be {quoted(request.code)}", place)


def order(alone: Exchange, both: Exchange) -> tuple[Seen, ...] | None:
    """What is wrong with the order of two rules, where the first is broken alone, and both are; None: it is not shown.

    The first may be kept with an error of its own: what answers both is the same error, or that of the other rule.
    """
    one, two = alone.transcript, both.transcript
    if one.status not in _REFUSALS or two.status not in _REFUSALS:
        return None
    if one.status != two.status:
        first = f"HTTP {one.status} where nothing else is wrong"
        return (Seen(f"{_sent(both)} was answered HTTP {two.status}, and {first}", both.body_place),)
    said = [said_in(each.body, Sent.of(each.request_body)) for each in (one, two)]
    # Several errors of one status may stand together, or for any rule.
    return () if said[0] and said[0] == said[1] else None


def _is_refusal(exchange: Exchange) -> bool:
    """Whether a refusal was due, and what came is one as clients know it, or a plain answer.

    An error that is sent with success is an empty answer to many, and one of the server's own is asked for again.
    """
    came, due = exchange.transcript.status, asked(exchange).expect
    if came is None or due not in _REFUSALS:
        return False
    sent_with_success = "error" in exchange.came
    return came in _REFUSALS or (exchange.transcript.ok and not sent_with_success)


def _sent(exchange: Exchange) -> str:
    """The request in a few words; all of it stands in the command that sends it again."""
    request, body = asked(exchange), exchange.transcript.request_body.strip()
    # As it was sent: a scenario's own path and body have placeholders.
    path = exchange.target.path_of(exchange.transcript.url) if "{" in request.path else request.path
    if not body:
        return f"{request.method} {path}"
    said = body[:SHOWN].decode(errors="replace")
    return f"{request.method} {path} with {visible(said)}{'…' if len(body) > SHOWN else ''}"


_NEEDED_FIRST = ("model", "max_tokens", "messages")
"""The members that every request for messages has."""


def _misnamed(exchange: Exchange) -> str:
    """What is wrong in what the error says of the field; '' if nothing is."""
    request, (failed, broken) = asked(exchange), error_in(exchange)
    # What else is wrong with the envelope, as a number for its code, leaves a param that names a field as it is.
    if failed is None or request.param is None or (broken and failed.param is None):
        return ""
    messages = exchange.dialect.spec.surface is Surface.MESSAGES
    # The errors of this surface have no member that could say that there is no field to name: some begin with one.
    if messages and not request.param:
        asked_for = next((one for one in _NEEDED_FIRST if failed.message.startswith(f"{one}: ")), None)
        return f"the message asks for {asked_for}; sent was {_sent(exchange)}" if asked_for else ""
    if not names(failed, request.param, exchange.dialect.spec.surface):
        seen = f"the message is {quoted(failed.message)}" if messages else f"param is {quoted(failed.param)}"
        named = f"it should name {request.param}" if messages else f"it should be {quoted(request.param or None)}"
        return f"{seen}, {named}; sent was {_sent(exchange)}"
    # An error that names a field of the request is one of the request.
    if request.param and failed.type != INVALID and not broken:
        return f"type is {quoted(failed.type)}, it should be {quoted(INVALID)}"
    return ""
