"""What a certificate found of a draw: which faults, what hid the others, and which rows it accused without a fault."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wireproof.model.verdict import Verdict
from wireproof_crowd.known import also

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from wireproof.model.verdict import Outcome
    from wireproof.results.certificate import Certificate
    from wireproof_crowd.draws import Draw

SHOWN = 300
"""Characters of what was seen."""
_BROKEN = frozenset({Verdict.FAIL, Verdict.WARN})


@dataclass(frozen=True, kw_only=True)
class Missed:
    """A fault whose row was not found broken."""

    fault: str
    row: str
    why: str
    """The commonest outcome of the row, of those in which it could have been seen broken, and its reason."""
    behind: str
    """The rows that hid it, each with the number of scenarios; "": none did."""


@dataclass(frozen=True, kw_only=True)
class Accused:
    """A row that was found broken although the proxy has no fault that breaks it."""

    row: str
    where: str
    """The first scenario, its form, and the beginning of what was seen there."""


@dataclass(frozen=True, kw_only=True)
class Score:
    """What was found of a draw."""

    draw: Draw
    missed: tuple[Missed, ...]
    accused: tuple[Accused, ...]

    @property
    def found(self) -> int:
        """How many of the faults were found under their own rows."""
        return len(self.draw.faults) - len(self.missed)


def score(draw: Draw, certificate: Certificate) -> Score:
    """What a certificate found of a draw."""
    broken: dict[str, Outcome] = {}
    for one in certificate.outcomes:
        if one.verdict in _BROKEN:
            broken.setdefault(one.requirement, one)
    missed = (_missed(fault, row, certificate) for row, fault in draw.rows.items() if row not in broken)
    explained = {*draw.rows, *(row for fault, row in also() if fault in draw.faults)}
    accused = (_accused(one) for row, one in broken.items() if row not in explained)
    return Score(draw=draw, missed=tuple(missed), accused=tuple(accused))


def share(scores: Sequence[Score]) -> float:
    """Which share of the faults was found, from 0 to 1."""
    return sum(one.found for one in scores) / sum(len(one.draw.faults) for one in scores)


def _missed(fault: str, row: str, certificate: Certificate) -> Missed:
    mine = [one for one in certificate.outcomes if one.requirement == row]
    judged = [one for one in mine if one.verdict is not Verdict.NOT_APPLICABLE] or mine
    behind = Counter(one.hidden_behind for one in judged if one.hidden_behind)
    hidden = ", ".join(f"{other} ({times})" for other, times in behind.most_common(4))
    return Missed(fault=fault, row=row, why="; ".join(_outcomes(judged)), behind=hidden)


def _outcomes(judged: Iterable[Outcome]) -> list[str]:
    """Each verdict with how many scenarios have it, and the commonest reason of those that have one."""
    verdicts = Counter(str(one.verdict) for one in judged)
    reasons = Counter(one.reason for one in judged if one.reason)
    said = [f"{times} {verdict}" for verdict, times in verdicts.most_common()]
    return said + [reason for reason, _ in reasons.most_common(1)]


def _accused(one: Outcome) -> Accused:
    found = one.findings[0]
    return Accused(row=one.requirement, where=f"{one.scenario} {found.form}: {found.violation.seen[:SHOWN]}")


# What is shown


def lines(one: Score) -> Iterator[str]:
    """What was found of a draw, then each fault that was not, then each row that was accused without a fault."""
    yield f"{one.draw.name} {one.found}/{len(one.draw.faults)}"
    for missed in one.missed:
        behind = f" | behind {missed.behind}" if missed.behind else ""
        yield f"{one.draw.name} missed  {missed.fault} -> {missed.row}: {missed.why}{behind}"
    for accused in one.accused:
        yield f"{one.draw.name} accused {accused.row}: {accused.where}"


def summary(scores: Sequence[Score]) -> Iterator[str]:
    """A line for each kind and size."""
    by_crowd: dict[str, list[Score]] = {}
    for one in scores:
        by_crowd.setdefault(f"{one.draw.kind}, {one.draw.size} faults", []).append(one)
    for crowd, those in by_crowd.items():
        accused = Counter(wrong.row for one in those for wrong in one.accused)
        yield f"{crowd}, {len(those)} draws: {share(those):.2%} found, {accused.total()} clean rows accused"
