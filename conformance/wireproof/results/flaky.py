"""A run that was repeated: which of the runs stands for all, and what is broken in some of them and not in all."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from wireproof.model.scenario import Form
from wireproof.model.verdict import Verdict
from wireproof.results.cells import cells
from wireproof.results.certificate import GRAVEST
from wireproof.results.document import Cell, Flaky

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from wireproof.model.catalogue import Catalogue
    from wireproof.model.verdict import Finding, Outcome
    from wireproof.results.certificate import Certificate

    _Key = tuple[str, Form]

BROKEN = frozenset({Verdict.FAIL, Verdict.WARN})


def of_all(every: Sequence[Certificate]) -> Certificate:
    """The certificate that stands for several runs: the worst of them, the first of these, with all beside it."""
    if len(every) == 1:
        return every[0]
    return replace(min(every, key=lambda one: GRAVEST.index(one.exit)), every=tuple(every))


def flaky(certificate: Certificate, catalogue: Catalogue) -> tuple[Flaky, ...]:
    """What is broken in some runs and not in all, in the order of the catalogue; nothing for a single run."""
    if not certificate.every:
        return ()
    by_run = [_by_key(cells(one, catalogue)) for one in certificate.every]
    keys = dict.fromkeys(key for found in by_run for key in found)
    order = {row.id: number for number, row in enumerate(catalogue.requirements)}
    unsteady = [key for key in keys if _is_flaky([found.get(key) for found in by_run])]
    seen = _seen(certificate.every)
    return tuple(
        Flaky(
            requirement=requirement,
            dialect=form.dialect,
            mode=form.mode,
            strict=tuple(_verdict(found.get((requirement, form)), compat=False) for found in by_run),
            compat=tuple(_verdict(found.get((requirement, form)), compat=True) for found in by_run),
            seen=next((finding.violation.seen for _, finding in seen[requirement, form]), ""),
            scenarios=tuple(dict.fromkeys(outcome.scenario for outcome, _ in seen[requirement, form])),
        )
        for requirement, form in sorted(unsteady, key=lambda key: order[key[0]])
    )


def _by_key(found: Sequence[Cell]) -> Mapping[_Key, Cell]:
    return {(cell.requirement, Form(cell.dialect, cell.mode)): cell for cell in found}


def _is_flaky(found: Sequence[Cell | None]) -> bool:
    """Whether a cell is broken in some runs and not in all; what is accepted is no matter of this."""
    broken = [cell is not None and cell.strict in BROKEN and not cell.known for cell in found]
    return any(broken) and not all(broken)


def _verdict(cell: Cell | None, *, compat: bool) -> Verdict:
    # Nothing is said of it: it was not looked at in that run.
    if cell is None:
        return Verdict.NOT_OBSERVED
    return cell.compat if compat else cell.strict


def _seen(every: Sequence[Certificate]) -> Mapping[_Key, Sequence[tuple[Outcome, Finding]]]:
    found: defaultdict[_Key, list[tuple[Outcome, Finding]]] = defaultdict(list)
    for outcome, finding in _findings(every):
        found[outcome.requirement, finding.form].append((outcome, finding))
    return found


def _findings(every: Sequence[Certificate]) -> Iterator[tuple[Outcome, Finding]]:
    for certificate in every:
        for outcome in certificate.outcomes:
            yield from ((outcome, finding) for finding in outcome.findings if not outcome.known)
