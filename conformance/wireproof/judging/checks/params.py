"""Checks of parameters. A refusal that names the field is judged by the answer alone: such rows have no check."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof.judging.registry import Checks, Seen
from wireproof.wire.chat import read_stream
from wireproof.wire.message import read_whole
from wireproof.wire.quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wireproof.reading.exchange import Exchange

check = Checks()
"""The checks of this module."""


@check("param.real-clients")
def served(exchange: Exchange) -> Iterable[Seen]:
    """What a real client sends is answered. The form of the answer is for other requirements to judge."""
    # By what came: the requests are recorded ones, and some ask for a stream.
    streamed = "event-stream" in (exchange.transcript.header("content-type") or "")
    reading = read_stream([exchange.transcript.body]) if streamed else read_whole(exchange.transcript.body)
    if reading.answer.error is not None:
        seen = f"it was accepted and answered by an error: {quoted(reading.answer.error.message)}"
        yield Seen(seen, exchange.body_place)
    elif not (reading.violations or reading.answer.choices):
        yield Seen("it was accepted and not answered", exchange.body_place)
