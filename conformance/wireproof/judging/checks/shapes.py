"""Checks of the shapes in which a backend sends a call, where the call itself is not enough to see them.

The other rows of shapes have no check: their scenarios differ from those of `call-one` in the shape alone, so any
violation of content in them is attributed to the shape (`Stage.SUBJECT`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof.judging.checks.places import opening_place
from wireproof.judging.registry import Checks, Seen
from wireproof.wire.quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wireproof.reading.exchange import Exchange

check = Checks()


@check("shapes.late-id")
def late_id(exchange: Exchange) -> Iterable[Seen]:
    """A call has the id that the backend sent, however late; the function-call dialect has no ids."""
    if not exchange.dialect.spec.call_ids:
        return
    for wanted, choice in exchange.choices():
        for number, (want, got) in enumerate(zip(wanted.calls, choice.calls, strict=False)):
            if want.id and got.id != want.id:
                seen = f"the backend sent the id {quoted(want.id)} for {want.name}; the answer has {quoted(got.id)}"
                yield Seen(seen, opening_place(exchange, choice.index, number))
