"""Errors as the notifications of a turn carry them, with the fields of the recordings in their order."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wireproof_codex.protocol.json_object import Json
    from wireproof_codex.versions.failures import FailureCause
    from wireproof_scripts.steps import Retry


def turn_error(cause: FailureCause) -> Json:
    """Why a turn failed: the `error` of `error` and of turn/completed."""
    return {
        "message": cause.message,
        "codexErrorInfo": cause.info,
        "additionalDetails": None,
        "misalignment": None,
    }


def retry(step: Retry) -> Json:
    """Why the model is asked again: the `error` of an `error` with willRetry."""
    # "waiting for network" is what 0.150.0 and newer say of a service that they cannot reach.
    progress = f"{step.attempt}/{step.attempts}" if step.attempts else "waiting for network"
    return {
        "message": f"Reconnecting... {progress}",
        "codexErrorInfo": {"responseStreamDisconnected": {"httpStatusCode": None}},
        "additionalDetails": step.details,
        "misalignment": None,
    }
