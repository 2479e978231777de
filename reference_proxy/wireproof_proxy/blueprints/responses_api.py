"""Responses: made, streamed or whole, and those that are stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import Blueprint, request

from wireproof_proxy.blueprints.request_parts import client_of, format_headers, json_body
from wireproof_surfaces.surfaces import responses_request

if TYPE_CHECKING:
    from flask import Response
    from flask.typing import ResponseReturnValue

    from wireproof_proxy.answers.turn_runner import TurnRunner
    from wireproof_proxy.settings import ProxySettings
    from wireproof_surfaces.answers.responses import Responses


def responses_blueprint(settings: ProxySettings, responses: Responses, runner: TurnRunner) -> Blueprint:
    """`/v1/responses`, and `/v1/responses/ID` with its input items."""
    blueprint = Blueprint("responses", __name__)

    @blueprint.post("/v1/responses")
    def create() -> Response:
        parsed = responses_request.parse(json_body(settings.max_body_bytes), format_headers())
        return runner.run(responses.plan(parsed), client_of(stream=parsed.stream))

    @blueprint.post("/v1/responses/compact")
    def compact() -> ResponseReturnValue:
        return responses.compact(responses_request.parse(json_body(settings.max_body_bytes), format_headers()))

    @blueprint.get("/v1/responses/<id_>")
    def retrieve(id_: str) -> ResponseReturnValue:
        return dict(responses.retrieve(id_))

    @blueprint.delete("/v1/responses/<id_>")
    def delete(id_: str) -> ResponseReturnValue:
        return responses.delete(id_)

    @blueprint.get("/v1/responses/<id_>/input_items")
    def input_items(id_: str) -> ResponseReturnValue:
        return responses.input_items(id_, request.args)

    return blueprint
