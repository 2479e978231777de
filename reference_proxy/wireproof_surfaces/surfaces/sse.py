"""Server-sent events as bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wireproof_surfaces.surfaces.json_text import encoded

if TYPE_CHECKING:
    from collections.abc import Mapping

# A comment: an `event:` or `retry:` block without data breaks real clients (chat.stream.keepalive-is-comment).
KEEP_ALIVE = b": keep-alive\n\n"
DONE = b"data: [DONE]\n\n"

# chat.stream.headers. `Connection` is missing: only HTTP/1.1 has it (`answers.turn_runner`).
HEADERS: Mapping[str, str] = {
    "Content-Type": "text/event-stream",
    "Cache-Control": "no-cache",
    "X-Accel-Buffering": "no",  # nginx would hold events back
}


def frame(payload: Mapping[str, Any]) -> bytes:
    """One `data:` frame; the JSON is one line of whole characters."""
    # JSON without line ends, so one `data:` line is enough.
    return b"data: " + encoded(payload) + b"\n\n"


def named_frame(payload: Mapping[str, Any]) -> bytes:
    """A `data:` frame under the name that its `type` says."""
    return f"event: {payload['type']}\n".encode() + frame(payload)
