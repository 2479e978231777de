"""Checks of the shapes in which the backend tells a call, where the call itself is not enough to see them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.judging.checks.places import place_of
from assay.reading.exchange import Exchange, violation
from assay.wire.events import CallOpened

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from assay.judging.checks.places import Check
    from assay.wire.violation import Violation


def late_id(exchange: Exchange) -> Iterable[Violation]:
    """A call bears the id that the backend told, late as it may be; the function-call dialect has no ids."""
    if not exchange.dialect.spec.call_ids:
        return
    for wanted, choice in exchange.choices():
        for want, got in zip(wanted.calls, choice.calls, strict=False):
            if want.id and got.id != want.id:
                seen = f"the backend told the id {want.id!r} of {want.name}; the answer has {got.id!r}"
                yield violation("shapes.late-id", seen, place_of(exchange, CallOpened))


CONTENT: Mapping[str, Check] = {"shapes.late-id": late_id}
