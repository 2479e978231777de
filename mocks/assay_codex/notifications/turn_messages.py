"""Errors and items as the notifications of a turn carry them, with the fields of the recordings in their order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay_codex.versions.failures import Cause
    from assay_scripts.steps import Retry

Json = dict[str, Any]


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
