"""Flask without what this proxy has no use for, and each request would pay for.

There are no coroutines among its hooks and views, no sessions, no signals, no blueprints, and no hosts in its routes;
no URL is built, and `g` keeps nothing. What is registered is found and called as in any Flask.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from flask import Flask, Request, Response, has_app_context
from flask.sessions import NullSession, SessionInterface
from werkzeug.routing import MapAdapter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from _typeshed.wsgi import StartResponse, WSGIEnvironment
    from flask.sessions import SessionMixin
    from werkzeug.routing import Rule

OK = 200


class PlainRequest(Request):
    """A request of which nearly always the method and the environment are all that is asked for."""

    def __init__(self, environ: WSGIEnvironment, populate_request: bool = True, shallow: bool = False) -> None:  # noqa: FBT001, FBT002 - Werkzeug's
        self.environ = environ
        self.method = environ["REQUEST_METHOD"]
        self._how = populate_request, shallow

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - as different as the attributes
        """Something that it lacks: it is made as others are, once."""
        how = self.__dict__.pop("_how", None)
        if how is None:
            raise AttributeError(name)
        super().__init__(self.environ, *how)
        return getattr(self, name)


class PlainResponse(Response):
    """A response whose body is bytes, or an iterator of them; it redirects nowhere."""

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Send it."""
        # Of any other the length, or the body itself, may have to go.
        if self.status_code != OK or environ["REQUEST_METHOD"] == "HEAD":
            return super().__call__(environ, start_response)
        # Werkzeug copies the headers, each looked at once more, and wraps the body twice.
        start_response(self.status, self.headers.to_wsgi_list())
        return self

    def __iter__(self) -> Iterator[bytes]:
        """The body, for the server, which calls `close` behind it."""
        return iter(cast("Iterable[bytes]", self.response))


class _NoSessions(SessionInterface):
    """One session for all requests, which holds nothing and takes nothing."""

    def __init__(self) -> None:
        self._none = NullSession()

    def open_session(self, app: Flask, request: Request) -> NullSession:
        """The same each time."""
        del app, request
        return self._none

    def save_session(self, app: Flask, session: SessionMixin, response: Response) -> None:
        """There is nothing to save."""


class _Found(MapAdapter):
    """Where a method and a path always lead, for routes without parts that vary."""

    def __init__(self, app: Flask, rule: Rule) -> None:
        super().__init__(app.url_map, "localhost", "/", "", "http", rule.rule, "GET", None)
        self._rule = rule

    def match(self, *_arguments: object, **_options: object) -> Any:  # noqa: ANN401 - as the base has it
        """The route, and the values of no parts."""
        return self._rule, {}


class PlainFlask(Flask):
    """A Flask for functions that answer by method and path alone."""

    session_interface = _NoSessions()
    request_class = PlainRequest
    response_class = PlainResponse

    @cached_property
    def _fixed(self) -> dict[tuple[str, str], _Found]:
        """What a method and a path lead to. Made with the first request: Flask takes no more routes from then on."""
        return {
            (method, rule.rule): _Found(self, rule)
            for rule in self.url_map.iter_rules()
            if not rule.arguments
            for method in rule.methods or ()
        }

    def wsgi_app(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer a request."""
        # One for each thread, not for each request: it says which application this is, and nothing else is kept in it.
        if not has_app_context():
            self.app_context().push()
        return super().wsgi_app(environ, start_response)

    def full_dispatch_request(self) -> Response:
        """What hooks, route and error handlers make of the request, as in Flask, but that it sends signals."""
        self._got_first_request = True
        try:
            answer = self.preprocess_request()
            if answer is None:
                answer = self.dispatch_request()
        except Exception as error:  # noqa: BLE001 - whatever no handler takes is raised again
            answer = self.handle_user_exception(error)
        return self.process_response(self.make_response(answer))

    def preprocess_request(self) -> Any:  # noqa: ANN401 - Flask's
        """What the first hook answers that does; None: none does."""
        for hook in self.before_request_funcs.get(None, ()):
            answer = hook()
            if answer is not None:
                return answer
        return None

    def process_response(self, response: Response) -> Response:
        """The response, as the hooks leave it."""
        for hook in reversed(self.after_request_funcs.get(None, ())):
            response = cast("Callable[[Response], Response]", hook)(response)
        return response

    def do_teardown_request(self, *_error: object) -> None:
        """There is nothing to tear down."""

    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """The function as it is: Flask would look at it, for each request, whether it is a coroutine."""
        return func

    def create_url_adapter(self, request: Request | None) -> MapAdapter | None:
        """What matches a request's method and path; the edge has looked at its host already."""
        if request is None:
            return None
        environ = request.environ
        # PATH_INFO holds bytes, as WSGI has it.
        path = environ.get("PATH_INFO", "").encode("latin-1").decode(errors="replace")
        found = self._fixed.get((request.method, path))
        return found or MapAdapter(self.url_map, "localhost", "/", "", "http", path, request.method, None)
