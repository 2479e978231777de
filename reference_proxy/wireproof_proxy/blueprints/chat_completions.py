"""Chat completions, streamed or whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import Blueprint

from wireproof_proxy.blueprints.request_parts import client_of, format_headers, json_body
from wireproof_surfaces.surfaces import chat_request

if TYPE_CHECKING:
    from flask import Response

    from wireproof_proxy.answers.turn_runner import TurnRunner
    from wireproof_proxy.settings import ProxySettings
    from wireproof_surfaces.answers.chat import Chat


def chat_blueprint(settings: ProxySettings, chat: Chat, runner: TurnRunner) -> Blueprint:
    """`/v1/chat/completions`."""
    blueprint = Blueprint("chat", __name__)

    @blueprint.post("/v1/chat/completions")
    def complete() -> Response:
        # Body, then parameters; then the model, capacity, and readiness (http.precedence.*).
        body = json_body(settings.max_body_bytes)
        parsed = chat_request.parse(body, format_headers(), max_choices=settings.max_choices)
        return runner.run(chat.plan(parsed), client_of(stream=parsed.stream))

    return blueprint
