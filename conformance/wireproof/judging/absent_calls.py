"""No tool call ever came back: answers of text in every exchange in which the backend made a call.

That is one cause, however many requirements speak of calls. It is looked for form by form, and only in conversations
whose backend calls a tool as such: what a model writes into its text as a block reaches a client also through a proxy
that knows of no tools.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from wireproof.judging.cases import SymptomCase
from wireproof.judging.checks.written_calls import called_in_text
from wireproof.judging.symptoms import SaysOther
from wireproof.model.dialect import Surface
from wireproof.model.facets import row_of
from wireproof.model.scenario import Mode
from wireproof.model.transcript import End
from wireproof.reading.expected import ExpectedFailure
from wireproof.wire.facet import UNTOUCHED, Facet
from wireproof.wire.quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wireproof.reading.exchange import Exchange

SEVERAL = 3
"""Scenarios in which a call must be missing. In fewer it may be what they are about that the proxy cannot do."""
_ORDER = tuple(product(Surface, (Mode.WHOLE, Mode.STREAM)))
"""The first of the forms without calls decides which row is broken."""
_CALLED = frozenset({ExpectedFailure.NONE, ExpectedFailure.AFTER_CALL})


def without_calls(served: Sequence[Exchange]) -> list[SymptomCase]:
    """The answers that lack a call in all forms in which none ever came, those of the form that decides in front."""
    due = [exchange for exchange in served if _is_due(exchange)]
    rest = [exchange for exchange in served if not _is_due(exchange)]
    forms = {exchange.form for exchange in due} - {exchange.form for exchange in due if _came(exchange)}
    if len({exchange.scenario.name for exchange in due if exchange.form in forms}) < SEVERAL:
        return []
    lost = sorted(due, key=lambda one: _ORDER.index((one.form.dialect.spec.surface, one.form.mode)))
    lost += [exchange for exchange in rest if _follows(exchange)]
    return [_case(exchange) for exchange in lost if exchange.form in forms]


def _case(exchange: Exchange) -> SymptomCase:
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


def _came(exchange: Exchange) -> bool:
    return any(choice.calls for choice in exchange.answer.choices)


def _follows(exchange: Exchange) -> bool:
    """Whether what is wrong with an answer follows from there being no calls.

    That is where a call was due that the model wrote into its text, and where a backend reports which tools it got.
    """
    if _came(exchange):
        return False
    reports = bool(exchange.conversation.tools) and any(wanted.text is None for wanted in exchange.wanted)
    return reports or any(wanted.calls or "<use_tool>" in (wanted.text or "") for wanted in exchange.wanted)
