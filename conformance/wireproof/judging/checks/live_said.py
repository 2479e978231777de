"""What answers of models say, what their requests say, and what an answer withholds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from wireproof.judging.checks.places import place_of, reading_of
from wireproof.model.asks import AskCalls, Asks, AskSay
from wireproof.reading.asked import LENGTH, as_json
from wireproof.wire.events import Fragment, Text
from wireproof.wire.fields import object_of, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wireproof.reading.exchange import Exchange
    from wireproof.wire.calls import ToolCall
    from wireproof.wire.violation import Place

WORD = re.compile(r"[A-Za-z]{2,}|\d+")
_THOUGHTS = frozenset({"reasoning", "reasoning_content", "reasoning_details", "reasoning_text", "thinking"})
"""Members, and types of items and parts, in which servers send what a model thinks."""
_REFUSALS = frozenset({"refusal"})
"""Those of a model's refusal, which is no text of its answer."""
_GIVEN_UP = frozenset({LENGTH, "content_filter"})
"""The ends of answers that were not to go on."""


def words(said: str) -> int:
    """How many words a text has, by ASCII letters and digits: no fewer tokens."""
    return len(WORD.findall(said))


def sent_words(exchange: Exchange) -> int:
    """How many words a request has."""
    return words(sent_in(exchange))


def asked_texts(asks: Asks | None) -> list[str]:
    """The exact texts that a prompt asks for."""
    match asks:
        case AskSay(text=asked):
            return [asked]
        case AskCalls(calls=calls):
            return [value for call in calls for value in (call.arguments or {}).values() if isinstance(value, str)]
        case _:
            return []


def strings(exchange: Exchange) -> list[str]:
    """All texts and arguments of an answer."""
    choices = exchange.answer.choices
    return [*(choice.text or "" for choice in choices), *(call.arguments for call in made_calls(exchange))]


def said_in(exchange: Exchange) -> str:
    """All that an answer says. Arguments that are broken may have come several times, so they do not count."""
    whole = [call.arguments for call in made_calls(exchange) if isinstance(as_json(call.arguments), dict)]
    return "\n".join([*(choice.text or "" for choice in exchange.answer.choices), *whole])


def sent_in(exchange: Exchange) -> str:
    """All texts that a request brings."""
    body = as_json(exchange.transcript.request_body.decode(errors="replace"))
    sent = object_of(body)
    return "\n".join(_texts_in([sent.get("messages"), sent.get("input"), sent.get("instructions")]))


def _texts_in(value: object) -> Iterable[str]:
    match value:
        case str():
            yield value
        case list():
            for inner in value:
                yield from _texts_in(inner)
        case dict():
            for name in ("content", "text", "output"):
                yield from _texts_in(value.get(name))
        case _:
            pass


def made_calls(exchange: Exchange) -> list[ToolCall]:
    """The calls of an answer."""
    return [call for choice in exchange.answer.choices for call in choice.calls]


def place_in(exchange: Exchange) -> Place | None:
    """Where an answer last says something."""
    return place_of(exchange, Text) or place_of(exchange, Fragment) or exchange.body_place


def cut_short(exchange: Exchange) -> bool:
    """Whether an answer was ended before the model was done: by its limit, or by a filter."""
    return any(choice.finish in _GIVEN_UP for choice in exchange.answer.choices)


def thinks(exchange: Exchange) -> bool:
    """Whether an answer has what the model thinks: its counts are of that, too."""
    return _has(_THOUGHTS, exchange)


def refuses(exchange: Exchange) -> bool:
    """Whether an answer has the model's refusal."""
    return _has(_REFUSALS, exchange)


def _has(names: frozenset[str], exchange: Exchange) -> bool:
    return any(_says(names, payload) for _, payload in reading_of(exchange).payloads)


def _says(names: frozenset[str], value: object) -> bool:
    """Whether anything in a payload has a member of these names that says something, or is of such a type."""
    match value:
        case list():
            return any(_says(names, inner) for inner in value)
        case dict():
            # A response repeats the `reasoning` of its request, an object, which says nothing.
            said = any(isinstance(value.get(name), str | list) and value[name] for name in names)
            return said or text_of(value.get("type")) in names or any(_says(names, inner) for inner in value.values())
        case _:
            return False
