"""Errors as clients read them: always JSON, in the form of the API that the request is of."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from flask import g, request
from werkzeug.exceptions import HTTPException, MethodNotAllowed, NotFound
from werkzeug.routing import WebsocketMismatch

from wireproof_proxy.answers.timing import ClientGoneError
from wireproof_proxy.blueprints.request_parts import form_headers
from wireproof_surfaces.api_forms import form_of
from wireproof_surfaces.errors import BAD_REQUEST, INTERNAL, UNKNOWN_URL, WRONG_METHOD, ApiError

if TYPE_CHECKING:
    from flask import Flask
    from flask.typing import ResponseReturnValue

log = logging.getLogger(__name__)

QUOTED = 200
"""Characters of a path that the log, and an error, quote."""


def register_error_handlers(app: Flask) -> None:
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
