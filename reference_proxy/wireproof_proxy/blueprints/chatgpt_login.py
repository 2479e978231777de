"""Responses once more, as the service behind a ChatGPT login makes them (`PROXY_CHATGPT_SERVICE`)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from flask import Blueprint

from wireproof_proxy.blueprints.request_parts import client_of, format_headers, json_body
from wireproof_surfaces.errors import BAD_REQUEST
from wireproof_surfaces.surfaces import chatgpt_service, responses_request

if TYPE_CHECKING:
    from flask.typing import ResponseReturnValue

    from wireproof_proxy.answers.turn_runner import TurnRunner
    from wireproof_proxy.settings import ProxySettings
    from wireproof_surfaces.answers.responses import Responses


def chatgpt_blueprint(settings: ProxySettings, responses: Responses, runner: TurnRunner) -> Blueprint:
    """`/backend-api/codex/responses`."""
    blueprint = Blueprint("chatgpt", __name__)

    @blueprint.post(chatgpt_service.PATH)
    def create_there() -> ResponseReturnValue:
        body = json_body(settings.max_body_bytes)
        refusal = chatgpt_service.refusal(body)
        if refusal is not None:
            return {"detail": refusal}, BAD_REQUEST.status
        parsed = replace(responses_request.parse(body, format_headers()), output_at_end=False)
        response = runner.run(responses.plan(parsed), client_of(stream=True))
        response.headers.update(chatgpt_service.HEADERS)
        return response

    @blueprint.post(chatgpt_service.COMPACT)
    def compact_there() -> ResponseReturnValue:
        return responses.compact(responses_request.parse(json_body(settings.max_body_bytes), format_headers()))

    return blueprint
