"""Chunks and frames of a stream, read and changed: what faults of streams are made of."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy

from wireproof_mocks.miniatures.fault import Frame, Json, SentRequest

Change = Callable[[Json], Iterable[Frame]]


def each(change: Change) -> Callable[[Iterable[Frame], SentRequest], Iterator[Frame]]:
    """A fault that takes the chunks one by one; errors, [DONE] and comments pass."""

    def changed(frames: Iterable[Frame], _: SentRequest) -> Iterator[Frame]:
        for frame in frames:
            # An error frame has no choices that a change could read.
            if isinstance(frame, dict) and "error" not in frame:
                yield from change(frame)
            else:
                yield frame

    return changed


def is_comment(frame: Frame) -> bool:
    """Whether a frame is a comment, and not one that another fault has written out."""
    return isinstance(frame, bytes) and frame.startswith(b":")


def no_comments(frames: Iterable[Frame], _: SentRequest) -> Iterator[Frame]:
    """The frames without comments."""
    for frame in frames:
        yield b"" if is_comment(frame) else frame


def first_comment_only(frames: Iterable[Frame], _: SentRequest) -> Iterator[Frame]:
    """The frames without the comments behind the first."""
    came = False
    for frame in frames:
        comment = is_comment(frame)
        yield b"" if comment and came else frame
        came = came or comment


def delta_of(chunk: Json) -> Json:
    """The first choice's delta, {} in a chunk without choices."""
    choices = chunk["choices"]
    return choices[0]["delta"] if choices else {}


def text_of(chunk: Json) -> str:
    """The text of a chunk; "" when it has none, or the block of a call."""
    text: str = delta_of(chunk).get("content") or ""
    # So that a fault of text leaves blocks alone, which have rows of their own.
    return "" if "<use_tool>" in text else text


def finish_of(chunk: Json) -> str | None:
    """The first choice's finish_reason."""
    choices = chunk["choices"]
    return choices[0]["finish_reason"] if choices else None


def with_delta(chunk: Json, delta: Json, finish: str | None = None) -> Json:
    """A copy of a chunk that says something else."""
    # Deep, since some faults keep a chunk and send it later.
    copy = deepcopy(chunk)
    copy["choices"] = [{**(copy["choices"] or [{"index": 0, "logprobs": None}])[0], "delta": delta,
                        "finish_reason": finish}]  # fmt: skip
    return copy


def call_of(chunk: Json) -> Json | None:
    """The entry of tool_calls in a chunk, None when it has none."""
    calls = delta_of(chunk).get("tool_calls")
    return calls[0] if calls else None


def opens(chunk: Json) -> bool:
    """Whether a chunk opens a call."""
    call = call_of(chunk)
    # The reference proxy sends the id in the first delta of a call and in no other.
    return call is not None and "id" in call


def changed(chunk: Json, **members: object) -> Json:
    """A copy in which these members are changed."""
    return {**chunk, **members}


def with_call(chunk: Json, change: Callable[[Json], Json]) -> Json:
    """A copy in which the entry of tool_calls is changed."""
    call = call_of(chunk)
    if call is None:
        return chunk
    return with_delta(chunk, {**delta_of(chunk), "tool_calls": [change(deepcopy(call))]}, finish_of(chunk))


def written(frame: Frame) -> bytes:
    """A frame as bytes."""
    match frame:
        case bytes():
            return frame
        case str():
            return f"data: {frame}\n\n".encode()
        # Only events of Responses and Messages have a type at their top, and an `event:` line.
        case {"type": str(event)}:
            return f"event: {event}\ndata: {json.dumps(frame, ensure_ascii=False, separators=(',', ':'))}\n\n".encode()
        case _:
            return f"data: {json.dumps(frame, ensure_ascii=False, separators=(',', ':'))}\n\n".encode()


def rewritten(arguments: str) -> str:
    """Arguments, parsed and serialised again; those that are not JSON stay."""
    try:
        # Python's own spacing, escapes and numbers: what a careless proxy in Python sends.
        return json.dumps(json.loads(arguments))
    except ValueError:
        return arguments
