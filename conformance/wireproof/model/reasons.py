"""Reasons for which a scenario was not driven that rest on time: tried again alone, it may be."""

from __future__ import annotations

NEVER_LEFT = "the client never got the text at which it was to leave"
CROWDED = "the target refused the request that was to be sent beside the stream: it served no two at once"
NOT_HELD = "the target's slots could not be held: it does not let requests wait for its backend"
UNCOMMENTED = "no comment came while the backend was silent, so whether they would go on was not seen"

HURRIED = frozenset({NEVER_LEFT, CROWDED, NOT_HELD, UNCOMMENTED})
"""All of them."""
