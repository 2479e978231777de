"""What of its request an answer of a model shows to have reached it: the schema, and the texts by their tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof.judging.checks.live_counts import STOPPED
from wireproof.judging.checks.live_said import place_in, refuses, sent_words
from wireproof.judging.registry import Checks, Seen
from wireproof.model.asks import Fits
from wireproof.reading.asked import as_json
from wireproof.reading.schemas import misfits
from wireproof.wire.quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wireproof.reading.exchange import Exchange

check = Checks()
"""The checks of this module."""


@check("turn.structured-output")
def structured_output(exchange: Exchange) -> Iterable[Seen]:
    """The text is JSON that fits the schema of the request, in one try at least."""
    asks = exchange.asks
    choice = exchange.choice()
    if exchange.wanted or not isinstance(asks, Fits) or choice.finish != STOPPED or refuses(exchange):
        return
    value = as_json(choice.text or "")
    wrong = "it is not JSON" if value is None else "; ".join(misfits(asks.schema, value)[:1])
    yield Seen(
        f"the text does not fit the schema that the request sets: {wrong}; {quoted(choice.text)}", place_in(exchange)
    )


@check(
    "turn.system-prompt", "turn.history-reaches-backend", "turn.tool-result", "turn.follow-up-without-tools"
)  # fmt: skip
def reached(exchange: Exchange) -> Iterable[Seen]:
    """Where a model does not act on what it was sent, the tokens of the request show whether it was sent at all."""
    got, sent = exchange.answer.usage, sent_words(exchange)
    if not exchange.wanted and got is not None and 0 < got.prompt < sent:
        seen = (
            f"the request has {sent} words and the model was sent {got.prompt} tokens; it does not know what stands in"
            " the rest"
        )
        yield Seen(seen, exchange.body_place, counts=True)
