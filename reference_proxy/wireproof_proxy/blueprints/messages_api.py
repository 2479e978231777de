"""Messages, streamed or whole, and the count of their tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import Blueprint, request

from wireproof_proxy.blueprints.request_parts import client_of, json_body
from wireproof_surfaces.messages import messages_request
from wireproof_surfaces.messages.messages_request import MessagesService
from wireproof_surfaces.surfaces.usage import estimate

if TYPE_CHECKING:
    from flask import Response

    from wireproof_proxy.answers.turn_runner import TurnRunner
    from wireproof_proxy.settings import ProxySettings
    from wireproof_surfaces.answers.messages import Messages
    from wireproof_surfaces.messages.messages_request import MessagesRequest


def messages_blueprint(settings: ProxySettings, messages: Messages, runner: TurnRunner) -> Blueprint:
    """`/v1/messages` and `/v1/messages/count_tokens`."""
    blueprint = Blueprint("messages", __name__)
    service = MessagesService(threads=settings.threads)

    def parsed(*, counts: bool = False) -> MessagesRequest:
        headers = {name.lower(): value for name, value in request.headers}
        return messages_request.parse(json_body(settings.max_body_bytes), headers, service, counts=counts)

    @blueprint.post("/v1/messages")
    def create() -> Response:
        asked = parsed()
        return runner.run(messages.plan(asked), client_of(stream=asked.stream))

    @blueprint.post("/v1/messages/count_tokens")
    def count() -> dict[str, int]:
        # No backend here counts before it answers: what an answer without counts is said to have taken.
        return {"input_tokens": estimate(messages.plan(parsed(counts=True)).conversation.size(), 0).prompt}

    return blueprint
