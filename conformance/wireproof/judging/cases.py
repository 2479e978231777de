"""Which exchanges have no answer, and what is known of each before it is compared with the others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from wireproof.judging.checks.answered import refused, refused_in_words
from wireproof.judging.error_texts import error_in
from wireproof.judging.symptoms import (
    Died,
    ErrorAs200,
    ExceptionText,
    LateError,
    NotAnAnswer,
    Nothing,
    NotServed,
    OtherMode,
    SaysOther,
    Symptom,
    WrongStatus,
    symptom_of,
)
from wireproof.model.transcript import End
from wireproof.reading.expected import NO_ANSWER, ExpectedFailure
from wireproof.wire.quoting import quoted

if TYPE_CHECKING:
    from wireproof.model.catalogue import Catalogue
    from wireproof.reading.exchange import Exchange

BAD_REQUEST = 400
"""The lowest status that says that a request failed."""
TOO_MANY = 429
SHOWN = 200
"""Bytes of what is no answer that a finding shows."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SymptomCase:
    """An exchange that shows a symptom."""

    exchange: Exchange
    symptom: Symptom | LateError | NotServed | SaysOther
    seen: str
    """What was seen in it, in one sentence."""
    subject: str
    """The requirement that its scenario is about, in its form."""
    own: bool
    """Whether it may be the scenario's own matter, whatever its symptom is."""
    hides: bool = True
    """Whether it shows nothing else. A process may end when it has answered."""
    strict_only: bool = False
    """Whether it is broken to the letter alone: a person is shown why nothing came."""


def case_of(exchange: Exchange, catalogue: Catalogue) -> SymptomCase | None:
    """An exchange without an answer as a case; None if it has one."""
    symptom: Symptom | LateError | None = symptom_of(exchange)
    if symptom is None:
        return None
    if isinstance(symptom, ErrorAs200) and _failures(exchange) & _BEFORE_ANY_OUTPUT:
        symptom = LateError(surface=exchange.dialect.spec.surface, mode=exchange.mode)
    exercised = (catalogue.by_id.get(name) for name in exchange.scenario.exercises)
    # What the scenario exercises may be about other forms only; then its first row has the violation.
    subject = next((row.id for row in exercised if row and row.speaks_of(exchange.form)), None)
    return SymptomCase(
        exchange=exchange,
        symptom=symptom,
        seen=_seen(exchange, symptom),
        subject=subject or exchange.scenario.exercises[0],
        own=bool(_failures(exchange) - {ExpectedFailure.NONE}) or exchange.scenario.attribute_to is not None,
        hides=not (isinstance(symptom, Died) and _has_answered(exchange)),
        strict_only=refused_in_words(exchange),
    )


_BEFORE_ANY_OUTPUT = {ExpectedFailure.BEFORE_OUTPUT, ExpectedFailure.UNMET}
"""Failures of which a status of their own is due: nothing has been sent that another status could belong to."""


def _failures(exchange: Exchange) -> set[ExpectedFailure]:
    return {wanted.failure for wanted in exchange.wanted}


def may_be_expected(case: SymptomCase) -> bool:
    """Whether what is no answer may be right all the same."""
    if isinstance(case.symptom, Died) or case.exchange.transcript.end is End.REFUSED:
        return False
    exchange = case.exchange
    if _lacks_room(exchange):
        return False
    if exchange.request is not None or refused(exchange):
        return True
    failures = _failures(exchange)
    if exchange.transcript.ok:
        # How a failure is answered under a success is for the checks of content.
        return isinstance(case.symptom, ErrorAs200) and failures != {ExpectedFailure.NONE} and bool(failures)
    return (exchange.transcript.status or 0) >= BAD_REQUEST and bool(failures & NO_ANSWER - {ExpectedFailure.UNMET})


def _lacks_room(exchange: Exchange) -> bool:
    """Whether a plain request was refused for lack of room, which says nothing of the rule that it is about.

    It was waited for as the target asks. Where the scenario itself takes the slots, it is about that.
    """
    request = exchange.request
    if request is None or request.full or request.unready or request.expect == TOO_MANY:
        return False
    return exchange.transcript.status == TOO_MANY


def _has_answered(exchange: Exchange) -> bool:
    """Whether a process that ended had answered before, as far as the client waited."""
    transcript = exchange.transcript
    if transcript.end is End.LEFT:
        return True
    return transcript.end in {End.COMPLETE, End.OPEN} and (exchange.turn is None or exchange.reading is not None)


def _seen(exchange: Exchange, symptom: Symptom | LateError) -> str:
    """What was seen of an exchange without an answer: as its symptom, but in the words of this one."""
    transcript = exchange.transcript
    said = " ".join(transcript.body[:SHOWN].decode(errors="replace").split())
    match symptom:
        case Died():
            return str(replace(symptom, last_words=error_in(transcript.death.last_words) if transcript.death else ""))
        case Nothing():
            return f"{symptom} (after {transcript.seconds:.1f} s)"
        case ErrorAs200() | LateError():
            due = "before any output " if isinstance(symptom, LateError) else ""
            error = exchange.answer.error if exchange.reading is not None else None
            why = quoted(error.message) if error is not None and error.message else said
            instead = "" if due else " instead of an answer"
            return f"an error {due}was sent as HTTP {transcript.status}{instead}: {why}"
        case OtherMode():
            kind = transcript.header("content-type")
            return f"{symptom} ({kind or 'no Content-Type'}): {said}"
        case _ if ExpectedFailure.UNMET in _failures(exchange):
            named = f"whose param names {exchange.conversation.refusable}"
            return f"HTTP {transcript.status} instead of a 400 {named}: {said}"
        case WrongStatus() | ExceptionText() | NotAnAnswer():
            return f"HTTP {transcript.status} instead of an answer: {said}"
