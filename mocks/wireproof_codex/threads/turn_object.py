"""The `turn` object as responses and notifications carry it, with the fields of the recordings in their order."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wireproof_codex.protocol.json_object import Json


def milliseconds(at: float) -> int:
    """Whole milliseconds of a time or a duration in seconds."""
    return int(at * 1000)


def turn_object(
    identity: str,
    state: str,
    *,
    items: Sequence[Json] = (),
    error: Json | None = None,
    started: float | None = None,
    completed: float | None = None,
) -> Json:
    """A `turn` object. `started`, `completed`: epoch seconds; None leaves the time null.

    `items`: what the turn sent; () for "not loaded".
    """
    lasted = None if started is None or completed is None else milliseconds(completed - started)
    return {
        "id": identity,
        "rootTurnId": identity,
        "items": list(items),
        "itemsView": "summary" if items else "notLoaded",
        "status": state,
        "error": error,
        "startedAt": None if started is None else int(started),
        "completedAt": None if completed is None else int(completed),
        "durationMs": lasted,
    }
