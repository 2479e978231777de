"""An endpoint on the edge: what a request asks for, and the answers under way.

A request is answered where its last byte is read. What waits for nothing is one write: a whole answer, or the head of
a stream with its first piece. The rest of a stream has a task (`scripted_answer`).
"""

from __future__ import annotations

from time import monotonic, time
from typing import TYPE_CHECKING
from urllib.parse import unquote

from wireproof_endpoint.endpoint import EndpointRequest
from wireproof_endpoint.http.answers_under_way import AnswersUnderWay
from wireproof_endpoint.http.scripted_answer import ScriptedAnswer
from wireproof_endpoint.journal import pages
from wireproof_endpoint.journal.entry import AnswerEnding
from wireproof_endpoint.play import WholeReply

if TYPE_CHECKING:
    from wireproof_endpoint.endpoint import Endpoint
    from wireproof_endpoint.journal.entry import JournalEntry
    from wireproof_endpoint.journal.ring import Journal
    from wireproof_surfaces.http.request_head import RequestHead
    from wireproof_surfaces.http.served_exchange import ServedExchange
    from wireproof_surfaces.http.socket_application import Refusal


class EndpointApplication:
    """Serves `endpoint`."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.answers = AnswersUnderWay(endpoint)

    def wants(self, exchange: ServedExchange) -> int:
        """How many bytes of a body are looked at: none where the head alone says how to answer."""
        if _is_page(exchange.head):
            return 0
        request, refusal = exchange.context = self._admitted(exchange)
        exchange.watcher = _Leaving(self.endpoint.journal, request.entry)
        return 0 if refusal else self.endpoint.settings.max_body

    def answer(self, exchange: ServedExchange) -> None:
        """Answer a request, or begin to."""
        if exchange.context is None and _is_page(exchange.head):
            exchange.reply(*pages.answer(self.endpoint.journal, exchange.head, exchange.connection.peer))
            return
        (request, refusal), exchange.context = exchange.context or self._admitted(exchange), None
        try:
            if refusal is None and len(exchange.body) > self.endpoint.settings.max_body:
                refusal = request.refused(self.endpoint.too_large())
            if refusal is not None:
                self.answers.reply(exchange, request, refusal)
                return
            request.body = bytes(exchange.body)
            found = self.endpoint.answer(request)
            if isinstance(found, WholeReply):
                self.answers.reply(exchange, request, found)
            else:
                ScriptedAnswer(self.answers, exchange, request, found).start()
        except Exception:
            self.endpoint.journal.end(request.entry, monotonic(), AnswerEnding.FAILED)
            raise

    def gate(self, exchange: ServedExchange) -> Refusal | None:
        """The refusal of a handshake, as the same POST would be refused by its head; None: it is let in."""
        head = exchange.head
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in head.fields}
        request = EndpointRequest(method="POST", path=_path(head), headers=headers)
        reply = self.endpoint.admit_page(request) or self.endpoint.admit(request, None)
        return None if reply is None else (reply.status, self.endpoint.dressed(reply.headers, request), reply.body)

    def stop(self) -> None:
        """End the answers that go on: the server stops."""
        self.answers.stop()

    def _admitted(self, exchange: ServedExchange) -> tuple[EndpointRequest, WholeReply | None]:
        """A request of which the head is here, and its refusal if that says enough."""
        self.answers.rounds.come()
        head = exchange.head
        query = head.query.decode("latin-1")
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in head.fields}
        path, now = _path(head), monotonic()
        entry = self.endpoint.journal.begin(
            method=head.method, path=path, query=query, headers=headers, now=now, when=time()
        )
        request = EndpointRequest(method=head.method, path=path, query=query, headers=headers, entry=entry)
        length = headers.get("content-length")
        return request, self.endpoint.admit(request, None if length is None else int(length))


class _Leaving:
    """Notes that a client has left before its request was answered."""

    def __init__(self, journal: Journal, entry: JournalEntry) -> None:
        self._journal = journal
        self._entry = entry

    def on_gone(self) -> None:
        """It has."""
        self._journal.end(self._entry, monotonic(), AnswerEnding.GONE)

    def on_resume(self) -> None:
        """Nothing waits for that yet."""

    def on_stall(self) -> None:
        """Nothing has been sent yet."""


def _path(head: RequestHead) -> str:
    path = head.path.decode("latin-1")
    return unquote(path) if "%" in path else path


def _is_page(head: RequestHead) -> bool:
    # All that others ask for is under another path, whose escapes need not be resolved to see that.
    return not head.path.startswith(b"/v1/") and _path(head).startswith(pages.PATH)
