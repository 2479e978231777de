"""Checks of parameters. A refusal that names the field is judged by the answer alone: such rows have no check."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof.judging.registry import Checks, Seen
from wireproof.model.dialect import Surface
from wireproof.wire.chat import read_stream
from wireproof.wire.fields import failure_of
from wireproof.wire.message import read_whole
from wireproof.wire.quoting import quoted
from wireproof.wire.responses import read_responses
from wireproof.wire.responses_whole import read_response

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from wireproof.reading.exchange import Exchange
    from wireproof.wire.reading import Reading

check = Checks()
"""The checks of this module."""


_READERS: Mapping[Surface, tuple[Callable[[Sequence[bytes]], Reading], Callable[[bytes], Reading]]] = {
    Surface.CHAT: (read_stream, read_whole),
    Surface.RESPONSES: (read_responses, read_response),
}
"""What reads the streams and the whole answers of a surface."""


@check("param.real-clients", "responses.input.real-clients")
def served(exchange: Exchange) -> Iterable[Seen]:
    """What a real client sends is answered. The form of the answer is for other requirements to judge."""
    streams, wholes = _READERS[exchange.dialect.spec.surface]
    body = exchange.transcript.body
    # By what came: the requests are recorded ones, and some ask for a stream.
    streamed = "event-stream" in (exchange.transcript.header("content-type") or "")
    reading = streams([body]) if streamed else wholes(body)
    # Also as an envelope, which is no response: clients of Responses look for its output.
    sent = (failure_of(payload["error"], 0) for _, payload in reading.payloads if payload.get("error"))
    failed = reading.answer.error or next(sent, None)
    if failed is not None:
        seen = f"it was accepted and answered by an error: {quoted(failed.message)}"
        yield Seen(seen, exchange.body_place)
    elif not (reading.violations or reading.answer.choices):
        yield Seen("it was accepted and not answered", exchange.body_place)
