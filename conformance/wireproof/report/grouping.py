"""What a report says once: a cause with what it hides, or a broken requirement with the scenarios that show it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wireproof.judging.causes import Cause
    from wireproof.model.verdict import Finding, Outcome
    from wireproof.results.certificate import Certificate

NAMED = 6
"""How many scenarios or requirements are named; the others are counted."""


@dataclass(frozen=True, kw_only=True)
class Block:
    """What is reported together, with one finding as the example."""

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
