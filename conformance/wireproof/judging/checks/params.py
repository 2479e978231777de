"""Checks of parameters. A refusal that names the field is judged by the answer alone: such rows have no check."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof.judging.registry import Checks, Seen
from wireproof.reading.exchange import Exchange, answer_in
from wireproof.wire.fields import failure_of
from wireproof.wire.quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable


check = Checks()


@check("param.real-clients", "responses.input.real-clients", "messages.param.real-clients", "messages.param.unknown")
def served(exchange: Exchange) -> Iterable[Seen]:
    """What a real client sends is answered. The form of the answer is for other requirements to judge."""
    reading = answer_in(exchange)
    # Also as an envelope, which is no response: clients of Responses look for its output.
    sent = (failure_of(payload["error"], 0) for _, payload in reading.payloads if payload.get("error"))
    failed = reading.answer.error or next(sent, None)
    if failed is not None:
        seen = f"it was accepted and answered by an error: {quoted(failed.message)}"
        yield Seen(seen, exchange.body_place)
    elif not (reading.violations or reading.answer.choices):
        yield Seen("it was accepted and not answered", exchange.body_place)
