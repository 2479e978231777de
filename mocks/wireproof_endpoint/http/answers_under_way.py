"""What the answers of one endpoint share: whose they are, which of them go on, and which comes next."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Protocol

from wireproof_endpoint.http.rounds import Rounds

if TYPE_CHECKING:
    from wireproof_endpoint.endpoint import Endpoint, EndpointRequest
    from wireproof_endpoint.play import WholeReply
    from wireproof_surfaces.http.served_exchange import ServedExchange


class _Stoppable(Protocol):
    def stop(self) -> None:
        """End it: the server stops."""


class AnswersUnderWay:
    """Those of `endpoint`."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.rounds = Rounds()
        self.running: set[_Stoppable] = set()
        """Answers that go on, each with a task."""

    def reply(self, exchange: ServedExchange, request: EndpointRequest, reply: WholeReply) -> None:
        """Send a whole answer."""
        headers = self.endpoint.dressed(reply.headers, request)
        exchange.reply(reply.status, headers, reply.body)
        self.endpoint.journal.whole(request.entry, monotonic(), reply.status, headers, reply.body)

    def stop(self) -> None:
        """End the answers that go on: the server stops."""
        for answer in tuple(self.running):
            answer.stop()
