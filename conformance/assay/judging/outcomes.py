"""From findings to outcomes: a scenario as it was driven, and what that comes to for each of its requirements."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from assay.judging.checks import ERRORS, INVARIANT
from assay.model.catalogue import Judged, Level, Requirement
from assay.model.dialect import Arguments
from assay.model.target import Backend, Target
from assay.model.verdict import Finding, Outcome, Verdict
from assay.reading.applicable import speaks_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from assay.model.scenario import Form, Scenario
    from assay.reading.exchange import Exchange

AXIS = {
    "chat.stream.arguments-incremental": Arguments.INCREMENTAL,
    "chat.stream.arguments-cumulative": Arguments.CUMULATIVE,
}
"""Requirements that are about one of the two ways of telling arguments."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """A scenario as it was driven: per form its exchanges, or the reason why it was not driven in that form."""

    scenario: Scenario
    exchanges: Mapping[Form, Sequence[Exchange]] = field(default_factory=dict)
    not_driven: Mapping[Form, str] = field(default_factory=dict)
    error: str = ""


def not_judged(run: Run, row: Requirement) -> Outcome:
    """The outcome of a requirement of a run that failed by our fault."""
    return _outcome(run, row, Verdict.ERROR, reason=run.error)


def outcome(
    run: Run, row: Requirement, target: Target, *, found: Iterable[Finding], hidden: Mapping[str, str]
) -> Outcome:
    """The outcome of a requirement, from all that was `found`, and what hides which requirements."""
    mine = tuple(finding for finding in found if finding.violation.requirement == row.id)
    if mine:
        return _outcome(run, row, Verdict.FAIL if row.level is Level.MUST else Verdict.WARN, findings=mine)
    if _other_axis(run, row, target):
        return _outcome(run, row, Verdict.NOT_APPLICABLE, reason="the target tells arguments in the other way")
    reason = _why_not_observed(run, row, target, hidden)
    return _outcome(run, row, Verdict.NOT_OBSERVED if reason else Verdict.PASS, reason=reason)


def _other_axis(run: Run, row: Requirement, target: Target) -> bool:
    """Whether a requirement is about the way of telling arguments that the target does not use in these forms."""
    way = AXIS.get(row.id)
    forms = [form for form in run.scenario.forms(target.dialects) if speaks_of(row, form)]
    return way is not None and all(target.argument_mode(form.dialect) is not way for form in forms)


def _why_not_observed(run: Run, row: Requirement, target: Target, hidden: Mapping[str, str]) -> str:
    """'' when the requirement was really looked at."""
    if row.id in hidden:
        return f"hidden behind {hidden[row.id]}, which is broken in the same exchange"
    for form in run.scenario.forms(target.dialects):
        if speaks_of(row, form) and not run.exchanges.get(form):
            return run.not_driven.get(form, "the scenario was not driven")
    needs_script = row.id not in INVARIANT and run.scenario.request is None
    if target.backend is Backend.LIVE and needs_script:
        return "the right answer is not known: a live model is behind the target"
    return _not_shown(run, row)


def _not_shown(run: Run, row: Requirement) -> str:
    """'' unless the requirement is about something that never came."""
    exchanges = [exchange for form, told in run.exchanges.items() if speaks_of(row, form) for exchange in told]
    if row.id in ERRORS and not any(map(_has_error, exchanges)):
        return "no error came in which it could be seen"
    if row.judged is Judged.CALLS and not any(map(_has_call, exchanges)):
        return "no tool call came in which it could be seen"
    return ""


def _has_call(exchange: Exchange) -> bool:
    return exchange.reading is not None and any(choice.calls for choice in exchange.answer.choices)


def _has_error(exchange: Exchange) -> bool:
    if exchange.reading is not None:
        return exchange.answer.error is not None
    return exchange.transcript.status is not None and not exchange.transcript.ok


def _outcome(
    run: Run, row: Requirement, verdict: Verdict, *, findings: tuple[Finding, ...] = (), reason: str = ""
) -> Outcome:
    return Outcome(scenario=run.scenario.name, requirement=row.id, verdict=verdict, findings=findings, reason=reason)
