"""From a client's transcripts to verdicts: each row by its check, in each scenario.

Rows about clients do not hide each other: each looks at one thing that a request says, and an answer that was none
(cut, an error) is known from the endpoint's own bytes. A row has an outcome in a scenario where its check found an
occasion, kept or broken; where it found none and the scenario is about it, it was not observed, with the reason.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof.judging.client_checks import CLIENT_CHECKS
from wireproof.judging.outcomes import ScenarioRun, outcome_of
from wireproof.model.client_scenario import ClientScenario
from wireproof.model.requirement import Level, Requirement
from wireproof.model.side import Side
from wireproof.model.target import Target, root_of
from wireproof.model.verdict import Finding, HarnessError, Outcome, Verdict
from wireproof.reading.client_record import ClientRecord, record_of, sessions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wireproof.judging.client_checks.registry import Occasion
    from wireproof.model.catalogue import Catalogue
    from wireproof.model.scenario import Form


def judge_client(runs: Sequence[ScenarioRun], target: Target, catalogue: Catalogue) -> tuple[Outcome, ...]:
    """The outcomes of all runs, in their order; rows about proxies are passed over.

    Raises:
        HarnessError: a row about clients has no check.
    """
    rows = catalogue.about(Side.CLIENT).requirements
    for row in rows:
        if row.id not in CLIENT_CHECKS:
            raise HarnessError(f"{row.id} has no check, so it would always pass; register one")
    return tuple(outcome for run in runs for outcome in _outcomes(run, target, rows))


def _outcomes(run: ScenarioRun, target: Target, rows: Sequence[Requirement]) -> Iterator[Outcome]:
    records = records_of_run(run, target)
    form = next(iter(run.exchanges), None)
    why = run.error or next(iter(run.not_driven.values()), "")
    for row in rows:
        check = CLIENT_CHECKS[row.id]
        spoken_of = form is not None and row.speaks_of(form)
        occasions = [one for record in records for one in check.look(record)] if spoken_of else []
        if occasions and form is not None:
            yield _judged(run, row, form, occasions)
        elif row.id in run.scenario.exercises and (form is None or row.speaks_of(form)):
            absent = check.absent(form) if form else ""
            verdict = Verdict.NOT_APPLICABLE if absent else Verdict.NOT_OBSERVED
            yield outcome_of(run, row, verdict, reason=absent or why or check.unseen)


def records_of_run(run: ScenarioRun, target: Target) -> Sequence[ClientRecord]:
    """What the client did in a run; what was not played by scenarios may be several runs of it."""
    exchanges = sorted((one for those in run.exchanges.values() for one in those), key=lambda one: one.number)
    transcripts = [one.transcript for one in exchanges]
    prompts = run.scenario.prompts if isinstance(run.scenario, ClientScenario) else ()
    return [record_of(transcripts, root_of(target.base_url), prompts)] if prompts else sessions(transcripts)


def _judged(run: ScenarioRun, row: Requirement, form: Form, occasions: Sequence[Occasion]) -> Outcome:
    first: dict[str, Finding] = {}
    for one in occasions:
        # The same mistake goes on in every later request; the first one shows it.
        if one.wrong is not None and one.wrong.kind not in first:
            first[one.wrong.kind] = Finding(form=form, exchange=one.exchange, violation=one.wrong.of(row.id))
    broken = Verdict.FAIL if row.level is Level.MUST else Verdict.WARN
    return outcome_of(run, row, broken if first else Verdict.PASS, findings=tuple(first.values()))
