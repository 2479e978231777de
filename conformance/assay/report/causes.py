"""What a report says once: a cause with what it hides, or a broken requirement with the scenarios that show it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.judging.causes import Cause
    from assay.model.verdict import Finding, Outcome
    from assay.results.certificate import Certificate

SCENARIOS = 6
"""How many scenarios are named; the others are counted."""


@dataclass(frozen=True, kw_only=True)
class Block:
    """What is said together, with one finding as the example."""

    outcome: Outcome
    finding: Finding | None
    """None: the outcome has none, since it is a declared failure that passes now."""
    where: str
    """The scenarios that it concerns, in a line."""


def blocks(certificate: Certificate, broken: Sequence[Outcome]) -> Iterator[Block]:
    """The blocks on a broken requirement: one for each cause, and one for all else that was found of it.

    Args:
        certificate: The result.
        broken: The outcomes that say that it is broken.
    """
    causes = {(cause.scenario, cause.finding): cause for cause in certificate.causes}
    others: list[Block] = []
    for outcome in broken:
        for finding in outcome.findings or (None,):
            cause = causes.get((outcome.scenario, finding)) if finding else None
            if cause is not None:
                yield Block(outcome=outcome, finding=finding, where=hides(cause))
            else:
                others.append(Block(outcome=outcome, finding=finding, where=""))
    if others:
        scenarios = list(dict.fromkeys(other.outcome.scenario for other in others))
        yield replace(others[0], where=f"in: {named(scenarios)}")


def hides(cause: Cause) -> str:
    """What a cause hides, in a line."""
    exchanges, scenarios = len(cause.hidden), len(cause.scenarios)
    return (
        f"hides {exchanges} {'exchange' if exchanges == 1 else 'exchanges'}"
        f" in {scenarios} {'scenario' if scenarios == 1 else 'scenarios'}: {named(cause.scenarios)}"
    )


def named(scenarios: Sequence[str]) -> str:
    """The first of these scenarios by name, the others by number."""
    more = f" and {len(scenarios) - SCENARIOS} more" if len(scenarios) > SCENARIOS else ""
    return ", ".join(scenarios[:SCENARIOS]) + more
