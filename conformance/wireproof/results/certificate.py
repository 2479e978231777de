"""The result of a run: every outcome, what the outcomes add up to, and the exit status that says so to a script.

One run has two verdicts: at the level `compat` and at the level `strict`. The exit status is that of the certificate's
own level.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import IntEnum
from types import MappingProxyType
from typing import TYPE_CHECKING

from wireproof.model.verdict import Outcome, Verdict, VerdictLevel

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping

    from wireproof.judging.causes import Cause
    from wireproof.judging.outcomes import ScenarioRun
    from wireproof.model.target import Target


NOT_RUN = "not looked at by any scenario of this run"
"""The reason for a MUST that no outcome is about."""


class ExitStatus(IntEnum):
    """The exit statuses of `wireproof certify`; see `MEANINGS` for what each means."""

    CERTIFIED = 0
    FAILED = 1
    USAGE = 2  # as click exits by itself
    UNREACHABLE = 3
    PARTIAL = 4
    INTERRUPTED = 130  # as shells report what Ctrl-C ended


MEANINGS: Mapping[ExitStatus, str] = MappingProxyType({
    ExitStatus.CERTIFIED: "certified: every MUST of the level was observed, none is broken",
    ExitStatus.FAILED: "not certified: a MUST of the level is broken, or a failure declared as known passes",
    ExitStatus.USAGE: "wrong usage",
    ExitStatus.UNREACHABLE: "no certificate: the target could not be reached, driven or judged",
    ExitStatus.PARTIAL: "certified in part: none is broken, but some MUSTs were not observed",
    ExitStatus.INTERRUPTED: "interrupted",
})  # fmt: skip
"""What each exit status means, for `--help` and the manual."""


GRAVEST = (
    ExitStatus.INTERRUPTED,
    ExitStatus.USAGE,
    ExitStatus.FAILED,
    ExitStatus.UNREACHABLE,
    ExitStatus.PARTIAL,
    ExitStatus.CERTIFIED,
)
"""The exit statuses, the worst first: what was seen broken outweighs what could not be seen."""


def worst(statuses: Iterable[ExitStatus]) -> ExitStatus:
    """The worst of exit statuses, which is that of all together."""
    return min(statuses, key=GRAVEST.index)


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """What a run found out about a target."""

    target: Target
    date: str
    """The catalogue's, as ISO 8601."""
    runs: tuple[ScenarioRun, ...]
    outcomes: tuple[Outcome, ...]
    musts: frozenset[str] = field(repr=False)
    """The requirements that must have been observed for the result to be complete."""
    seconds: float
    """How long the run took."""
    began: str = ""
    """When it began, in ISO 8601, UTC; "": not known."""
    interrupted: bool = False
    """The run was ended before all scenarios were driven."""
    causes: tuple[Cause, ...] = ()
    """What made exchanges fail alike; each has one finding in `outcomes`, and hides the rest of its exchanges."""
    jobs: int = 0
    """How many exchanges were to run at the same time; 0: not known."""
    at_a_time: int = 0
    """How many the target was found to serve at the same time, of as many; 0: not known."""
    selection: tuple[str, ...] = ()
    """The scenarios and requirements that were selected by name; empty for a whole run. A selection is judged like a
    whole run but is no certificate: it was not asked about the rest."""
    level: VerdictLevel = VerdictLevel.STRICT
    """The level that decides the exit status; `verdict` has both."""
    every: tuple[Certificate, ...] = field(default=(), repr=False)
    """All runs of one that was repeated, in their order, this one, the worst, among them; empty for a single run."""
    strict_musts: frozenset[str] = field(default=frozenset(), repr=False)
    """Those of `musts` that need not be observed at the level `compat`: breaking them harms no real client."""

    @property
    def counts(self) -> Counter[Verdict]:
        """How many outcomes have each verdict at its own level; known failures are not counted as failures."""
        return self.counts_at(self.level)

    def counts_at(self, level: VerdictLevel) -> Counter[Verdict]:
        """How many outcomes have each verdict at a level; known failures are not counted as failures."""
        # What was declared is counted on a line of its own, or a file of known failures could never lead to
        # "certified".
        return Counter(outcome.at(level) for outcome in self.outcomes if not outcome.known)

    def broken_at(self, level: VerdictLevel) -> frozenset[str]:
        """The requirements whose violation fails a level, known failures left out."""
        return frozenset(o.requirement for o in self.outcomes if o.at(level) is Verdict.FAIL and not o.known)

    @property
    def known(self) -> tuple[Outcome, ...]:
        """The failures that are declared as known."""
        return tuple(outcome for outcome in self.outcomes if outcome.known)

    @property
    def observed(self) -> frozenset[str]:
        """The requirements that some scenario has observed, kept or broken (or seen not to apply to this target)."""
        unseen = {Verdict.NOT_OBSERVED, Verdict.ERROR}
        return frozenset(outcome.requirement for outcome in self.outcomes if outcome.verdict not in unseen)

    @property
    def unobserved(self) -> dict[str, str]:
        """The MUSTs of its own level that no scenario has observed; see `unobserved_at`."""
        return self.unobserved_at(self.level)

    def unobserved_at(self, level: VerdictLevel) -> dict[str, str]:
        """The MUSTs of a level that no scenario has observed → why; those that no scenario was about come last."""
        missing = self.musts_at(level) - self.observed
        reasons = {name: outcome.reason for name, outcome in self._last(missing).items()}
        return reasons | dict.fromkeys(sorted(missing - reasons.keys()), NOT_RUN)

    def hidden_at(self, level: VerdictLevel) -> dict[str, str]:
        """Those MUSTs of `unobserved_at` that another requirement hides → which one."""
        last = self._last(self.musts_at(level) - self.observed)
        return {name: outcome.hidden_behind for name, outcome in last.items() if outcome.hidden_behind}

    def _last(self, missing: Container[str]) -> dict[str, Outcome]:
        """The last outcome of each: it speaks for all, as a row is missing only if none of its scenarios shows it."""
        return {outcome.requirement: outcome for outcome in self.outcomes if outcome.requirement in missing}

    def musts_at(self, level: VerdictLevel) -> frozenset[str]:
        """The requirements that must have been observed for the verdict of a level to be complete."""
        return self.musts - self.strict_musts if level is VerdictLevel.COMPAT else self.musts

    @property
    def exit(self) -> ExitStatus:
        """The verdict at its own level."""
        return self.verdict(self.level)

    def verdict(self, level: VerdictLevel) -> ExitStatus:
        """What the outcomes add up to. A broken MUST outweighs an error of ours, and that a MUST not observed."""
        counts = self.counts_at(level)
        # First, since what was seen broken stays broken whatever else could not be looked at.
        if counts[Verdict.FAIL]:
            return ExitStatus.FAILED
        if counts[Verdict.ERROR]:
            return ExitStatus.UNREACHABLE
        # A run that has observed nothing is as silent about the target as one that has missed a MUST.
        return ExitStatus.PARTIAL if self.unobserved_at(level) or not self.observed else ExitStatus.CERTIFIED

    def status(self, *, allow_partial: bool) -> ExitStatus:
        """The exit status for a person who accepts a partial result, or does not."""
        # Only the status is accepted; the report still says "certified in part".
        return ExitStatus.CERTIFIED if allow_partial and self.exit is ExitStatus.PARTIAL else self.exit
