"""Events of a Messages stream, written short: samples that show what a fault does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof_mocks.miniatures.fault import FaultExample

if TYPE_CHECKING:
    from wireproof_mocks.miniatures.fault import Frame, Json


def started(**members: object) -> Json:
    """`message_start`; the members are those of its message."""
    return {"type": "message_start", "message": {"type": "message", **members}}


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


def failed(kind: str = "overloaded_error") -> Json:
    """`error`."""
    return {"type": "error", "error": {"type": kind, "message": "m"}}


STOPPED: Json = {"type": "message_stop"}
PINGED: Json = {"type": "ping"}


def becomes(before: tuple[Frame, ...] | Json, after: tuple[Frame, ...] | Json) -> FaultExample:
    """What a fault makes of a sample."""
    return FaultExample(before=before, after=after)
