"""Faults of what the chunks of a stream say: roles, text, calls, identity."""

from __future__ import annotations

import json
from collections import defaultdict
from functools import partial
from typing import TYPE_CHECKING, Any

from wireproof_mocks.miniatures.chunks import (
    CALLS,
    DELTA,
    FUNCTION,
    TEXT,
    arguments_of,
    call_of,
    delta_of,
    each,
    finish_of,
    halves,
    is_chunk,
    is_error,
    opens,
    outside_blocks,
    text_of,
    with_delta,
)
from wireproof_mocks.miniatures.fault import FUNCTION_CALL, OPENAI_JSON, Fault
from wireproof_mocks.miniatures.rewriting import at, lost_before, rewritten, with_members, without

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from wireproof_mocks.miniatures.fault import Frame, Frames, Json, SentRequest


# roles


def _no_role(chunk: Json) -> Json | tuple[()]:
    bare: Json = at(DELTA, without("role"))(chunk)
    # A chunk that held nothing but the role is left out altogether: empty, it would break other rows.
    delta = delta_of(bare)
    says = delta.get("content") or {"tool_calls", "function_call"} & delta.keys() or finish_of(chunk)
    return bare if says or not chunk["choices"] else ()


# text


last_text_lost = lost_before(text_of, lambda frame: is_error(frame) or finish_of(frame))
"""The text that was held back when the answer ended is never sent."""


def _repeats_swallowed(frames: Iterable[Any], _: SentRequest) -> Iterator[Frame]:
    last = ""
    for frame in frames:
        text = text_of(frame)
        if not text or text != last:
            yield frame
        # Frames without text in between do not part two equal deltas.
        last = text or last


def _torn(text: str) -> str:
    # Two, as for the halves that such a character has in UTF-16.
    return "".join("\N{REPLACEMENT CHARACTER}" * 2 if ord(c) > 0xFFFF else c for c in text)  # noqa: PLR2004 (the BMP)


def _surrogates_cut(chunk: Json) -> Frame | Iterable[Frame]:
    text = text_of(chunk)
    if not any(ord(c) > 0xFFFF for c in text):  # noqa: PLR2004 (the BMP)
        return chunk
    units = text.encode("utf-16-be", "surrogatepass")
    pieces = (units[i : i + 2].decode("utf-16-be", "surrogatepass") for i in range(0, len(units), 2))
    # As a str: lone halves can only be sent escaped, and a dict would be written as UTF-8.
    return [json.dumps(with_delta(chunk, {"content": piece})) for piece in pieces]


# calls


def _identity_repeated(frames: Iterable[Any], _: SentRequest) -> Iterator[Frame]:
    said: Json = {}
    for frame in frames:
        call = call_of(frame)
        if call:
            # langchain and Copilot then have a wrong call, pydantic-ai raises.
            said = {"id": call.get("id", said.get("id")), "type": "function"}
        yield with_delta(frame, {"tool_calls": [{**call, **said}]}) if call else frame


def _empty_call_deltas(chunk: Json) -> Iterable[Frame]:
    call = call_of(chunk)
    # Behind each fragment, a delta that says nothing.
    empty = {"tool_calls": [{"index": call["index"], "function": {"arguments": ""}}]} if call else {}
    return (chunk, with_delta(chunk, empty)) if call and not opens(chunk) else (chunk,)


def _cumulative(frames: Iterable[Any], _: SentRequest) -> Iterator[Frame]:
    so_far: defaultdict[int, str] = defaultdict(str)
    for frame in frames:
        call = call_of(frame)
        if not call or opens(frame):
            yield frame
            continue
        # In two at least: with one delta cumulative and incremental are the same.
        for piece in halves(arguments_of(frame)):
            so_far[call["index"]] += piece
            cumulative = {"index": call["index"], "function": {"arguments": so_far[call["index"]]}}
            yield with_delta(frame, {"tool_calls": [cumulative]})


def _reserialised(frames: Iterable[Any], _: SentRequest) -> Iterator[Frame]:
    """Arguments are collected, parsed, and serialised again before the next frame that is not a fragment."""
    gathered: list[Json] = []
    for frame in frames:
        if call_of(frame) and not opens(frame):
            gathered.append(frame)
            continue
        if gathered:
            arguments = rewritten("".join(map(arguments_of, gathered)))
            yield at(FUNCTION, with_members(arguments=arguments))(gathered[-1])
        gathered = []
        yield frame


def _tail(chunk: Json) -> Iterable[Frame]:
    # Before the finish: behind it, it would break chat.stream.nothing-after-finish.
    more = with_delta(chunk, {"content": "I have called the tool."})
    return (more, chunk) if finish_of(chunk) == "tool_calls" else (chunk,)


def _arguments_cut(most: int) -> Frames:
    """Only the first characters of a call's arguments are sent."""

    def change(frames: Iterable[Any], _: SentRequest) -> Iterator[Frame]:
        left = most
        for frame in frames:
            text = arguments_of(frame)
            yield at(FUNCTION, with_members(arguments=text[:left]))(frame) if text else frame
            left = max(left - len(text), 0)

    return change


def _arguments_repaired(frames: Iterable[Any], _: SentRequest) -> Iterator[Frame]:
    """What closes the string and the object follows the arguments."""
    last: Json = {}
    for frame in frames:
        if last and finish_of(frame):
            closing = {"index": call_of(last)["index"], "function": {"arguments": '"}'}}
            yield with_delta(last, {"tool_calls": [closing]})
            last = {}
        last = frame if call_of(frame) else last
        yield frame


# identity


def _renewed(member: str) -> Frames:
    def change(frames: Iterable[Any], _: SentRequest) -> Iterator[Frame]:
        for number, frame in enumerate(frames):
            yield at(member, partial(_numbered, number))(frame)

    return change


def _numbered(number: int, value: int | str) -> int | str:
    # Of the same type and form as before: only its stability is broken.
    return value + number if isinstance(value, int) else f"{value}{number}"


def _as_tool_call(delta: Json) -> Json:
    """Answers `functions` with `tool_calls`, which clients that send `functions` do not read."""
    made = delta.get("function_call")
    if made is None:
        return delta
    opening = {"id": "call_1", "type": "function"} if "name" in made else {}
    return {"tool_calls": [{"index": 0, **opening, "function": made}]}


def _null_choices(frames: Iterable[Any], _: SentRequest) -> Iterator[Frame]:
    """A first chunk that says nothing, and says so by null."""
    begun = False
    for frame in frames:
        if not begun and is_chunk(frame):
            begun = True
            yield {**frame, "choices": None}
        yield frame


def _fault(name: str, breaks: str, frames: Frames, **how: Any) -> Fault:  # noqa: ANN401 (see Fault)
    return Fault(name=name, breaks=f"chat.stream.{breaks}", frames=frames, **how)


CHUNK_FAULTS: tuple[Fault, ...] = (
    _fault("extra-member", "schema", each(with_members(provider="mine"))),
    _fault("no-object", "schema", each(without("object"))),
    _fault("choices-null-in-the-first-chunk", "schema", _null_choices),
    _fault("id-per-chunk", "stable-id", _renewed("id")),
    _fault("one-id-for-all-streams", "stable-id", each(with_members(id="chatcmpl-1"))),
    _fault("created-per-chunk", "stable-created", _renewed("created")),
    _fault("model-per-chunk", "stable-model", _renewed("model")),
    _fault("no-role", "role-first", each(_no_role)),
    _fault("role-everywhere", "role-once", each(at(DELTA, lambda delta: delta and {"role": "assistant", **delta}))),
    _fault(
        "content-beside-call",
        "no-mixed-frame",
        each(lambda chunk: at(DELTA, with_members(content="Calling."))(chunk) if opens(chunk) else chunk),
    ),
    _fault("last-text-lost", "text", last_text_lost),
    _fault("repeats-swallowed", "text", _repeats_swallowed),
    _fault("text-trimmed", "text", each(at(TEXT, outside_blocks(str.strip)))),
    _fault("characters-torn", "utf8", each(at(TEXT, outside_blocks(_torn)))),
    _fault("surrogates-cut", "utf8", each(_surrogates_cut)),
    _fault("call-without-id", "call-opening", each(at(CALLS, without("id")))),
    _fault("call-without-type", "call-opening", each(at(CALLS, without("type")))),
    _fault("call-without-index", "call-opening", each(at(CALLS, without("index")))),
    _fault("call-without-name", "call-opening", each(at(FUNCTION, without("name")))),
    _fault("call-name-lowered", "call-opening", each(at(f"{FUNCTION}.name", str.lower))),
    # Right for two calls; the third goes to the second.
    _fault(
        "third-call-counted-as-second",
        "call-opening",
        each(at(f"{CALLS}.index", lambda index: min(index, 1))),
        scripts=("call/three",),
    ),
    _fault("functions-called-as-tools", "parity", each(at(DELTA, _as_tool_call)), dialects=(FUNCTION_CALL,)),
    _fault("call-id-repeated", "call-opening", _identity_repeated),
    _fault("empty-call-deltas", "call-delta-on-change", each(_empty_call_deltas)),
    # In obsidian-xml this is the right mode.
    _fault("cumulative-arguments", "arguments-incremental", _cumulative, dialects=(OPENAI_JSON,)),
    _fault("arguments-reserialised", "arguments-verbatim", _reserialised),
    # Not in obsidian-xml, where each delta repeats those before it.
    _fault("arguments-cut-at-64-kib", "arguments-verbatim", _arguments_cut(65_536), dialects=(OPENAI_JSON,)),
    _fault("arguments-cut-at-half-a-mebibyte", "arguments-verbatim", _arguments_cut(2**19), dialects=(OPENAI_JSON,)),
    _fault(
        "arguments-repaired",
        "arguments-verbatim",
        _arguments_repaired,
        dialects=(OPENAI_JSON,),
        scripts=("call/broken",),
    ),
    # What was held back, since a block might have begun with it.
    _fault("angle-bracket-at-the-end-lost", "text", last_text_lost, scripts=("text/open-end",)),
    _fault("text-after-call", "tail-suppressed", each(_tail)),
    _fault(
        "own-call-ids",
        "parity",
        each(at(f"{CALLS}.id", lambda id_: f"call_of_the_stream_{id_}")),
        scripts=("call/one", "call/two"),
    ),
)
"""Each is the reference proxy with one thing wrong in the chunks of its streams."""
