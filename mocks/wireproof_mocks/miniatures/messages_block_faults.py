"""Faults of what a Messages stream holds: its text, arguments, thoughts, stop reason and counts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from wireproof_mocks.miniatures.fault import MESSAGES, Fault, FaultExample, Frame, Json, SentRequest
from wireproof_mocks.miniatures.messages_events import (
    becomes,
    closed,
    ended,
    fragment,
    opened,
    started,
    words,
)
from wireproof_mocks.miniatures.messages_order_faults import SHORT
from wireproof_mocks.miniatures.messages_rewriting import (
    BLOCK_DELTA,
    BLOCK_START,
    BLOCK_STOP,
    ERROR,
    MESSAGE_DELTA,
    TOOL_USE,
    dropped,
    in_end,
    in_start,
    of_type,
    with_usage,
    without,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from wireproof_mocks.miniatures.messages_rewriting import Frames

CHAT_COUNTS = {"input_tokens": "prompt_tokens", "output_tokens": "completion_tokens"}
CHAT_REASONS = {"end_turn": "stop", "max_tokens": "length", "tool_use": "tool_calls", "refusal": "content_filter"}
OVERHEARD = "opened"
"""The text of `open/gate`, which the other request plays."""
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


# text


def _deltas(kind: str, change: Callable[[Json], Json]) -> Frames:
    """A fault of the deltas of one type."""

    def changed(event: Json) -> Iterable[Frame]:
        yield {**event, "delta": change(event["delta"])} if event["delta"]["type"] == kind else event

    return of_type(BLOCK_DELTA, changed)


def _grown(frames: Iterable[Frame], _: SentRequest) -> Iterator[Frame]:
    """Each delta of text repeats all before it."""
    sent: dict[int, str] = {}
    for frame in frames:
        if isinstance(frame, dict) and frame["type"] == BLOCK_DELTA and "text" in frame["delta"]:
            grown = sent.get(frame["index"], "") + frame["delta"]["text"]
            sent[frame["index"]] = grown
            yield {**frame, "delta": {**frame["delta"], "text": grown}}
        else:
            yield frame


def _other_overheard(frames: Iterable[Frame], _: SentRequest) -> Iterator[Frame]:
    """What the backend sends for another request in the meantime follows the first text."""
    strange = False
    for frame in frames:
        yield frame
        if not strange and isinstance(frame, dict) and frame["type"] == BLOCK_DELTA and "text" in frame["delta"]:
            strange = True  # once: it is enough to be seen
            yield words(frame["index"], OVERHEARD)


def _cut_in_letters(delta: Json) -> Json:
    """Letters that the backend's bytes were cut in are replaced."""
    return {**delta, "text": "".join(one if one.isascii() else REPLACEMENT for one in delta["text"])}


def _empty_text_first(frames: Iterable[Frame], _: SentRequest) -> Iterator[Frame]:
    """A call has an empty text before it."""
    more = 0
    for frame in frames:
        if isinstance(frame, dict) and "index" in frame:
            first = frame["type"] == BLOCK_START and frame["index"] == 0
            if first and frame["content_block"]["type"] == TOOL_USE:
                yield {"type": BLOCK_START, "index": 0, "content_block": {"type": "text", "text": ""}}
                yield {"type": BLOCK_STOP, "index": 0}
                more = 1
            yield {**frame, "index": frame["index"] + more}
        else:
            yield frame


# arguments


def _first_fragment_lost(frames: Iterable[Frame], _: SentRequest) -> Iterator[Frame]:
    """The arguments that came together with the name of a call are dropped."""
    begun: set[int] = set()
    for frame in frames:
        if isinstance(frame, dict) and frame["type"] == BLOCK_DELTA and frame["delta"].get("partial_json"):
            if frame["index"] in begun:
                yield frame
            begun.add(frame["index"])
        else:
            yield frame


def _last_fragment_lost(frames: Iterable[Frame], _: SentRequest) -> Iterator[Frame]:
    held: Json | None = None
    for frame in frames:
        kind = frame["type"] if isinstance(frame, dict) else ""
        if held is not None and kind:
            if kind != BLOCK_STOP:
                yield held
            held = None
        if isinstance(frame, dict) and kind == BLOCK_DELTA and frame["delta"].get("partial_json"):
            held = frame
        else:
            yield frame


def _in_the_start(deltas: Callable[[list[Json]], list[Json]]) -> Frames:
    """The input stands in the start of a block; `deltas` are left of its own."""

    def changed(frames: Iterable[Frame], _: SentRequest) -> Iterator[Frame]:
        held: list[Json] = []
        for frame in frames:
            kind = frame["type"] if isinstance(frame, dict) else ""
            # Beside another fault a block may never stop.
            if held and kind in {BLOCK_START, BLOCK_STOP, MESSAGE_DELTA, ERROR}:
                start, *own = held
                joined = "".join(one["delta"]["partial_json"] for one in own)
                yield {**start, "content_block": {**start["content_block"], "input": _parsed(joined)}}
                yield from deltas(own)
                held = []
            if isinstance(frame, dict) and kind == BLOCK_START and frame["content_block"]["type"] == TOOL_USE:
                held = [frame]
            elif isinstance(frame, dict) and held and kind == BLOCK_DELTA:
                held.append(frame)
            else:
                yield frame

    return changed


def _parsed(arguments: str) -> Any:  # noqa: ANN401 (JSON)
    """What arguments hold; {} where they are none or broken."""
    try:
        return json.loads(arguments)
    except ValueError:
        return {}


def _as_objects(delta: Json) -> Json:
    return {**delta, "partial_json": _parsed(delta["partial_json"])}


def _in_a_list(frames: Iterable[Frame], _: SentRequest) -> Iterator[Frame]:
    """The fragments of a call join to a list with the arguments in it."""
    calls: set[int] = set()
    for frame in frames:
        if isinstance(frame, dict) and frame["type"] == BLOCK_START and frame["content_block"]["type"] == TOOL_USE:
            calls.add(frame["index"])
            yield frame
            yield fragment(frame["index"], "[")
        elif isinstance(frame, dict) and frame["type"] == BLOCK_STOP and frame["index"] in calls:
            yield fragment(frame["index"], "]")
            yield frame
        else:
            yield frame


# stop reasons and counts


def _reason(change: Callable[[str], str | None]) -> Frames:
    """Another stop reason."""

    def changed(event: Json) -> Json:
        return {**event, "delta": {**event["delta"], "stop_reason": change(event["delta"]["stop_reason"])}}

    return in_end(changed)


def _stop_unnamed(event: Json) -> Json:
    """As behind a backend that does not say which of the stop sequences ended its text."""
    stopped = event["delta"]["stop_reason"] == "stop_sequence"
    return {**event, "delta": {"stop_reason": "end_turn", "stop_sequence": None}} if stopped else event


def _sequence_null(event: Json) -> Json:
    return {**event, "delta": {**event["delta"], "stop_sequence": None}}


def _stopped(reason: str, sequence: str | None) -> Json:
    return {**ended(), "delta": {"stop_reason": reason, "stop_sequence": sequence}}


def _ended_twice(event: Json) -> Iterable[Frame]:
    # LangChain adds the counts of the two.
    yield {**event, "delta": {**event["delta"], "stop_reason": None}}
    yield event


def chat_counts(usage: Json) -> Json:
    """Counts with the names that chat has for them."""
    return {CHAT_COUNTS[name]: count for name, count in usage.items() if name in CHAT_COUNTS}


def cached_counted_twice(usage: Json) -> Json:
    """The tokens that were read from a cache count as input, too."""
    return {**usage, "input_tokens": usage["input_tokens"] + (usage.get("cache_read_input_tokens") or 0)}


def cached_not_counted(usage: Json) -> Json:
    """The tokens of caches are not counted at all."""
    return {**usage, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}


def _everywhere(change: Callable[[Json], Json]) -> Frames:
    """A fault of the counts at both ends of a stream."""
    in_message, at_end = in_start(with_usage(change)), in_end(with_usage(change))
    return lambda frames, request: at_end(in_message(frames, request), request)


def _stream(name: str, breaks: str, *examples: FaultExample, frames: Frames, scripts: tuple[str, ...] = ()) -> Fault:
    row = f"messages.{breaks}"
    return Fault(name=name, breaks=row, dialects=(MESSAGES,), examples=examples, frames=frames, scripts=scripts)


_CALL = (opened(0, "tool_use", input={}), fragment(0, '{"a"'), fragment(0, ":1}"), closed(0))
_CACHED = {**ended(), "usage": {"input_tokens": 3, "cache_read_input_tokens": 4, "cache_creation_input_tokens": 0}}
_AS_OBJECT = {"type": "input_json_delta", "partial_json": {"a": 1}}
_FULL = opened(0, "tool_use", input={"a": 1})

MESSAGES_BLOCK_FAULTS: tuple[Fault, ...] = (
    _stream("text-repeated-from-its-start", "stream.text",
            becomes((words(0, "a"), words(0, "b")), (words(0, "a"), words(0, "ab"))), frames=_grown, scripts=SHORT),
    _stream("letters-cut-in-two", "stream.text", becomes((words(0, "aé"),), (words(0, f"a{REPLACEMENT}"),)),
            frames=_deltas("text_delta", _cut_in_letters)),
    _stream("empty-text-before-a-call", "stream.text",
            becomes(_CALL[:1], (opened(0, text=""), closed(0), opened(1, "tool_use", input={}))),
            frames=_empty_text_first),
    _stream("arguments-beside-the-name-lost", "stream.arguments", becomes(_CALL, (_CALL[0], *_CALL[2:])),
            frames=_first_fragment_lost),
    _stream("last-arguments-lost", "stream.arguments", becomes(_CALL, (*_CALL[:2], _CALL[3])),
            frames=_last_fragment_lost),
    # Claude Code takes no input from a start; the AI SDK joins it with the deltas.
    _stream("input-in-the-start-alone", "stream.arguments", becomes(_CALL, (_FULL, _CALL[3])),
            frames=_in_the_start(lambda _: [])),
    _stream("input-in-the-start-too", "stream.arguments", becomes(_CALL, (_FULL, *_CALL[1:])),
            frames=_in_the_start(lambda own: own)),
    _stream("fragments-as-objects", "stream.arguments",
            becomes((fragment(0, '{"a":1}'),), ({**fragment(0, ""), "delta": _AS_OBJECT},)),
            frames=_deltas("input_json_delta", _as_objects)),
    _stream("input-in-a-list", "stream.arguments",
            becomes(_CALL, (_CALL[0], fragment(0, "["), *_CALL[1:3], fragment(0, "]"), _CALL[3])), frames=_in_a_list),
    _stream("calls-end-the-turn", "stream.stop-reason", becomes((ended("tool_use"),), (ended("end_turn"),)),
            frames=_reason(lambda reason: "end_turn" if reason == "tool_use" else reason)),
    _stream("tool-use-without-a-call", "stream.stop-reason", becomes((ended("end_turn"),), (ended("tool_use"),)),
            frames=_reason(lambda reason: "tool_use" if reason == "end_turn" else reason)),
    _stream("stop-reasons-of-chat", "stream.stop-reason", becomes((ended("end_turn"),), (ended("stop"),)),
            frames=_reason(lambda reason: CHAT_REASONS.get(reason, reason))),
    _stream("no-reason-to-stop", "stream.stop-reason", becomes((ended(),), (ended(None),)),
            frames=_reason(lambda _: None)),
    _stream("delta-without-a-reason", "stream.stop-reason",
            becomes((ended(),), ({**ended(), "delta": {}},)), frames=in_end(lambda event: {**event, "delta": {}})),
    _stream("no-message-delta", "stream.stop-reason", becomes((closed(0), ended()), (closed(0),)),
            frames=dropped("message_delta")),
    _stream("two-message-deltas", "stream.stop-reason", becomes((ended(),), (ended(None), ended())),
            frames=of_type("message_delta", _ended_twice)),
    _stream("end-turn-at-a-stop-sequence", "stream.stop-reason",
            becomes((_stopped("stop_sequence", "."),), (ended(),)), frames=in_end(_stop_unnamed)),
    _stream("no-name-of-the-stop-sequence", "stream.stop-reason",
            becomes((_stopped("stop_sequence", "."),), (_stopped("stop_sequence", None),)),
            frames=in_end(_sequence_null)),
    _stream("start-without-usage", "stream.usage", becomes((started(usage={}),), (started(),)),
            frames=in_start(without("usage"))),
    _stream("end-without-usage", "stream.usage",
            becomes((ended(output_tokens=1),), (without("usage")(ended()),)), frames=in_end(without("usage"))),
    _stream("counts-with-names-of-chat", "stream.usage",
            becomes((ended(input_tokens=3, output_tokens=5),), (ended(prompt_tokens=3, completion_tokens=5),)),
            frames=_everywhere(chat_counts)),
    # LangChain reads no other counts than those of message_delta.
    _stream("input-counted-in-the-start-alone", "stream.usage",
            becomes((ended(input_tokens=3, output_tokens=5),), (ended(output_tokens=5),)),
            frames=in_end(with_usage(lambda usage: {"output_tokens": usage["output_tokens"]}))),
    _stream("output-of-the-last-piece", "stream.usage", becomes((ended(output_tokens=5),), (ended(output_tokens=1),)),
            frames=in_end(with_usage(lambda usage: {**usage, "output_tokens": 1}))),
    _stream("cached-counted-as-input-in-streams", "stream.usage",
            becomes((_CACHED,), (with_usage(lambda usage: {**usage, "input_tokens": 7})(_CACHED),)),
            frames=_everywhere(cached_counted_twice)),
    _stream("caches-not-counted-in-streams", "stream.usage",
            becomes((_CACHED,), (with_usage(lambda usage: {**usage, "cache_read_input_tokens": 0})(_CACHED),)),
            frames=_everywhere(cached_not_counted)),
    _stream("streams-of-another-model", "parity", becomes((started(model="m"),), (started(model="m-stream"),)),
            frames=in_start(lambda message: {**message, "model": f"{message['model']}-stream"})),
    Fault(name="others-overheard-in-messages", breaks="turn.concurrent-isolation", dialects=(MESSAGES,),
          frames=_other_overheard, scripts=("turn/beside",),
          examples=(becomes((words(0, "a"), words(0, "b")), (words(0, "a"), words(0, OVERHEARD), words(0, "b"))),)),
)  # fmt: skip
"""Each is the reference proxy with one thing wrong in what its Messages streams hold."""
