"""Verdicts, and the error that is ours: a proxy's misbehaviour never raises it and it never counts against a proxy."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wireproof.model.scenario import Form
    from wireproof.wire.violation import Violation


class HarnessError(Exception):
    """The target could not be reached or driven; the message is one line for a person."""


class Verdict(StrEnum):
    """What is known of one requirement in one scenario."""

    PASS = "pass"  # noqa: S105 (not a password)
    FAIL = "fail"
    """A MUST is broken."""
    WARN = "warn"
    """A SHOULD is broken."""
    NOT_APPLICABLE = "not applicable"
    NOT_OBSERVED = "not observed"
    """It could not be seen here; never counts as a pass."""
    ERROR = "error"
    """The harness failed; nothing is said about the proxy."""


class VerdictLevel(StrEnum):
    """By what a target is judged; one run has a verdict at each."""

    COMPAT = "compat"
    """Only what would make a real client break, lose, double or misread something fails."""
    STRICT = "strict"
    """Every broken MUST fails."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """A violation and the exchange in which it was found."""

    form: Form
    exchange: int
    """The number of the exchange in its scenario, counted from 0."""
    violation: Violation
    found_by: str = ""
    """The requirement whose check found it, where the scenario attributes it to another; "": the violation's own."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """The verdict on one requirement in one scenario."""

    scenario: str
    requirement: str
    verdict: Verdict
    """At the level `strict`; `at` has that of either level."""
    findings: tuple[Finding, ...] = ()
    """What is wrong, if the verdict is FAIL or WARN."""
    reason: str = ""
    """Why the requirement was not judged; '' if it was. A known failure that passes has the reason here, too; and a
    requirement that passes but for a fault that is counted elsewhere, once for all, has that here."""
    hidden_behind: str = ""
    """The requirement that is broken where this one was to be seen, so that it was not observed; "": it is not that."""
    known: str = ""
    """The reason for which this failure is declared as known; '' if it is not."""
    compat: bool = True
    """The requirement's mark: whether real clients are harmed when it is violated."""

    def at(self, level: VerdictLevel) -> Verdict:
        """The verdict at a level: in `compat` a failure that harms no real client is a warning."""
        # A failure without a finding is a declared one that passes now: a stale line is wrong at both levels.
        harmless = self.findings and not (self.compat and any(not one.violation.strict_only for one in self.findings))
        if level is VerdictLevel.COMPAT and self.verdict is Verdict.FAIL and harmless:
            return Verdict.WARN
        return self.verdict

    @property
    def key(self) -> str:
        """How reports and known-failing files spell it."""
        return f"{self.scenario}:{self.requirement}"
