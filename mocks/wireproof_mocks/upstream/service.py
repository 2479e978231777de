"""The service: an endpoint of one route, which answers as a Codex needs it. It chooses the script and part to play.

A script is chosen as in the Codex mock (`wireproof_scripts.selection`). A request that ends with the result of a call
continues the turn of its thread, if there is one; any other request begins a turn.
"""

from __future__ import annotations

import itertools
from collections import OrderedDict, deque
from time import time
from typing import TYPE_CHECKING

from wireproof_endpoint.endpoint import Endpoint
from wireproof_endpoint.settings import EndpointSettings
from wireproof_mocks.upstream.failing import HttpRefusal, refusal
from wireproof_mocks.upstream.playable import LIMITS
from wireproof_mocks.upstream.reply import ModelReply, refused
from wireproof_mocks.upstream.request import ModelRequest, UnreadableRequestError, read
from wireproof_mocks.upstream.writing import ModelEvents
from wireproof_scripts.asked.templates import filled
from wireproof_scripts.default.answer import default_answer
from wireproof_scripts.nonces import KEPT_NONCES, Nonces
from wireproof_scripts.selection import Selection, select

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wireproof_endpoint.endpoint import EndpointRequest
    from wireproof_endpoint.play import WholeReply
    from wireproof_scripts.nonces import TurnRecord
    from wireproof_scripts.steps import Library, Step


KEPT = 256
"""How many bodies of requests are kept."""
MOST_BYTES = 2**26
"""Of the body of a request."""


class ModelService(Endpoint):
    """Plays the scripts of a library. One thread at a time may use it and its replies."""

    def __init__(self, library: Library) -> None:
        super().__init__(EndpointSettings(journal=0, max_body=MOST_BYTES), lambda: library, created=0)
        self.url = ""
        """The base URL for a Codex, the part up to /v1, inclusive; empty until it is served."""
        # Bounded: Codex sends 30 to 40 kB with each.
        self.bodies: deque[bytes] = deque(maxlen=KEPT)
        """The bodies of the last requests, in order."""
        self._library = library
        self._nonces = Nonces()
        self._numbers = itertools.count(1)
        self._turns: OrderedDict[tuple[str, str], TurnRecord] = OrderedDict()  # by thread and script

    def admit(self, request: EndpointRequest, length: int | None) -> WholeReply | None:
        """404 for all but POST /responses; a key is not looked at."""
        del length
        if request.method == "POST" and request.path.endswith("/responses"):
            return None
        return refused(refusal(404, f"there is no {request.path} here", type="invalid_request_error"))

    def answer(self, request: EndpointRequest) -> ModelReply | WholeReply:
        """The reply to a request, or an HTTP error if the request or its script is wrong."""
        self.bodies.append(request.body)
        reply = self.reply(request.body, time())
        return refused(reply) if isinstance(reply, HttpRefusal) else reply

    def dressed(self, headers: Mapping[str, str], request: EndpointRequest) -> dict[str, str]:
        """The headers alone: Codex would show the id of a request in its errors."""
        del request
        return dict(headers)

    def reply(self, body: bytes, now: float) -> ModelReply | HttpRefusal:
        """The reply to a request with this body, at a time in epoch seconds."""
        try:
            asked = read(body)
        except UnreadableRequestError as error:
            return refusal(400, str(error), type="invalid_request_error")
        selection = select(
            self._library,
            self._nonces,
            history=asked.items,
            # A request does not say which of its items are new, so all of them are history.
            given=[],
            tools=asked.tools,
            call_id=f"call_{next(self._numbers):04}",
            developer=asked.received["developer"],
        )
        if selection.problem is not None:
            return refusal(404, selection.problem, type="invalid_request_error", code="script_not_found")
        why = LIMITS.why_not(selection.parts, selection.notifications)
        if why:
            message = f"the script {selection.script} cannot be played by the model's service: {why}"
            # Refused before anything is sent: half a script would look like a wrong proxy.
            return refusal(501, message, type="unplayable_script", code="unplayable_script")
        part, record = self._part(asked, selection), self._record(asked, selection)
        writer = ModelEvents(asked.model, now, self._number)
        return ModelReply(part, asked, writer, selection.nonce, record, self.answerer.ring)

    def _part(self, asked: ModelRequest, selection: Selection) -> tuple[Step, ...]:
        if selection.first < len(selection.parts):
            return filled(selection.parts[selection.first], asked.items)
        return default_answer(asked.items, asked.tools, f"call_{self._number():04}")

    def _record(self, asked: ModelRequest, selection: Selection) -> TurnRecord:
        """The turn that a request belongs to."""
        key = asked.thread, selection.script
        # Taken out and put in again below, so the one that was used longest ago is dropped first.
        record = self._turns.pop(key, None) if asked.continues else None
        if record is None:
            record = selection.begin()
        record.part, record.state = selection.first, "running"
        self._turns[key] = record
        if len(self._turns) > KEPT_NONCES:
            self._turns.popitem(last=False)
        return record

    def _number(self) -> int:
        return next(self._numbers)
