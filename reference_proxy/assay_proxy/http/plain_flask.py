"""Flask without what this proxy has no use for, and each request would pay for.

There are no coroutines among its hooks and views, no sessions, and no hosts in its routes; and no URL is built.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flask import Flask
from flask.sessions import NullSession, SessionInterface
from werkzeug.routing import MapAdapter

if TYPE_CHECKING:
    from collections.abc import Callable

    from flask import Request, Response
    from flask.sessions import SessionMixin


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


class PlainFlask(Flask):
    """A Flask for functions that answer by method and path alone."""

    session_interface = _NoSessions()

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
        return MapAdapter(self.url_map, "localhost", "/", "", "http", path, request.method, None)
