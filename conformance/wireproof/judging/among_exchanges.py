"""What only several exchanges together show: no call in any, other answers, constant counts, failures beside others.

- No tool call ever came back: answers of text in every exchange in which the backend made a call. That is one cause,
  however many requirements speak of calls. It is looked for form by form, and only in conversations whose backend calls
  a tool as such: what a model writes into its text as a block reaches a client also through a proxy that knows of no
  tools.
- Answers that belong to another request: their text is what another scenario's backend said, or names another nonce.
  That is seen only where requests run at the same time, and no second try excuses it.
- Counts that are the same in every answer of a form, whatever was asked, are made up. They break the row of the usage
  where they happen to be impossible, and seem to show that a request did not reach its model. Of that they show
  nothing: a count that is no count is no evidence.
- Exchanges that failed beside others and went well alone show a target that does not serve as many as it takes. The
  driver sends what failed again, with nothing beside it (`wireproof.results.recheck`). What goes well then is judged by
  that; what it did at first is no defect of its subject, but one of the target: more than it serves is 429.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import product
from typing import TYPE_CHECKING

from wireproof.judging.cases import SymptomCase
from wireproof.judging.checks.live_answers import sent_words
from wireproof.judging.checks.written_calls import called_in_text
from wireproof.judging.symptoms import ConstantUsage, SaysOther
from wireproof.model.asks import AskSay
from wireproof.model.catalogue import row_of
from wireproof.model.dialect import Surface
from wireproof.model.scenario import Form, Mode
from wireproof.model.transcript import End
from wireproof.reading.expected import Expected, ExpectedFailure
from wireproof.wire.facet import UNTOUCHED, Facet
from wireproof.wire.quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from wireproof.reading.exchange import Exchange

SEVERAL = 3
"""Scenarios in which a call must be missing, or counts must stay the same where as many others were due. In fewer it
may be what they are about that the proxy cannot do, or an accident."""
_ORDER = tuple(product(Surface, (Mode.WHOLE, Mode.STREAM)))
"""The first of the forms without calls decides which row is broken."""
_CALLED = frozenset({ExpectedFailure.NONE, ExpectedFailure.AFTER_CALL})


def without_calls(served: Sequence[Exchange]) -> list[SymptomCase]:
    """The answers that lack a call in all forms in which none ever came, those of the form that decides in front."""
    due = [exchange for exchange in served if _is_due(exchange)]
    rest = [exchange for exchange in served if not _is_due(exchange)]
    forms = {exchange.form for exchange in due} - {exchange.form for exchange in due if exchange.carries_calls}
    if len({exchange.scenario.name for exchange in due if exchange.form in forms}) < SEVERAL:
        return []
    lost = sorted(due, key=lambda one: _ORDER.index((one.form.dialect.spec.surface, one.form.mode)))
    lost += [exchange for exchange in rest if _follows(exchange)]
    return [_without_call(exchange) for exchange in lost if exchange.form in forms]


def _without_call(exchange: Exchange) -> SymptomCase:
    seen = "the backend called a tool and the answer has no call; so it is in every answer in which one was due"
    if written := called_in_text(exchange):
        seen += f"; it came as text: {quoted(written)}"
    return SymptomCase(
        exchange=exchange, symptom=SaysOther.NO_CALLS, seen=seen, subject=row_of(Facet.CALL, exchange.form), own=False
    )


def _is_due(exchange: Exchange) -> bool:
    """Whether the backend made a call as such, and the answer came to its end."""
    whole = exchange.transcript.end in {End.COMPLETE, End.OPEN} and exchange.answer.error is None
    # Behind a fault of form a call may stand that cannot be read.
    violations = exchange.reading.violations if exchange.reading else ()
    whole = whole and not any({Facet.CALL, Facet.END} & (one.spoils or UNTOUCHED) for one in violations)
    return whole and any(
        wanted.failure in _CALLED and any(call.exact for call in wanted.calls) for wanted in exchange.wanted
    )


def _follows(exchange: Exchange) -> bool:
    """Whether what is wrong with an answer follows from there being no calls.

    That is where a call was due that the model wrote into its text, and where a backend reports which tools it got.
    """
    if exchange.carries_calls:
        return False
    reports = bool(exchange.conversation.tools) and any(wanted.text is None for wanted in exchange.wanted)
    return reports or any(wanted.calls or "<use_tool>" in (wanted.text or "") for wanted in exchange.wanted)


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
    if len(usages) > 1 or min(len(scenarios), len({_counts_due(one) for one in exchanges})) < SEVERAL:
        return None
    ((prompt, completion),) = usages
    return ConstantUsage(prompt=prompt, completion=completion)


def _counts_due(exchange: Exchange) -> tuple[int, ...]:
    """What should be counted: as the backend reports it, else the words of the request."""
    reported = [wanted.usage for wanted in exchange.wanted if wanted.usage is not None]
    if reported:
        return tuple(count for usage in reported for count in (usage.input, usage.output))
    return (sent_words(exchange),) if exchange.asks is not None else ()


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
        return not exchange.request.succeeds
    return any(wanted.failure is not ExpectedFailure.NONE for wanted in exchange.wanted)
