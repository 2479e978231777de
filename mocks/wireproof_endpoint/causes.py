"""The causes that a `fail` step may name, as an endpoint reports them.

They are those under which the reference proxy reports the same step, with a Codex between: a script means the same
behind both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof_surfaces.events import Cause

if TYPE_CHECKING:
    from collections.abc import Mapping

CAUSES: Mapping[str, Cause] = {
    "http-400": Cause.REJECTED,
    "http-400-context": Cause.CONTEXT,
    "http-401": Cause.CREDENTIALS,
    "http-403": Cause.CREDENTIALS,
    "http-404": Cause.FAILED,
    "http-429": Cause.RATE_LIMITED,
    "http-500": Cause.FAILED,
    "http-502": Cause.FAILED,
    "http-503": Cause.OVERLOADED,
    "connection": Cause.UNREACHABLE,
    "no-network": Cause.UNREACHABLE,
    "context-window": Cause.CONTEXT,
    "usage-limit": Cause.QUOTA,
    "quota": Cause.QUOTA,
    "rate-limit": Cause.RATE_LIMITED,
    "overloaded": Cause.OVERLOADED,
    "invalid-prompt": Cause.FAILED,
    "server-error": Cause.FAILED,
    "cut": Cause.FAILED,
    "idle": Cause.TIMEOUT,
    "missing-key": Cause.CREDENTIALS,
}
"""Cause of a script → why the turn failed."""
