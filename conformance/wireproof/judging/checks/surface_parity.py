"""Answers to one script against each other: a stream against the whole answer, one surface against chat.

Those of Responses and of Messages; a stream of chat has its row among those of chat streams.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof.judging.checks.places import Pair, as_data, counts, differences, is_counted_alike, same_data
from wireproof.judging.registry import Checks, Seen
from wireproof.reading.schemas import published
from wireproof.wire.facet import Facet
from wireproof.wire.fields import JsonObject, list_of, object_of
from wireproof.wire.messages_grammar import INDEXES, BlockState
from wireproof.wire.messages_whole import UNFITTING, fold

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wireproof.reading.exchange import Exchange

check = Checks()

PASSING = frozenset({"id", "created_at", "completed_at"})
"""Members that are never the same twice."""


_PARTS = {
    "usage": Facet.USAGE,
    **dict.fromkeys(("status", "incomplete_details", "error"), Facet.FINISH),
}
"""Member of a response → the part of the answer that it is."""


@check("responses.parity")
def parity(response: Exchange, other: Exchange) -> Iterable[Seen]:
    """A streamed response is the whole one, and a whole response says what chat says of the same turn."""
    return streamed(response, other) if other.dialect is response.dialect else across(response, other)


def streamed(stream: Exchange, whole: Exchange) -> Iterable[Seen]:
    """The terminal response is the whole answer, but for ids and times; under policy first, up to its first call."""
    # One of them did not arrive; that has a finding of its own.
    if not stream.read.payloads or not whole.read.payloads:
        return
    ended = _comparable(object_of(stream.read.payloads[-1][1].get("response")), stream)
    at_once = _comparable(whole.read.payloads[-1][1], stream)
    if _texts_differ(stream, whole):
        for one in (ended, at_once):
            one["output"] = [item for item in one["output"] if item.get("type") != "message"]
    if stream.carries_data:
        for item in (*ended["output"], *at_once["output"]):
            item.update({name: as_data(str(said)) for name, said in item.items() if name == "arguments"})
    # A vendor's own members have a finding of their own, and clients pass over them.
    outputs = [[_meaning(item) for item in one.pop("output")] for one in (ended, at_once)]
    yield from differences((part, "output", ours, others) for part, ours, others in _items(*outputs))
    yield from differences(
        (_PARTS.get(name, Facet.SETTINGS), name, _meant(name, ended.get(name)), _meant(name, at_once.get(name)))
        for name in sorted((ended.keys() | at_once.keys()) & published("openai/response"))
    )


def _texts_differ(stream: Exchange, whole: Exchange) -> bool:
    """Whether the upstream of a gateway had text for one of them alone: see `right_answers`."""
    return any(one.text != other.text for one, other in zip(stream.wanted, whole.wanted, strict=False))


def _meaning(item: JsonObject) -> JsonObject:
    return {name: _meant(name, value) for name, value in item.items() if value is not None}


def _meant(name: str, value: object) -> object:
    """A member as it is compared: one that is null says no more than one that is missing, nor do a vendor's counts."""
    match value:
        case dict():
            known = _COUNTS if name == "usage" else value.keys()
            return {one: _meant(name, said) for one, said in value.items() if said is not None and one in known}
        case list():
            return [_meant(name, one) for one in value]
        case _:
            return value


_COUNTS = frozenset({
    "input_tokens", "input_tokens_details", "cached_tokens", "output_tokens", "output_tokens_details",
    "reasoning_tokens", "total_tokens",
})  # fmt: skip
"""The published members of `usage`."""


def _items(ours: list[JsonObject], others: list[JsonObject]) -> Iterable[tuple[Facet, object, object]]:
    """The output of two responses against each other, part by part; last what is left of its items."""
    alike = len(_of(Facet.CALL, ours)) == len(_of(Facet.CALL, others))
    if not alike:
        # An answer that lost its call may have an empty message in its place.
        ours, others = ([item for item in items if not _is_silent(item)] for items in (ours, others))
    yield from ((part, _of(part, ours), _of(part, others)) for part in (Facet.TEXT, Facet.CALL))
    # What a call says is missing where the call is: its arguments and its id are no findings of their own.
    if alike:
        yield from ((part, _of(part, ours), _of(part, others)) for part in (Facet.ARGUMENTS, Facet.CALL_ID))
    if alike and len(ours) == len(others):
        yield Facet.EVENTS, _of(Facet.EVENTS, ours), _of(Facet.EVENTS, others)


def _of(part: Facet, items: list[JsonObject]) -> list[JsonObject]:
    """The items with the members alone that are this part of an answer, of those that have any."""
    parts = ({name: item[name] for name in sorted(item) if _part(name, item) is part} for item in items)
    return [one for one in parts if one]


def _part(name: str, item: JsonObject) -> Facet:
    """The part of an answer that a member of an item is."""
    # A message that is missing is a text that is.
    if name == "type" and item[name] == "message":
        return Facet.TEXT
    return next((part for part, names in _OF_ITEMS.items() if name in names), Facet.EVENTS)


_OF_ITEMS = {
    Facet.TEXT: ("content",),
    Facet.CALL: ("type", "name"),
    Facet.ARGUMENTS: ("arguments",),
    Facet.CALL_ID: ("call_id",),
}
"""Part of an answer → the members of an item that are it."""


def _is_silent(item: JsonObject) -> bool:
    """Whether an item is a message of empty texts."""
    parts = [object_of(part) for part in list_of(item.get("content"))]
    return item.get("type") == "message" and all(
        part.get("text") == "" and not part.get("annotations") for part in parts
    )


def _comparable(response: JsonObject, stream: Exchange) -> JsonObject:
    output = [_lasting(object_of(item)) for item in list_of(response.get("output"))]
    if not stream.terms.burst:
        calls = [number for number, item in enumerate(output) if item.get("type") == "function_call"]
        output = output[: calls[0] + 1] if calls else output
    lasting = {**_lasting(response), "output": output}
    if not is_counted_alike(stream):
        lasting.pop("usage", None)
    return lasting


def _lasting(value: JsonObject) -> JsonObject:
    return {name: inner for name, inner in value.items() if name not in PASSING}


def across(response: Exchange, chat: Exchange) -> Iterable[Seen]:
    """What a response says is what chat says of the same turn."""
    here, there = response.choice(), chat.choice()
    # Without the ids of calls, which a proxy may make for each answer.
    pairs: list[Pair] = [
        (Facet.CALL, "calls", [call.name for call in here.calls], [call.name for call in there.calls]),
        (Facet.ARGUMENTS, "arguments", [call.arguments for call in here.calls], [one.arguments for one in there.calls]),
        (Facet.FINISH, "finish", here.finish, there.finish),
    ]
    # Chat has no text beside calls, a response keeps it as an item of its own.
    if not there.calls:
        pairs.append((Facet.TEXT, "text", here.text or "", there.text or ""))
    return differences(pairs, "the response", "chat")


_MESSAGE_COUNTS = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_OF_BLOCKS = {
    Facet.TEXT: ("text",),
    Facet.CALL: ("name",),
    Facet.ARGUMENTS: ("input",),
    Facet.EVENTS: ("type", "thinking", "data"),
}
"""Part of an answer → the members of a block that are it; ids and signatures are never the same twice."""


@check("messages.parity")
def message_parity(stream: Exchange, whole: Exchange) -> Iterable[Seen]:
    """The fold of the stream is the whole answer, but for ids."""
    if stream.dialect is not whole.dialect or not (stream.read.payloads and whole.read.payloads):
        return
    folded, at_once = fold(payload for _, payload in stream.read.payloads), whole.read.payloads[-1][1]
    if _texts_differ(stream, whole):
        folded, at_once = _without_text(folded), _without_text(at_once)
    # The fold goes by the indexes of blocks that have started: else what comes of it is not what was meant.
    indexed = not any(
        one.requirement == INDEXES or one.kind.endswith(BlockState.ABSENT.value) for one in stream.read.violations
    )
    # So is an end whose reason and stop sequence do not fit each other: one of the two is not what was meant.
    named = _end_named(stream) or _end_named(whole)
    pairs = _pairs(folded, at_once, counted=counts(stream) is not None, indexed=indexed)
    yield from differences(pair for pair in pairs if not (named and pair[0] is Facet.FINISH))


def _end_named(exchange: Exchange) -> bool:
    """Whether the row of the end says already that its reason and its stop sequence do not fit each other."""
    return any(one.kind == UNFITTING for one in exchange.read.violations)


def _pairs(folded: JsonObject, whole: JsonObject, *, counted: bool, indexed: bool) -> Iterable[Pair]:
    for part, names in _OF_BLOCKS.items() if indexed else ():
        ours, others = _only(folded, names), _only(whole, names)
        # As everywhere in this surface, inputs are data: what JavaScript reads as the same number is the same.
        if _doubled(ours) != _doubled(others):
            yield part, "content", ours, others
    yield Facet.FINISH, "stop_reason", folded.get("stop_reason"), whole.get("stop_reason")
    # One that is missing is named by the schema.
    if "stop_sequence" in folded and "stop_sequence" in whole:
        yield Facet.FINISH, "stop_sequence", folded["stop_sequence"], whole["stop_sequence"]
    # What a proxy estimates of a stream may be other than what it estimates of a whole answer.
    if counted:
        yield Facet.USAGE, "usage", _counts(folded), _counts(whole)
    yield Facet.SETTINGS, "model", folded.get("model"), whole.get("model")


def _only(message: JsonObject, names: tuple[str, ...]) -> list[JsonObject]:
    """The blocks with these members alone, of those that have any; an empty text is none."""
    blocks = [object_of(block) for block in list_of(message.get("content"))]
    kept = [block for block in blocks if block.get("type") != "text" or block.get("text")]
    parts = ({name: block[name] for name in names if name in block} for block in kept)
    return [part for part in parts if part]


def _doubled(value: object) -> object:
    """A JSON value with its whole numbers as doubles."""
    match value:
        case int() if not isinstance(value, bool):
            return float(str(value))
        case dict():
            return {name: _doubled(inner) for name, inner in value.items()}
        case list():
            return [_doubled(inner) for inner in value]
        case _:
            return value


def _without_text(message: JsonObject) -> JsonObject:
    """The message without its blocks of text."""
    blocks = list_of(message.get("content"))
    return {**message, "content": [block for block in blocks if object_of(block).get("type") != "text"]}


def _counts(message: JsonObject) -> JsonObject:
    """The counts that say something: one that is zero or null says no more than one that is missing."""
    usage = object_of(message.get("usage"))
    return {name: usage[name] for name in _MESSAGE_COUNTS if usage.get(name)}


@check("turn.surface-parity")
def surface_parity(other: Exchange, chat: Exchange) -> Iterable[Seen]:
    """What another surface says of a script is what chat says."""
    here, there = other.choice(), chat.choice()
    called, due = [call.name for call in here.calls], [call.name for call in there.calls]
    pairs: list[Pair] = [
        (Facet.CALL, "calls", called, due),
        (Facet.FINISH, "end", here.finish, there.finish),
    ]
    # Chat has no text beside calls.
    if not there.calls:
        pairs.append((Facet.TEXT, "text", here.text or "", there.text or ""))
    if called == due:
        both = [(mine.arguments, theirs.arguments) for mine, theirs in zip(here.calls, there.calls, strict=False)]
        pairs += [(Facet.ARGUMENTS, "arguments", ours, chats) for ours, chats in both if not same_data(chats, ours)]
    return differences(pairs, str(other.dialect), "chat")
