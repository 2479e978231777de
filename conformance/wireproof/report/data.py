"""A certificate in the one form of a result, `wireproof.results.document`: what all other renderings are made of."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from wireproof.judging.capabilities import uses
from wireproof.model.verdict import Finding, Outcome, Verdict, VerdictLevel
from wireproof.report.curl import curl
from wireproof.report.effects import breaking, kinds_found, seen_effects
from wireproof.report.excerpt import excerpt
from wireproof.report.grouping import broken_rows, exchange_of
from wireproof.report.readiness import readiness
from wireproof.requests.ways_round import sentence, shows, ways_of
from wireproof.results.cells import BROKEN, cells, flaky
from wireproof.results.certificate import Certificate, ExitStatus
from wireproof.results.document import (
    FORMAT,
    AtLevel,
    Common,
    Configuration,
    Edition,
    Ended,
    FormDriven,
    Found,
    MadeWith,
    Repeated,
    Report,
    RequirementShown,
    ScenarioVerdict,
    SeenAt,
    Summary,
)
from wireproof.results.target_facts import Facts, SurfaceFound, WayRoundTaken

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from wireproof.judging.causes import Cause
    from wireproof.judging.outcomes import ScenarioRun
    from wireproof.model.capability import Use
    from wireproof.model.catalogue import Catalogue
    from wireproof.model.dialect import Surface
    from wireproof.model.requirement import Requirement
    from wireproof.model.target import Target, WayTaken
    from wireproof.reading.exchange import Exchange
    from wireproof.report.grouping import ReportBlock

WHOLE: Mapping[ExitStatus, Summary] = {
    ExitStatus.CERTIFIED: Summary.CERTIFIED,
    ExitStatus.FAILED: Summary.NOT_CERTIFIED,
    ExitStatus.PARTIAL: Summary.PARTIAL,
}
"""What a run of all scenarios adds up to; anything else is no certificate."""
SELECTED: Mapping[ExitStatus, Summary] = {
    ExitStatus.CERTIFIED: Summary.KEPT,
    ExitStatus.FAILED: Summary.BROKEN,
    ExitStatus.PARTIAL: Summary.UNSEEN,
}
"""What a run of selected scenarios adds up to."""
INTERRUPTED = "interrupted before all scenarios were driven"


def report_of(
    certificate: Certificate, catalogue: Catalogue, configuration: Configuration, versions: MadeWith
) -> Report:
    """The result of a run."""
    catalogue = catalogue.about(certificate.target.side)
    verdicts = cells(certificate, catalogue)
    # Also of what has no cell: a target may have left out the dialect of an answer that was judged.
    spoken = {cell.requirement for cell in verdicts} | {one.requirement for one in certificate.outcomes}
    return Report(
        format=FORMAT,
        ended=Ended.INTERRUPTED if certificate.interrupted else Ended.COMPLETE,
        reason=INTERRUPTED if certificate.interrupted else "",
        status=_status(certificate, configuration),
        began=certificate.began,
        seconds=round(certificate.seconds, 3),
        versions=versions,
        catalogue=Edition(date=certificate.date, requirements=len(catalogue.requirements)),
        configuration=replace(
            configuration, jobs=certificate.jobs, at_a_time=certificate.at_a_time, level=certificate.level
        ),
        target=_facts(certificate),
        levels={level: _at_level(certificate, level) for level in VerdictLevel},
        requirements={row.id: _row(row, certificate) for row in catalogue.requirements if row.id in spoken},
        findings=tuple(_findings(certificate, catalogue)),
        cells=verdicts,
        outcomes=tuple(map(_judgement, certificate.outcomes)),
        driven=tuple(_driven(certificate.runs)),
        transcripts=None,
        repeats=tuple(
            Repeated(
                status=_status(one, configuration),
                began=one.began,
                seconds=round(one.seconds, 3),
                # The shown one is a copy with all of them in it; its outcomes are the very same.
                shown=one.outcomes is certificate.outcomes,
                folder="",
            )
            for one in certificate.every
        ),
        flaky=flaky(certificate, catalogue),
        clients=tuple(readiness(certificate, catalogue)),
    )


def not_driven(
    ended: Ended, reason: str, *, began: str, catalogue: Catalogue, configuration: Configuration, versions: MadeWith
) -> Report:
    """The result of a run of which nothing is judged: it could not be driven, was interrupted before, or we failed."""
    return Report(
        format=FORMAT,
        ended=ended,
        reason=reason,
        status=ExitStatus.INTERRUPTED if ended is Ended.INTERRUPTED else ExitStatus.UNREACHABLE,
        began=began,
        seconds=0.0,
        versions=versions,
        catalogue=Edition(date=catalogue.date, requirements=len(catalogue.requirements)),
        configuration=configuration,
        target=None,
        levels={},
        requirements={},
        findings=(),
        cells=(),
        outcomes=(),
        driven=(),
        transcripts=None,
    )


def _status(certificate: Certificate, configuration: Configuration) -> ExitStatus:
    if certificate.interrupted:
        return ExitStatus.INTERRUPTED
    return certificate.status(allow_partial=configuration.allow_partial)


def _facts(certificate: Certificate) -> Facts:
    target = certificate.target
    used = uses(certificate.runs)
    return Facts(
        base_url=target.base_url,
        client=target.client,
        model=target.model,
        backend=target.backend,
        asks_for_key=target.api_key is not None,
        key_style=target.key_style,
        surfaces=tuple(
            _judged(target, surface, {str(name): use for name, use in used.get(surface, {}).items()})
            for surface in target.surfaces
        ),
        ways=tuple(
            WayRoundTaken(
                name=one.name,
                surface=one.surface,
                judged=sentence(one),
                broken=broken_by(one, certificate),
                shown_by=one.shown_by,
            )
            for one in ways_of(target)
        ),
    )


def broken_by(taken: WayTaken, certificate: Certificate) -> dict[str, Verdict]:
    """Which requirements a fault breaks that a run goes round, as exchanges show that were sent without the way round.

    Returns each requirement with the verdict on it.
    """
    sent = {
        (run.scenario.name, form, one.number)
        for run in certificate.runs
        if run.scenario.name in taken.shown_by
        for form, exchanges in run.exchanges.items()
        for one in exchanges
        if shows(taken, one.transcript.request_body, form)
    }
    return {
        outcome.requirement: outcome.verdict
        for outcome in certificate.outcomes
        if outcome.verdict in BROKEN
        and any((outcome.scenario, one.form, one.exchange) in sent for one in outcome.findings)
    }


def _judged(target: Target, surface: Surface, capabilities: dict[str, Use]) -> SurfaceFound:
    seen = target.surfaces[surface]
    return SurfaceFound(
        surface=surface,
        state=seen.state,
        reason=seen.reason,
        status=seen.status,
        said=seen.said,
        seconds=seen.seconds,
        dialects=tuple(dialect for dialect in target.dialects if dialect.spec.surface is surface),
        unspoken={dialect: why for dialect, why in target.unspoken.items() if dialect.spec.surface is surface},
        capabilities=capabilities,
    )


def _at_level(certificate: Certificate, level: VerdictLevel) -> AtLevel:
    exit_status = certificate.verdict(level)
    words = SELECTED if certificate.selection else WHOLE
    # What was seen broken stays broken; that nothing was is no certificate when the rest was not looked at.
    stands = exit_status is ExitStatus.FAILED or not certificate.interrupted
    counts = certificate.counts_at(level)
    return AtLevel(
        summary=words.get(exit_status, Summary.NONE) if stands else Summary.NONE,
        status=exit_status,
        counts={verdict: counts[verdict] for verdict in Verdict if counts[verdict]},
        broken=tuple(sorted(certificate.broken_at(level))),
        unobserved=certificate.unobserved_at(level),
        hidden=certificate.hidden_at(level),
    )


def _row(row: Requirement, certificate: Certificate) -> RequirementShown:
    effects = seen_effects(row, breaking(row, certificate), kinds_found(row, certificate)) if row.breaks else ()
    return RequirementShown(id=row.id, level=row.level, harm=row.harm, text=row.text, hint=row.hint, breaks=effects)


def _judgement(outcome: Outcome) -> ScenarioVerdict:
    return ScenarioVerdict(
        scenario=outcome.scenario,
        requirement=outcome.requirement,
        strict=outcome.verdict,
        compat=outcome.at(VerdictLevel.COMPAT),
        reason=outcome.reason,
        known=outcome.known,
        places=tuple(_place(outcome.scenario, finding) for finding in outcome.findings),
    )


def _place(scenario: str, finding: Finding) -> SeenAt:
    at, status = finding.violation.place, finding.violation.status
    return SeenAt(
        scenario=scenario,
        dialect=finding.form.dialect,
        mode=finding.form.mode,
        exchange=finding.exchange,
        seen=finding.violation.seen,
        offset=at.offset if at else None,
        length=at.length if at else None,
        frame=at.frame if at else None,
        in_request=at is not None and at.in_request,
        came=status.came if status else None,
        due=status.due if status else None,
    )


def _driven(runs: Sequence[ScenarioRun]) -> Iterator[FormDriven]:
    for run in runs:
        for form, exchanges in run.exchanges.items():
            pieces = exchanges[0].transcript.pieces if exchanges else ()
            yield FormDriven(
                scenario=run.scenario.name, dialect=form.dialect, mode=form.mode, exchanges=len(exchanges),
                seconds=round(sum(one.transcript.seconds for one in exchanges), 6),
                first_byte=round(pieces[0].at, 6) if pieces else None, reason=run.error,
            )  # fmt: skip
        for form, reason in run.not_driven.items():
            yield FormDriven(
                scenario=run.scenario.name, dialect=form.dialect, mode=form.mode, exchanges=0, seconds=0.0,
                first_byte=None, reason=reason or run.error,
            )  # fmt: skip


# What is wrong


def _findings(certificate: Certificate, catalogue: Catalogue) -> Iterator[Found]:
    """Requirement by requirement, those that harm clients most first; of each what harms, causes before all else."""
    for _, blocks in broken_rows(certificate, catalogue):
        # What made the verdict first: that it holds at the level which asks for less.
        yield from sorted((_found(certificate, one) for one in blocks), key=lambda one: one.compat is not one.strict)


def _found(certificate: Certificate, block: ReportBlock) -> Found:
    outcome, finding, cause = block.outcome, block.finding, block.cause
    if cause is None:
        places = tuple(_place(of.scenario, one) for of, one in block.seen if one)
    else:
        places = tuple(_of_cause(one, cause) for one in cause.exchanges)
    exchange = exchange_of(certificate, outcome, finding) if finding else None
    place = finding.violation.place if finding else None
    # A connection that was closed has no bytes to show.
    body = exchange.transcript.body_at(place) if exchange and place else b""
    return Found(
        requirement=outcome.requirement,
        strict=outcome.verdict,
        compat=outcome.at(VerdictLevel.COMPAT),
        known=outcome.known,
        seen=finding.violation.seen if finding else outcome.reason,
        cause=Common(says=str(cause), exchanges=len(cause.exchanges), hidden=len(cause.hidden), kind=cause.kind)
        if cause
        else None,
        scenarios=tuple(dict.fromkeys([*block.scenarios, *(one.scenario for one in places)])),
        places=places,
        request=curl(exchange.transcript, certificate.target) if exchange else "",
        excerpt=excerpt(body, place) if place and body else None,
    )  # fmt: skip


def _of_cause(exchange: Exchange, cause: Cause) -> SeenAt:
    """The place of an exchange of a cause; only the first has bytes, for the others it is the same again."""
    first = cause.finding
    mine = exchange.scenario.name == cause.scenario
    if mine and (exchange.form, exchange.number) == (first.form, first.exchange):
        return _place(cause.scenario, first)
    return SeenAt(
        scenario=exchange.scenario.name, dialect=exchange.dialect, mode=exchange.mode, exchange=exchange.number,
        seen=str(cause), offset=None, length=None, frame=None,
    )  # fmt: skip
