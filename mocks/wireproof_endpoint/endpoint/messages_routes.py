"""What answers at the routes of the Messages API. No I/O."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wireproof_endpoint.api.messages_limits import limits_of
from wireproof_endpoint.endpoint.replies import body_of, json_reply
from wireproof_surfaces.messages import messages_request
from wireproof_surfaces.messages.message_object import usage_object
from wireproof_surfaces.messages.messages_request import MessagesService
from wireproof_surfaces.messages.tool_rules import LONGEST_NAME

if TYPE_CHECKING:
    from wireproof_endpoint.endpoint.answerer import Answerer
    from wireproof_endpoint.endpoint.requested import EndpointRequest
    from wireproof_endpoint.play import Play, WholeReply
    from wireproof_surfaces.messages.messages_request import MessagesRequest


def create(answerer: Answerer, request: EndpointRequest, _name: str) -> Play:
    """Answer a request."""
    asked = _parsed(answerer, request)
    return answerer.play(answerer.messages.plan(asked), limits_of(asked))


def count(answerer: Answerer, request: EndpointRequest, _name: str) -> WholeReply:
    """Count the tokens of a request: those that its answer will report."""
    asked = _parsed(answerer, request, counts=True)
    usage: dict[str, Any] = usage_object(answerer.counted(answerer.messages.plan(asked)))
    kinds = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    return json_reply({"input_tokens": sum(usage[kind] for kind in kinds)})


def _parsed(answerer: Answerer, request: EndpointRequest, *, counts: bool = False) -> MessagesRequest:
    settings = answerer.settings
    service = MessagesService(
        strict=True, longest_name=LONGEST_NAME, prefill=settings.prefill, threads=settings.threads
    )
    return messages_request.parse(body_of(request), request.headers, service, counts=counts)
