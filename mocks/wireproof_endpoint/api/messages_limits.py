"""What a Messages request asks of an answer beyond what its surface does: its length, and thoughts. See `limits`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof_endpoint.api.limits import AnswerLimits, settings

if TYPE_CHECKING:
    from wireproof_surfaces.messages.messages_request import MessagesRequest


def limits_of(request: MessagesRequest) -> AnswerLimits:
    """The limits that a request sets."""
    # Not its stop texts: the surface ends any answer there, and says at which.
    asked, single = request.thinking.asked, request.choice is not None and request.choice.single
    tokens = request.body.get("max_tokens")
    return AnswerLimits(
        tokens=tokens,
        calls=1 if single else None,
        reasons=asked,
        summary=asked,
        settings=settings(request.body.get("temperature"), request.body.get("stop_sequences") or (), tokens),
    )
