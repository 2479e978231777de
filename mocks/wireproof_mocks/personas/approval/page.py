"""The approval as a page on loopback, for those who prefer a browser: one address for a whole conversation.

The page loads nothing else and works without its script, by keyboard alone. The script does three things: Escape
cancels, a page that is closed cancels, and a page that waits shows the next question by itself.
"""

from __future__ import annotations

import secrets
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from flask import Flask, Response, abort, g, redirect, render_template, request, url_for
from werkzeug.serving import WSGIRequestHandler, make_server

from wireproof_mocks.personas.approval import asking
from wireproof_mocks.personas.line import as_json, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from werkzeug.wrappers import Response as WerkzeugResponse

    from wireproof_mocks.personas.approval.asking import ApprovalQuestion, Decision

HOST = "127.0.0.1"
GRACE = 2.0
"""Seconds within which a page that was closed may come back: to a browser, a reload begins as a closing does."""
_SEE_OTHER, _FORBIDDEN = 303, 403


@dataclass(kw_only=True)
class PageQuestion:
    """A question on the page: what is selected so far, and what was decided."""

    number: int
    question: ApprovalQuestion
    selected: list[str]
    decision: Decision | None = None
    closed: float | None = None
    """When the page was closed, on the monotonic clock; None: it is open, or was never opened."""


@dataclass(kw_only=True)
class Page:
    """Asks on a page. `show` is called with the address when the first question comes."""

    show: Callable[[str], object]
    url: str = ""
    _asked: PageQuestion | None = None
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _shown: bool = False

    def __call__(self, question: ApprovalQuestion) -> Decision:
        """Ask, and wait for the decision; closing the page cancels, and so does Ctrl-C in the terminal."""
        number = self._asked.number + 1 if self._asked else 1
        asked = PageQuestion(number=number, question=question, selected=list(question.paths))
        with self._changed:
            self._asked = asked
        if not self._shown:
            self.show(self.url)
            self._shown = True
        try:
            return self._decision(asked)
        except KeyboardInterrupt:
            return self._decide(asked, question.cancelled())

    def _decision(self, asked: PageQuestion) -> Decision:
        with self._changed:
            while asked.decision is None:
                left = None if asked.closed is None else asked.closed + GRACE - time.monotonic()
                if left is not None and left <= 0:
                    asked.decision = asked.question.cancelled()
                else:
                    self._changed.wait(left)
            return asked.decision

    def _decide(self, asked: PageQuestion, decision: Decision) -> Decision:
        with self._changed:
            # The first decision counts: another tab may show the same question.
            asked.decision = asked.decision or decision
            self._changed.notify_all()
            return asked.decision

    # What the browser asks for

    def shown(self) -> str:
        """The page as it is now; whoever looks at it has not closed it."""
        with self._changed:
            asked = self._asked
            if asked is not None:
                asked.closed = None
        open_ = asked is not None and asked.decision is None
        template = "question.html" if open_ else "waiting.html"
        return render_template(template, asked=asked, words=asking, visible=visible, as_json=as_json, nonce=g.nonce)

    def number(self) -> int:
        """The number of the question that is open; 0: none is."""
        with self._changed:
            return self._asked.number if self._asked is not None and self._asked.decision is None else 0

    def chosen(self, number: int, do: str, files: list[str]) -> None:
        """What the user has chosen for a question; too late, or of another question, it changes nothing."""
        asked = self._asked
        if asked is None or asked.number != number or asked.decision is not None:
            return
        question = asked.question
        selected = [path for index, path in enumerate(question.paths) if str(index) in files]
        match do:
            case "approve":
                self._decide(asked, question.approved(selected))
            case "cancel":
                self._decide(asked, question.cancelled())
            case "all" | "none":
                asked.selected = list(question.paths) if do == "all" else []

    def closed(self, number: int) -> None:
        """The page with this question was closed, or is being loaded again."""
        with self._changed:
            if self._asked is not None and self._asked.number == number:
                self._asked.closed = time.monotonic()
                self._changed.notify_all()


@contextmanager
def serving(show: Callable[[str], object]) -> Iterator[Page]:
    """The page, served on loopback for the length of a `with` block."""
    page = Page(show=show)
    # No other user of this machine can guess the address.
    token = secrets.token_urlsafe(16)
    server = make_server(HOST, 0, _app(page, token), threaded=True, request_handler=_Quiet)
    page.url = f"http://{HOST}:{server.server_port}/{token}/"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield page
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Quiet(WSGIRequestHandler):
    def log(self, type: str, message: str, *args: object) -> None:  # noqa: A002 (as the base class has it)
        """Write no access log: the terminal belongs to the conversation."""


def _app(page: Page, token: str) -> Flask:
    app = Flask(__name__)

    @app.before_request
    def own_address() -> None:
        # A page of another site could reach this one under a name of its own that leads to this machine.
        if request.host.rpartition(":")[0] != HOST:
            abort(_FORBIDDEN)
        g.nonce = secrets.token_urlsafe(16)

    @app.get(f"/{token}/")
    def question() -> str:
        return page.shown()

    @app.get(f"/{token}/number")
    def number() -> str:
        return str(page.number())

    @app.post(f"/{token}/")
    def choose() -> WerkzeugResponse:
        form = request.form
        page.chosen(form.get("number", 0, type=int), form.get("do", ""), form.getlist("file"))
        return redirect(url_for("question"), _SEE_OTHER)

    @app.post(f"/{token}/closed")
    def closed() -> str:
        page.closed(request.form.get("number", 0, type=int))
        return ""

    @app.after_request
    def headers(response: Response) -> Response:
        # Nothing is loaded from anywhere; the style and the script stand in the page, under its nonce.
        own = f"'nonce-{g.get('nonce', '')}'"
        response.headers["Content-Security-Policy"] = (
            f"default-src 'none'; style-src {own}; script-src {own}; img-src data:; connect-src 'self';"
            " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
        )
        response.headers["Cache-Control"] = "no-store"
        response.headers["Referrer-Policy"] = "no-referrer"
        response.headers["X-Content-Type-Options"] = "nosniff"
        return response

    return app
