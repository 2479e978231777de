"""Text, calls and arguments of answers that carry them side by side, against what the backend said.

Those of Responses and of Messages; chat completions drop text beside calls, and have rows of their own for each way in
which that goes wrong.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from wireproof.judging.checks.diff import difference, is_object, listed
from wireproof.judging.checks.places import (
    altered_arguments,
    answer_place,
    arguments_spot,
    is_as_far,
    is_kept,
    opening_place,
    text_spot,
    wrong_text,
)
from wireproof.judging.checks.written_calls import no_call
from wireproof.judging.registry import Seen, about
from wireproof.model.dialect import Surface
from wireproof.wire.facet import Facet
from wireproof.wire.quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wireproof.reading.exchange import Exchange
    from wireproof.reading.expected import Expected, ExpectedCall
    from wireproof.wire.events import Choice, ToolCall

_TEXT = {Surface.CHAT: "content", Surface.RESPONSES: "output_text", Surface.MESSAGES: "text"}
"""What a sentence calls the text of a stream."""


def text(exchange: Exchange, wanted: Expected, choice: Choice) -> Iterable[Seen]:
    """The text is what the backend said, or a report of it."""
    got = choice.text or ""
    if wanted.text is None:
        if exchange.complete and not is_object(got):
            spot = text_spot(exchange, choice.index, "{", got)
            yield Seen(f"the backend sent a JSON object; what came is not one: {quoted(got)}", spot.place)
    elif not is_as_far(exchange, wanted.text, got):
        spot = text_spot(exchange, choice.index, wanted.text, got)
        # An answer without text has no part that could be said to be empty.
        how = difference(wanted.text, got) if got else f"the text is missing: {quoted(wanted.text)}"
        seen = f"{spot.heading(_TEXT[exchange.dialect.spec.surface])}{how}"
        yield wrong_text(seen, spot.place, wanted.text, got)


def calls(exchange: Exchange, wanted: Expected, choice: Choice) -> Iterable[Seen]:
    """All calls, in order, under their ids, with the model's own arguments."""
    # Of what is only the beginning of an answer, no call is missing.
    made = wanted.calls if exchange.complete else wanted.calls[: len(choice.calls)]
    # A block has no id to keep, nor has a call on a surface that does not take every id.
    keeps = not exchange.carries_data
    want = [(call.name, call.id if call.exact and keeps else "") for call in made]
    got = [(call.name, call.id) for call in choice.calls]
    alike = [name for name, _ in got] == [name for name, _ in want]
    if not alike or any(id_ not in {"", came} for (_, id_), (_, came) in zip(want, got, strict=True)):
        odd = next(
            (number for number, pair in enumerate(zip(want, got, strict=False)) if pair[0] != pair[1]), len(want)
        )
        place = opening_place(exchange, choice.index, min(odd, len(got) - 1)) if got else None
        whole = answer_place(exchange)
        seen = f"the backend called {listed(want)}; the answer has {listed(got)}"
        missing = Seen(seen, place or whole) if got else no_call(seen, exchange, whole)
        yield replace(missing, part=Facet.CALL)
        return
    yield from about(Facet.ARGUMENTS, _arguments(exchange, zip(made, choice.calls, strict=True), choice))


def _arguments(exchange: Exchange, calls: Iterable[tuple[ExpectedCall, ToolCall]], choice: Choice) -> Iterable[Seen]:
    for number, (call, came) in enumerate(calls):
        if is_kept(call, came) or (not exchange.complete and call.arguments.startswith(came.arguments)):
            continue
        spot = arguments_spot(exchange, choice.index, number, call.arguments, came.arguments)
        yield from altered_arguments(call, came, spot, objects=True)
