"""From transcripts to findings: what is found of each requirement of a scenario. `outcomes` turns that into verdicts.

One cause, one violation, and nothing hides but what follows from it. Within an exchange the judge goes in stages
(`Stage` of a row). What a stage finds spoils parts of the answer, and a row that needs one of them cannot be judged
there: it is reported as not observed, hidden behind what was found (see `spoiling`). All other rows are judged.

0. target: whether there is an answer at all (below);
1. error: an answer that is an error has the right form and gives nothing away;
2. form: the wire grammar, schemas, headers;
3. content: what was said, against the script; of an answer that broke off, its beginning;
4. sense: what the content means (what the backend received, how turns ended), and then the stored answer;
5. parity of two answers to the same turn, in what no finding explains.

An exchange that continues a conversation is judged as far as what the client sent back was not spoilt. What nothing
could show (an error that never came, a call that never came) is not observed either.

A response that is no answer has a symptom, and shows nothing else. Those of all runs are looked at together: what
shows the same symptom is one cause with one finding, which hides the rest (`causes` says what is a cause, and what is
a scenario's own matter, whose violation is one of its subject: the first requirement that it exercises in that mode).

Some scenarios differ from others in one thing only, and name it as the requirement to attribute faults to
(`attribute_to`). Whatever is wrong with their content is a violation of that requirement, unless scenarios without such
a subject show the same violation: then it has nothing to do with the subject. So runs are looked at first, each once
and under the names that the checks give; which findings are attributed to a subject is decided by a pass over what all
runs have shown.

To judge a requirement of one's own, add its row and its check; both are values, and nothing else has to know them:

    mine = Checks()

    @mine("my.greeting")
    def greeting(exchange):
        if "Hello" not in (exchange.choice().text or ""):
            yield Seen("the answer does not greet", exchange.body_place)

    row = Requirement(id="my.greeting", level=Level.SHOULD, text="An answer greets.", hint="Greet.",
                      source=(Citation(seed="my-contract", line=1, quote="be polite"),), judged=Judged.ALWAYS)
    catalogue = load().extended(row)  # or .extended(*read(Path("my-requirements")).requirements)
    judge_runs(runs, target, catalogue, checks=Checks(CHECKS, mine))
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

from wireproof.judging.capabilities import absences
from wireproof.judging.causes import CAUSED, Cause, find_causes
from wireproof.judging.checks import CHECKS, GRAMMAR, live, live_parity, shared_ids
from wireproof.judging.checks.diff import MORE
from wireproof.judging.declared import without_absent
from wireproof.judging.outcomes import Hidden, ScenarioRun, outcome, outcome_of
from wireproof.judging.spoiling import ExchangeFinding, explained_by
from wireproof.judging.stages import findings_of
from wireproof.judging.symptoms import ANSWERED, NotServed, SaysOther
from wireproof.judging.unjudged import ours
from wireproof.model.requirement import Requirement, Stage
from wireproof.model.side import Side
from wireproof.model.verdict import Finding, HarnessError, Outcome, Verdict
from wireproof.reading.applicable import applicable
from wireproof.wire.facet import UNREADABLE, Facet

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence

    from wireproof.judging.findings import Explained, RunFindings
    from wireproof.judging.registry import Checks
    from wireproof.model.catalogue import Catalogue
    from wireproof.model.target import Target
    from wireproof.reading.exchange import Exchange

_BESIDE_CALLS = frozenset({Facet.TEXT, Facet.USAGE, Facet.BODY})
"""What can be read of an answer that lacks its calls."""
_OF_SCENARIOS = frozenset({Stage.ANSWER, Stage.SUBJECT})
"""Rows of these stages are judged by what their scenarios say."""


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """What runs come to."""

    outcomes: tuple[Outcome, ...]
    """In the order of the runs."""
    causes: tuple[Cause, ...]
    """What made exchanges fail alike, in the order in which it first shows."""


def judge_runs(
    runs: Sequence[ScenarioRun],
    target: Target,
    catalogue: Catalogue,
    *,
    checks: Checks = CHECKS,
) -> Judgement:
    """The outcomes of all runs, and the causes that several exchanges share.

    Raises:
        HarnessError: nothing can find out whether a row of the catalogue is broken.
    """
    catalogue = catalogue.about(Side.PROXY)
    _refuse_rows_without_check(catalogue, checks)
    runs = without_absent(runs, target.absent)
    try:
        return _judged([_shown(run, target, catalogue, checks) for run in runs], target)
    except Exception as error:  # noqa: BLE001 (whatever it is, no verdict of the run can be trusted, and it goes on)
        why = ours("judge the run", error)
        rows = ((run, row) for run in runs for row in applicable(run.scenario, catalogue, target.dialects))
        outcomes = (outcome_of(run, row, Verdict.ERROR, reason=run.error or why) for run, row in rows)
        return Judgement(outcomes=tuple(outcomes), causes=())


def _shown(run: ScenarioRun, target: Target, catalogue: Catalogue, checks: Checks) -> RunFindings:
    """What a run shows; nothing, and why, where that cannot be found out."""
    try:
        return findings_of(run, target, catalogue, checks)
    except Exception as error:  # noqa: BLE001 (whatever it is, the other scenarios are judged)
        failed = replace(run, error=ours(f"judge {run.scenario.name}", error), exchanges={})
        return findings_of(failed, target, catalogue, checks)


def _judged(shown: Sequence[RunFindings], target: Target) -> Judgement:
    """What the findings of all runs come to."""
    runs = [one.run for one in shown]
    # With the tries before an exchange: some of them send what another one has sent.
    driven = chain.from_iterable(one.exchanges for one in shown)
    noise = live_parity.noise(chain.from_iterable((*one.earlier, one) for one in driven))
    for one in shown:
        # What a model's answers differ in where two to one request do so as well is the target's own way.
        one.findings = [found for found in one.findings if not _is_noise(found, one.catalogue, noise)]
    owners = {exchange: one for one in shown for exchange in one.served}
    for exchange, violation in shared_ids.shared_ids(owners):
        owners[exchange].find(exchange, [violation])
    causes = find_causes(
        cases=[case for one in shown for case in one.cases],
        expected=[case for one in shown for case in one.expected],
        served=[exchange for one in shown for exchange in one.served],
        findings=[found for one in shown for found in one.findings],
        aside=[exchange for run in runs for those in run.set_aside.values() for exchange in those],
        absences=absences(runs),
    )
    left = [_without_causes(one, causes) for one in shown]
    anyway = frozenset(explained for one in left for explained in one.broken_anyway)
    outcomes = (outcome for one in left for outcome in _outcomes(one, target, anyway))
    return Judgement(outcomes=tuple(outcomes), causes=causes)


def _refuse_rows_without_check(catalogue: Catalogue, checks: Checks) -> None:
    """A row that nothing can find broken would pass wherever it is judged."""
    for row in catalogue.requirements:
        checked = row.id in checks or row.id in GRAMMAR or live.judges(row) or not CAUSED.isdisjoint(row.facets)
        if not checked and row.stage not in _OF_SCENARIOS:
            raise HarnessError(
                f"{row.id} has no check, so it would always pass; register one, or give the row the stage "
                f"{Stage.ANSWER.value!r} or {Stage.SUBJECT.value!r} if scenarios say what is right"
            )


def _is_noise(found: ExchangeFinding, catalogue: Catalogue, noise: Container[Facet]) -> bool:
    row, violation = catalogue.by_id.get(found.requirement), found.finding.violation
    if found.exchange.asks is None or row is None:
        return False
    # Counts of a request that change from one time to the next do not show what of it reached the model.
    received = violation.counts and row.stage in {Stage.SENSE, Stage.SUBJECT} and Facet.USAGE in noise
    return received or (row.stage is Stage.PARITY and violation.part in noise)


def _without_causes(shown: RunFindings, causes: Iterable[Cause]) -> RunFindings:
    """What a run has shown, without what the causes of all runs say better."""
    mine = frozenset(shown.exchanges)
    lost = {exchange: cause for cause in causes for exchange in cause.hidden if exchange in mine}
    moved = {found: cause for cause in causes for found in cause.others if found.exchange in mine}
    counted = {found.requirement: moved[found] for found in shown.findings if found in moved}
    followed = {
        found
        for found in shown.findings
        if found.exchange in lost and not _is_beside(found, lost[found.exchange], shown)
    }
    return replace(
        shown,
        findings=[found for found in shown.findings if found not in moved and found not in followed],
        followed=frozenset((found.exchange, found.requirement) for found in followed),
        moved=moved,
        counted=counted,
        spoilt={row: cause for row, cause in counted.items() if _all_have(row, moved, shown, lost)},
        causes=tuple(cause for cause in causes if cause.scenario == shown.run.scenario.name),
        lost=lost,
    )


def _is_beside(found: ExchangeFinding, cause: Cause, shown: RunFindings) -> bool:
    """Whether a finding in an exchange of a cause is of a part that the cause says nothing of.

    An answer without the call that was due, or to another request, has a form, an id and counts all the same; and
    each answer has the headers that tell it from the others.
    """
    row = shown.catalogue.by_id.get(found.requirement)
    if row is not None and row.stage is Stage.TOGETHER:
        return found.exchange.transcript.status is not None
    return isinstance(cause.symptom, SaysOther) and explained_by(found, row).isdisjoint(UNREADABLE)


def _all_have(row_id: str, moved: Iterable[ExchangeFinding], shown: RunFindings, lost: Container[Exchange]) -> bool:
    """Whether each answer that a row speaks of has one of these faults of it, and one that harms clients.

    What breaks the letter alone leaves something that was seen to be kept.
    """
    row = shown.catalogue.by_id.get(row_id)
    broken = {one.exchange for one in moved if one.requirement == row_id and not one.finding.violation.strict_only}
    spoken_of = (one for one in shown.exchanges if row is not None and row.speaks_of(one.form))
    return all(one in broken for one in spoken_of if one not in lost)


def _outcomes(shown: RunFindings, target: Target, broken: Container[Explained]) -> tuple[Outcome, ...]:
    """What a run comes to, given the requirements that other scenarios have shown to be broken."""
    run, rows = shown.run, shown.rows
    if run.error:
        return tuple(outcome_of(run, row, Verdict.ERROR, reason=run.error) for row in rows)
    findings = [_attributed(found, run.scenario.attribute_to, broken) for found in shown.findings]
    findings += [cause.finding for cause in shown.causes if cause.finding not in findings]
    # Found broken in passing: reported, although the scenario is not judged by them.
    broken_rows = {finding.violation.requirement for finding in findings}
    others = broken_rows - {row.id for row in rows}
    rows += tuple(row for row in shown.catalogue.requirements if row.id in others)
    hidden = _hidden(shown, broken)
    counted = {row: f"but for this, counted in {cause.scenario}: {cause}" for row, cause in shown.counted.items()}
    return tuple(
        # What a check found before it failed was found all the same.
        outcome_of(run, row, Verdict.ERROR, reason=shown.errors[row.id])
        if row.id in shown.errors.keys() - broken_rows
        else outcome(run, row, target, found=findings, hidden=hidden, counted=counted)
        for row in rows
    )


def _hidden(shown: RunFindings, broken: Container[Explained]) -> dict[str, Hidden]:
    """Requirement → why it could not be observed behind something that was found."""
    reasons = {row: Hidden(reason=_counted_once(cause)) for row, cause in shown.spoilt.items()}
    forms = {row: set(those) for row, those in shown.hidden_in.items()}
    for row_id, unseen in shown.not_shown.items():
        reasons.setdefault(row_id, Hidden(reason=next(iter(unseen.values()))))
        forms.setdefault(row_id, set()).update(unseen)
    for row_id, behind in shown.hidden.items():
        found = _attributed(behind, shown.run.scenario.attribute_to, broken).violation.requirement
        cause = shown.lost.get(behind.exchange) or shown.moved.get(behind)
        same = Hidden(reason=f"hidden behind {found}, which is broken in the same exchange", behind=found)
        reasons.setdefault(row_id, _behind(row_id, cause) if cause else same)
    for exchange, cause in shown.lost.items():
        for row in shown.rows:
            if row.speaks_of(exchange.form) and not _is_judged(row, cause, shown.followed, exchange):
                reasons.setdefault(row.id, _behind(row.id, cause))
                forms.setdefault(row.id, set()).add(exchange.form)
    return {row: replace(hidden, forms=frozenset(forms.get(row, ()))) for row, hidden in reasons.items()}


def _is_judged(row: Requirement, cause: Cause, followed: Container[tuple[Exchange, str]], exchange: Exchange) -> bool:
    """Whether a row is judged in an exchange of a cause all the same."""
    if row.stage is Stage.TARGET:
        return isinstance(cause.symptom, ANSWERED)
    if cause.symptom is SaysOther.NO_CALLS and row.stage is Stage.CONTENT:
        # Text and counts beside the calls; where they are wrong, the client may have been told so instead of a call.
        return _BESIDE_CALLS.issuperset(row.needed or {Facet.CALL}) and (exchange, row.id) not in followed
    return row.stage in {Stage.FORM, Stage.ERROR} and isinstance(cause.symptom, SaysOther)


def _behind(row: str, cause: Cause) -> Hidden:
    """Why a requirement could not be observed in an exchange of a cause."""
    if isinstance(cause.symptom, NotServed):
        return Hidden(reason=str(cause.symptom), absent=True)
    if row == cause.requirement:
        return Hidden(reason=_counted_once(cause))
    return Hidden(reason=f"hidden behind {cause.requirement}: {cause}", behind=cause.requirement)


def _counted_once(cause: Cause) -> str:
    return f"counted once, in {cause.scenario}: {cause}"


def _attributed(found: ExchangeFinding, subject: str | None, broken: Container[Explained]) -> Finding:
    """The finding, as one of the scenario's subject if it has one and nothing else explains the violation."""
    violation = found.finding.violation
    # What harms clients is not explained by what breaks the letter alone elsewhere; the other way round it may be.
    # Nor are lost words explained by lost blanks or a lost end, nor what is too much by what is lost.
    hows = {MORE} if violation.differs == MORE else {"", violation.differs}
    explains = {
        (violation.requirement, letter_only, how) for letter_only in (False, violation.strict_only) for how in hows
    }
    if subject is None or not found.attributable or any(one in broken for one in explains):
        return found.finding
    seen = f"{violation.seen} ({violation.requirement})"
    attributed = replace(violation, requirement=subject, seen=seen)
    return replace(found.finding, violation=attributed, found_by=violation.requirement)
