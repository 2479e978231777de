"""The surfaces: chat completions, responses, responses as behind a ChatGPT login, messages, and the list of models.

What their views take of a request stands first: its body, the headers that say how calls are written, its client.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from flask import Blueprint, g, request

from wireproof_proxy.answers.timing import ClientState
from wireproof_proxy.http.wsgi import CLIENT_KEY, CONNECTION_KEY
from wireproof_surfaces.answers.plan import serves
from wireproof_surfaces.api_forms import AUTHORIZATION, KEY, VERSION, ServedModels, form_of
from wireproof_surfaces.errors import BAD_REQUEST, UNKNOWN_MODEL, ApiError
from wireproof_surfaces.http.body import read_object
from wireproof_surfaces.messages import messages_request
from wireproof_surfaces.messages.messages_request import MessagesService
from wireproof_surfaces.surfaces import chat_request, chatgpt_service, responses_request
from wireproof_surfaces.surfaces.chat_dialect import HEADERS
from wireproof_surfaces.surfaces.usage import estimate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flask import Response
    from flask.typing import ResponseReturnValue

    from wireproof_proxy.answers.turn_runner import TurnRunner
    from wireproof_proxy.http.thread_answer import ThreadAnswer
    from wireproof_proxy.settings import ProxySettings
    from wireproof_surfaces.answers.chat import Chat
    from wireproof_surfaces.answers.kept import AskedModels
    from wireproof_surfaces.answers.messages import Messages
    from wireproof_surfaces.answers.responses import Responses
    from wireproof_surfaces.messages.messages_request import MessagesRequest
    from wireproof_surfaces.surfaces.responses_request import ResponsesRequest


DECIDING = (KEY, AUTHORIZATION, VERSION)
"""The headers by which it is decided whose API a request is of, and whether it has the key."""


def json_body(limit: int) -> Mapping[str, Any]:
    """The body's JSON object.

    Raises:
        ApiError: 413 for more than `limit` bytes, 415 or 400.
    """
    return read_object(request.stream, length=request.content_length, media_type=request.mimetype, limit=limit)


def format_headers() -> dict[str, str]:
    """The headers that say how calls are to be written, those that the request has; their names are lower-case."""
    return {name: request.headers[name] for name in HEADERS if name in request.headers}


def form_headers() -> dict[str, str]:
    """Those of `DECIDING` that the request has; their names are lower-case."""
    return {name: request.headers[name] for name in DECIDING if name in request.headers}


def client_of(*, stream: bool) -> ClientState:
    """Who waits for the answer, which is a stream or whole, as is noted for the metrics."""
    g.mode = "stream" if stream else "whole"
    environ = request.environ
    # The header `Connection` is the server's: PEP 3333 forbids it to applications, and of other servers some raise.
    keep_open = CONNECTION_KEY in environ and environ["SERVER_PROTOCOL"] == "HTTP/1.1"
    found: ThreadAnswer | None = environ.get(CLIENT_KEY)
    if found is None:
        return ClientState(keep_open=keep_open)
    return ClientState(gone=found.gone, when_gone=found.when_gone, stalled=found.stalled, keep_open=keep_open)


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


def responses_blueprint(settings: ProxySettings, responses: Responses, runner: TurnRunner) -> Blueprint:
    """`/v1/responses`, and `/v1/responses/ID` with its input items."""
    blueprint = Blueprint("responses", __name__)

    @blueprint.post("/v1/responses")
    def create() -> Response:
        parsed = _responses_request(settings)
        return runner.run(responses.plan(parsed), client_of(stream=parsed.stream))

    @blueprint.post("/v1/responses/compact")
    def compact() -> ResponseReturnValue:
        return responses.compact(_responses_request(settings))

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


def chatgpt_blueprint(settings: ProxySettings, responses: Responses, runner: TurnRunner) -> Blueprint:
    """`/backend-api/codex/responses`: the same as the service behind a ChatGPT login makes them."""
    blueprint = Blueprint("chatgpt", __name__)

    @blueprint.post(chatgpt_service.PATH)
    def create() -> ResponseReturnValue:
        body = json_body(settings.max_body_bytes)
        refusal = chatgpt_service.refusal(body)
        if refusal is not None:
            return {"detail": refusal}, BAD_REQUEST.status
        parsed = replace(responses_request.parse(body, format_headers()), output_at_end=False)
        response = runner.run(responses.plan(parsed), client_of(stream=True))
        response.headers.update(chatgpt_service.HEADERS)
        return response

    @blueprint.post(chatgpt_service.COMPACT)
    def compact() -> ResponseReturnValue:
        return responses.compact(_responses_request(settings))

    return blueprint


def _responses_request(settings: ProxySettings) -> ResponsesRequest:
    return responses_request.parse(json_body(settings.max_body_bytes), format_headers())


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


def models_blueprint(settings: ProxySettings, asked: AskedModels) -> Blueprint:
    """`/v1/models` and `/v1/models/NAME`: those of the settings, and those that were asked for though not listed."""
    blueprint = Blueprint("models", __name__)
    # The type requires `created`, and no better date is known; read once, so that every answer says the same.
    started = int(time.time())

    def served() -> ServedModels:
        names = dict.fromkeys((*settings.models, *asked.names))
        return ServedModels(names=names, created=started, owner=settings.backend)

    @blueprint.get("/v1/models")
    def list_models() -> dict[str, object]:
        return form_of(request.path, form_headers()).models(served(), request.args)

    # `path`: the names of models may hold slashes.
    @blueprint.get("/v1/models/<path:name>")
    def get_model(name: str) -> dict[str, object]:
        if not serves(name, settings):
            raise ApiError(UNKNOWN_MODEL, message=f"The model `{name}` is not served here.", param="model")
        return form_of(request.path, form_headers()).model(served(), name)

    return blueprint
