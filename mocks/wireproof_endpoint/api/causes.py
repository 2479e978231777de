"""The causes that a `fail` step may name, as an endpoint reports them.

They are those under which the reference proxy reports the same step, with a Codex between: a script means the same
behind both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof_surfaces.events import FailureReason

if TYPE_CHECKING:
    from collections.abc import Mapping

CAUSES: Mapping[str, FailureReason] = {
    "http-400": FailureReason.REJECTED,
    "http-400-context": FailureReason.CONTEXT,
    "http-401": FailureReason.CREDENTIALS,
    "http-403": FailureReason.CREDENTIALS,
    "http-404": FailureReason.FAILED,
    "http-429": FailureReason.RATE_LIMITED,
    "http-500": FailureReason.FAILED,
    "http-502": FailureReason.FAILED,
    "http-503": FailureReason.OVERLOADED,
    "connection": FailureReason.UNREACHABLE,
    "no-network": FailureReason.UNREACHABLE,
    "context-window": FailureReason.CONTEXT,
    "usage-limit": FailureReason.QUOTA,
    "quota": FailureReason.QUOTA,
    "rate-limit": FailureReason.RATE_LIMITED,
    "overloaded": FailureReason.OVERLOADED,
    "invalid-prompt": FailureReason.FAILED,
    "server-error": FailureReason.FAILED,
    "cut": FailureReason.FAILED,
    "idle": FailureReason.TIMEOUT,
    "missing-key": FailureReason.CREDENTIALS,
}
"""Cause of a script → why the turn failed."""
