"""Asking a model: a turn is repeated until its answer does what was asked, or shows something else.

A model that does not do what it is asked is no finding, so it gets three tries. A fault of the answer's form is the
target's own, and no further try is needed to see it. An answer that was cut at its limit may have been on its way: the
next try allows more, since models that reason spend most of their tokens on that.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from assay.driving.budget import SpentError
from assay.model.asks import Count, Fits
from assay.model.transcript import End
from assay.reading.asked import LENGTH
from assay.requests.plain import UnseenError
from assay.wire.message import read_error

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from assay.model.scenario import Scenario
    from assay.model.target import Target
    from assay.reading.exchange import Exchange

TRIES = 3
MORE = 4
"""How many times as many tokens a try may have after one that was cut at its limit."""
SLOWEST = 20.0
"""How many tokens a model may take as long for as a target may be silent: at the usual 10 s, two tokens a second."""
REFUSALS = frozenset({400, 404, 422, 501})
"""Statuses of a plain refusal of what a request asks for."""


async def until_done(scenario: Scenario, send: Callable[[Scenario], Awaitable[Exchange]]) -> Exchange:
    """The last try of a turn, with those before it; `send` sends the turn as the scenario that it gets says.

    Raises:
        SpentError: nothing may be sent any more, and nothing was.
        UnseenError: the target refuses what the request asks for.
    """
    earlier: list[Exchange] = []
    for number in range(TRIES):
        try:
            exchange = await send(scenario)
        except SpentError:
            if not earlier:
                raise
            return replace(earlier[-1], earlier=tuple(earlier[:-1]))
        _examine_refusal(scenario, exchange)
        if number == TRIES - 1 or settled(exchange):
            return replace(exchange, earlier=tuple(earlier))
        earlier.append(exchange)
        scenario = _with_more(scenario, exchange)
    raise AssertionError("the last try returns")


def settled(exchange: Exchange) -> bool:
    """Whether a further try would show nothing more: the model did what it was asked, or the answer is broken."""
    if exchange.asks is None or exchange.wanted:
        return True
    reading = exchange.reading
    return reading is None or bool(reading.violations) or exchange.transcript.end is not End.COMPLETE


def _with_more(scenario: Scenario, exchange: Exchange) -> Scenario:
    """The scenario with a higher limit, if the answer was cut at the one that it has."""
    cut = any(choice.finish == LENGTH for choice in exchange.answer.choices)
    if scenario.cap is None or not cut or isinstance(exchange.asks, Count):
        return scenario
    return replace(scenario, cap=scenario.cap * MORE)


def _examine_refusal(scenario: Scenario, exchange: Exchange) -> None:
    """Make sure that the target does not plainly refuse what the request asks for beyond text: that is an absence.

    Raises:
        UnseenError: it does.
    """
    transcript = exchange.transcript
    # Where a refusal is a right answer, it is judged as one.
    if transcript.status not in REFUSALS or scenario.refusable:
        return
    failed, broken = read_error(transcript.body, transcript.header("content-type"))
    if failed is None or broken:
        return
    for name in asked_for(scenario, exchange):
        if (failed.param or "").startswith(name) or re.search(rf"\b{re.escape(name)}\b", failed.message):
            raise UnseenError(f"the target refuses {name}: {failed.message}", [exchange])


def asked_for(scenario: Scenario, exchange: Exchange) -> tuple[str, ...]:
    """What a request asks for that not every target serves, by the names of the fields."""
    fits = isinstance(exchange.asks, Fits)
    fields = {
        "tool_choice": bool(scenario.tool_choice),
        "tools": bool(scenario.tools),
        "n": scenario.choices > 1,
        "response_format": fits,
        "text": fits,
    }
    return (*(name for name, is_set in fields.items() if is_set), *scenario.body)


def unhurried(target: Target, scenarios: Sequence[Scenario]) -> Target:
    """The target, with as much more time for each exchange as a slow model takes for the longest answer."""
    longest = max((scenario.cap or 0 for scenario in scenarios), default=0)
    needed = target.timeout * (1 + longest / SLOWEST)
    # What was seen of its pace may have given it more time already.
    return replace(target, timeout=max(target.timeout, needed / target.stretched(1.0)))
