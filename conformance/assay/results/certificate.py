"""The result of a run: every outcome, what it counts up to, and whether it certifies the target."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING

from assay.driving.drive import Progress, drive, nobody
from assay.judging.checks import CHECKS
from assay.judging.judge import judge_all
from assay.judging.known_failing import apply
from assay.model.catalogue import Catalogue, Level
from assay.model.verdict import Outcome, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from assay.judging.outcomes import Run
    from assay.judging.registry import Checks
    from assay.model.scenario import Scenario
    from assay.model.target import Target


NOT_RUN = "not looked at by any scenario of this run"
"""Why a MUST is unobserved that no outcome speaks of."""


class Exit(IntEnum):
    """Exit codes for scripts."""

    CERTIFIED = 0
    FAILED = 1
    USAGE = 2
    UNREACHABLE = 3
    """The target could not be reached or driven."""


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """What is known of a target; `date` is the catalogue's, `seconds` how long the run took."""

    target: Target
    date: str
    runs: tuple[Run, ...]
    outcomes: tuple[Outcome, ...]
    musts: frozenset[str] = field(repr=False)
    seconds: float

    @property
    def counts(self) -> Counter[Verdict]:
        """How many outcomes have each verdict; known failures are not among the failures."""
        return Counter(outcome.verdict for outcome in self.outcomes if not outcome.known)

    @property
    def known(self) -> tuple[Outcome, ...]:
        """The failures that are declared as known."""
        return tuple(outcome for outcome in self.outcomes if outcome.known)

    @property
    def unobserved(self) -> dict[str, str]:
        """MUST requirements that no scenario has observed, and why; those that were not even asked for come last."""
        seen = {o.requirement for o in self.outcomes if o.verdict not in {Verdict.NOT_OBSERVED, Verdict.ERROR}}
        reasons = {o.requirement: o.reason for o in self.outcomes if o.requirement in self.musts - seen}
        return reasons | dict.fromkeys(sorted(self.musts - seen - reasons.keys()), NOT_RUN)

    @property
    def exit(self) -> Exit:
        """The exit code that the outcomes come to."""
        if self.counts[Verdict.FAIL]:
            return Exit.FAILED
        return Exit.UNREACHABLE if self.counts[Verdict.ERROR] else Exit.CERTIFIED


def certify(
    target: Target,
    scenarios: Sequence[Scenario],
    catalogue: Catalogue,
    *,
    known: Mapping[str, str] | None = None,
    checks: Checks = CHECKS,
    jobs: int = 8,
    progress: Progress = nobody,
) -> Certificate:
    """Drive every scenario once and judge what it left behind. `judging.judge` says how to add rows and checks."""
    began = time.monotonic()
    runs = asyncio.run(drive(scenarios, target, jobs=jobs, progress=progress))
    return Certificate(
        target=target,
        date=catalogue.date,
        runs=tuple(runs),
        outcomes=apply(judge_all(runs, target, catalogue, checks=checks), known or {}),
        musts=frozenset(_musts(catalogue, target)),
        seconds=time.monotonic() - began,
    )


def _musts(catalogue: Catalogue, target: Target) -> Iterator[str]:
    """The MUSTs that are about a dialect of the target."""
    for row in catalogue.requirements:
        if row.level is Level.MUST and set(row.dialects) & set(target.dialects):
            yield row.id
