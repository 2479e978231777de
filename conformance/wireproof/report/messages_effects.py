"""The forms of Messages answers that break clients, by the words with which lines of rows end (`report.effects`)."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

from wireproof.wire.fields import list_of, object_of, parse_json, text_of
from wireproof.wire.messages_grammar import (
    BLOCK_DELTA,
    BLOCK_START,
    BLOCK_STOP,
    BLOCKS,
    DELTA,
    ERROR,
    OTHER_BLOCKS,
    START,
    STOP,
    STOP_REASONS,
    TOOL_USE,
)
from wireproof.wire.stream import DONE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from wireproof.reading.exchange import Exchange
    from wireproof.wire.fields import JsonObject
    from wireproof.wire.sse import SseFrame

    Shows = Callable[[Exchange], bool]

_Part = TypeVar("_Part")


def events(exchange: Exchange, *types: str) -> list[JsonObject]:
    """The JSON of an answer, event by event: those of these types; without any, all."""
    payloads = [payload for _, payload in exchange.reading.payloads] if exchange.reading else []
    return [one for one in payloads if not types or one.get("type") in types]


def any_of(parts: Callable[[Exchange], Iterable[_Part]], test: Callable[[_Part], object]) -> Shows:
    """Whether any of these parts of an answer is so."""
    return lambda exchange: any(map(test, parts(exchange)))


def grows(pieces: Sequence[str]) -> bool:
    """Whether each of several pieces repeats what the one before it said."""
    return len(pieces) > 1 and all(later.startswith(earlier) for earlier, later in pairwise(pieces))


def _frames(exchange: Exchange) -> Iterator[SseFrame]:
    """The frames that hold anything."""
    return (one for one in (exchange.reading.frames if exchange.reading else ()) if one.data is not None)


# blocks


def _blocks(exchange: Exchange) -> list[tuple[JsonObject, list[JsonObject]]]:
    """Each block of a stream as it starts, and its deltas: those of its index until the next block has it."""
    every: list[tuple[JsonObject, list[JsonObject]]] = []
    deltas: dict[str, list[JsonObject]] = {}
    for event in events(exchange, BLOCK_START, BLOCK_DELTA):
        index = str(event.get("index"))
        if event["type"] == BLOCK_START:
            deltas[index] = []
            every.append((object_of(event.get("content_block")), deltas[index]))
        elif index in deltas:
            deltas[index].append(object_of(event.get("delta")))
    return every


def _any_block(kind: str, test: Callable[[JsonObject, list[JsonObject]], bool]) -> Shows:
    """Whether a block of this type, with its deltas, is so."""
    return any_of(_blocks, lambda pair: pair[0].get("type") == kind and test(*pair))


def _delta_in(delta: str, kind: str) -> Shows:
    """Whether a delta of one type is in a block of another."""
    return _any_block(kind, lambda _, deltas: any(one.get("type") == delta for one in deltas))


def _unopened(exchange: Exchange) -> bool:
    """Whether a delta has no block that it could be of."""
    opened: set[str] = set()
    for event in events(exchange, BLOCK_START, BLOCK_DELTA):
        if event["type"] == BLOCK_START:
            opened.add(str(event.get("index")))
        elif str(event.get("index")) not in opened:
            return True
    return False


def _indexes(exchange: Exchange) -> list[object]:
    """The indexes of the starts of blocks."""
    return [event.get("index") for event in events(exchange, BLOCK_START)]


def _joined(deltas: list[JsonObject]) -> str:
    return "".join(text_of(one.get("partial_json")) or "" for one in deltas)


def _parses_to(text: str) -> type | None:
    """The type of the value that arguments are; None if they are no JSON."""
    try:
        return type(parse_json(text))
    except ValueError:
        return None


def _is_cumulative(_: JsonObject, deltas: list[JsonObject]) -> bool:
    return grows([text for one in deltas if (text := text_of(one.get("text")))])


def _full(block: JsonObject) -> bool:
    return bool(object_of(block.get("input")))


# ends


def _reasons(exchange: Exchange) -> list[object]:
    """The stop reasons of a stream, or that of a whole answer."""
    ends = events(exchange, DELTA)
    return [object_of(one.get("delta")).get("stop_reason") for one in ends] or [
        one.get("stop_reason") for one in events(exchange, "message")
    ]


def _content(exchange: Exchange) -> Iterator[JsonObject]:
    """The blocks of a whole answer."""
    return (object_of(block) for one in events(exchange, "message") for block in list_of(one.get("content")))


def _called(exchange: Exchange) -> bool:
    blocks = (*_content(exchange), *(block for block, _ in _blocks(exchange)))
    return any(block.get("type") == TOOL_USE for block in blocks)


def _lacks(type_: str, *path: str) -> Shows:
    """Whether an event of a type lacks what stands at a path in it."""

    def missing(event: JsonObject) -> bool:
        *parents, last = path
        for name in parents:
            event = object_of(event.get(name))
        return event.get(last) is None

    return any_of(lambda exchange: events(exchange, type_), missing)


def _lost(exchange: Exchange) -> bool:
    """Whether a call that the backend made with arguments has none at all."""
    read = exchange.choices() if exchange.reading else ()
    pairs = [pair for wanted, choice in read for pair in zip(wanted.calls, choice.calls, strict=False)]
    nothing = {"", "{}"}
    return any(due.arguments not in nothing and came.arguments in nothing for due, came in pairs)


FORMS_OF_MESSAGES: Mapping[str, Shows] = {
    # whole answers
    "when input is a text": any_of(_content, lambda block: isinstance(block.get("input"), str)),
    # frames
    "when the data is no JSON": any_of(
        _frames, lambda frame: frame.data != DONE and _parses_to(frame.data or "") is None
    ),
    "when chunks of chat completions come": any_of(events, lambda event: "choices" in event),
    "when message_start has no content": _lacks(START, "message", "content"),
    "when a block has an unknown type": any_of(
        _blocks, lambda pair: text_of(pair[0].get("type")) not in {*BLOCKS, *OTHER_BLOCKS}
    ),
    "when there are no event lines": lambda one: bool(events(one)) and all(
        frame.event is None for frame in _frames(one)
    ),
    "when [DONE] has an event name": any_of(_frames, lambda frame: frame.data == DONE and frame.event),
    "when the last frame is not closed": lambda one: not one.transcript.body.endswith((b"\n\n", b"\r\n\r\n", b"\r\r")),
    # order
    "without message_start": lambda one: bool(events(one, BLOCK_START, DELTA)) and not events(one, START),
    "when message_start comes twice": lambda one: len(events(one, START)) > 1,
    "without content_block_start": _unopened,
    "without content_block_stop": lambda one: bool(events(one, DELTA))
    and len(events(one, BLOCK_STOP)) < len(events(one, BLOCK_START)),
    "when indexes start at 1": lambda one: _indexes(one)[:1] == [1],
    "when there is no index": lambda one: None in _indexes(one),
    # blocks
    "when it stands in content_block_start": _any_block("text", lambda block, _: bool(block.get("text"))),
    "when a text_delta is in a tool_use block": _delta_in("text_delta", TOOL_USE),
    "when a thinking_delta is in a text block": _delta_in("thinking_delta", "text"),
    "when deltas repeat the text so far": _any_block("text", _is_cumulative),
    "when the input stands in content_block_start": _any_block(
        TOOL_USE, lambda block, deltas: _full(block) and not _joined(deltas)
    ),
    "when the input stands in content_block_start and in deltas": _any_block(
        TOOL_USE, lambda block, deltas: _full(block) and bool(_joined(deltas))
    ),
    "when all fragments of a call are missing": _lost,
    "when a tool_use block has no name": _any_block(TOOL_USE, lambda block, _: not block.get("name")),
    "when the fragments are no JSON": _any_block(
        TOOL_USE, lambda _, deltas: bool(_joined(deltas)) and _parses_to(_joined(deltas)) is None
    ),
    "when the fragments are a list": _any_block(TOOL_USE, lambda _, deltas: _parses_to(_joined(deltas)) is list),
    # ends
    "when stop_reason is end_turn beside a call": lambda one: _called(one) and "end_turn" in _reasons(one),
    "when stop_reason is null": lambda one: bool(_reasons(one)) and _reasons(one)[-1] is None,
    "when stop_reason is no published word": any_of(
        _reasons, lambda reason: reason is not None and text_of(reason) not in STOP_REASONS
    ),
    "when stop_reason is tool_use without a call": lambda one: not _called(one) and TOOL_USE in _reasons(one),
    "when message_start has no usage": _lacks(START, "message", "usage"),
    "when message_delta has no usage": _lacks(DELTA, "usage"),
    "without message_stop": lambda one: bool(events(one, START)) and not events(one, STOP, ERROR),
    "when the stream ends in its middle": lambda one: bool(events(one, START)) and not events(one, DELTA, STOP, ERROR),
    "when the error has no event line": any_of(
        _frames, lambda frame: frame.event is None and '"error"' in (frame.data or "")
    ),
}  # fmt: skip
"""How a line of a row ends → whether an answer has the form that it names."""
