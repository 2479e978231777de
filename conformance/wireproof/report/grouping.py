"""What a report says once: a cause with what it hides, or one way to break a requirement with what shows it.

One row broken in two ways is two findings, each with its own evidence. What harms clients comes before what breaks the
letter alone, so that the evidence shown under a verdict made it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from wireproof.model.requirement import Harm, Level
from wireproof.model.verdict import VerdictLevel
from wireproof.results.cells import BROKEN

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence

    from wireproof.judging.causes import Cause
    from wireproof.model.catalogue import Catalogue, Requirement
    from wireproof.model.verdict import Finding, Outcome
    from wireproof.reading.exchange import Exchange
    from wireproof.results.certificate import Certificate

    Seen = tuple[Outcome, Finding | None]
    """A finding in its outcome; None: the outcome has none, since it is a declared failure that passes now."""

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")
NAMED = 6
"""How many scenarios or requirements are named; the others are counted."""


@dataclass(frozen=True, kw_only=True)
class ReportBlock:
    """What is reported together, with one finding as the example."""

    outcome: Outcome
    """As far as the findings of the block go; its verdict may be a lesser one than that of the whole."""
    finding: Finding | None
    """The example; None: there is none, as in `Seen`."""
    cause: Cause | None
    """What made several exchanges fail alike; None: no cause is known."""
    seen: Sequence[Seen]
    """All that is reported together; of a cause its one finding."""

    @property
    def harmless(self) -> bool:
        """Whether it breaks the letter alone."""
        return self.finding is not None and self.finding.violation.strict_only

    @property
    def scenarios(self) -> tuple[str, ...]:
        """The scenarios that it was found in."""
        return tuple(dict.fromkeys(outcome.scenario for outcome, _ in self.seen))

    @property
    def where(self) -> str:
        """The scenarios that it concerns, in a line."""
        return hides(self.cause) if self.cause else f"in: {named(self.scenarios)}"


def broken_rows(certificate: Certificate, catalogue: Catalogue) -> Iterator[tuple[Requirement, list[ReportBlock]]]:
    """The broken requirements, known failures among them, and the blocks on each.

    What harms clients most comes first. Those of the same harm stay in the order of the catalogue: by surface and
    topic, not by when each was seen.
    """
    broken = [outcome for outcome in certificate.outcomes if outcome.verdict in BROKEN]
    harming = certificate.broken_at(VerdictLevel.COMPAT)
    for row in sorted(catalogue.requirements, key=lambda row: _weight(row, harming)):
        yield row, blocks(certificate, [outcome for outcome in broken if outcome.requirement == row.id])


def _weight(row: Requirement, harming: Container[str]) -> int:
    weighs = row.level is Level.SHOULD or row.id in harming
    return list(Harm).index(row.harm if weighs else Harm.FORM)


def blocks(certificate: Certificate, broken: Iterable[Outcome]) -> list[ReportBlock]:
    """The blocks on a requirement that is broken by these outcomes: one for each cause, then one for each way besides.

    Known failures are apart from others.
    """
    causes = {(cause.scenario, cause.finding): cause for cause in certificate.causes}
    caused: list[ReportBlock] = []
    others: dict[str, list[Seen]] = {}
    for outcome in broken:
        for finding in outcome.findings or (None,):
            cause = causes.get((outcome.scenario, finding)) if finding else None
            if cause is not None:
                caused.append(_block([(outcome, finding)], cause))
            else:
                others.setdefault(outcome.known, []).append((outcome, finding))
    return [*caused, *(_block(those) for alike in others.values() for those in by_way(alike))]


def _block(those: Sequence[Seen], cause: Cause | None = None) -> ReportBlock:
    outcome, finding = those[0]
    alone = replace(outcome, findings=(finding,) if finding else ())
    return ReportBlock(outcome=alone, finding=finding, cause=cause, seen=those)


def by_way(seen: Iterable[Seen]) -> list[Sequence[Seen]]:
    """What was seen of one requirement, way by way: those that harm clients first, else in the order given."""
    ways = grouped((_way(one[1]), one) for one in seen)
    return [ways[way] for way in sorted(ways, key=lambda way: bool(way[0]))]


def _way(finding: Finding | None) -> tuple[object, ...]:
    """What the findings of one way to break a requirement have in common; first whether it breaks the letter alone."""
    if finding is None:
        return False, "", None, None
    violation = finding.violation
    return violation.strict_only, violation.kind, violation.about, violation.status


def exchange_of(certificate: Certificate, outcome: Outcome, finding: Finding) -> Exchange:
    """The exchange of a finding."""
    run = next(run for run in certificate.runs if run.scenario.name == outcome.scenario)
    # Of what failed only beside other requests the second try may have had fewer exchanges than the first.
    every = (*run.exchanges.get(finding.form, ()), *run.set_aside.get(finding.form, ()))
    return next(exchange for exchange in every if exchange.number == finding.exchange)


def hides(cause: Cause) -> str:
    """Which exchanges a cause is about, in a line."""
    # A fault of form that leaves the answer readable hides nothing.
    verb, exchanges = ("hides", len(cause.hidden)) if cause.hidden else ("the same in", len(cause.exchanges))
    scenarios = counted(len(cause.scenarios), "scenario")
    return f"{verb} {counted(exchanges, 'exchange')} in {scenarios}: {named(cause.scenarios)}"


def named(names: Sequence[str]) -> str:
    """The first of these names, and how many more there are."""
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def counted(number: int, what: str) -> str:
    """A number of things, with the plural where there is not one."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def grouped(pairs: Iterable[tuple[_Key, _Value]]) -> dict[_Key, list[_Value]]:
    """Key → its values, both in the order in which they came."""
    found: dict[_Key, list[_Value]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found
