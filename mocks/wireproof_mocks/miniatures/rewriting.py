"""What faults are put together from: a place in JSON, what becomes of what stands there, and in which frames.

A change of JSON takes what stands somewhere and gives what is sent instead; it never alters what it is given.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wireproof_mocks.miniatures.fault import Bodies, Frame, Frames, Json, SentRequest

Change = Callable[[Any], Any]
Which = Callable[[Any], object]
"""Whether something is meant, by its truth."""

# JSON


def at(place: str, change: Change) -> Change:
    """A change within an object, at a place such as `choices[].message.content`; `[]` is each entry of a list.

    What is not there, or null, stays as it is.
    """
    name, _, rest = place.partition(".")
    inner = at(rest, change) if rest else change
    name, listed = name.removesuffix("[]"), name.endswith("[]")

    def changed(holder: object) -> object:
        value = holder.get(name) if isinstance(holder, dict) else None
        if value is None or (listed and not isinstance(value, list)):
            return holder
        return {**holder, name: [inner(one) for one in value] if listed else inner(value)}  # type: ignore[dict-item]

    return changed


def both(first: Change, second: Change) -> Change:
    """One change after the other."""
    return lambda value: second(first(value))


def having(change: Change, **members: object) -> Change:
    """A change of those objects alone that have these members."""
    return lambda one: change(one) if isinstance(one, dict) and members.items() <= one.items() else one


def of_type(kinds: str | Collection[str], change: Change) -> Change:
    """A change of the objects of this type, or of these types, alone."""
    known = (kinds,) if isinstance(kinds, str) else tuple(kinds)
    return lambda one: change(one) if isinstance(one, dict) and one.get("type") in known else one


def in_list(change: Change) -> Change:
    """A change of what is a list alone."""
    return lambda value: change(value) if isinstance(value, list) else value


def where_streamed(change: Change) -> Change:
    """A change of the requests for a stream alone."""
    return lambda asked: change(asked) if asked.get("stream") else asked


def without(*names: str) -> Callable[[Json], Json]:
    """Members are left out."""
    return lambda holder: {name: value for name, value in holder.items() if name not in names}


def with_members(**members: object) -> Callable[[Json], Json]:
    """Members have these values."""
    return lambda holder: {**holder, **members}


def rewritten(arguments: str) -> str:
    """Arguments, parsed and serialised again; those that are not JSON stay."""
    try:
        # Python's own spacing, escapes and numbers: what a careless proxy in Python sends.
        return json.dumps(json.loads(arguments))
    except ValueError:
        return arguments


def in_body(change: Change) -> Bodies:
    """A change of whole bodies."""
    return lambda body, _, __: change(body)


# frames


def written(frame: Frame) -> bytes:
    """A frame as bytes."""
    match frame:
        case bytes():
            return frame
        case str():
            return f"data: {frame}\n\n".encode()
        # Only events of Responses and Messages have a type at their top, and an `event:` line.
        case {"type": str(event)}:
            return f"event: {event}\n".encode() + nameless(frame)
        case _:
            return nameless(frame)


def nameless(event: Json) -> bytes:
    """An object as a frame without an `event:` line: as bytes, to which `written` adds none."""
    return f"data: {json.dumps(event, ensure_ascii=False, separators=(',', ':'))}\n\n".encode()


def kind_of(frame: Frame) -> str:
    """The type of an event; "" for all else."""
    return frame.get("type", "") if isinstance(frame, dict) else ""


def is_comment(frame: Frame) -> bool:
    """Whether a frame is a comment, and not one that another fault has written out."""
    return isinstance(frame, bytes) and frame.startswith(b":")


def each_event(change: Callable[[Any], Frame | Iterable[Frame]]) -> Frames:
    """A fault that takes the JSON frames one by one, and gives one or several; all else passes."""

    def changed(frames: Iterable[Any], _: SentRequest) -> Iterator[Frame]:
        for frame in frames:
            made = change(frame) if isinstance(frame, dict) else frame
            yield from (made,) if isinstance(made, dict | str | bytes) else made

    return changed


def instead_of(which: Which, *others: Frame) -> Frames:
    """Others are sent in place of some frames."""

    def changed(frames: Iterable[Any], _: SentRequest) -> Iterator[Frame]:
        for frame in frames:
            yield from others if which(frame) else (frame,)

    return changed


def dropped(*kinds: str) -> Frames:
    """Events of these types are not sent."""
    return instead_of(lambda frame: kind_of(frame) in kinds)


def behind_the_first(which: Which, more: Callable[[Any], Frame]) -> Frames:
    """Something follows the first of some frames."""

    def changed(frames: Iterable[Any], _: SentRequest) -> Iterator[Frame]:
        came = False
        for frame in frames:
            yield frame
            if not came and which(frame):
                came = True  # once: it is enough to be seen
                yield more(frame)

    return changed


def lost_before(which: Which, end: Which) -> Frames:
    """The last of some frames is lost where an end follows at once, as by who forgets to send what was held back."""

    def changed(frames: Iterable[Any], _: SentRequest) -> Iterator[Frame]:
        held: list[Frame] = []
        for frame in frames:
            if which(frame) or not end(frame):
                yield from held
            held = [frame] if which(frame) else []
            if not held:
                yield frame

    return changed


def repeated_from_start(kind: str, place: str, key: str) -> Frames:
    """Each delta of this type repeats all before it: what stands at this place, of what the member `key` names."""

    def changed(frames: Iterable[Any], _: SentRequest) -> Iterator[Frame]:
        sent: defaultdict[object, str] = defaultdict(str)

        def longer(whose: object, text: str) -> str:
            sent[whose] += text
            return sent[whose]

        for frame in frames:
            yield at(place, partial(longer, frame[key]))(frame) if kind_of(frame) == kind else frame

    return changed


def all_at_once(frames: Iterable[Any], _: SentRequest) -> Iterator[Frame]:
    """A whole stream is held back."""
    yield b"".join(map(written, frames))


no_comments = instead_of(is_comment, b"")


def first_comment_only(frames: Iterable[Any], _: SentRequest) -> Iterator[Frame]:
    """The frames without the comments behind the first."""
    came = False
    for frame in frames:
        comment = is_comment(frame)
        yield b"" if comment and came else frame
        came = came or comment
