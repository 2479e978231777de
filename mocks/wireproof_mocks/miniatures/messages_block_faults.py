"""Faults of what a Messages stream holds: its text, arguments, thoughts, stop reason and counts."""

from __future__ import annotations

import json
import operator
from functools import partial
from typing import TYPE_CHECKING, Any

from wireproof_mocks.miniatures.fault import MESSAGES, Fault, fault_below
from wireproof_mocks.miniatures.messages_order_faults import SHORT
from wireproof_mocks.miniatures.messages_rewriting import (
    closed,
    fragment,
    has_delta,
    in_end,
    in_start,
    merged,
    opened,
    opens,
    signed,
    thought,
    words,
)
from wireproof_mocks.miniatures.rewriting import (
    at,
    behind_the_first,
    both,
    dropped,
    each_event,
    in_body,
    kind_of,
    of_type,
    repeated_from_start,
    with_members,
    without,
)
from wireproof_mocks.miniatures.turn_faults import OVERHEARD

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from wireproof_mocks.miniatures.fault import Frame, Frames, Json, SentRequest
    from wireproof_mocks.miniatures.rewriting import Change

CHAT_COUNTS = {"input_tokens": "prompt_tokens", "output_tokens": "completion_tokens"}
CHAT_REASONS = {"end_turn": "stop", "max_tokens": "length", "tool_use": "tool_calls", "refusal": "content_filter"}
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


# text


def _in_deltas(member: str, change: Change) -> Frames:
    """A fault of what deltas have in this member."""
    return each_event(of_type("content_block_delta", at(f"delta.{member}", change)))


def _cut_in_letters(text: str) -> str:
    """Letters that the backend's bytes were cut in are replaced."""
    return "".join(one if one.isascii() else REPLACEMENT for one in text)


def _empty_text_first(frames: Iterable[Any], _: SentRequest) -> Iterator[Frame]:
    """A call has an empty text before it."""
    more = 0
    for frame in frames:
        if opens(frame, "tool_use") and frame["index"] == 0:
            yield from (opened(0, text=""), closed(0))
            more = 1
        yield at("index", partial(operator.add, more))(frame)


# arguments


def _first_fragment_lost(frames: Iterable[Any], _: SentRequest) -> Iterator[Frame]:
    """The arguments that came together with the name of a call are dropped."""
    begun: set[int] = set()
    for frame in frames:
        if not has_delta(frame, "partial_json") or frame["index"] in begun:
            yield frame
        else:
            begun.add(frame["index"])


def _last_fragment_lost(frames: Iterable[Any], _: SentRequest) -> Iterator[Frame]:
    held: list[Frame] = []
    for frame in frames:
        # A comment passes what is held: it does not show whether another fragment follows.
        if kind_of(frame):
            yield from held if kind_of(frame) != "content_block_stop" else ()
            held = [frame] if has_delta(frame, "partial_json") else []
        if frame not in held:
            yield frame


def _in_the_start(deltas: Callable[[list[Json]], list[Json]]) -> Frames:
    """The input stands in the start of a block; `deltas` are left of its own."""

    def changed(frames: Iterable[Any], _: SentRequest) -> Iterator[Frame]:
        held: list[Json] = []
        for frame in frames:
            kind = kind_of(frame)
            # Beside another fault a block may never stop.
            if held and kind in {"content_block_start", "content_block_stop", "message_delta", "error"}:
                start, *own = held
                given = _parsed("".join(one["delta"]["partial_json"] for one in own))
                yield at("content_block", with_members(input=given))(start)
                yield from deltas(own)
                held = []
            if opens(frame, "tool_use"):
                held = [frame]
            elif held and kind == "content_block_delta":
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


def _in_a_list(frames: Iterable[Any], _: SentRequest) -> Iterator[Frame]:
    """The fragments of a call join to a list with the arguments in it."""
    calls: set[int] = set()
    for frame in frames:
        if kind_of(frame) == "content_block_stop" and frame["index"] in calls:
            yield fragment(frame["index"], "]")
        yield frame
        if opens(frame, "tool_use"):
            calls.add(frame["index"])
            yield fragment(frame["index"], "[")


# stop reasons and counts


def _reason(change: Callable[[str], str | None]) -> Frames:
    """Another stop reason."""
    return in_end(at("delta.stop_reason", change))


def stop_unnamed(answer: Json) -> Json:
    """As behind a backend that does not say which of the stop sequences ended its text."""
    stopped = answer["stop_reason"] == "stop_sequence"
    return {**answer, "stop_reason": "end_turn", "stop_sequence": None} if stopped else answer


def chat_counts(usage: Json) -> Json:
    """Counts with the names that chat has for them."""
    return {CHAT_COUNTS[name]: count for name, count in usage.items() if name in CHAT_COUNTS}


def cached_counted_twice(usage: Json) -> Json:
    """The tokens that were read from a cache count as input, too."""
    return {**usage, "input_tokens": usage["input_tokens"] + (usage.get("cache_read_input_tokens") or 0)}


cached_not_counted = with_members(cache_read_input_tokens=0, cache_creation_input_tokens=0)
"""The tokens of caches are not counted at all."""


def _everywhere(change: Change) -> Frames:
    """A fault of the counts at both ends of a stream."""
    return each_event(both(at("usage", change), at("message.usage", change)))


# thoughts: no backend of the reference proxy has any that it shows, so each fault brings its own. Whole answers have
# them as well: what is wrong is only how they are streamed.


SHOWN = ("text/hello", "text/utf8", "call/two")
"""Scripts of which the answers have thoughts."""
THOUGHT: Json = {"type": "thinking", "thinking": "Hm.", "signature": "sig"}


def _thinking_first(*signatures: Json) -> Frames:
    """A block of thoughts comes before all others."""

    def changed(event: Json) -> Iterable[Frame]:
        yield at("index", lambda index: index + 1)(event)
        if event["type"] == "message_start":
            yield from (_OPENED, thought(0, "Hm."), *signatures, closed(0))

    return each_event(changed)


def _text_begun_with(delta: Callable[[int, str], Json]) -> Frames:
    """A delta is sent where a text has begun."""
    return each_event(lambda event: (event, delta(event["index"], "Hm.")) if opens(event, "text") else event)


def _text_in_thoughts(frames: Iterable[Any], request: SentRequest) -> Iterator[Frame]:
    """A text is sent in the block of the thoughts before it."""
    return merged("text")(_thinking_first(signed(0))(frames, request), request)


_think_first = in_body(of_type("message", at("content", lambda content: [THOUGHT, *content])))

_OPENED = opened(0, "thinking", thinking="", signature="")


def _stream(name: str, breaks: str, frames: Frames, *scripts: str) -> Fault:
    return Fault(name=name, breaks=f"messages.{breaks}", dialects=(MESSAGES,), frames=frames, scripts=scripts)


_thinking = partial(fault_below, "messages.stream.", dialects=(MESSAGES,), scripts=SHOWN)


MESSAGES_BLOCK_FAULTS: tuple[Fault, ...] = (
    _stream("text-repeated-from-its-start", "stream.text",
            repeated_from_start("content_block_delta", "delta.text", "index"), *SHORT),
    _stream("letters-cut-in-two", "stream.text", _in_deltas("text", _cut_in_letters)),
    _stream("empty-text-before-a-call", "stream.text", _empty_text_first),
    _stream("arguments-beside-the-name-lost", "stream.arguments", _first_fragment_lost),
    _stream("last-arguments-lost", "stream.arguments", _last_fragment_lost),
    # Claude Code takes no input from a start; the AI SDK joins it with the deltas.
    _stream("input-in-the-start-alone", "stream.arguments", _in_the_start(lambda _: [])),
    _stream("input-in-the-start-too", "stream.arguments", _in_the_start(lambda own: own)),
    _stream("fragments-as-objects", "stream.arguments", _in_deltas("partial_json", _parsed)),
    _stream("input-in-a-list", "stream.arguments", _in_a_list),
    _stream("calls-end-the-turn", "stream.stop-reason",
            _reason(lambda reason: "end_turn" if reason == "tool_use" else reason)),
    _stream("tool-use-without-a-call", "stream.stop-reason",
            _reason(lambda reason: "tool_use" if reason == "end_turn" else reason)),
    _stream("stop-reasons-of-chat", "stream.stop-reason",
            _reason(lambda reason: CHAT_REASONS.get(reason, reason))),
    _stream("no-reason-to-stop", "stream.stop-reason", _reason(lambda _: None)),
    _stream("delta-without-a-reason", "stream.stop-reason", in_end(with_members(delta={}))),
    _stream("no-message-delta", "stream.stop-reason", dropped("message_delta")),
    # LangChain adds the counts of the two.
    _stream("two-message-deltas", "stream.stop-reason",
            in_end(lambda event: ({**event, "delta": {**event["delta"], "stop_reason": None}}, event))),
    _stream("end-turn-at-a-stop-sequence", "stream.stop-reason", in_end(at("delta", stop_unnamed))),
    _stream("no-name-of-the-stop-sequence", "stream.stop-reason",
            in_end(at("delta", with_members(stop_sequence=None)))),
    _stream("start-without-usage", "stream.usage", in_start(without("usage"))),
    _stream("end-without-usage", "stream.usage", in_end(without("usage"))),
    _stream("counts-with-names-of-chat", "stream.usage", _everywhere(chat_counts)),
    # LangChain reads no other counts than those of message_delta.
    _stream("input-counted-in-the-start-alone", "stream.usage",
            in_end(at("usage", lambda usage: {"output_tokens": usage["output_tokens"]}))),
    _stream("output-of-the-last-piece", "stream.usage", in_end(at("usage", with_members(output_tokens=1)))),
    _stream("cached-counted-as-input-in-streams", "stream.usage", _everywhere(cached_counted_twice)),
    _stream("caches-not-counted-in-streams", "stream.usage", _everywhere(cached_not_counted)),
    _stream("streams-of-another-model", "parity", in_start(at("model", lambda model: f"{model}-stream"))),
    Fault(name="others-overheard-in-messages", breaks="turn.concurrent-isolation", dialects=(MESSAGES,),
          frames=behind_the_first(lambda frame: has_delta(frame, "text"),
                                  lambda frame: words(frame["index"], OVERHEARD)),
          scripts=("turn/beside",)),
)  # fmt: skip
"""Each is the reference proxy with one thing wrong in what its Messages streams hold."""

MESSAGES_THOUGHT_FAULTS: tuple[Fault, ...] = (
    # Both SDKs then show an empty text, Claude Code raises.
    _thinking("thoughts-in-a-text-block", "thinking", frames=_text_begun_with(thought)),
    _thinking("later-thoughts-in-the-block-before", "thinking",
            frames=each_event(of_type("content_block_stop", lambda event: (thought(event["index"], "Hm."), event)))),
    _thinking("thoughts-not-signed", "thinking", frames=_thinking_first(), whole=_think_first),
    _thinking("thoughts-signed-twice", "thinking", frames=_thinking_first(signed(0), signed(0)), whole=_think_first),
    _thinking("text-in-the-block-before", "delta-kinds", frames=_text_in_thoughts, whole=_think_first),
    _thinking("thoughts-said-aloud", "text",

            # A thought is the beginning of the text.
            frames=_text_begun_with(words)),
)  # fmt: skip
"""Each is the reference proxy with thoughts of its own, and one thing wrong in how it sends them."""
