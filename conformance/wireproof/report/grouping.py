"""What a report says once: a cause with what it hides, or one way to break a requirement with what shows it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from wireproof.report.broken_ways import by_way

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wireproof.judging.causes import Cause
    from wireproof.model.verdict import Finding, Outcome
    from wireproof.results.certificate import Certificate

NAMED = 6
"""How many scenarios or requirements are named; the others are counted."""


@dataclass(frozen=True, kw_only=True)
class ReportBlock:
    """What is reported together, with one finding as the example."""

    outcome: Outcome
    finding: Finding | None
    """None: the outcome has none, since it is a declared failure that passes now."""
    where: str
    """The scenarios that it concerns, in a line."""


def blocks(certificate: Certificate, broken: Sequence[Outcome]) -> Iterator[ReportBlock]:
    """The blocks on a broken requirement: one for each cause, and one for each way in which it is broken besides.

    Each has the outcome as far as its own findings go, whose verdict may be a lesser one; those that harm clients come
    first.

    Args:
        certificate: The result.
        broken: The outcomes that say that it is broken.
    """
    causes = {(cause.scenario, cause.finding): cause for cause in certificate.causes}
    caused: list[ReportBlock] = []
    others: list[tuple[Outcome, Finding | None]] = []
    for outcome in broken:
        for finding in outcome.findings or (None,):
            cause = causes.get((outcome.scenario, finding)) if finding else None
            if cause is not None:
                caused.append(_block([(outcome, finding)], where=hides(cause)))
            else:
                others.append((outcome, finding))
    besides = (_block(those, where=f"in: {named(_scenarios(those))}") for those in by_way(others))
    return iter(sorted((*caused, *besides), key=lambda block: _harms_none(block.finding)))


def _block(those: Sequence[tuple[Outcome, Finding | None]], *, where: str) -> ReportBlock:
    outcome, finding = those[0]
    return ReportBlock(outcome=replace(outcome, findings=(finding,) if finding else ()), finding=finding, where=where)


def _scenarios(those: Sequence[tuple[Outcome, Finding | None]]) -> list[str]:
    return list(dict.fromkeys(outcome.scenario for outcome, _ in those))


def _harms_none(finding: Finding | None) -> bool:
    return finding is not None and finding.violation.strict_only


def hides(cause: Cause) -> str:
    """Which exchanges a cause is about, in a line."""
    # A fault of form that leaves the answer readable hides nothing.
    verb, exchanges = ("hides", len(cause.hidden)) if cause.hidden else ("the same in", len(cause.exchanges))
    scenarios = len(cause.scenarios)
    return (
        f"{verb} {exchanges} {'exchange' if exchanges == 1 else 'exchanges'}"
        f" in {scenarios} {'scenario' if scenarios == 1 else 'scenarios'}: {named(cause.scenarios)}"
    )


def named(names: Sequence[str]) -> str:
    """The first of these names, and how many more there are."""
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
