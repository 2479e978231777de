"""Exchanges that failed beside others and went well alone: a target that does not serve as many as it takes.

The driver sends what failed again, with nothing beside it (`wireproof.results.recheck`). What goes well then is
judged by that; what it did at first is no defect of its subject, but one of the target: more than it serves is 429.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from wireproof.model.transcript import End
from wireproof.reading.expected import ExpectedFailure

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from wireproof.reading.exchange import Exchange

FAILURES = frozenset({500, 502, 503, 504})
"""Statuses of a target that could not serve a request. An error inside an answer may rest on time alone, as silence."""
BROKEN = frozenset({End.CUT, End.REFUSED})


GONE = frozenset({502, 503})
"""Statuses of what stands in front of a process that has ended, until it runs again."""


def crowded(aside: Iterable[Exchange], *, died: bool = False) -> list[Exchange]:
    """Those of the exchanges that were set aside which failed without a reason of their own.

    `died`: a process of the target ended in the run. What could not be reached then is no matter of capacity.
    """
    every = list(aside)
    died = died or any(exchange.transcript.death is not None for exchange in every)
    failed = (exchange for exchange in every if _failure(exchange) and not _was_due(exchange))
    # As an exchange fails whose server is not there.
    return [one for one in failed if not (died and (one.transcript.end in BROKEN or one.transcript.status in GONE))]


def sentence(exchanges: Sequence[Exchange]) -> str:
    """What such exchanges show together."""
    kinds = Counter(_failure(exchange) for exchange in exchanges)
    said = ", ".join(f"{kind} ({count})" for kind, count in kinds.most_common())
    beside = max(exchange.transcript.beside for exchange in exchanges)
    several = f"{len(exchanges)} {'exchange' if len(exchanges) == 1 else 'exchanges'}"
    if all(exchange.transcript.stuck for exchange in exchanges):
        return f"{several} got no slot although nothing else ran, until the proxy was started again: {said}"
    among = f", of as many as {beside + 1} at the same time," if beside else ""
    return f"{several}{among} failed and went well alone: {said}; what is too much should get 429 with Retry-After"


def _failure(exchange: Exchange) -> str:
    """How an exchange failed; "" if it did not, or if its process ended, which is reported as that."""
    transcript = exchange.transcript
    if transcript.death is not None:
        return ""
    if transcript.end in BROKEN:
        return "the connection broke" if transcript.end is End.CUT else "no connection could be made"
    # A stuck one was alone: no slot was free although nothing ran.
    failed = transcript.status in FAILURES or transcript.stuck
    return f"HTTP {transcript.status}" if failed else ""


def _was_due(exchange: Exchange) -> bool:
    """Whether a failure was among the right answers."""
    if exchange.request is not None:
        return not 200 <= exchange.request.expect < 300  # noqa: PLR2004 (a class)
    return any(wanted.failure is not ExpectedFailure.NONE for wanted in exchange.wanted)
