"""The proxy as a Flask application: the factory, what is done before and after each request, and errors.

    gunicorn --threads 80 'wireproof_proxy.app:create_app()'
    flask --app wireproof_proxy.app run

`wireproof-proxy` runs it on a server of its own; docs/other-servers.md says what other servers lack. An error is always
JSON, in the form of the API that the request is of.
"""

from __future__ import annotations

import atexit
import json
import logging
import time
from typing import TYPE_CHECKING
from urllib.parse import quote

from flask import Flask, Response, g, request
from flask.json.provider import JSONProvider
from werkzeug.exceptions import HTTPException, MethodNotAllowed, NotFound
from werkzeug.routing import WebsocketMismatch

from wireproof_proxy.access import check_host, check_key
from wireproof_proxy.answers.timing import ClientGoneError
from wireproof_proxy.answers.turn_runner import TurnGate, TurnRunner
from wireproof_proxy.backends.table import make_backend
from wireproof_proxy.blueprints.metrics import Metrics, health_blueprint, metrics_blueprint
from wireproof_proxy.blueprints.surfaces import (
    DECIDING,
    chat_blueprint,
    chatgpt_blueprint,
    form_headers,
    messages_blueprint,
    models_blueprint,
    responses_blueprint,
)
from wireproof_proxy.settings import load
from wireproof_surfaces.answers.chat import Chat
from wireproof_surfaces.answers.kept import AskedModels, Store, Threads
from wireproof_surfaces.answers.messages import Messages
from wireproof_surfaces.answers.responses import Responses
from wireproof_surfaces.api_forms import form_of
from wireproof_surfaces.errors import BAD_REQUEST, INTERNAL, UNKNOWN_URL, WRONG_METHOD, ApiError
from wireproof_surfaces.http.cors import Cors
from wireproof_surfaces.random_ids import request_id
from wireproof_surfaces.surfaces.declared_tools import LONGEST_NAME
from wireproof_surfaces.surfaces.json_text import encoded
from wireproof_surfaces.whole_number import whole_number

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from _typeshed.wsgi import WSGIEnvironment
    from flask.typing import ResponseReturnValue

    from wireproof_proxy.backends.backend import AgentBackend
    from wireproof_proxy.settings import ProxySettings


log = logging.getLogger(__name__)

QUOTED = 200
"""Characters of a path that the log, and an error, quote."""


def create_app(
    settings: ProxySettings | None = None, backend: AgentBackend | None = None, gate: TurnGate | None = None
) -> Flask:
    """The application; `gate` counts the turns that run.

    Without arguments, as WSGI servers call it, all comes from the environment, and the backend runs until the process
    ends. A backend that is given is started and stopped by the caller.

    Raises:
        SettingsError: naming the first variable of the environment with a bad value.
    """
    settings = settings or load()
    if backend is None:
        backend = make_backend(settings)
        backend.start()
        atexit.register(backend.stop)
    gate = gate or TurnGate(settings.max_concurrency)
    # No static folder: Flask would add a route for it.
    app = Flask(__name__, static_folder=None)
    app.json = WireJson(app)
    # OPTIONS is left unrouted, so that `admit` answers it for all routes alike.
    app.config["PROVIDE_AUTOMATIC_OPTIONS"] = False
    # `/v1//models` is another path, not found as any other: Flask would redirect, with a page of HTML.
    app.url_map.merge_slashes = False
    metrics = Metrics(gate, backend)
    _register_hooks(app, settings, metrics)
    _register_error_handlers(app)
    for public in (health_blueprint(backend, gate), metrics_blueprint(metrics)):
        app.register_blueprint(public)
    asked = AskedModels()
    runner = TurnRunner(settings=settings, backend=backend, gate=gate)
    planner = Responses(settings=settings, store=Store(settings.responses_stored), asked=asked)
    responses = responses_blueprint(settings, planner, runner)
    if settings.chatgpt_service:
        # Below the other, since it is the same surface.
        responses.register_blueprint(chatgpt_blueprint(settings, planner, runner))
    chat = chat_blueprint(settings, Chat(settings=settings, asked=asked), runner)
    threads = Threads(settings.responses_stored)
    # Backends take the names that OpenAI's API takes.
    held = Messages(settings=settings, threads=threads, asked=asked, longest_name=LONGEST_NAME)
    messages = messages_blueprint(settings, held, runner)
    for keyed in (models_blueprint(settings, asked), chat, responses, messages):
        # Route before key, key before body (http.precedence.*): an unknown path is 404 to everyone, also without a key.
        keyed.before_request(lambda: check_key(settings, request.path, form_headers()))
        app.register_blueprint(keyed)
    return app


class WireJson(JSONProvider):
    """What views return as a dict is written as all other JSON of the proxy is.

    Flask's own provider ends it with a line break, and fails at half a surrogate pair, which a model may write.
    """

    def dumps(self, obj: Mapping[str, object], **_options: object) -> str:
        """The value on one line, keys in their order, characters unescaped."""
        return encoded(obj).decode()

    def loads(self, s: str | bytes, **_options: object) -> object:
        """The value; the views read bodies by `read_object`, so that this serves tests."""
        return json.loads(s)


def body_limit(app: Flask, settings: ProxySettings) -> Callable[[WSGIEnvironment], int]:
    """How many bytes of a request's body are looked at, by its head alone; 0 where it is refused before that.

    The server reads no more, so the rules are those by which a request is refused (http.precedence.*).
    """
    # Flask matches the route once more; but none that takes a body has parts that vary, so a look at a set will do.
    taking = {rule.rule for rule in app.url_map.iter_rules() if "POST" in (rule.methods or ())}

    def limit(environ: WSGIEnvironment) -> int:
        # More slashes before a path are one to Flask.
        if environ["REQUEST_METHOD"] != "POST" or f"/{environ['PATH_INFO'].lstrip('/')}" not in taking:
            return 0
        if (whole_number(environ.get("CONTENT_LENGTH", "")) or 0) > settings.max_body_bytes:
            return 0
        try:
            check_host(settings, environ.get("HTTP_HOST"))
            check_key(settings, environ["PATH_INFO"], _deciding(environ))
        except ApiError:
            return 0
        return settings.max_body_bytes

    return limit


def _deciding(environ: WSGIEnvironment) -> dict[str, str]:
    """As `form_headers`, of a request that is not one of Flask's yet."""
    named = {name: f"HTTP_{name.upper().replace('-', '_')}" for name in DECIDING}
    return {name: environ[key] for name, key in named.items() if key in environ}


def _register_hooks(app: Flask, settings: ProxySettings, metrics: Metrics) -> None:
    cors = Cors(settings.cors_origins)

    @app.before_request
    def admit() -> Response | None:
        g.request_id, g.started, g.mode = request_id(), time.monotonic(), "none"
        check_host(settings, request.headers.get("Host"))
        # Before the key is looked at: a browser's preflight carries none (http.cors.preflight).
        if request.method == "OPTIONS" and not isinstance(request.routing_exception, NotFound):
            asks = {name.lower(): value for name, value in request.headers}
            return Response(status=204, headers=cors.preflight(asks))
        return None

    @app.after_request
    def finish(response: Response) -> Response:
        # Both on errors too (http.request-id, http.cors.preflight): a browser hides an answer without CORS headers.
        for name, value in form_of(request.path, form_headers()).named(g.request_id).items():
            response.headers.add(name, value)
        for name, value in cors.allow({"origin": request.headers.get("Origin", "")}).items():
            response.headers.add(name, value)
        # Taken here: what follows runs when the body has been sent, and the request's context is gone by then.
        surface, mode, started = (request.blueprints or ["other"])[-1], g.mode, g.started
        if log.isEnabledFor(logging.INFO):
            # Quoted: a path may hold line breaks, which would forge lines of the log.
            path, took = quote(request.path[:QUOTED]), time.monotonic() - started
            log.info("%s %s %s %d %.0f ms", g.request_id, request.method, path, response.status_code, took * 1000)
        status = response.status_code
        # On close: a stream has taken as long as its body did.
        response.call_on_close(lambda: metrics.answered(surface, mode, status, time.monotonic() - started))
        return response


def _register_error_handlers(app: Flask) -> None:
    """Have the application answer every error in the envelope."""
    app.register_error_handler(ApiError, _refuse)
    app.register_error_handler(NotFound, _unknown)
    app.register_error_handler(MethodNotAllowed, _wrong_method)
    no_socket = ApiError(BAD_REQUEST, message="There are no WebSockets here: leave out the header `Upgrade`.")
    app.register_error_handler(WebsocketMismatch, lambda _error: _refuse(no_socket))
    # Whatever else Flask refuses: its own page would be HTML (http.error.envelope).
    app.register_error_handler(HTTPException, lambda _error: _refuse(ApiError(BAD_REQUEST)))
    # There is no one to read it, but the server and the log want a response.
    gone = ApiError(BAD_REQUEST, message="The client has gone.")
    app.register_error_handler(ClientGoneError, lambda _error: _refuse(gone))
    app.register_error_handler(Exception, _unexpected)


def _refuse(error: ApiError) -> ResponseReturnValue:
    reply = form_of(request.path, form_headers()).reply(error, g.request_id)
    return reply.body, reply.status, reply.headers


def _unknown(_error: NotFound) -> ResponseReturnValue:
    return _refuse(ApiError(UNKNOWN_URL, message=f"There is nothing at {request.path[:QUOTED]}."))


def _wrong_method(error: MethodNotAllowed) -> ResponseReturnValue:
    return _refuse(ApiError(WRONG_METHOD, headers={"Allow": ", ".join(sorted(error.valid_methods or ()))}))


def _unexpected(error: Exception) -> ResponseReturnValue:
    # The trace is for the log alone (http.error.no-internals).
    log.error("%s failed", g.get("request_id"), exc_info=error)
    return _refuse(ApiError(INTERNAL))
