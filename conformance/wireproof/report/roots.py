"""What explains most of what is wrong: findings that say the same of a target, put together, the largest first.

A proxy that validates no parameter breaks a requirement for each of them, and one that garbles streams breaks many of a
stream's. Each such group is one line, so that a person with seventy broken requirements knows where to begin.
Findings belong together if they have one cause (`wireproof.judging.causes`); if requests of one topic get another
status than they should; else if their requirements are of one topic.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wireproof.model.requirement import Harm, Level
from wireproof.model.verdict import Verdict
from wireproof.report.grouping import grouped
from wireproof.wire.quoting import visible

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

    from wireproof.results.document import Found, Report

SHOWN = 3
"""How many are shown."""
FEW = 4
"""Up to this many broken requirements are read one by one."""
LONGEST = 96
"""Characters of what was seen that a line has."""


@dataclass(frozen=True, kw_only=True)
class Root:
    """What several broken requirements have in common."""

    says: str
    """What it is, in a clause that holds nothing invisible."""
    broken: tuple[str, ...]
    """The requirements that it breaks, known failures left out."""
    hidden: int
    """How many further MUSTs could not be observed for it."""
    exchanges: int = 0
    """How many exchanges show it."""

    def __str__(self) -> str:
        """It in a line, with the first of its requirements."""
        count = f"{len(self.broken)} broken" + (f", {self.hidden} hidden" if self.hidden else "")
        return f"{self.says} ({count}, as {self.broken[0]})"


@dataclass(frozen=True, kw_only=True)
class Roots:
    """The largest groups, and how far they reach."""

    shown: tuple[Root, ...]
    """Empty where the findings are few enough to be read one by one."""
    explained: int
    """How many of the broken requirements they explain."""
    broken: int

    @property
    def title(self) -> str:
        """A line above them."""
        things = "one thing explains" if len(self.shown) == 1 else f"{len(self.shown)} things explain"
        hidden = sum(one.hidden for one in self.shown)
        more = f", and {'hides' if len(self.shown) == 1 else 'hide'} {hidden} more" if hidden else ""
        return f"{things} {self.explained} of {self.broken} broken requirements{more}"


def roots(report: Report) -> Roots:
    """What explains most of what is wrong with a target at the level that decides."""
    level = report.configuration.level
    failing = [one for one in report.findings if not one.known and one.at(level) is Verdict.FAIL]
    groups = grouped((_key(one), one) for one in failing)
    named = _named_for_hidden(groups.values())
    found = [_root(key, those, report, named) for key, those in groups.items()]
    broken = {name for one in found for name in one.broken}
    if len(broken) <= FEW:
        return Roots(shown=(), explained=0, broken=len(broken))
    # Of those that explain as much the one that more exchanges show; else in the order of what they do to clients.
    largest = sorted(found, key=lambda one: (-len(one.broken) - one.hidden, -one.exchanges))[:SHOWN]
    explained = {name for one in largest for name in one.broken}
    return Roots(shown=tuple(largest), explained=len(explained), broken=len(broken))


def _key(one: Found) -> tuple[str, ...]:
    if one.cause is not None:
        return ("cause", one.cause.kind or one.cause.says)
    if any(place.due is not None for place in one.places):
        return ("status", one.requirement.split(".")[0])
    return ("topic", one.requirement.rpartition(".")[0])


def _named_for_hidden(groups: Iterable[Sequence[Found]]) -> dict[str, Found]:
    """Requirement → the finding of it that hides most, the earlier of two that hide as much.

    Several causes may break one requirement, and what could not be observed behind it is said of one of them alone:
    else a late one that hid little would be named before the one that hid it all.
    """
    by_row = grouped((one.requirement, one) for those in groups for one in those)
    return {requirement: max(those, key=_reach) for requirement, those in by_row.items()}


def _reach(one: Found) -> tuple[int, int]:
    """How many exchanges a finding hides, and how many show it."""
    return (one.cause.hidden, one.cause.exchanges) if one.cause else (0, len(one.places))


def _root(key: tuple[str, ...], those: Sequence[Found], report: Report, named: Mapping[str, Found]) -> Root:
    broken = tuple(dict.fromkeys(one.requirement for one in those))
    hiding = {name for name in broken if any(one is named[name] for one in those)}
    return Root(
        says=visible(_says(key, those, broken, report)),
        broken=broken,
        hidden=_hidden(hiding, report),
        exchanges=sum(_reach(one)[1] for one in those),
    )


def _says(key: tuple[str, ...], those: Sequence[Found], broken: Sequence[str], report: Report) -> str:
    first = min(those, key=lambda one: _weight(one, report))
    match key:
        case ("cause", _) if first.cause is not None:
            return _cut(first.cause.says)
        case ("status", topic):
            return f"{topic}: {_statuses(those)}"
        case (_, topic) if len(broken) > 1:
            return f"{topic}: {_cut(first.seen)}"
        case _:
            return _cut(first.seen)


def _weight(one: Found, report: Report) -> tuple[bool, int]:
    """What harms clients comes before what breaks the letter alone."""
    return one.compat is not one.strict, list(Harm).index(report.requirements[one.requirement].harm)


def _statuses(those: Sequence[Found]) -> str:
    """Which statuses came, and which should have."""
    places = [place for one in those for place in one.places if place.due is not None]
    came, due = _most(place.came for place in places), _most(place.due for place in places)
    return f"requests are answered HTTP {came}, they should be {due}"


def _most(statuses: Iterable[int | None]) -> str:
    """The statuses, the most frequent first."""
    return " or ".join(str(status) for status, _ in Counter(statuses).most_common(3))


def _hidden(broken: Container[str], report: Report) -> int:
    """How many MUSTs were not observed since what they are about is hidden behind these requirements."""
    at = report.levels.get(report.configuration.level)
    musts = {row.id for row in report.requirements.values() if row.level is Level.MUST}
    return sum(behind in broken and name in musts for name, behind in at.hidden.items()) if at else 0


def _cut(said: str) -> str:
    return said if len(said) <= LONGEST else f"{said[:LONGEST].rstrip()}…"
