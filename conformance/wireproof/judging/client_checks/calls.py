"""Calls and their results in what a client sends back."""

from __future__ import annotations

import json
from collections import Counter
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

from wireproof.judging.client_checks.registry import ClientChecks, Occasion, broken, kept
from wireproof.model.dialect import Surface
from wireproof.reading.client_record import ClientExchange, ClientRecord, tail
from wireproof.reading.client_requests import ClientMessage, Speaker
from wireproof.wire.fields import json_of, marked, object_of, parse_json
from wireproof.wire.quoting import FEW, apart, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wireproof.wire.events import ToolCall

check = ClientChecks()
NO_CALL = "no request carries a call or a result: the client runs no tools, or was not asked to"


@check("client.result-for-every-call", unseen=NO_CALL)
def result_for_every_call(record: ClientRecord) -> Iterator[Occasion]:
    """Each call in a request has one result, wherever in it that stands."""
    for exchange in record.asked:
        results = Counter(one.result_of for one in exchange.messages if one.speaker is Speaker.RESULT)
        # Scripts may use an id again in a later turn.
        due = Counter(call.id for _, call in _calls(exchange))
        for message, call in _calls(exchange):
            count = results[call.id]
            if count == due[call.id]:
                yield kept(exchange)
            else:
                seen = f"the call {_named(call)} has {count or 'no'} results in this request; it should have one"
                yield broken(exchange, seen, message.path, kind="none" if not count else "several")


@check("client.no-foreign-result", unseen=NO_CALL)
def no_foreign_result(record: ClientRecord) -> Iterator[Occasion]:
    """Each result is of a call that the conversation has, as it was sent back or as it was made."""
    for exchange in record.asked:
        known = {call.id for _, call in _calls(exchange)} | record.called(exchange).keys()
        for message in exchange.messages:
            if message.speaker is not Speaker.RESULT or message.path is None:
                continue
            if message.result_of in known:
                yield kept(exchange)
            else:
                seen = f"a result carries the id {quoted(message.result_of)}, which this conversation never called"
                yield broken(exchange, seen, message.path)


@check("client.call-replayed", unseen=NO_CALL)
def call_replayed(record: ClientRecord) -> Iterator[Occasion]:
    """Each call that a request speaks of is there as it was made."""
    for exchange in record.asked:
        sent = {call.id: (message, call) for message, call in _calls(exchange)}
        made, answered = record.called(exchange), _results(exchange)
        for id_, (_, call) in made.items():
            if id_ in sent:
                yield _compared(exchange, *sent[id_], call)
            elif id_ in answered:
                seen = f"the result of {_named(call)} is here, and the call itself is not"
                yield broken(exchange, seen, answered[id_].path, kind="missing")
        yield from _lost(record, exchange, sent)


def _lost(
    record: ClientRecord, exchange: ClientExchange, sent: dict[str, tuple[ClientMessage, ToolCall]]
) -> Iterator[Occasion]:
    """Calls of the answer that a request goes on from, and that it neither sends back nor answers."""
    before = record.continued(exchange)
    if before is None or before.answer is None or not before.whole:
        return
    left = [call for call in before.answer.calls if call.id not in sent and call.id not in _results(exchange)]
    if left:
        seen = f"the call {_named(left[0])} was made, and the request that goes on from it does not have it"
        yield broken(exchange, seen, tail(exchange, before)[0].path, kind="lost")


def _compared(exchange: ClientExchange, message: ClientMessage, sent: ToolCall, made: ToolCall) -> Occasion:
    path = message.path
    if sent.name != made.name:
        seen = f"the call {quoted(made.id)} was of {quoted(made.name)}, and is sent back as one of {quoted(sent.name)}"
        return broken(exchange, seen, path, kind="name")
    # What is no JSON has no value. Clients replace it, since servers that read it would fail, and what they run with it
    # is another row's matter.
    readable = not made.arguments or json_of(made.arguments) is not None
    if readable and not (same_value(sent.arguments, made.arguments) or _filled(exchange, sent, made)):
        came, back = apart(made.arguments, sent.arguments, FEW)
        seen = f"the arguments of {_named(made)} came as {came}, and are sent back as {back}"
        return broken(exchange, seen, path, kind="arguments")
    return kept(exchange)


def _filled(exchange: ClientExchange, sent: ToolCall, made: ToolCall) -> bool:
    """Whether arguments are those that were made, with members that were left out as their tool's schema has them."""
    try:
        given, back = _exact(made.arguments or "{}"), _exact(sent.arguments)
    except (ValueError, InvalidOperation):
        return False
    if not isinstance(given, dict) or not isinstance(back, dict):
        return False
    defaults = _defaults(exchange, made.name)
    return bool({**{name: defaults[name] for name in back if name in defaults}, **given} == back)


def _defaults(exchange: ClientExchange, name: str) -> dict[str, object]:
    """The defaults of a tool that a request declares, by the name of the member."""
    tools = [object_of(tool.get("function", tool)) for tool in (exchange.request.tools if exchange.request else ())]
    tool = next((one for one in tools if one.get("name") == name), {})
    members = object_of(object_of(tool.get("parameters", tool.get("input_schema"))).get("properties"))
    schemas = {member: object_of(schema) for member, schema in members.items()}
    return {member: _exact(json.dumps(one["default"])) for member, one in schemas.items() if "default" in one}


def same_value(one: str, other: str) -> bool:
    """Whether two arguments mean the same: the same text, or JSON of the same value, with every digit of a number."""
    if one == other:
        return True
    # A call without arguments is sent back as an object without members.
    if not {one, other} - {"", "{}"}:
        return True
    try:
        return bool(_exact(one) == _exact(other))
    except (ValueError, InvalidOperation):
        return False


def _exact(text: str) -> object:
    return marked(parse_json(text, parse_float=Decimal, parse_int=Decimal))


@check("client.tools-every-step", unseen=NO_CALL)
def tools_every_step(record: ClientRecord) -> Iterator[Occasion]:
    """A request that brings results declares tools as the one did whose answer called them."""
    for exchange in record.asked:
        made = record.called(exchange)
        calling = [made[one.result_of][0] for one in exchange.messages if one.path and one.result_of in made]
        if not any(one.request and one.request.tools for one in calling) or exchange.request is None:
            continue
        # A thread of Messages keeps its tools, and a request that goes on from it names none.
        if exchange.request.tools or (exchange.request.continues and exchange.request.surface is Surface.MESSAGES):
            yield kept(exchange)
        else:
            yield broken(exchange, "the request brings the result of a call, and declares no tools any more")


def _calls(exchange: ClientExchange) -> Iterator[tuple[ClientMessage, ToolCall]]:
    return ((message, call) for message in exchange.messages for call in message.calls)


def _results(exchange: ClientExchange) -> dict[str, ClientMessage]:
    return {one.result_of: one for one in exchange.messages if one.speaker is Speaker.RESULT}


def _named(call: ToolCall) -> str:
    return f"{quoted(call.id)} of {quoted(call.name)}"
