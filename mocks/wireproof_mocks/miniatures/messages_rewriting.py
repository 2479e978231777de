"""Events of Messages: some of them, written short, and changes of them and of whole messages."""

from __future__ import annotations

import operator
from functools import partial
from typing import TYPE_CHECKING, Any

from wireproof_mocks.miniatures.rewriting import at, each_event, kind_of, of_type

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from wireproof_mocks.miniatures.fault import Bodies, Frame, Frames, Json, SentRequest
    from wireproof_mocks.miniatures.rewriting import Change


# events


def opened(index: int, kind: str = "text", **members: object) -> Json:
    """`content_block_start`; the members are those of the block."""
    return {"type": "content_block_start", "index": index, "content_block": {"type": kind, **members}}


def words(index: int, text: str) -> Json:
    """A delta of text."""
    return _delta(index, "text_delta", text=text)


def fragment(index: int, arguments: str) -> Json:
    """A delta of arguments."""
    return _delta(index, "input_json_delta", partial_json=arguments)


def thought(index: int, text: str) -> Json:
    """A delta of thoughts."""
    return _delta(index, "thinking_delta", thinking=text)


def signed(index: int, signature: str = "sig") -> Json:
    """The delta that signs thoughts."""
    return _delta(index, "signature_delta", signature=signature)


def _delta(index: int, kind: str, **members: object) -> Json:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **members}}


def closed(index: int) -> Json:
    """`content_block_stop`."""
    return {"type": "content_block_stop", "index": index}


def ended(reason: str | None = "end_turn", **usage: int) -> Json:
    """`message_delta` with a stop reason and counts."""
    return {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage}


STOPPED: Json = {"type": "message_stop"}


# changes


def in_start(change: Change) -> Frames:
    """A fault of the message in `message_start`."""
    return each_event(of_type("message_start", at("message", change)))


def in_end(change: Change) -> Frames:
    """A fault of `message_delta`."""
    return each_event(of_type("message_delta", change))


def in_opening(kind: str, change: Change) -> Frames:
    """A fault of how blocks of one type are opened."""
    return each_event(of_type("content_block_start", at("content_block", of_type(kind, change))))


def each_block(kind: str, change: Change) -> Change:
    """A change of the blocks of one type of a whole message."""
    return at("content[]", of_type(kind, change))


def in_error(change: Bodies) -> Bodies:
    """A fault of the bodies of errors."""
    return lambda body, request, head: change(body, request, head) if body.get("type") == "error" else body


def opens(frame: Frame, kind: str) -> bool:
    """Whether an event opens a block of this type."""
    return isinstance(frame, dict) and frame.get("content_block", {}).get("type") == kind


def has_delta(frame: Frame, member: str) -> bool:
    """Whether an event is a delta in which this member is not empty."""
    return isinstance(frame, dict) and frame["type"] == "content_block_delta" and bool(frame["delta"].get(member))


def merged(kind: str) -> Frames:
    """Blocks of this type are not opened where another was before: what they hold is sent in that one."""

    def changed(frames: Iterable[Any], _: SentRequest) -> Iterator[Frame]:
        held: Json | None = None  # the stop of the block before, which may turn out not to be its end
        fewer = 0
        for frame in frames:
            if held is not None and opens(frame, kind):
                if kind == "tool_use":
                    # As Anthropic's own streams begin a call, and so that something is left where fragments are lost.
                    yield fragment(held["index"], "")
                held, fewer = None, fewer + 1
                continue
            if held is not None and kind_of(frame) not in {"", "ping"}:
                yield held
                held = None
            event = at("index", partial(operator.add, -fewer))(frame)
            if kind_of(event) == "content_block_stop":
                held = event
            else:
                yield event
        if held is not None:
            yield held

    return changed
