"""Checks of plain requests for messages: what reached the backend, threads, counts, models, choices, errors."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from wireproof.judging.checks.answered import asked, not_as_due, report_in
from wireproof.judging.registry import Checks, Seen, no_header
from wireproof.reading.errors import error_in
from wireproof.reading.exchange import Exchange, answer_in
from wireproof.reading.schemas import faults
from wireproof.wire.fields import JsonObject, integer_of, json_object, list_of, object_of
from wireproof.wire.quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable


check = Checks()

FEWEST, MOST = 0.5, 10
"""Tokens for a word of a request, at the least and at the most; templates of backends add some."""
NEAR = 3
"""How many times the tokens of an answer's usage a count may be, or the usage the count: what counts may differ."""
COUNTING = "/messages/count_tokens"
UNSUPPORTED, NOT_FOUND = "thread_unsupported_request", "thread_not_found"
"""The codes by which the runners of the SDKs know that a thread is not held."""
BAD_REQUEST, MISSING = 400, 404


@check("messages.request-id")
def request_ids(*exchanges: Exchange) -> Iterable[Seen]:
    """Each answer has an id of its own in its header, and an error the same in its body."""
    ids = [exchange.transcript.header("request-id") for exchange in exchanges]
    for exchange, id_ in zip(exchanges, ids, strict=True):
        transcript = exchange.transcript
        if not id_:
            yield no_header("request-id", place=exchange.body_place)
        # In an error of another form it is that form that is wrong (messages.error.envelope).
        elif not transcript.ok and not error_in(exchange)[1] and (named := exchange.came.get("request_id")) != id_:
            seen = f"request_id of the error is {quoted(named)}, the header says {quoted(id_)}"
            yield Seen(seen, exchange.body_place)
    if len(set(ids) - {None}) < len(ids) - ids.count(None):
        yield Seen("two answers have the same request-id")


@check("messages.error.parity")
def error_parity(*exchanges: Exchange) -> Iterable[Seen]:
    """A bad request that asks for a stream gets the error of the same one that asks for none.

    The scenario sends each of them twice, first without a stream.
    """
    for number, (whole, stream) in enumerate(pairwise(exchanges)):
        if number % 2 == 0 and _outcome(whole) != _outcome(stream):
            seen = f"without a stream it is answered {_outcome(whole)}, with one {_outcome(stream)}"
            yield Seen(seen, stream.body_place)


def _outcome(exchange: Exchange) -> str:
    failed, _ = error_in(exchange)
    kind = f" {failed.type}" if failed is not None and not exchange.transcript.ok else ""
    return f"HTTP {exchange.transcript.status}{kind}"


@check("messages.param.thread")
def thread(exchange: Exchange) -> Iterable[Seen]:
    """A thread that is continued is known to the backend; one that is refused is refused in the runners' words."""
    transcript, sent = exchange.transcript, exchange.sent
    code = object_of(object_of(exchange.came.get("error")).get("details")).get("error_code")
    continues = object_of(sent.get("thread")).get("type") == "continue"
    if transcript.status == BAD_REQUEST and code != UNSUPPORTED:
        seen = f"thread is refused with the error_code {quoted(code)}, by which no runner goes on without it"
        yield Seen(seen, exchange.body_place)
    elif transcript.status == MISSING and code != NOT_FOUND:
        seen = f"the thread is not found, with the error_code {quoted(code)}, by which no runner starts another"
        yield Seen(seen, exchange.body_place)
    elif continues and transcript.ok:
        missing = [text for text in asked(exchange).reflects if text not in (report_in(exchange) or "")]
        if missing:
            seen = f"the thread was continued, and the backend has not received {quoted(missing[0])} of its beginning"
            yield Seen(seen, exchange.body_place)


@check("messages.tool-choice")
def tool_choice(exchange: Exchange) -> Iterable[Seen]:
    """The calls are those that the choice allows."""
    if not exchange.transcript.ok:
        return
    choice = object_of(exchange.sent.get("tool_choice"))
    kind, choices = choice.get("type"), answer_in(exchange).answer.choices
    called = [call.name for call in choices[0].calls] if choices else []
    offered = list_of((json_object((report_in(exchange) or "").encode()) or {}).get("tools"))
    if kind == "none" and called:
        yield Seen(f"tool_choice is none, and the answer calls {', '.join(called)}", exchange.body_place)
    elif kind == "none" and offered:
        yield Seen("tool_choice is none, and tools are offered to the backend", exchange.body_place)
    elif kind == "any" and not called:
        yield Seen("tool_choice is any, and the answer calls nothing", exchange.body_place)
    elif kind == "tool" and choice.get("name") not in called:
        came = ", ".join(called) or "nothing"
        yield Seen(f"tool_choice names {choice.get('name')}, and the answer calls {came}", exchange.body_place)
    elif choice.get("disable_parallel_tool_use") is True and len(called) > 1:
        seen = f"disable_parallel_tool_use is set, and the answer calls {', '.join(called)}"
        yield Seen(seen, exchange.body_place)


@check("messages.count-tokens")
def count_tokens(*exchanges: Exchange) -> Iterable[Seen]:
    """Each count is one that the words of its request can have, and near the usage of the answer to that request."""
    counts: list[tuple[JsonObject, int]] = []
    for exchange in exchanges:
        # Without the one member that a request to count does not have.
        sent = {name: value for name, value in exchange.sent.items() if name != "max_tokens"}
        if COUNTING in asked(exchange).path:
            wrong = not_as_due(exchange)
            yield from [wrong] if wrong else _counted(exchange)
            counts.append((sent, integer_of(exchange.came.get("input_tokens")) or 0))
            continue
        usage = answer_in(exchange).answer.usage
        used = usage.prompt if usage else 0
        for count in (count for body, count in counts if count and used and body == sent):
            if not used / NEAR <= count <= used * NEAR:
                seen = f"input_tokens was {count}, and the usage of the answer to the same request has {used}"
                yield Seen(seen, exchange.body_place, strict_only=True, counts=True)


def _counted(exchange: Exchange) -> Iterable[Seen]:
    fault = next(iter(faults("messages/tokens", exchange.came)), None)
    sent, counted = exchange.sent, integer_of(exchange.came.get("input_tokens"))
    words, most = len(_words(sent.get("messages"))), MOST * len(exchange.transcript.request_body.split())
    if fault is not None:
        yield Seen(fault.sentence, exchange.body_place, strict_only=fault.unknown, about=fault.about)
    elif counted is not None and not FEWEST * words <= counted <= most:
        seen = f"input_tokens is {counted} for messages of {words} words"
        yield Seen(seen, exchange.body_place, strict_only=True, counts=True)


@check("messages.models")
def models(exchange: Exchange) -> Iterable[Seen]:
    """The list is a page of models, and the target's is in it."""
    body = exchange.came
    fault = next((one for one in faults("messages/model.list", body) if not one.unknown), None)
    if fault is not None:
        yield Seen(fault.sentence, exchange.body_place, about=fault.about)
    elif exchange.target.model not in [object_of(one).get("id") for one in list_of(body.get("data"))]:
        yield Seen(f"{quoted(exchange.target.model)} is served and not listed", exchange.body_place)


def _words(value: object) -> list[str]:
    """The words of the texts in the messages of a request."""
    match value:
        case {"content": content} | {"type": "text", "text": content}:
            return _words(content)
        case list():
            return [word for one in value for word in _words(one)]
        case str():
            return value.split()
        case _:
            return []
