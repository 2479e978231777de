"""What made exchanges fail alike: one cause, one finding, named for what it is.

An exchange without an answer says nothing of its scenario's subject. The judge collects such exchanges of all runs as
cases; those with the same symptom are one cause. It breaks one requirement, is found once, in the first of its
exchanges, and hides what its exchanges were to show. Which requirement that is:

- `target.alive`: the process ended, or no connection can be made;
- `target.capacity`: 429 although the driver waited as it was asked to;
- an error sent as HTTP 200: the row of its form that asks for an HTTP status instead;
- `target.answers`: everything else, however few or many scenarios show it.

Some failures are a scenario's own matter and stay with its subject (`Case.subject`), as long as no other scenario shows
the same symptom:

- The scenario differs from others in one thing only (`attribute_to`), or its backend fails, so that how a failure is
  answered is what it is about.
- The target refuses: a 4xx (but 408 and 429) or 501. A refusal speaks of what the request asks for, so that of the
  scenarios of one subject is about this subject. One that scenarios of several subjects get is about what their
  requests have in common, and is a cause.

Plain requests form no cause, since their scenarios say what must come, but belong to one: if a success was due and the
symptom is that of a cause, or if their surface answers no conversation at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.judging.request_shape import features, shape
from assay.judging.symptoms import Died, ErrorAs200, NoAnswer, Nothing, Symptom, WrongStatus
from assay.model.dialect import Surface
from assay.model.scenario import Mode
from assay.model.verdict import Finding
from assay.wire.violation import Violation

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from assay.judging.cases import Case
    from assay.model.scenario import Form
    from assay.reading.exchange import Exchange

ALIVE = "target.alive"
ANSWERS = "target.answers"
CAPACITY = "target.capacity"
AS_200: Mapping[tuple[Surface, Mode], str] = {
    (Surface.CHAT, Mode.STREAM): "chat.stream.error-before-output",
    (Surface.CHAT, Mode.WHOLE): "chat.whole.backend-error",
    (Surface.RESPONSES, Mode.STREAM): "responses.stream.terminal",
    (Surface.RESPONSES, Mode.WHOLE): "responses.whole.envelope",
}
"""The row that asks for an HTTP status where an error was sent as 200, by the form of the answer."""
CAUSED = frozenset({ALIVE, ANSWERS})
"""The requirements that nothing but a cause breaks: they need no check."""
NO_REFUSALS = frozenset({408, 429})
"""Statuses from 400 to 499 that say nothing of what the request asks for."""
NOT_IMPLEMENTED = 501
TOO_MANY = 429


@dataclass(frozen=True, kw_only=True, eq=False)
class Cause:
    """What made some exchanges fail alike."""

    symptom: Symptom
    requirement: str
    """What it breaks."""
    shape: str
    """What the requests have in common and no other has, as in "every stream"; "": nothing, or nothing is known."""
    scenario: str
    """The name of the first scenario that shows it: the one that has the finding."""
    finding: Finding
    """The first exchange that shows it."""
    exchanges: tuple[Exchange, ...]
    """All that show it, those that came first in front."""
    hidden: tuple[Exchange, ...]
    """Those of them that show nothing else."""

    @property
    def scenarios(self) -> tuple[str, ...]:
        """The names of the scenarios that show it, in the order of the runs."""
        return tuple(dict.fromkeys(exchange.scenario.name for exchange in self.exchanges))

    def __str__(self) -> str:
        """What it is, in a clause."""
        return f"{self.symptom}" + (f" ({self.shape})" if self.shape else "")


def find_causes(cases: Iterable[Case], expected: Iterable[Case], served: Sequence[Exchange]) -> tuple[Cause, ...]:
    """The causes of cases, in the order in which they first show; a case without one is its scenario's own matter.

    Args:
        cases: The exchanges that show a symptom, in the order of the runs.
        expected: Those among whose right answers are errors, too: of plain requests, and of backends that fail.
        served: The exchanges of conversations that were answered, rightly or not.
    """
    alike: dict[Symptom, list[Case]] = {}
    for case in cases:
        alike.setdefault(case.symptom, []).append(case)
    _join_refused(alike)
    causes = {symptom: those for symptom, those in alike.items() if not _own_matter(those)}
    for case in expected:
        if case.symptom in causes and _belongs(case.exchange, served):
            causes[case.symptom].append(case)
    return tuple(_cause(those, served) for those in causes.values())


def _belongs(exchange: Exchange, served: Sequence[Exchange]) -> bool:
    """Whether an exchange that may end with an error has ended with that of a cause, which says nothing of its rule."""
    request = exchange.scenario.request
    if request is not None and 200 <= request.each[exchange.number].expect < 300:  # noqa: PLR2004 (a class)
        return True
    # Where anything is answered, an error of the same words may be the right one.
    asked = features(exchange) & (set(Surface) if request is not None else {*Surface, *Mode})
    return not any(asked <= features(other) for other in served)


def _join_refused(alike: dict[Symptom, list[Case]]) -> None:
    """After a death no connection can be made until the process runs again: that is the same cause."""
    refused = NoAnswer(kind=Nothing.REFUSED)
    died = next((symptom for symptom in alike if isinstance(symptom, Died)), None)
    if died is not None and refused in alike:
        alike[died] += alike.pop(refused)


def _own_matter(cases: Sequence[Case]) -> bool:
    """Whether cases of one symptom are about the subjects of their scenarios."""
    match cases[0].symptom:
        case Died() | NoAnswer(kind=Nothing.REFUSED):
            return False
        case symptom:
            others = [case for case in cases if not case.own]
            about = {case.exchange.scenario.exercises[0] for case in others}
            return not others or (_is_refusal(symptom) and len(about) == 1)


def _is_refusal(symptom: Symptom) -> bool:
    if not isinstance(symptom, WrongStatus):
        return False
    status = symptom.status
    return status == NOT_IMPLEMENTED or (400 <= status < 500 and status not in NO_REFUSALS)  # noqa: PLR2004 (a class)


def _cause(cases: Sequence[Case], served: Sequence[Exchange]) -> Cause:
    first, exchanges = cases[0], tuple(case.exchange for case in cases)
    # What was expected to fail says nothing of what the others have in common.
    common = shape([one for one in exchanges if one.scenario.request is None] or exchanges, served)
    requirement = _requirement(first)
    seen = first.seen + (f" (so for {common})" if common else "")
    return Cause(
        symptom=first.symptom,
        requirement=requirement,
        shape=common,
        scenario=first.exchange.scenario.name,
        finding=Finding(
            form=first.exchange.form,
            exchange=first.exchange.number,
            violation=Violation(requirement=requirement, seen=seen),
        ),
        exchanges=exchanges,
        hidden=tuple(case.exchange for case in cases if case.hides),
    )


def _requirement(case: Case) -> str:
    """The requirement that a cause breaks."""
    match case.symptom:
        case Died() | NoAnswer(kind=Nothing.REFUSED):
            return ALIVE
        case WrongStatus(status=status) if status == TOO_MANY:
            return CAPACITY
        case ErrorAs200():
            form: Form = case.exchange.form
            return AS_200[form.dialect.spec.surface, form.mode]
        case _:
            return ANSWERS
