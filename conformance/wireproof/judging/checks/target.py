"""Checks of what is no single requirement's fault. Most of it has no check: `wireproof.judging.causes` finds it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof.judging.registry import Checks, Seen

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wireproof.reading.exchange import Exchange

check = Checks()

UNAVAILABLE = 503


@check("target.capacity")
def retry_after(exchange: Exchange) -> Iterable[Seen]:
    """Each refusal for lack of room says when to come again. That the driver waited is no fault."""
    # While a backend that the suite has killed is started again, a 503 says so, and nothing of room.
    returning = exchange.turn is not None and exchange.turn.retry_on_503
    waits = (wait for wait in exchange.transcript.waits if not (returning and wait.status == UNAVAILABLE))
    unasked = next((wait for wait in waits if not wait.asked), None)
    if unasked is not None:
        yield Seen(f"HTTP {unasked.status} came without Retry-After: clients guess when to come again")
