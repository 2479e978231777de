"""Messages rewritten: the events of a stream one by one, each with the block that it belongs to, and whole answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof_mocks.miniatures.messages_events import fragment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from wireproof_mocks.miniatures.fault import FaultHead, Frame, Json, SentRequest

    Frames = Callable[[Iterable[Frame], SentRequest], Iterator[Frame]]

START, STOP = "message_start", "message_stop"
BLOCK_START, BLOCK_DELTA, BLOCK_STOP = "content_block_start", "content_block_delta", "content_block_stop"
MESSAGE_DELTA, PING, ERROR = "message_delta", "ping", "error"
TEXT, TOOL_USE, THINKING = "text", "tool_use", "thinking"


def each_event(change: Callable[[Json], Iterable[Frame]]) -> Frames:
    """A fault that takes the events one by one; comments pass."""

    def changed(frames: Iterable[Frame], _: SentRequest) -> Iterator[Frame]:
        for frame in frames:
            yield from change(frame) if isinstance(frame, dict) else (frame,)

    return changed


def of_type(kind: str, change: Callable[[Json], Iterable[Frame]]) -> Frames:
    """A fault of the events of one type."""
    return each_event(lambda event: change(event) if event["type"] == kind else (event,))


def dropped(*kinds: str) -> Frames:
    """Events of these types are not sent."""
    return each_event(lambda event: () if event["type"] in kinds else (event,))


def in_start(change: Callable[[Json], Json]) -> Frames:
    """A fault of the message in `message_start`."""
    return of_type(START, lambda event: ({**event, "message": change(event["message"])},))


def in_end(change: Callable[[Json], Json]) -> Frames:
    """A fault of `message_delta`."""
    return of_type(MESSAGE_DELTA, lambda event: (change(event),))


def in_opening(kind: str, change: Callable[[Json], Json]) -> Frames:
    """A fault of how blocks of one type are opened."""

    def changed(event: Json) -> Iterable[Frame]:
        block = event["content_block"]
        yield {**event, "content_block": change(block)} if block["type"] == kind else event

    return of_type(BLOCK_START, changed)


def in_body(change: Callable[[Json], Json]) -> Callable[[Json, SentRequest, FaultHead], Json]:
    """A fault of whole messages; errors, counts and lists pass."""
    return lambda body, _, __: change(body) if body.get("type") == "message" else body


def in_error(change: Callable[[Json, SentRequest, FaultHead], Json]) -> Callable[[Json, SentRequest, FaultHead], Json]:
    """A fault of the bodies of errors."""
    return lambda body, request, head: change(body, request, head) if body.get("type") == ERROR else body


def each_block(kind: str, change: Callable[[Json], Json]) -> Callable[[Json], Json]:
    """A change of the blocks of one type of a whole message."""
    return lambda body: {
        **body,
        "content": [change(block) if block["type"] == kind else block for block in body["content"]],
    }


def with_usage(change: Callable[[Json], Json]) -> Callable[[Json], Json]:
    """A change of the usage of a message or of an event."""
    return lambda holder: {**holder, "usage": change(holder["usage"])}


def without(*names: str) -> Callable[[Json], Json]:
    """Members are left out."""
    return lambda holder: {name: value for name, value in holder.items() if name not in names}


def with_members(**members: object) -> Callable[[Json], Json]:
    """Members have other values."""
    return lambda holder: {**holder, **members}


def merged(kind: str) -> Frames:
    """Blocks of this type are not opened where another was before: what they hold is sent in that one."""

    def changed(frames: Iterable[Frame], _: SentRequest) -> Iterator[Frame]:
        held: Json | None = None  # the stop of the block before, which may turn out not to be its end
        fewer = 0
        for frame in frames:
            if not isinstance(frame, dict):
                yield frame
                continue
            event = frame
            if event["type"] == BLOCK_START and event["content_block"]["type"] == kind and held is not None:
                if kind == TOOL_USE:
                    # As Anthropic's own streams begin a call, and so that something is left where fragments are lost.
                    yield fragment(held["index"], "")
                held, fewer = None, fewer + 1
                continue
            if held is not None and event["type"] != PING:
                yield held
                held = None
            if "index" in event:
                event = {**event, "index": event["index"] - fewer}
            if event["type"] == BLOCK_STOP:
                held = event
            else:
                yield event
        if held is not None:
            yield held

    return changed
