"""The proxy as a Flask application: routes, authentication, CORS, request ids, and errors that are always JSON."""

from __future__ import annotations

import hmac
import logging
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from flask import Response, request
from werkzeug.exceptions import HTTPException, MethodNotAllowed, NotFound

from wireproof_proxy.answers.timing import ClientGoneError
from wireproof_proxy.answers.turn_runner import TurnRunner
from wireproof_proxy.http.capacity import Gate
from wireproof_proxy.http.client import Client
from wireproof_proxy.http.json_response import JSON, json_response, request_id
from wireproof_proxy.http.metrics import MEDIA_TYPE, Metrics
from wireproof_proxy.http.openapi import document
from wireproof_proxy.http.plain_flask import PlainFlask
from wireproof_proxy.http.wsgi import CLIENT_KEY
from wireproof_proxy.loopback import names_loopback
from wireproof_surfaces.answers.asked_models import AskedModels
from wireproof_surfaces.answers.chat import Chat
from wireproof_surfaces.answers.plan import serves
from wireproof_surfaces.answers.responses import Responses
from wireproof_surfaces.answers.stored_responses import Store
from wireproof_surfaces.errors import (
    BAD_REQUEST,
    GIVEN_UP,
    INTERNAL,
    STOPPING,
    UNKNOWN_MODEL,
    UNKNOWN_URL,
    WRONG_HOST,
    WRONG_KEY,
    WRONG_METHOD,
    ApiError,
    failure,
)
from wireproof_surfaces.events import Cause, Failed
from wireproof_surfaces.http.body import read_object
from wireproof_surfaces.http.cors import Cors
from wireproof_surfaces.surfaces import chat_request, chatgpt_service, responses_request
from wireproof_surfaces.surfaces.proxy_headers import HEADERS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from _typeshed.wsgi import WSGIEnvironment
    from flask import Flask
    from werkzeug.datastructures import Headers

    from wireproof_proxy.backends.backend import Backend
    from wireproof_proxy.http.thread_answer import ThreadAnswer
    from wireproof_proxy.settings import Settings

log = logging.getLogger(__name__)

NOTED_KEY = "wireproof_proxy.noted"
"""What is noted of a request while it is answered."""
QUOTED = 200
"""Characters of a path that the log, and an error, quote."""


@dataclass(slots=True)
class _Noted:
    """Of one request."""

    id: str
    started: float
    mode: str = "none"
    """Whether it is answered by a stream or whole, for the metrics."""


def create_app(settings: Settings, backend: Backend, gate: Gate | None = None) -> Flask:
    """The application; `gate` counts the turns that run."""
    # No static folder: Flask would add a route for it.
    app = PlainFlask(__name__, static_folder=None)
    # OPTIONS is left unrouted, so that `admit` answers it for all routes alike.
    app.config["PROVIDE_AUTOMATIC_OPTIONS"] = False
    # `/v1//models` is another path, not found as any other: Flask would redirect, with a page of HTML.
    app.url_map.merge_slashes = False
    gate = gate or Gate(settings.max_concurrency)
    metrics = Metrics(gate, backend)
    _hooks(app, settings, metrics)
    _errors(app)
    _health(app, backend, gate)
    _metrics(app, metrics)
    _openapi(app)
    asked = AskedModels()
    _models(app, settings, asked)
    runner = TurnRunner(settings=settings, backend=backend, gate=gate)
    _chat(app, settings, Chat(settings=settings, asked=asked), runner)
    store = Store(settings.responses_stored)
    responses = Responses(settings=settings, store=store, asked=asked)
    _responses(app, settings, responses, runner)
    if settings.chatgpt_service:
        _chatgpt_service(app, settings, responses, runner)
    return app


def body_limit(app: Flask, settings: Settings) -> Callable[[WSGIEnvironment], int]:
    """How many bytes of a request's body are looked at, by its head alone; 0 where it is refused before that.

    The server reads no more, so the rules are those by which a request is refused (http.precedence.*).
    """
    # Flask matches the route once more; but none that takes a body has parts that vary, so a look at a set will do.
    taking = {rule.rule for rule in app.url_map.iter_rules() if "POST" in (rule.methods or ())}

    def limit(environ: WSGIEnvironment) -> int:
        if environ["REQUEST_METHOD"] != "POST" or _path(environ) not in taking:
            return 0
        length = environ.get("CONTENT_LENGTH", "")
        if length.isdigit() and int(length) > settings.max_body_bytes:
            return 0
        try:
            _name(settings, environ)
            _authenticate(settings, environ.get("HTTP_AUTHORIZATION", ""))
        except ApiError:
            return 0
        return settings.max_body_bytes

    return limit


def _hooks(app: Flask, settings: Settings, metrics: Metrics) -> None:
    cors = Cors(settings.cors_origins)

    @app.before_request
    def admit() -> Response | None:
        # Each look at Flask's `request` finds it again, so its parts are taken from here.
        environ, unrouted = request.environ, request.routing_exception
        environ[NOTED_KEY] = _Noted(request_id(), time.monotonic())
        _name(settings, environ)
        # Before the key is looked at: a browser's preflight carries none (http.cors.preflight).
        if environ["REQUEST_METHOD"] == "OPTIONS" and not isinstance(unrouted, NotFound):
            return Response(status=204, headers=cors.preflight(_lower(request.headers)))
        # Route before key, key before body (http.precedence.*).
        # Only routes that exist ask for the key: an unknown path is 404 to everyone, also without a key.
        if unrouted is None and _path(environ).startswith("/v1/"):
            _authenticate(settings, environ.get("HTTP_AUTHORIZATION", ""))
        return None

    @app.after_request
    def finish(response: Response) -> Response:
        environ, rule, status = request.environ, request.url_rule, response.status_code
        noted: _Noted = environ[NOTED_KEY]
        # Both on errors too (http.request-id, http.cors.preflight): a browser hides an answer without CORS headers.
        response.headers.add("x-request-id", noted.id)
        for name, value in cors.allow(_named(environ, _ORIGIN)).items():
            response.headers.add(name, value)
        if log.isEnabledFor(logging.INFO):
            # Quoted: a path may hold line breaks, which would forge lines of the log.
            path, took = quote(request.path[:QUOTED]), time.monotonic() - noted.started
            log.info("%s %s %s %d %.0f ms", noted.id, request.method, path, status, took * 1000)
        route = rule.rule if rule else ""
        # On close: a stream has taken as long as its body did.
        response.call_on_close(lambda: metrics.answered(route, noted.mode, status, time.monotonic() - noted.started))
        return response


_ORIGIN = {"origin": "HTTP_ORIGIN"}
_FORMAT = {name: f"HTTP_{name.upper().replace('-', '_')}" for name in HEADERS}
"""The headers that say how calls are to be written: name → how WSGI names it."""


def _named(environ: WSGIEnvironment, names: Mapping[str, str]) -> dict[str, str]:
    """Those of these headers that a request has."""
    return {name: environ[key] for name, key in names.items() if key in environ}


def _path(environ: WSGIEnvironment) -> str:
    """The path as routes are matched with it."""
    path: str = environ.get("PATH_INFO", "")
    return "/" + path.lstrip("/")


def _lower(headers: Headers) -> dict[str, str]:
    return {name.lower(): value for name, value in headers}


def _name(settings: Settings, environ: WSGIEnvironment) -> None:
    """Without a key, answer only at this machine's own names."""
    host = environ.get("HTTP_HOST")
    # Whoever names no host is no browser.
    if host is None or settings.api_key or settings.insecure or names_loopback(host):
        return
    raise ApiError(WRONG_HOST)


def _authenticate(settings: Settings, header: str) -> None:
    scheme, _, key = header.partition(" ")
    if settings.api_key is None:
        return
    # Bytes, since `compare_digest` takes no str beyond ASCII, and a header may hold any.
    right = settings.api_key.get_secret_value().encode()
    # The scheme in any case, the key in constant time (http.auth.wrong).
    if scheme.lower() != "bearer" or not hmac.compare_digest(key.strip().encode(errors="replace"), right):
        raise ApiError(WRONG_KEY, headers={"WWW-Authenticate": "Bearer"})


def _errors(app: Flask) -> None:
    @app.errorhandler(ApiError)
    def problem(error: ApiError) -> Response:
        response = json_response(error.body(), error.problem.status)
        response.headers.update(error.headers)
        if error.problem.retry_after is not None:
            response.headers["Retry-After"] = str(error.problem.retry_after)
        return response

    @app.errorhandler(NotFound)
    def unknown(_error: NotFound) -> Response:
        return problem(ApiError(UNKNOWN_URL, message=f"There is nothing at {request.path[:QUOTED]}."))

    @app.errorhandler(MethodNotAllowed)
    def method(error: MethodNotAllowed) -> Response:
        return problem(ApiError(WRONG_METHOD, headers={"Allow": ", ".join(sorted(error.valid_methods or ()))}))

    # Whatever else Flask refuses: its own page would be HTML (http.error.envelope).
    @app.errorhandler(HTTPException)
    def other(_error: HTTPException) -> Response:
        return problem(ApiError(BAD_REQUEST))

    @app.errorhandler(ClientGoneError)
    def client_gone(_error: ClientGoneError) -> Response:
        # There is no one to read it, but the server and the log want a response.
        return problem(ApiError(BAD_REQUEST, message="The client has gone."))

    @app.errorhandler(Exception)
    def unexpected(error: Exception) -> Response:
        # The trace is for the log alone (http.error.no-internals).
        noted = request.environ.get(NOTED_KEY)
        log.error("%s failed", noted.id if noted else None, exc_info=error)
        return problem(ApiError(INTERNAL))


def _health(app: Flask, backend: Backend, gate: Gate) -> None:
    @app.get("/healthz")
    def up() -> Response:
        return json_response({"status": "ok"})

    @app.get("/livez")
    def live() -> Response:
        if not backend.alive:
            raise ApiError(GIVEN_UP)
        return json_response({"status": "alive"})

    @app.get("/readyz")
    def ready() -> Response:
        # A proxy that stops is alive but not ready: whoever goes by readiness sends it no more requests.
        if gate.shut_down:
            raise ApiError(STOPPING)
        # 0: a health check never waits, and starts no backend that was given up.
        if not backend.await_ready(0):
            raise failure(Failed(Cause.UNAVAILABLE))
        return json_response({"status": "ready"})


def _openapi(app: Flask) -> None:
    @app.get("/openapi.json")
    def describe() -> Response:
        return json_response(document())


def _metrics(app: Flask, metrics: Metrics) -> None:
    @app.get("/metrics")
    def show() -> Response:
        return Response(metrics.text(), content_type=MEDIA_TYPE)


def _models(app: Flask, settings: Settings, asked: AskedModels) -> None:
    # The type requires `created`, and no better date is known; read once, so that every answer says the same.
    started = int(time.time())

    def model(name: str) -> dict[str, object]:
        return {"id": name, "object": "model", "created": started, "owned_by": settings.backend}

    @app.get("/v1/models")
    def list_models() -> Response:
        names = dict.fromkeys((*settings.models, *asked.names))
        return json_response({"object": "list", "data": [model(name) for name in names]})

    # `path`: the names of models may hold slashes.
    @app.get("/v1/models/<path:name>")
    def get_model(name: str) -> Response:
        if not serves(name, settings):
            raise ApiError(UNKNOWN_MODEL, message=f"The model `{name}` is not served here.", param="model")
        return json_response(model(name))


def _body(settings: Settings, environ: WSGIEnvironment) -> Mapping[str, Any]:
    length = environ.get("CONTENT_LENGTH", "")
    # What most requests say exactly needs no parser.
    exact = environ.get("CONTENT_TYPE") == JSON
    return read_object(
        environ["wsgi.input"] if environ.get("wsgi.input_terminated") else request.stream,
        length=int(length) if length.isdecimal() else None,
        media_type=JSON if exact else request.mimetype,
        limit=settings.max_body_bytes,
    )


def _client(environ: WSGIEnvironment, *, stream: bool) -> Client:
    environ[NOTED_KEY].mode = "stream" if stream else "whole"
    keep_open = environ.get("SERVER_PROTOCOL") == "HTTP/1.1"
    found: ThreadAnswer | None = environ.get(CLIENT_KEY)
    if found is None:
        return Client(keep_open=keep_open)
    return Client(gone=found.gone, when_gone=found.when_gone, stalled=found.stalled, keep_open=keep_open)


def _chat(app: Flask, settings: Settings, chat: Chat, runner: TurnRunner) -> None:
    @app.post("/v1/chat/completions")
    def completions() -> Response:
        environ = request.environ
        # Body, then parameters; then the model, capacity, and readiness (http.precedence.*).
        body, headers = _body(settings, environ), _named(environ, _FORMAT)
        parsed = chat_request.parse(body, headers, max_choices=settings.max_choices)
        return runner.run(chat.plan(parsed), _client(environ, stream=parsed.stream))


def _responses(app: Flask, settings: Settings, responses: Responses, runner: TurnRunner) -> None:
    @app.post("/v1/responses")
    def create() -> Response:
        environ = request.environ
        parsed = responses_request.parse(_body(settings, environ), _named(environ, _FORMAT))
        return runner.run(responses.plan(parsed), _client(environ, stream=parsed.stream))

    @app.get("/v1/responses/<id_>")
    def retrieve(id_: str) -> Response:
        return json_response(responses.retrieve(id_))

    @app.delete("/v1/responses/<id_>")
    def delete(id_: str) -> Response:
        return json_response(responses.delete(id_))

    @app.get("/v1/responses/<id_>/input_items")
    def input_items(id_: str) -> Response:
        return json_response(responses.input_items(id_, request.args))


def _chatgpt_service(app: Flask, settings: Settings, responses: Responses, runner: TurnRunner) -> None:
    @app.post(chatgpt_service.PATH)
    def create_there() -> Response:
        environ = request.environ
        # Here, since the hook asks for a key below /v1 alone.
        _authenticate(settings, environ.get("HTTP_AUTHORIZATION", ""))
        body = _body(settings, environ)
        refusal = chatgpt_service.refusal(body)
        if refusal is not None:
            return json_response({"detail": refusal}, BAD_REQUEST.status)
        parsed = replace(responses_request.parse(body, _named(environ, _FORMAT)), output_at_end=False)
        response = runner.run(responses.plan(parsed), _client(environ, stream=True))
        response.headers.update(chatgpt_service.HEADERS)
        return response
