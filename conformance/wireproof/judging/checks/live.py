"""Checks of answers of models: what holds of any answer, and what a server does to one that no model would write.

They run beside the checks of the same rows, in exchanges whose prompt asks a model for something. What a row is about
is the same; only what can be known differs. The right answer is not known beforehand, so these look at what an answer
says of itself: its counts against its limit and its words, its finish against its calls, its arguments against the
schema of their tool. A text that was to be repeated exactly shows damage by its kind: replacement characters, UTF-8
read as Latin-1, deltas that came twice.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from wireproof.judging.checks import live_calls, live_parity
from wireproof.judging.checks.live_answers import created, finish, text, torn, usage
from wireproof.judging.checks.live_calls import arguments
from wireproof.model.requirement import Requirement, Stage
from wireproof.wire.facet import Facet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from wireproof.judging.registry import Seen
    from wireproof.reading.exchange import Exchange
    from wireproof.wire.violation import Violation

check = live_calls.check
"""The checks of single rows; `look` is for all of them."""
_ANY_ANSWER = frozenset({Facet.CREATED, Facet.FINISH, Facet.USAGE})
"""What an answer shows whether the model did what it was asked or not."""
_CALLS = frozenset({Facet.CALL, Facet.EVERY_CALL, Facet.CALL_ID, Facet.ARGUMENTS})
_PARTS: Mapping[Facet, Callable[[Exchange], Iterable[Seen]]] = {
    Facet.CREATED: created,
    Facet.ENCODING: torn,
    Facet.TEXT: text,
    Facet.FINISH: finish,
    Facet.USAGE: usage,
    Facet.ARGUMENTS: arguments,
}
"""The checks of the parts of any answer, whichever rows speak of them; in the order in which they are looked at."""


def judges(row: Requirement) -> bool:
    """Whether a row has a check of answers of models."""
    return row.id in check or not _PARTS.keys().isdisjoint(row.facets)


def shown_by(row: Requirement, exchange: Exchange) -> bool:
    """Whether an answer shows that a row is kept although the model did not do what it was asked."""
    # Two answers are compared in what does not depend on what they say; and who is offered no tool has no call to make.
    compared = row.stage is Stage.PARITY and row.id in live_parity.check
    callless = _CALLS.issuperset(row.facets) and bool(row.facets) and not exchange.conversation.tools
    return compared or callless or row.facets == (Facet.ENCODING,) or not _ANY_ANSWER.isdisjoint(row.facets)


def look(row: Requirement, exchange: Exchange) -> Iterator[Violation]:
    """What is wrong with a model's answer by the check of a row, or by those of the parts that it speaks of."""
    if row.id in check:
        yield from check.look(row.id, exchange)
        return
    # The first thing that is wrong: what else is follows from it, or is seen when it is mended.
    found = (seen for part, parts_check in _PARTS.items() if part in row.facets for seen in parts_check(exchange))
    yield from (seen.of(row.id) for seen in islice(found, 1))
