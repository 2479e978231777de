"""What of its request an answer of a model shows to have reached it: the schema; texts and pictures, by tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof.judging.checks.live_counts import STOPPED
from wireproof.judging.checks.live_said import asked_texts, place_in, refuses, sent_words
from wireproof.judging.registry import Checks, Seen
from wireproof.model.asks import Fits
from wireproof.reading.asked import as_json
from wireproof.reading.schemas import misfits
from wireproof.wire.quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wireproof.reading.exchange import Exchange

check = Checks()


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


@check("turn.images")
def images(exchange: Exchange) -> Iterable[Seen]:
    """A model that does not name what it was shown was sent no picture, if its request has as many tokens without."""
    asked, said = asked_texts(exchange.asks), (exchange.choice().text or "").casefold()
    bare = next((one for one in exchange.earlier if one.reading is not None and not _shows(exchange, one)), None)
    with_it, without = exchange.answer.usage, bare.answer.usage if bare else None
    if exchange.wanted or with_it is None or without is None or any(text in said for text in asked):
        return
    if with_it.prompt == without.prompt > 0:
        counted = f"{with_it.prompt} tokens with the picture, and as many without it"
        seen = f"the request has {counted}; the model does not know what it shows"
        yield Seen(seen, exchange.body_place, counts=True)


def _shows(exchange: Exchange, other: Exchange) -> bool:
    """Whether another request has the pictures of this one."""
    shown = exchange.turn.images if exchange.turn else ()
    return any(one.encode() in other.transcript.request_body for one in shown)
