"""What made exchanges fail alike: one cause, one finding, named for what it is.

An exchange without an answer says nothing of its scenario's subject. The judge collects such exchanges of all runs as
cases; those with the same symptom are one cause. It breaks one requirement, is found once, in the first of its
exchanges, and hides what its exchanges were to show. Which requirement that is:

- `target.alive`: the process ended, or no connection can be made;
- `target.capacity`: 429 although the driver waited as it was asked to; or failures beside other requests that went well
  when they were sent again alone;
- `turn.concurrent-isolation`: the answer to another request;
- an error sent as HTTP 200, whether it was due or an answer was: the row of its form that asks for an HTTP status;
- an answer of the mode that was not asked for: the row of the form that was, which no such body can have;
- `target.answers`: everything else, however few or many scenarios show it.

Some failures are a scenario's own matter and stay with its subject (`SymptomCase.subject`), as long as no other
scenario shows the same symptom:

- The scenario differs from others in one thing only (`attribute_to`), or its backend fails, so that how a failure is
  answered is what it is about.
- The target refuses: a 4xx (but 408 and 429) or 501. A refusal speaks of what the request asks for, so that of the
  scenarios of one subject is about this subject. One that scenarios of several subjects get is about what their
  requests have in common, and is a cause.

Plain requests form no cause, since their scenarios say what must come, but belong to one: if a success was due and the
symptom is that of a cause, or if their surface answers no conversation at all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from wireproof.judging.among_exchanges import (
    Kind,
    constant_usages,
    crowded,
    kind_of,
    others_answers,
    sentence,
    without_calls,
)
from wireproof.judging.capabilities import asked_for, refusal, surface_of
from wireproof.judging.request_shape import features, shape
from wireproof.judging.symptoms import (
    AnySymptom,
    Aside,
    ConstantUsage,
    Died,
    ErrorAs200,
    LateError,
    Nothing,
    NotServed,
    OtherMode,
    SaysOther,
    WrongStatus,
    kind_of_symptom,
)
from wireproof.model.capability import Absence, Capability
from wireproof.model.catalogue import row_of, row_of_capability
from wireproof.model.dialect import Surface
from wireproof.model.scenario import REQUIRED, Mode
from wireproof.model.verdict import Finding
from wireproof.wire.facet import UNTOUCHED, Facet
from wireproof.wire.violation import Members, Violation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from wireproof.judging.cases import SymptomCase
    from wireproof.judging.spoiling import ExchangeFinding
    from wireproof.reading.exchange import Exchange

CAUSED = frozenset({Facet.ANSWER, Facet.PROCESS})
"""What nothing but a cause breaks: rows that speak of it need no check."""
NO_REFUSALS = frozenset({408, 429})
"""Statuses from 400 to 499 that say nothing of what the request asks for."""
NOT_IMPLEMENTED = 501
TOO_MANY = 429
NAME_REFUSED = "when a named tool is refused and calls can be forced"
"""The kind of that violation; a line of the row about clients ends so."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Cause:
    """What made some exchanges fail alike."""

    symptom: AnySymptom
    finding: Finding
    """The first exchange that shows it."""
    exchanges: tuple[Exchange, ...]
    """All that show it, those that came first in front."""
    hidden: tuple[Exchange, ...] = ()
    """Those of them that show nothing else. None where they are judged by nothing else, or by all else."""
    shape: str = ""
    """What the requests have in common and no other has, as in "every stream"; "": nothing, or nothing is known."""
    others: tuple[ExchangeFinding, ...] = ()
    """The findings that it counts beside the first: the same fault of form, as other requirements and scenarios say
    it."""

    @property
    def requirement(self) -> str:
        """What it breaks."""
        return self.finding.violation.requirement

    @property
    def scenario(self) -> str:
        """The name of the first scenario that shows it: the one that has the finding."""
        return self.exchanges[0].scenario.name

    @property
    def scenarios(self) -> tuple[str, ...]:
        """The names of the scenarios that show it, in the order of the runs."""
        return tuple(dict.fromkeys(exchange.scenario.name for exchange in self.exchanges))

    @property
    def kind(self) -> str:
        """What causes have in common that are one thing to a person."""
        return kind_of_symptom(self.symptom)

    def __str__(self) -> str:
        """What it is, in a clause."""
        return f"{self.symptom}" + (f" ({self.shape})" if self.shape else "")


def find_causes(
    *,
    cases: Iterable[SymptomCase],
    expected: Iterable[SymptomCase],
    served: Sequence[Exchange],
    findings: Iterable[ExchangeFinding],
    aside: Sequence[Exchange],
    absences: Mapping[Capability, Absence],
) -> tuple[Cause, ...]:
    """The causes, in the order in which they first show; what has none is its scenario's own matter.

    All runs show these, in their order.

    Args:
        cases: The exchanges that show a symptom.
        expected: Those among whose right answers are errors, too: of plain requests, and of backends that fail.
        served: The exchanges of conversations that were answered, rightly or not.
        findings: What was found of answers that can be read.
        aside: The exchanges by which nothing is judged, since their scenarios were driven again, alone.
        absences: The capabilities that the target plainly refuses.
    """
    mixed = others_answers(served)
    own = _without(served, mixed)
    missing = without_calls(own)
    kept = _without(own, missing)
    alike: dict[AnySymptom, list[SymptomCase]] = {}
    for case in (*cases, *missing, *mixed):
        alike.setdefault(_symptom(case, absences), []).append(case)
    # After a death no connection can be made until the process runs again: that is the same cause.
    died = next((symptom for symptom in alike if isinstance(symptom, Died)), None)
    if died is not None and Nothing.REFUSED in alike:
        alike[died] += alike.pop(Nothing.REFUSED)
    causes = {symptom: those for symptom, those in alike.items() if not _own_matter(symptom, those)}
    for case in expected:
        symptom = _symptom(case, absences)
        if symptom in causes and _belongs(case.exchange, kept):
            causes[symptom].append(case)
    found = [_cause(symptom, those, kept) for symptom, those in causes.items()]
    hidden = {exchange for cause in found for exchange in cause.hidden}
    left = [one for one in findings if one.exchange not in hidden]
    named = _of_named_tools(aside, kept)
    return (*found, *_of_crowds(aside, died=died is not None), *named, *_of_form(left, constant_usages(kept)))


def _without(exchanges: Sequence[Exchange], cases: Sequence[SymptomCase]) -> Sequence[Exchange]:
    taken = {case.exchange for case in cases}
    return [exchange for exchange in exchanges if exchange not in taken]


def _symptom(case: SymptomCase, absences: Mapping[Capability, Absence]) -> AnySymptom:
    """The symptom of a case: a refusal of what is never served is one, whatever else the request asks for."""
    for capability in asked_for(case.exchange):
        if capability in absences and refusal(case.exchange, capability):
            return NotServed(absence=absences[capability])
    return case.symptom


def _belongs(exchange: Exchange, served: Sequence[Exchange]) -> bool:
    """Whether an exchange that may end with an error has ended with that of a cause, which says nothing of its rule."""
    request = exchange.request
    if request is not None and request.succeeds:
        return True
    # Where anything is answered, an error of the same words may be the right one.
    asked = features(exchange) & (set(Surface) if request is not None else {*Surface, *Mode})
    return not any(asked <= features(other) for other in served)


def _own_matter(symptom: AnySymptom, cases: Sequence[SymptomCase]) -> bool:
    """Whether cases of one symptom are about the subjects of their scenarios."""
    match symptom:
        case Died() | Nothing.REFUSED | NotServed() | SaysOther() | OtherMode() | LateError():
            return False
        case _:
            others = [case for case in cases if not case.own]
            about = {case.exchange.scenario.exercises[0] for case in others}
            return not others or (_is_refusal(symptom) and len(about) == 1)


def _is_refusal(symptom: AnySymptom) -> bool:
    if not isinstance(symptom, WrongStatus):
        return False
    status = symptom.status
    return status == NOT_IMPLEMENTED or (400 <= status < 500 and status not in NO_REFUSALS)  # noqa: PLR2004 (a class)


def _cause(symptom: AnySymptom, cases: Sequence[SymptomCase], served: Sequence[Exchange]) -> Cause:
    first, exchanges = cases[0], tuple(case.exchange for case in cases)
    # What was expected to fail says nothing of what the others have in common; nor has what is named already.
    asked = [] if isinstance(symptom, NotServed | SaysOther) else exchanges
    common = shape([one for one in asked if one.request is None] or asked, served) if asked else ""
    violation = Violation(
        requirement=_requirement(symptom, first),
        seen=first.seen + (f" (so for {common})" if common else ""),
        # A plain refusal says what is not served: clients cope.
        strict_only=isinstance(symptom, NotServed),
        hint=_HINTS.get(symptom) or _HINTS.get(type(symptom), ""),
    )
    return Cause(
        symptom=symptom,
        shape=common,
        finding=Finding(form=first.exchange.form, exchange=first.exchange.number, violation=violation),
        exchanges=exchanges,
        hidden=tuple(case.exchange for case in cases if case.hides),
    )


_HINTS: Mapping[object, str] = {
    SaysOther.NO_CALLS: "Offer the tools of the request to the backend, and send the calls that it makes.",
    ErrorAs200: "Answer a failure with its own HTTP status; find out first why this request failed.",
    OtherMode: "Answer with an event stream if the request says stream: true, and with one JSON object if it does not.",
}
"""What to do about a symptom, or one of a kind, where the row that it breaks has a hint about other things."""


def _requirement(symptom: AnySymptom, first: SymptomCase) -> str:
    """The requirement that a cause breaks."""
    match symptom:
        case NotServed(absence=absence):
            return row_of_capability(absence.capability, first.exchange.form)
        case SaysOther():
            return first.subject
        case _:
            return row_of(_spoilt(symptom), first.exchange.form)


def _spoilt(symptom: AnySymptom) -> Facet:
    """The part of an exchange that a symptom is about."""
    match symptom:
        case Died() | Nothing.REFUSED:
            return Facet.PROCESS
        case WrongStatus(status=status) if status == TOO_MANY:
            return Facet.ROOM
        case ErrorAs200() | LateError():
            return Facet.STATUS
        case OtherMode():
            return Facet.BODY
        case _:
            return Facet.ANSWER


# Crowds


def _of_crowds(aside: Iterable[Exchange], *, died: bool) -> Iterator[Cause]:
    """The cause of the exchanges that failed only beside others."""
    failed = crowded(aside, died=died)
    if failed:
        violation = Violation(requirement=row_of(Facet.ROOM, failed[0].form), seen=sentence(failed))
        yield _beside(Aside.CROWDED, violation, failed)


def _beside(symptom: Aside, violation: Violation, exchanges: Sequence[Exchange]) -> Cause:
    """A cause of exchanges that are judged by nothing else; the first of them shows it."""
    finding = Finding(form=exchanges[0].form, exchange=exchanges[0].number, violation=violation)
    return Cause(symptom=symptom, finding=finding, exchanges=tuple(exchanges))


# Tools that are named


def _of_named_tools(aside: Iterable[Exchange], served: Iterable[Exchange]) -> Iterator[Cause]:
    """The cause of the refusals of a tool that a request names, where a call of any is forced.

    Which tool that is need not be known to a backend: with the one that is named alone, it can call no other.
    """
    asked = (one for one in served if one.turn and one.conversation.tool_choice == REQUIRED)
    forced = {surface_of(one) for one in asked if one.answer.calls}
    named = [one for one in aside if one.asks is not None and one.conversation.names_tool]
    every = [(one, refusal(one, Capability.FORCED_TOOL_CHOICE)) for one in named if surface_of(one) in forced]
    refused = [(one, said) for one, said in every if said is not None]
    if refused:
        first, (status, message, _) = refused[0]
        violation = Violation(
            requirement=row_of_capability(Capability.FORCED_TOOL_CHOICE, first.form),
            seen=f"a tool_choice that names a tool is refused (HTTP {status}: {message}), and {REQUIRED!r} is kept",
            hint="Offer the named tool alone to the backend, and force a call.",
            kind=NAME_REFUSED,
        )
        yield _beside(Aside.NAME_REFUSED, violation, [one for one, _ in refused])


# Faults of form


def _of_form(found: Iterable[ExchangeFinding], constant: Mapping[Kind, ConstantUsage]) -> Iterator[Cause]:
    """The causes of faults of form that several exchanges show, under whichever requirements."""
    alike: list[tuple[Members | ConstantUsage, list[ExchangeFinding]]] = []
    for one in found:
        violation = one.finding.violation
        symptom = constant.get(kind_of(one.exchange)) if violation.counts else violation.about
        # Lists of models and the like are no answers, and have members of their own.
        if symptom is None or not any(surface.endpoint in one.exchange.transcript.url for surface in Surface):
            continue
        for number, (other, those) in enumerate(alike):
            if (both := _joined(other, symptom)) is not None:
                alike[number] = (both, [*those, one])
                break
        else:
            alike.append((symptom, [one]))
    return (_form_cause(symptom, those) for symptom, those in alike if len(those) > 1)


def _joined(one: Members | ConstantUsage, other: Members | ConstantUsage) -> Members | ConstantUsage | None:
    """Two faults of form as one, if they are of one kind and about the same member, header, or counts; else None."""
    match one, other:
        case Members(), Members():
            alike = one.fault == other.fault and not set(one.names).isdisjoint(other.names)
            return replace(one, names=tuple(dict.fromkeys((*one.names, *other.names)))) if alike else None
        case _:
            return one if one == other else None


def _form_cause(symptom: Members | ConstantUsage, found: Sequence[ExchangeFinding]) -> Cause:
    # Counts that never change break the row that asks for them, whichever row the first finding is of.
    constant = isinstance(symptom, ConstantUsage)
    first, others = found[0].finding, found if constant else found[1:]
    if constant:
        row, place = row_of(Facet.USAGE, first.form), found[0].exchange.body_place
        violation = Violation(requirement=row, seen=str(symptom), place=place, spoils=UNTOUCHED)
        first = replace(first, violation=violation)
    exchanges = tuple(dict.fromkeys(one.exchange for one in found))
    return Cause(symptom=symptom, finding=first, exchanges=exchanges, others=tuple(others))
