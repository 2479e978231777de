"""What answers at the routes of the Messages API. No I/O."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from wireproof_endpoint.api.limits import AnswerLimits, settings
from wireproof_endpoint.endpoint.requested import json_reply
from wireproof_surfaces.messages import messages_request
from wireproof_surfaces.messages.message_object import usage_object
from wireproof_surfaces.messages.messages_request import MessagesService

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wireproof_endpoint.endpoint.answerer import Answerer
    from wireproof_endpoint.endpoint.requested import EndpointRequest
    from wireproof_endpoint.play import Play, WholeReply
    from wireproof_surfaces.messages.messages_request import MessagesRequest

ORGANIZATION = "00000000-0000-4000-8000-000000000000"
ALLOWANCE: Mapping[str, int] = {"requests": 4000, "tokens": 480_000, "input-tokens": 400_000, "output-tokens": 80_000}
"""What may be used in a minute."""


def create(answerer: Answerer, request: EndpointRequest) -> Play:
    """Answer a request."""
    asked = _parsed(answerer, request)
    plan = answerer.messages.plan(asked)
    return answerer.play(replace(plan, headers={**plan.headers, **_allowance(answerer)}), _limits(asked))


def count(answerer: Answerer, request: EndpointRequest) -> WholeReply:
    """Count the tokens of a request: those that its answer will report."""
    asked = _parsed(answerer, request, counts=True)
    usage: dict[str, Any] = usage_object(answerer.counted(answerer.messages.plan(asked)))
    kinds = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    return json_reply({"input_tokens": sum(usage[kind] for kind in kinds)})


def _allowance(answerer: Answerer) -> dict[str, str]:
    """What the service says of a customer's allowance: here it is never used up."""
    full = datetime.fromtimestamp(answerer.created, UTC).isoformat().replace("+00:00", "Z")
    said = {"anthropic-organization-id": ORGANIZATION}
    for kind, limit in ALLOWANCE.items():
        left = {"limit": str(limit), "remaining": str(limit), "reset": full}
        said |= {f"anthropic-ratelimit-{kind}-{name}": value for name, value in left.items()}
    return said


def _parsed(answerer: Answerer, request: EndpointRequest, *, counts: bool = False) -> MessagesRequest:
    settings = answerer.settings
    service = MessagesService(strict=True, prefill=settings.prefill, threads=settings.threads)
    return messages_request.parse(request.object(), request.headers, service, counts=counts)


def _limits(asked: MessagesRequest) -> AnswerLimits:
    """What is asked of an answer beyond what its surface does: its length, and thoughts."""
    # Not its stop texts: the surface ends any answer there, and says at which.
    single = asked.choice is not None and asked.choice.single
    tokens = asked.body.get("max_tokens")
    return AnswerLimits(
        tokens=tokens,
        calls=1 if single else None,
        reasons=asked.thinking.asked,
        summary=asked.thinking.asked,
        settings=settings(asked.body.get("temperature"), asked.body.get("stop_sequences") or (), tokens),
    )
