"""The verdict on each requirement in each form of answers, over all scenarios; and over all runs of a repeated one.

An outcome speaks of a scenario in all its forms. What was found has its form. A form in which nothing was found passes
where the outcome passes; where the outcome fails in another form, it passes if nothing at all was found in this one,
for then nothing hid the requirement in it. Else it is not known, and counts as not observed.

Of a run that was repeated, the worst one stands for all; what is broken in some of them and not in all is flaky.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from wireproof.model.requirement import Level
from wireproof.model.scenario import Form, Mode
from wireproof.model.verdict import Outcome, Verdict, VerdictLevel
from wireproof.results.certificate import GRAVEST, NOT_RUN
from wireproof.results.document import Cell, Flaky

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wireproof.judging.outcomes import ScenarioRun
    from wireproof.model.catalogue import Catalogue
    from wireproof.model.requirement import Requirement
    from wireproof.model.verdict import Finding
    from wireproof.results.certificate import Certificate

WORST = (
    Verdict.FAIL, Verdict.WARN, Verdict.ERROR, Verdict.PASS, Verdict.NOT_OBSERVED, Verdict.NOT_APPLICABLE,
)  # fmt: skip
"""Which verdict stands for several: what is broken, then what is known, then what is not."""
BROKEN = frozenset({Verdict.FAIL, Verdict.WARN})
JUDGED = BROKEN | {Verdict.PASS}
BESIDE = "something else is wrong with the same answers"
"""Why a form is not known to pass whose requirement is broken in another form."""


def cells(certificate: Certificate, catalogue: Catalogue) -> tuple[Cell, ...]:
    """One cell for each requirement and form that something is said about, in the order of the catalogue."""
    found = parts(certificate, catalogue)
    looked_at = {requirement for requirement, _ in found}
    forms = [Form(dialect, mode) for dialect in certificate.target.dialects for mode in Mode]
    return tuple(
        _cell(row, form, said)
        for row in catalogue.requirements
        for form in forms
        if (said := found.get((row.id, form)) or (() if row.id in looked_at else _not_run(row, form, certificate)))
    )


def parts(certificate: Certificate, catalogue: Catalogue) -> Mapping[tuple[str, Form], Sequence[Outcome]]:
    """What each scenario says of each requirement in each form: its outcome, as far as that is of this form."""
    runs = {run.scenario.name: run for run in certificate.runs}
    driven = {name: run.forms(certificate.target.dialects) for name, run in runs.items()}
    wrong = _wrong(certificate)
    found: defaultdict[tuple[str, Form], list[Outcome]] = defaultdict(list)
    for outcome in certificate.outcomes:
        run, row = runs[outcome.scenario], catalogue.by_id[outcome.requirement]
        broken = {finding.form for finding in outcome.findings}
        forms = driven[outcome.scenario]
        for form in (*(one for one in forms if row.speaks_of(one) or one in broken), *(broken - set(forms))):
            found[row.id, form].append(_part(outcome, form, run, row, wrong))
    return found


def _wrong(certificate: Certificate) -> frozenset[tuple[str, Form]]:
    """The scenarios and forms in which anything was found."""
    found = {(one.scenario, finding.form) for one in certificate.outcomes for finding in one.findings}
    caused = {(one.scenario.name, one.form) for cause in certificate.causes for one in cause.exchanges}
    return frozenset(found | caused)


def _part(
    outcome: Outcome, form: Form, run: ScenarioRun, row: Requirement, wrong: frozenset[tuple[str, Form]]
) -> Outcome:
    mine = tuple(finding for finding in outcome.findings if finding.form == form)
    here = replace(outcome, findings=mine) if len(mine) < len(outcome.findings) else outcome
    if outcome.verdict not in BROKEN or mine or not outcome.findings:
        return here
    reason = _unknown(form, run, row, hidden=(outcome.scenario, form) in wrong)
    return replace(here, verdict=Verdict.NOT_OBSERVED if reason else Verdict.PASS, reason=reason, known="")


def _unknown(form: Form, run: ScenarioRun, row: Requirement, *, hidden: bool) -> str:
    """Why it is not known that a form passes; "": it does."""
    exchanges = run.exchanges.get(form)
    if not exchanges:
        return run.not_driven.get(form, "the scenario was not driven")
    if row.arguments not in {None, exchanges[0].target.argument_mode(form.dialect)}:
        return "the target streams arguments in the other way"
    return BESIDE if hidden else ""


def _not_run(row: Requirement, form: Form, certificate: Certificate) -> Sequence[Outcome]:
    """What is said of a MUST that no scenario of a whole run was about."""
    if certificate.selection or row.level is not Level.MUST or not row.speaks_of(form):
        return ()
    return (Outcome(scenario="", requirement=row.id, verdict=Verdict.NOT_OBSERVED, reason=NOT_RUN),)


def _cell(row: Requirement, form: Form, said: Sequence[Outcome]) -> Cell:
    strict = min((part.verdict for part in said), key=WORST.index)
    compat = min((part.at(VerdictLevel.COMPAT) for part in said), key=WORST.index)
    reasons = [part.reason for part in said if part.verdict is strict and part.reason]
    known = strict in BROKEN and all(part.known for part in said if part.verdict in BROKEN)
    return Cell(
        requirement=row.id, dialect=form.dialect, mode=form.mode, strict=strict, compat=compat, known=known,
        reason=reasons[0] if reasons else "", scenarios=sum(part.verdict in JUDGED for part in said),
    )  # fmt: skip


def of_all(every: Sequence[Certificate]) -> Certificate:
    """The certificate that stands for several runs: the worst of them, the first of these, with all beside it."""
    if len(every) == 1:
        return every[0]
    return replace(min(every, key=lambda one: GRAVEST.index(one.exit)), every=tuple(every))


def flaky(certificate: Certificate, catalogue: Catalogue) -> tuple[Flaky, ...]:
    """What is broken in some runs and not in all, in the order of the catalogue; nothing for a single run."""
    by_run = [
        {(cell.requirement, Form(cell.dialect, cell.mode)): cell for cell in cells(one, catalogue)}
        for one in certificate.every
    ]
    seen: defaultdict[tuple[str, Form], list[tuple[Outcome, Finding]]] = defaultdict(list)
    for outcome in (one for run in certificate.every for one in run.outcomes if not one.known):
        for finding in outcome.findings:
            seen[outcome.requirement, finding.form].append((outcome, finding))
    order = {row.id: number for number, row in enumerate(catalogue.requirements)}
    keys = dict.fromkeys(key for found in by_run for key in found)
    columns = {key: [found.get(key) for found in by_run] for key in sorted(keys, key=lambda key: order[key[0]])}
    return tuple(
        Flaky(
            requirement=requirement,
            dialect=form.dialect,
            mode=form.mode,
            # Where nothing is said of it, it was not looked at in that run.
            strict=tuple(cell.strict if cell else Verdict.NOT_OBSERVED for cell in column),
            compat=tuple(cell.compat if cell else Verdict.NOT_OBSERVED for cell in column),
            seen=next((finding.violation.seen for _, finding in seen[requirement, form]), ""),
            scenarios=tuple(dict.fromkeys(outcome.scenario for outcome, _ in seen[requirement, form])),
        )
        for (requirement, form), column in columns.items()
        if _is_flaky(column)
    )


def _is_flaky(found: Sequence[Cell | None]) -> bool:
    """Whether a cell is broken in some runs and not in all; what is accepted is no matter of this."""
    broken = [cell is not None and cell.strict in BROKEN and not cell.known for cell in found]
    return any(broken) and not all(broken)
