"""Answers that belong to another request: their text is what another scenario's backend said.

That is seen only where requests run at the same time, and no second try excuses it.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from assay.judging.cases import Case
from assay.judging.symptoms import OthersAnswer
from assay.model.asks import Say
from assay.wire.quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from assay.reading.exchange import Exchange

REQUIREMENT = "turn.concurrent-isolation"
SHORTEST = 8
"""Characters of a text that is known again. A shorter one may come by chance."""
_NONCE = re.compile(rb"\[\[assay:[^\]#]*#([0-9a-f]{12})\]\]")
"""How a request names its script, and a backend that reports what it received repeats it."""
Owners = dict[str, list[str]]
"""A text → the names of the scenarios to which it is due, once for each exchange."""


def others_answers(served: Sequence[Exchange]) -> list[Case]:
    """The answers that are due to other scenarios, in the order in which they came.

    One that came more often than it is due has no owner: the target says it to everyone.
    """
    due = _due(served)
    found = [(exchange, foreign) for exchange in served if (foreign := _foreign(exchange, due)) is not None]
    came = Counter(text for _, text in found)
    return [_case(exchange, text, min(due[text])) for exchange, text in found if came[text] <= len(due[text])]


def mixed(every: Sequence[Exchange]) -> list[Exchange]:
    """The exchanges that have an answer to another one, or show what another one has sent."""
    senders = _senders(every)
    foreign = [case.exchange for case in others_answers(every)]
    return foreign + [one for one in every if _shows_others(one, senders)]


def _case(exchange: Exchange, text: str, owner: str) -> Case:
    seen = f"the answer is that to another request, which {owner} sent: {quoted(text)}"
    return Case(exchange=exchange, symptom=OthersAnswer(), seen=seen, subject=REQUIREMENT, own=False)


def _due(exchanges: Iterable[Exchange]) -> Owners:
    owners: Owners = {}
    for exchange in exchanges:
        for text in _texts(exchange):
            owners.setdefault(text, []).append(exchange.scenario.name)
    return owners


def _texts(exchange: Exchange) -> Iterator[str]:
    """The texts that are due to an exchange, as they are known before it is answered."""
    if exchange.asks is None:
        yield from (wanted.text.strip() for wanted in exchange.wanted if wanted.text)
    elif isinstance(exchange.asks, Say):
        yield exchange.asks.text.strip()


def _foreign(exchange: Exchange, due: Owners) -> str | None:
    """The text of an answer that is due to another scenario, and not to its own."""
    if exchange.reading is None:
        return None
    for choice in exchange.answer.choices:
        text = (choice.text or "").strip()
        owners = due.get(text, [])
        if len(text) >= SHORTEST and owners and exchange.scenario.name not in owners:
            return text
    return None


def _senders(exchanges: Iterable[Exchange]) -> Mapping[bytes, str]:
    """Nonce → the scenario that sent it."""
    return {nonce: one.scenario.name for one in exchanges for nonce in _NONCE.findall(one.transcript.request_body)}


def _shows_others(exchange: Exchange, senders: Mapping[bytes, str]) -> bool:
    name = exchange.scenario.name
    return any(senders.get(nonce, name) != name for nonce in _NONCE.findall(exchange.transcript.body))
