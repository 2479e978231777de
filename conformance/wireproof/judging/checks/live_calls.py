"""Calls of a model, and what of its request reached it.

Calls came where they were forced, are declared, and their arguments fit; the schema of an answer was kept; texts and
pictures are known by the tokens that were counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof.judging.checks.chat_calls import extend
from wireproof.judging.checks.live_answers import (
    REFUSALS,
    STOPPED,
    asked_texts,
    cut_short,
    has,
    place_in,
    sent_words,
)
from wireproof.judging.checks.places import fragments_in, place_of
from wireproof.judging.checks.written_calls import no_call
from wireproof.judging.registry import Checks, Seen
from wireproof.model.asks import Fits
from wireproof.model.scenario import REQUIRED, Mode
from wireproof.reading.asked import LENGTH
from wireproof.reading.schemas import misfits
from wireproof.wire.events import Fragment
from wireproof.wire.fields import json_of
from wireproof.wire.quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wireproof.reading.exchange import Exchange

check = Checks()


def tries(exchange: Exchange) -> tuple[Exchange, ...]:
    """All tries of an exchange that have an answer."""
    return tuple(one for one in (*exchange.earlier, exchange) if one.reading is not None)


def arguments(exchange: Exchange) -> Iterable[Seen]:
    """Arguments are JSON objects that fit the schema of their tool, which is strict: in one try at least."""
    faults = [_argument_fault(one) for one in tries(exchange)]
    if all(faults) and not list(incremental(exchange)):
        yield Seen(faults[-1], place_in(exchange))


def _argument_fault(exchange: Exchange) -> str:
    """What is wrong with the arguments of the first call of which something is; "" if nothing is."""
    declared = {tool["function"]["name"]: tool["function"] for tool in exchange.conversation.tools}
    for choice in exchange.answer.choices:
        # A call that was cut at the limit of tokens is not complete.
        for call in choice.calls if choice.finish != LENGTH else ():
            schema = declared.get(call.name, {}).get("parameters")
            # Of a tool without parameters an empty text is as good: no client was seen to break on it.
            if call.name in declared and schema is None and not call.arguments:
                continue
            value = json_of(call.arguments)
            if not isinstance(value, dict):
                return f"the arguments of {call.name} are no JSON object: {quoted(call.arguments)}"
            wrong = [] if schema is None else misfits(schema, value)
            if wrong:
                return f"the arguments of {call.name} do not fit its schema, which is strict: {wrong[0]}"
    return ""


@check("chat.stream.arguments-incremental")
def incremental(exchange: Exchange) -> Iterable[Seen]:
    """The fragments of a call are joined to its arguments: they do not each repeat those before."""
    if exchange.cumulative or exchange.mode is Mode.WHOLE:
        return
    for fragments in fragments_in(exchange).values():
        pieces = [*filter(None, fragments)]
        repeated = len(pieces) > 1 and extend(pieces)
        if repeated and isinstance(json_of(pieces[-1]), dict):
            seen = f"each of {len(pieces)} deltas repeats the arguments so far; clients join them to broken JSON"
            yield Seen(seen, place_of(exchange, Fragment))


@check("chat.stream.isolation")
def choices(exchange: Exchange) -> Iterable[Seen]:
    """A stream has the choices that were asked for. (Those of a whole answer are counted by its own row.)."""
    indexes = [choice.index for choice in exchange.answer.choices]
    if indexes != list(range(exchange.conversation.choices)):
        seen = f"n is {exchange.conversation.choices}; the stream has choices {quoted(indexes)}"
        yield Seen(seen, exchange.body_place)


@check("turn.calls-declared")
def calls_declared(exchange: Exchange) -> Iterable[Seen]:
    """Calls name tools that the request declares."""
    declared = exchange.conversation.tool_names
    for call in exchange.answer.calls:
        if call.name not in declared:
            seen = f"{call.name} was called, and the request declares {', '.join(declared) or 'no tools'}"
            yield Seen(seen, exchange.body_place)


@check("turn.tool-choice-forced")
def tool_choice_forced(exchange: Exchange) -> Iterable[Seen]:
    """A call came, and of the tool that was named, in one try at least."""
    if cut_short(exchange) or has(REFUSALS, exchange):
        return
    asked, made = exchange.conversation.tool_choice, [call.name for call in exchange.answer.calls]
    if all(_calls_others(one) for one in tries(exchange)):
        declared = ", ".join(exchange.conversation.tool_names)
        seen = f"tool_choice is {quoted(asked)}, and {', '.join(made)} was called; the request declares {declared}"
        yield Seen(seen, exchange.body_place)
    elif exchange.wanted:
        return
    elif not any(one.answer.calls for one in tries(exchange)):
        count = len(tries(exchange))
        seen = f"tool_choice is {quoted(asked)}, and no call came in {count} {'try' if count == 1 else 'tries'}"
        yield no_call(seen, exchange, exchange.body_place)
    elif set(made) <= set(exchange.conversation.tool_names) and asked not in {REQUIRED, *made}:
        yield Seen(f"tool_choice names {quoted(asked)}, and {', '.join(made)} was called", exchange.body_place)


def _calls_others(exchange: Exchange) -> bool:
    """Whether an answer calls tools, and none that the request declares: what a server prefixes no client can run."""
    made = {call.name for call in exchange.answer.calls}
    return bool(made) and made.isdisjoint(exchange.conversation.tool_names)


@check("turn.tool-choice-none")
def tool_choice_none(exchange: Exchange) -> Iterable[Seen]:
    """No call came."""
    if made := exchange.answer.calls:
        yield Seen(f"tool_choice is none, and {made[0].name} was called", exchange.body_place)


@check("turn.structured-output")
def structured_output(exchange: Exchange) -> Iterable[Seen]:
    """The text is JSON that fits the schema of the request, in one try at least."""
    asks = exchange.asks
    choice = exchange.choice()
    if exchange.wanted or not isinstance(asks, Fits) or choice.finish != STOPPED or has(REFUSALS, exchange):
        return
    value = json_of(choice.text or "")
    wrong = "it is not JSON" if value is None else "; ".join(misfits(asks.schema, value)[:1])
    seen = f"the text does not fit the schema that the request sets: {wrong}; {quoted(choice.text)}"
    yield Seen(seen, place_in(exchange))


@check(
    "turn.system-prompt", "turn.history-reaches-backend", "turn.tool-result", "turn.follow-up-without-tools"
)  # fmt: skip
def reached(exchange: Exchange) -> Iterable[Seen]:
    """Where a model does not act on what it was sent, the tokens of the request show whether it was sent at all."""
    got, sent = exchange.answer.usage, sent_words(exchange)
    if not exchange.wanted and got is not None and 0 < got.prompt < sent:
        seen = (
            f"the request has {sent} words and the model was sent {got.prompt} tokens; it does not know what stands in"
            " the rest"
        )
        yield Seen(seen, exchange.body_place, counts=True)


@check("turn.images")
def images(exchange: Exchange) -> Iterable[Seen]:
    """A model that does not name what it was shown was sent no picture, if its request has as many tokens without."""
    asked, said = asked_texts(exchange.asks), (exchange.choice().text or "").casefold()
    bare = next((one for one in exchange.earlier if one.reading is not None and not _shows(exchange, one)), None)
    with_it, without = exchange.answer.usage, bare.answer.usage if bare else None
    if exchange.wanted or with_it is None or without is None or any(text in said for text in asked):
        return
    if with_it.prompt == without.prompt > 0:
        counted = f"{with_it.prompt} tokens with the picture, and as many without it"
        seen = f"the request has {counted}; the model does not know what it shows"
        yield Seen(seen, exchange.body_place, counts=True)


def _shows(exchange: Exchange, other: Exchange) -> bool:
    """Whether another request has the pictures of this one."""
    shown = exchange.turn.images if exchange.turn else ()
    return any(one.encode() in other.transcript.request_body for one in shown)
