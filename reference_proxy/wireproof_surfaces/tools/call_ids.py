"""Ids for calls that came without one: made from what is known of the call, so that they stay the same. Pure."""

from __future__ import annotations

from hashlib import sha256


def call_id(*parts: object) -> str:
    """The id of the call that these parts identify."""
    # shapes.no-id: the same call gets the same id, in whichever shape it comes.
    return f"call_{sha256('/'.join(map(str, parts)).encode(errors='replace')).hexdigest()[:24]}"
