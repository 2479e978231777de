"""Faults of what the chunks of a stream say: roles, text, calls, identity."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

from wireproof_mocks.miniatures.chunks import (
    Change,
    call_of,
    changed,
    delta_of,
    each,
    finish_of,
    opens,
    rewritten,
    text_of,
    with_call,
    with_delta,
)
from wireproof_mocks.miniatures.fault import (
    DONE,
    FUNCTION_CALL,
    OPENAI_JSON,
    Fault,
    FaultExample,
    Frame,
    Json,
    SentRequest,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

# roles


def _no_role(chunk: Json) -> Iterable[Frame]:
    delta = {key: value for key, value in delta_of(chunk).items() if key != "role"}
    # A chunk that held nothing but the role is left out altogether: empty, it would break other rows.
    says = delta.get("content") or {"tool_calls", "function_call"} & delta.keys() or finish_of(chunk)
    if chunk["choices"] and says:
        yield with_delta(chunk, delta, finish_of(chunk))
    elif not chunk["choices"]:
        yield chunk


def _role_everywhere(chunk: Json) -> Iterable[Frame]:
    if delta_of(chunk):
        yield with_delta(chunk, {"role": "assistant", **delta_of(chunk)}, finish_of(chunk))
    else:
        yield chunk


# text


def last_text_lost(frames: Iterable[Frame], _: SentRequest) -> Iterator[Frame]:
    """The text that was held back when the answer ended is never sent."""
    held: list[Frame] = []
    for frame in frames:
        if isinstance(frame, dict) and "error" not in frame and text_of(frame):
            yield from held
            held = [frame]
        # Only the last text before the end is lost, as by a proxy that forgets to flush what it held back for a tag.
        elif held and isinstance(frame, dict) and ("error" in frame or finish_of(frame)):
            held = []
            yield frame
        else:
            yield from held
            held = []
            yield frame


def _repeats_swallowed(frames: Iterable[Frame], _: SentRequest) -> Iterator[Frame]:
    last = None
    for frame in frames:
        text = text_of(frame) if isinstance(frame, dict) and "error" not in frame else ""
        if text and text == last:
            continue
        # Frames without text in between do not part two equal deltas.
        last = text or last
        yield frame


def _trimmed(chunk: Json) -> Iterable[Frame]:
    text = text_of(chunk)
    yield with_delta(chunk, {**delta_of(chunk), "content": text.strip()}) if text else chunk


def _characters_torn(chunk: Json) -> Iterable[Frame]:
    text = text_of(chunk)
    # Two, as for the halves that such a character has in UTF-16.
    torn = "".join("\N{REPLACEMENT CHARACTER}" * 2 if ord(c) > 0xFFFF else c for c in text)  # noqa: PLR2004 (the BMP)
    yield with_delta(chunk, {**delta_of(chunk), "content": torn}) if text else chunk


def _surrogates_cut(chunk: Json) -> Iterable[Frame]:
    text = text_of(chunk)
    if not any(ord(c) > 0xFFFF for c in text):  # noqa: PLR2004 (the BMP)
        yield chunk
        return
    units = text.encode("utf-16-be", "surrogatepass")
    for at in range(0, len(units), 2):
        piece = units[at : at + 2].decode("utf-16-be", "surrogatepass")
        # As a str: lone halves can only be sent escaped, and a dict would be written as UTF-8.
        yield f"{json.dumps(with_delta(chunk, {'content': piece}))}"


# calls


def _without(*names: str) -> Change:
    def change(chunk: Json) -> Iterable[Frame]:
        yield with_call(chunk, lambda call: {k: v for k, v in call.items() if k not in names})

    return change


def _nameless(chunk: Json) -> Iterable[Frame]:
    def change(call: Json) -> Json:
        call["function"].pop("name", None)
        return call

    yield with_call(chunk, change)


def _wrong_name(chunk: Json) -> Iterable[Frame]:
    def change(call: Json) -> Json:
        if "name" in call["function"]:
            # Only where it stands: later deltas have no name, and must get none.
            call["function"]["name"] = call["function"]["name"].lower()
        return call

    yield with_call(chunk, change)


def _counts_to_one(chunk: Json) -> Iterable[Frame]:
    # Right for two calls; the third goes to the second.
    yield with_call(chunk, lambda call: {**call, "index": min(call["index"], 1)})


def _identity_repeated(frames: Iterable[Frame], _: SentRequest) -> Iterator[Frame]:
    said: Json = {}
    for frame in frames:
        call = call_of(frame) if isinstance(frame, dict) and "error" not in frame else None
        if call is None or not isinstance(frame, dict):
            yield frame
            continue
        # langchain and Copilot then have a wrong call, pydantic-ai raises.
        said = {"id": call.get("id", said.get("id")), "type": "function"}
        yield with_delta(frame, {"tool_calls": [{**call, **said}]})


def _empty_call_deltas(chunk: Json) -> Iterable[Frame]:
    yield chunk
    call = call_of(chunk)
    # Behind each fragment, a delta that says nothing.
    if call is not None and not opens(chunk):
        yield with_delta(chunk, {"tool_calls": [{"index": call["index"], "function": {"arguments": ""}}]})


def _cumulative(frames: Iterable[Frame], _: SentRequest) -> Iterator[Frame]:
    so_far: dict[int, str] = {}
    for frame in frames:
        call = call_of(frame) if isinstance(frame, dict) and "error" not in frame else None
        if call is None or not isinstance(frame, dict) or "id" in call:
            yield frame
            continue
        # In two at least: with one delta cumulative and incremental are the same.
        for piece in _halves(call["function"]["arguments"]):
            so_far[call["index"]] = so_far.get(call["index"], "") + piece
            cumulative = {"index": call["index"], "function": {"arguments": so_far[call["index"]]}}
            yield with_delta(frame, {"tool_calls": [cumulative]})


def _halves(text: str) -> tuple[str, ...]:
    middle = len(text) // 2
    return tuple(half for half in (text[:middle], text[middle:]) if half)


def _reserialised(frames: Iterable[Frame], _: SentRequest) -> Iterator[Frame]:
    """Arguments are collected, parsed, and serialised again before the next frame that is not a fragment."""
    gathered: list[Json] = []
    for frame in frames:
        call = call_of(frame) if isinstance(frame, dict) and "error" not in frame else None
        if call is not None and "id" not in call and isinstance(frame, dict):
            gathered.append(frame)
            continue
        yield from _joined(gathered)
        gathered = []
        yield frame


def _joined(fragments: list[Json]) -> Iterator[Frame]:
    if fragments:
        text = "".join(call["function"]["arguments"] for call in map(call_of, fragments) if call)
        last = fragments[-1]
        yield with_call(last, lambda c: {**c, "function": {"arguments": rewritten(text)}})


def _mixed(chunk: Json) -> Iterable[Frame]:
    yield with_delta(chunk, {**delta_of(chunk), "content": "Calling."}) if opens(chunk) else chunk


def _tail(chunk: Json) -> Iterable[Frame]:
    if finish_of(chunk) == "tool_calls":
        # Before the finish: behind it, it would break chat.stream.nothing-after-finish.
        yield with_delta(chunk, {"content": "I have called the tool."})
    yield chunk


def _arguments_cut(most: int) -> Callable[[Iterable[Frame], SentRequest], Iterator[Frame]]:
    """Only the first characters of a call's arguments are sent."""

    def change(frames: Iterable[Frame], _: SentRequest) -> Iterator[Frame]:
        left = most
        for frame in frames:
            call = call_of(frame) if isinstance(frame, dict) and "error" not in frame else None
            text = call["function"].get("arguments", "") if call else ""
            if isinstance(frame, dict) and text:
                yield with_call(frame, partial(_saying, arguments=text[:left]))
                left = max(left - len(text), 0)
            else:
                yield frame

    return change


def _saying(call: Json, arguments: str) -> Json:
    return {**call, "function": {**call["function"], "arguments": arguments}}


def _arguments_repaired(frames: Iterable[Frame], _: SentRequest) -> Iterator[Frame]:
    """What closes the string and the object follows the arguments."""
    last: Json | None = None
    for frame in frames:
        if isinstance(frame, dict) and "error" not in frame and finish_of(frame) and last is not None:
            yield with_call(last, lambda call: {"index": call["index"], "function": {"arguments": '"}'}})
            last = None
        if isinstance(frame, dict) and "error" not in frame and call_of(frame):
            last = frame
        yield frame


# identity


def _renewed(member: str) -> Callable[[Iterable[Frame], SentRequest], Iterator[Frame]]:
    def change(frames: Iterable[Frame], _: SentRequest) -> Iterator[Frame]:
        for number, frame in enumerate(frames):
            if isinstance(frame, dict) and member in frame:
                value = frame[member]
                # Of the same type and form as before: only its stability is broken.
                yield {**frame, member: value + number if isinstance(value, int) else f"{value}{number}"}
            else:
                yield frame

    return change


def _own_call_ids(chunk: Json) -> Iterable[Frame]:
    yield with_call(chunk, lambda c: {**c, "id": "call_of_the_stream_" + c["id"]} if "id" in c else c)


def _as_tool_call(chunk: Json) -> Iterable[Frame]:
    """Answers `functions` with `tool_calls`, which clients that send `functions` do not read."""
    made = delta_of(chunk).get("function_call")
    if made is None:
        yield chunk
        return
    opening = {"id": "call_1", "type": "function"} if "name" in made else {}
    yield with_delta(chunk, {"tool_calls": [{"index": 0, **opening, "function": made}]}, finish_of(chunk))


def _with_delta_of(delta: Json) -> Json:
    return {"choices": [{"index": 0, "logprobs": None, "delta": delta, "finish_reason": None}]}


def _with_function(made: Json) -> Json:
    return _with_delta_of({"function_call": made})


def _with_tool(call: Json) -> Json:
    return _with_delta_of({"tool_calls": [{"index": 0, **call}]})


def _null_choices(frames: Iterable[Frame], _: SentRequest) -> Iterator[Frame]:
    """A first chunk that says nothing, and says so by null."""
    begun = False
    for frame in frames:
        if isinstance(frame, dict) and "error" not in frame and not begun:
            begun = True
            yield {**frame, "choices": None}
        yield frame


def _fault(name: str, breaks: str, **how: Any) -> Fault:  # noqa: ANN401 (the fields of Fault)
    return Fault(name=name, breaks=f"chat.stream.{breaks}", **how)


CHUNK_FAULTS: tuple[Fault, ...] = (
    _fault(
        "extra-member",
        "schema",
        frames=each(lambda c: [changed(c, provider="mine")]),
        examples=(FaultExample(before=({"choices": []}, DONE), after=({"choices": [], "provider": "mine"}, DONE)),),
    ),
    _fault("no-object", "schema", frames=each(lambda c: [{k: v for k, v in c.items() if k != "object"}])),
    _fault(
        "choices-null-in-the-first-chunk",
        "schema",
        frames=_null_choices,
        examples=(
            FaultExample(before=({"choices": []}, "[DONE]"), after=({"choices": None}, {"choices": []}, "[DONE]")),
        ),
    ),
    _fault("id-per-chunk", "stable-id", frames=_renewed("id")),
    _fault(
        "one-id-for-all-streams",
        "stable-id",
        frames=each(lambda c: [changed(c, id="chatcmpl-1")]),
        examples=(FaultExample(before=({"id": "chatcmpl-7"}, DONE), after=({"id": "chatcmpl-1"}, DONE)),),
    ),
    _fault("created-per-chunk", "stable-created", frames=_renewed("created")),
    _fault("model-per-chunk", "stable-model", frames=_renewed("model")),
    _fault(
        "no-role",
        "role-first",
        frames=each(_no_role),
        examples=(
            FaultExample(
                before=(_with_delta_of({"role": "assistant", "function_call": {"name": "f", "arguments": ""}}),),
                after=(_with_delta_of({"function_call": {"name": "f", "arguments": ""}}),),
            ),
            FaultExample(before=(_with_delta_of({"role": "assistant", "content": ""}),), after=()),
        ),
    ),
    _fault("role-everywhere", "role-once", frames=each(_role_everywhere)),
    _fault("content-beside-call", "no-mixed-frame", frames=each(_mixed)),
    _fault("last-text-lost", "text", frames=last_text_lost),
    _fault("repeats-swallowed", "text", frames=_repeats_swallowed),
    _fault("text-trimmed", "text", frames=each(_trimmed)),
    _fault("characters-torn", "utf8", frames=each(_characters_torn)),
    _fault("surrogates-cut", "utf8", frames=each(_surrogates_cut)),
    _fault("call-without-id", "call-opening", frames=each(_without("id"))),
    _fault("call-without-type", "call-opening", frames=each(_without("type"))),
    _fault("call-without-index", "call-opening", frames=each(_without("index"))),
    _fault("call-without-name", "call-opening", frames=each(_nameless)),
    _fault("call-name-lowered", "call-opening", frames=each(_wrong_name)),
    _fault("third-call-counted-as-second", "call-opening", frames=each(_counts_to_one), scripts=("call/three",)),
    _fault(
        "functions-called-as-tools",
        "parity",
        frames=each(_as_tool_call),
        dialects=(FUNCTION_CALL,),
        examples=(
            FaultExample(
                before=tuple(_with_function(made) for made in ({"name": "f", "arguments": ""}, {"arguments": "{}"})),
                after=(
                    _with_tool({"id": "call_1", "type": "function", "function": {"name": "f", "arguments": ""}}),
                    _with_tool({"function": {"arguments": "{}"}}),
                ),
            ),
        ),
    ),
    _fault("call-id-repeated", "call-opening", frames=_identity_repeated),
    _fault("empty-call-deltas", "call-delta-on-change", frames=each(_empty_call_deltas)),
    # In obsidian-xml this is the right mode.
    _fault("cumulative-arguments", "arguments-incremental", frames=_cumulative, dialects=(OPENAI_JSON,)),
    _fault("arguments-reserialised", "arguments-verbatim", frames=_reserialised),
    # Not in obsidian-xml, where each delta repeats those before it.
    _fault("arguments-cut-at-64-kib", "arguments-verbatim", frames=_arguments_cut(65_536), dialects=(OPENAI_JSON,)),
    _fault(
        "arguments-cut-at-half-a-mebibyte", "arguments-verbatim", frames=_arguments_cut(2**19), dialects=(OPENAI_JSON,)
    ),
    _fault(
        "arguments-repaired",
        "arguments-verbatim",
        frames=_arguments_repaired,
        dialects=(OPENAI_JSON,),
        scripts=("call/broken",),
    ),
    # What was held back, since a block might have begun with it.
    _fault("angle-bracket-at-the-end-lost", "text", frames=last_text_lost, scripts=("text/open-end",)),
    _fault("text-after-call", "tail-suppressed", frames=each(_tail)),
    _fault("own-call-ids", "parity", frames=each(_own_call_ids), scripts=("call/one", "call/two")),
)
"""Each is the reference proxy with one thing wrong in the chunks of its streams."""
