"""What is told of a turn and its items, with the fields of the recordings, in their order: see `messages`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay_codex.versions.failures import Cause
    from assay_scripts.steps import Retry

Json = dict[str, Any]


def ms(now: float) -> int:
    """Whole milliseconds."""
    return int(now * 1000)


def turn(
    identity: str,
    state: str,
    *,
    items: Sequence[Json] = (),
    error: Json | None = None,
    started: float | None = None,
    completed: float | None = None,
) -> Json:
    """A turn; what it told is its items, or not told at all."""
    lasted = None if started is None or completed is None else ms(completed - started)
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


def turn_error(cause: Cause) -> Json:
    """Why a turn failed, as `error` and turn/completed tell it."""
    return {
        "message": cause.message,
        "codexErrorInfo": cause.info,
        "additionalDetails": None,
        "misalignment": None,
    }


def retry(told: Retry) -> Json:
    """Why the model is asked again, as `error` tells it."""
    progress = f"{told.attempt}/{told.attempts}" if told.attempts else "waiting for network"
    return {
        "message": f"Reconnecting... {progress}",
        "codexErrorInfo": {"responseStreamDisconnected": {"httpStatusCode": None}},
        "additionalDetails": told.details,
        "misalignment": None,
    }


def item_started(item: Json, place: Json) -> Json:
    """item/started; `place` holds threadId and turnId."""
    return {"item": item, **place, "startedAtMs": item["startedAtMs"]}


def item_completed(item: Json, place: Json) -> Json:
    """item/completed."""
    return {"item": item, **place, "contentTokenCount": None, "completedAtMs": item["completedAtMs"]}
