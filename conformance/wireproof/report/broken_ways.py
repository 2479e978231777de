"""In which way a requirement is broken: one row broken in two ways is two findings, each with its own evidence.

What harms clients comes before what breaks the letter alone, so that the evidence shown under a verdict made it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from wireproof.model.verdict import Finding, Outcome
    from wireproof.wire.violation import Members, StatusDue

    Seen = tuple[Outcome, Finding | None]
    """A finding in its outcome; None: the outcome has none, since it is a declared failure that passes now."""


@dataclass(frozen=True, kw_only=True)
class BrokenWay:
    """What the findings of one way to break a requirement have in common."""

    harmless: bool = False
    """It breaks the letter alone."""
    kind: str = ""
    about: Members | None = None
    status: StatusDue | None = None


def by_way(seen: Iterable[Seen]) -> list[Sequence[Seen]]:
    """What was seen of one requirement, way by way: those that harm clients first, else in the order given."""
    ways: dict[BrokenWay, list[Seen]] = {}
    for outcome, finding in seen:
        ways.setdefault(_way(finding), []).append((outcome, finding))
    return [ways[way] for way in sorted(ways, key=lambda way: way.harmless)]


def _way(finding: Finding | None) -> BrokenWay:
    if finding is None:
        return BrokenWay()
    violation = finding.violation
    return BrokenWay(
        harmless=violation.strict_only, kind=violation.kind, about=violation.about, status=violation.status
    )  # fmt: skip
