"""Checks of plain requests: what of their input reached the backend, and which responses were stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof.judging.checks.answered import asked, report_in
from wireproof.judging.checks.diff import is_object
from wireproof.judging.registry import Checks, Seen
from wireproof.reading.exchange import Exchange, came_as_stream
from wireproof.reading.schemas import faults
from wireproof.wire.fields import json_of, object_of
from wireproof.wire.quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable


check = Checks()


@check(
    "responses.input.items", "responses.input.replayed", "messages.input.system", "messages.input.content",
    "messages.input.merged", "messages.input.thinking", "messages.input.images",
)  # fmt: skip
def input_items(exchange: Exchange) -> Iterable[Seen]:
    """All of the input reached the backend, in order: it answers with what it received."""
    if seen := _lost(exchange):
        yield Seen(seen, exchange.body_place)


@check("responses.previous-id")
def previous_id(exchange: Exchange) -> Iterable[Seen]:
    """A response that continues another names it and knows its content; a stored response is what was answered."""
    request, place = asked(exchange), exchange.body_place
    streamed = bool(request.json and request.json.get("stream")) or came_as_stream(exchange)
    # Of these answers none has a response as its body; that a stream comes unasked is found in any whole answer.
    if not exchange.transcript.ok or streamed or request.method == "DELETE":
        return
    body, items = json_of(exchange.transcript.body), request.path.endswith("/input_items")
    fault = next(iter(faults("response.input_items" if items else "response", body)), None)
    if fault is not None:
        yield Seen(fault.sentence, place, about=fault.about)
    elif seen := "" if items else _misnamed(exchange, body) or _lost(exchange):
        yield Seen(seen, place)


def _lost(exchange: Exchange) -> str:
    """What of an input did not reach the backend; '' if all did."""
    # A refusal that comes this far is one that the request allows.
    if not asked(exchange).reflects or not exchange.transcript.ok:
        return ""
    reflected = report_in(exchange) or ""
    if not is_object(reflected):
        return f"the backend sent a JSON object; what came is not one: {quoted(reflected)}"
    position = 0
    for text in asked(exchange).reflects:
        # In the reflection as text: where in it the backend has an input depends on how the proxy sent it.
        found = reflected.find(text, position)
        if found < 0:
            return f"{quoted(text)} of the input did not reach the backend, or not in its place"
        position = found
    return ""


def _misnamed(exchange: Exchange, body: object) -> str:
    """What is wrong with how a response names the one that it continues; '' if nothing is."""
    sent = exchange.sent.get("previous_response_id")
    named = object_of(body).get("previous_response_id")
    return "" if sent in {None, named} else f"previous_response_id is {quoted(named)}, the request set {quoted(sent)}"
