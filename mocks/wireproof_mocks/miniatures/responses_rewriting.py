"""Responses rewritten: the events of a stream, made from a response that a fault has changed.

A stream is held back until it is complete and then written from the output of its last event, so a fault that changes
the output changes streams and whole answers alike.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wireproof_mocks.miniatures import rewriting
from wireproof_mocks.miniatures.fault import Json, SentRequest
from wireproof_mocks.miniatures.rewriting import at, in_body, of_type, rewritten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from wireproof_mocks.miniatures.fault import Bodies, FaultHead, Frame, Frames
    from wireproof_mocks.miniatures.rewriting import Change

Output = list[Json]

TERMINAL = frozenset({"response.completed", "response.incomplete", "response.failed"})
BEGINNING = frozenset({"response.created", "response.in_progress"})
CALL, MESSAGE = "function_call", "message"


def numbered(frames: Iterable[Any]) -> Iterator[Frame]:
    """The events with their numbers as they stand."""
    number = 0
    for frame in frames:
        if isinstance(frame, dict):
            # Counted again: a fault that drops an event is to break its own row, not responses.stream.sequence.
            yield {**frame, "sequence_number": number}
            number += 1
        else:
            yield frame


def each_event(change: Callable[[Any], Frame | Iterable[Frame]]) -> Frames:
    """A fault that takes the events one by one; those that remain are renumbered, and comments pass."""
    return lambda frames, request: numbered(rewriting.each_event(change)(frames, request))


def at_end(change: Change) -> Frames:
    """A fault of the response in the last event."""
    return each_event(of_type(TERMINAL, at("response", change)))


def in_response(change: Change) -> Bodies:
    """A fault of whole responses; other bodies pass."""
    return in_body(lambda body: change(body) if "output" in body else body)


def in_stream(change: Callable[[Output, SentRequest], Output]) -> Frames:
    """A fault of the output, in streams."""

    def changed(frames: Iterable[Any], request: SentRequest) -> Iterator[Frame]:
        events = [frame for frame in frames if isinstance(frame, dict)]
        last = events[-1]
        response = {**last["response"], "output": change(last["response"]["output"], request)}
        items = [event for index, item in enumerate(response["output"]) for event in _item(index, item)]
        # These do not depend on the output. By their types: another fault may have left one of them out.
        begun = [event for event in events if event["type"] in BEGINNING]
        return numbered([*begun, *items, {**last, "response": response}])

    return changed


def in_whole(change: Callable[[Output, SentRequest], Output]) -> Bodies:
    """A fault of the output, in whole responses."""

    def changed(body: Json, request: SentRequest, _: FaultHead) -> Json:
        return {**body, "output": change(body["output"], request)} if "output" in body else body

    return changed


def _item(index: int, item: Json) -> Iterator[Json]:
    place = {"item_id": item["id"], "output_index": index}
    # Complete only when done: arguments that stand in `added` are doubled by pydantic-ai, langchain-js and Copilot.
    empty: Json = {"arguments": ""} if item["type"] == CALL else {"content": []}
    begun = {**item, **empty, "status": "in_progress"}
    yield {"type": "response.output_item.added", "output_index": index, "item": begun}
    yield from _arguments(item, place) if item["type"] == CALL else _parts(item, place)
    yield {"type": "response.output_item.done", "output_index": index, "item": item}


def _arguments(item: Json, place: Json) -> Iterator[Json]:
    stem = "response.function_call_arguments"
    # A delta without text would be an event that changes nothing.
    if item["arguments"]:
        yield {"type": f"{stem}.delta", **place, "delta": item["arguments"]}
    yield {"type": f"{stem}.done", **place, "arguments": item["arguments"]}


def _parts(item: Json, place: Json) -> Iterator[Json]:
    for number, part in enumerate(item["content"]):
        at = {**place, "content_index": number}
        yield {"type": "response.content_part.added", **at, "part": {**part, "text": ""}}
        if part["text"]:
            yield {"type": "response.output_text.delta", **at, "delta": part["text"], "logprobs": []}
        yield {"type": "response.output_text.done", **at, "text": part["text"], "logprobs": []}
        yield {"type": "response.content_part.done", **at, "part": part}


respelled = of_type(CALL, at("arguments", rewritten))
"""A change of items: their arguments, where they are JSON, are parsed and serialised again."""
