"""Counts that are the same in every answer of a form, whatever was asked: made up, and one cause.

They break the row of the usage where they happen to be impossible, and seem to show that a request did not reach its
model. Of that they show nothing: a count that is no count is no evidence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof.judging.checks.live_said import sent_words
from wireproof.judging.symptoms import ConstantUsage

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from wireproof.model.dialect import Surface
    from wireproof.model.scenario import Mode
    from wireproof.reading.exchange import Exchange

SEVERAL = 3
"""Scenarios, and different counts that were due, from which on counts that stay the same are no accident."""
Kind = tuple["Surface", "Mode"]


def constant_usages(served: Iterable[Exchange]) -> Mapping[Kind, ConstantUsage]:
    """The counts of each surface and mode in which all answers have the same, though others were due."""
    counted: dict[Kind, list[Exchange]] = {}
    for exchange in served:
        if exchange.reading is not None and exchange.answer.usage is not None:
            counted.setdefault(kind_of(exchange), []).append(exchange)
    found = {kind: _constant(those) for kind, those in counted.items()}
    return {kind: usage for kind, usage in found.items() if usage is not None}


def kind_of(exchange: Exchange) -> Kind:
    """The surface and the mode of an answer."""
    return exchange.dialect.spec.surface, exchange.mode


def _constant(exchanges: Sequence[Exchange]) -> ConstantUsage | None:
    usages = {(one.answer.usage.prompt, one.answer.usage.completion) for one in exchanges if one.answer.usage}
    scenarios = {one.scenario.name for one in exchanges}
    if len(usages) > 1 or min(len(scenarios), len({_due(one) for one in exchanges})) < SEVERAL:
        return None
    ((prompt, completion),) = usages
    return ConstantUsage(prompt=prompt, completion=completion)


def _due(exchange: Exchange) -> tuple[int, ...]:
    """What should be counted: as the backend reports it, else the words of the request."""
    reported = [wanted.usage for wanted in exchange.wanted if wanted.usage is not None]
    if reported:
        return tuple(count for usage in reported for count in (usage.input, usage.output))
    return (sent_words(exchange),) if exchange.asks is not None else ()
