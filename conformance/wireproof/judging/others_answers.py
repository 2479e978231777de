"""Answers that belong to another request: their text is what another scenario's backend said, or names another nonce.

That is seen only where requests run at the same time, and no second try excuses it.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from wireproof.judging.cases import SymptomCase
from wireproof.judging.symptoms import SaysOther
from wireproof.model.asks import AskSay
from wireproof.model.facets import row_of
from wireproof.model.scenario import Form
from wireproof.reading.expected import ExpectedFailure
from wireproof.wire.facet import Facet
from wireproof.wire.quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from wireproof.reading.exchange import Exchange
    from wireproof.reading.expected import Expected

SHORTEST = 8
"""Characters of a text that is known again. A shorter one may come by chance."""
_NONCE = re.compile(rb"\[\[wireproof:[^\]#]*#([0-9a-f]{12})\]\]")
"""How a request names its script, and a backend that reports what it received repeats it."""
Sender = tuple[str, Form]
"""The name of a scenario, and a form of it."""
Owners = dict[str, list[str]]
"""A text → the names of the scenarios to which it is due, once for each exchange."""


def others_answers(served: Sequence[Exchange]) -> list[SymptomCase]:
    """The answers that are due to another scenario, and to no third one, in the order in which they came.

    A text that several scenarios are due says nothing of where it comes from. One that came more often than it is due
    has no owner: the target says it to everyone.
    """
    due = _due(served)
    found = [
        (exchange, text)
        for exchange in served
        if (text := _foreign(exchange, due)) is not None and len(set(due[text])) == 1
    ]
    came = Counter(text for _, text in found)
    senders = _senders(served)
    return [
        *(_case(exchange, text, due[text][0]) for exchange, text in found if came[text] <= len(due[text])),
        *(_case(one, shown, owner) for one in served for owner, shown in _by_nonce(one, senders)),
    ]


def mixed(every: Sequence[Exchange]) -> list[Exchange]:
    """The exchanges whose answer may be another one's, or shows what another one has sent."""
    due, senders = _due(every), _senders(every)
    return [one for one in every if _foreign(one, due) is not None or _shows_others(one, senders)]


def _case(exchange: Exchange, text: str, owner: str) -> SymptomCase:
    seen = f"the answer is that to another request, which {owner} sent: {quoted(text)}"
    row = row_of(Facet.OWNER, exchange.form)
    return SymptomCase(exchange=exchange, symptom=SaysOther.OTHERS_ANSWER, seen=seen, subject=row, own=False)


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
    elif isinstance(exchange.asks, AskSay):
        yield exchange.asks.text.strip()


def _foreign(exchange: Exchange, due: Owners) -> str | None:
    """The text of an answer that is due to another scenario, and not to its own."""
    # Where an error is due, or what the backend received, it is not known what the backend says; and blocks of calls
    # are part of a content.
    if exchange.reading is None or any(map(_is_unknown, exchange.wanted)):
        return None
    said = ((choice.text or "").strip() for choice in exchange.answer.choices)
    foreign = (text for text in said if len(text) >= SHORTEST and text in due)
    mine = [text for text, owners in due.items() if exchange.scenario.name in owners]
    # What is left of one's own text, or more than it, may by chance be another's.
    return next((text for text in foreign if not any(text in own or own in text for own in mine)), None)


def _is_unknown(wanted: Expected) -> bool:
    return wanted.failure is not ExpectedFailure.NONE or not wanted.text or bool(wanted.blocks)


def _senders(exchanges: Iterable[Exchange]) -> Mapping[bytes, Sender]:
    """Nonce → the scenario that sent it, and the form in which: each form has a nonce of its own."""
    return {nonce: _sender(one) for one in exchanges for nonce in _NONCE.findall(one.transcript.request_body)}


def _sender(exchange: Exchange) -> Sender:
    return exchange.scenario.name, exchange.form


def _shows_others(exchange: Exchange, senders: Mapping[bytes, Sender]) -> bool:
    mine = _sender(exchange)
    return any(senders.get(nonce, mine) != mine for nonce in _NONCE.findall(exchange.transcript.body))


def _by_nonce(exchange: Exchange, senders: Mapping[bytes, Sender]) -> Iterator[tuple[str, str]]:
    """The owner of an answer that reports another request alone, and what it shows of that request.

    One that reports its own request as well has more in its session than it should, which other rows judge.
    """
    if exchange.reading is None:
        return
    said = "".join(choice.text or "" for choice in exchange.answer.choices).encode(errors="replace")
    own, shown = set(_NONCE.findall(exchange.transcript.request_body)), list(_NONCE.finditer(said))
    if own.isdisjoint(one.group(1) for one in shown):
        owners = ((senders.get(one.group(1)), one.group().decode()) for one in shown)
        yield from ((owner[0], marker) for owner, marker in list(owners)[:1] if owner is not None)
