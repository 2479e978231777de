"""Answers to one script against each other: a stream of Messages against the whole answer, one surface against chat."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof.judging.checks.places import counts, differences, reading_of, same_data
from wireproof.judging.registry import Checks
from wireproof.wire.facet import Facet
from wireproof.wire.fields import JsonObject, list_of, object_of
from wireproof.wire.messages_fold import fold
from wireproof.wire.messages_grammar import INDEXES, BlockState
from wireproof.wire.messages_whole import UNFITTING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wireproof.judging.checks.places import Pair
    from wireproof.judging.registry import Seen
    from wireproof.reading.exchange import Exchange

check = Checks()

_COUNTS = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_OF_BLOCKS = {
    Facet.TEXT: ("text",),
    Facet.CALL: ("name",),
    Facet.ARGUMENTS: ("input",),
    Facet.EVENTS: ("type", "thinking", "data"),
}
"""Part of an answer → the members of a block that are it; ids and signatures are never the same twice."""


@check("messages.parity")
def parity(stream: Exchange, whole: Exchange) -> Iterable[Seen]:
    """The fold of the stream is the whole answer, but for ids."""
    if stream.dialect is not whole.dialect or not (reading_of(stream).payloads and reading_of(whole).payloads):
        return
    folded, at_once = fold(payload for _, payload in reading_of(stream).payloads), reading_of(whole).payloads[-1][1]
    # The upstream of a gateway may have had text for one of them alone: see `right_answers`.
    if any(one.text != other.text for one, other in zip(stream.wanted, whole.wanted, strict=False)):
        folded, at_once = _without_text(folded), _without_text(at_once)
    # The fold goes by the indexes of blocks that have started: else what comes of it is not what was meant.
    indexed = not any(
        one.requirement == INDEXES or one.kind.endswith(BlockState.ABSENT.value)
        for one in reading_of(stream).violations
    )
    # So is an end whose reason and stop sequence do not fit each other: one of the two is not what was meant.
    named = _end_named(stream) or _end_named(whole)
    pairs = _pairs(folded, at_once, counted=counts(stream) is not None, indexed=indexed)
    yield from differences(pair for pair in pairs if not (named and pair[0] is Facet.FINISH))


def _end_named(exchange: Exchange) -> bool:
    """Whether the row of the end says already that its reason and its stop sequence do not fit each other."""
    return any(one.kind == UNFITTING for one in reading_of(exchange).violations)


def _pairs(folded: JsonObject, whole: JsonObject, *, counted: bool, indexed: bool) -> Iterable[Pair]:
    for part, names in _OF_BLOCKS.items() if indexed else ():
        yield part, "content", _only(folded, names), _only(whole, names)
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


def _without_text(message: JsonObject) -> JsonObject:
    """The message without its blocks of text."""
    blocks = list_of(message.get("content"))
    return {**message, "content": [block for block in blocks if object_of(block).get("type") != "text"]}


def _counts(message: JsonObject) -> JsonObject:
    """The counts that say something: one that is zero or null says no more than one that is missing."""
    usage = object_of(message.get("usage"))
    return {name: usage[name] for name in _COUNTS if usage.get(name)}


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
