"""What one run has shown so far: what was found in it, and what could not be observed behind that."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING

from wireproof.judging.checks import live
from wireproof.judging.checks.answered import answered
from wireproof.judging.exchange_finding import ExchangeFinding
from wireproof.model.dialect import Dialect
from wireproof.model.requirement import Harmless, Stage
from wireproof.model.transcript import End
from wireproof.model.verdict import Finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from wireproof.judging.cases import SymptomCase
    from wireproof.judging.causes import Cause
    from wireproof.judging.outcomes import ScenarioRun
    from wireproof.judging.registry import Checks
    from wireproof.model.catalogue import Catalogue
    from wireproof.model.requirement import Requirement
    from wireproof.reading.exchange import Exchange
    from wireproof.wire.violation import Violation

BROKEN_OFF = frozenset({End.CUT, End.TIMEOUT, End.ENDLESS})
CONTENT = frozenset({Stage.CONTENT, Stage.ANSWER})
_MEANING = CONTENT | {Stage.SENSE, Stage.SUBJECT}
"""What cannot be judged behind a violation of form. A subject is judged by the content of its scenarios."""


@dataclass(kw_only=True)
class RunFindings:
    """What a run has shown so far."""

    run: ScenarioRun
    catalogue: Catalogue
    checks: Checks
    rows: tuple[Requirement, ...]
    """The rows that the scenario is judged by, in the catalogue's order."""
    findings: list[ExchangeFinding] = field(default_factory=list)
    hidden: dict[str, ExchangeFinding] = field(default_factory=dict)
    """Requirement → the first finding behind which it could not be observed."""
    cases: list[SymptomCase] = field(default_factory=list)
    """The exchanges without an answer, where one was due."""
    expected: list[SymptomCase] = field(default_factory=list)
    """Those without an answer where an error may have been due."""
    served: list[Exchange] = field(default_factory=list)
    """Those of conversations with an answer."""
    causes: tuple[Cause, ...] = ()
    """The causes whose first exchange is one of this run's; known when all runs have been looked at."""
    lost: Mapping[Exchange, Cause] = field(default_factory=dict)
    """The exchanges that show nothing but what a cause says, which then says it for all of them; known as late."""
    moved: Mapping[ExchangeFinding, Cause] = field(default_factory=dict)
    """A finding → the cause that counts it; known as late."""
    counted: Mapping[str, Cause] = field(default_factory=dict)
    """Requirement → the cause that counts a fault which this requirement finds broken as well; known as late."""
    spoilt: Mapping[str, Cause] = field(default_factory=dict)
    """Those of them of whose answers each has such a fault, and one that harms clients; known as late."""

    @property
    def broken_anyway(self) -> frozenset[str]:
        """The requirements that are broken whatever the scenario's subject is."""
        subject = self.run.scenario.attribute_to
        return frozenset(found.requirement for found in self.findings if subject in {None, found.requirement})

    @property
    def exchanges(self) -> Iterator[Exchange]:
        """The exchanges of the run, form by form."""
        return chain.from_iterable(self.run.exchanges.values())

    def find(
        self, exchange: Exchange, violations: Iterable[Violation], *, attributable: bool = False
    ) -> list[ExchangeFinding]:
        """Note violations of an exchange, and return them."""
        found = [
            ExchangeFinding(
                exchange=exchange,
                finding=Finding(form=exchange.form, exchange=exchange.number, violation=violation),
                attributable=attributable,
            )
            for violation in violations
        ]
        self.findings += found
        return found

    def hide(self, exchange: Exchange, rows: Iterable[Requirement], behind: ExchangeFinding) -> None:
        """Note that requirements about answers of this form cannot be observed behind a finding."""
        for row in rows:
            if row.speaks_of(exchange.form):
                self.hidden.setdefault(row.id, behind)

    def hide_meaning(self, exchange: Exchange, behind: ExchangeFinding) -> None:
        """Note that content and sense cannot be observed behind a finding."""
        self.hide(exchange, (row for row in self.rows if row.stage in _MEANING), behind)

    def of(self, *stages: Stage) -> Iterator[Requirement]:
        """The rows of these stages."""
        return (row for row in self.rows if row.stage in stages)

    def look(self, rows: Iterable[Requirement], exchange: Exchange) -> Iterator[Violation]:
        """What the checks of those rows find that are about answers of this form."""
        for row in rows:
            if row.speaks_of(exchange.form) and row.stage is Stage.ANSWER:
                yield from answered(row.id, exchange, self.checks)
            elif row.speaks_of(exchange.form):
                yield from self._checked(row, exchange)

    def _checked(self, row: Requirement, exchange: Exchange) -> Iterator[Violation]:
        if exchange.asks is None:
            yield from self.checks.look(row.id, exchange)
            return
        # A model does not report what it received, as a script can.
        found = [] if row.stage is Stage.SENSE else list(self.checks.look(row.id, exchange))
        yield from found
        # What is missing beside the content leaves it to be judged, and its counts.
        if all(one.harmless for one in found):
            yield from live.look(row, exchange)

    def breaking(self, found: Iterable[ExchangeFinding], exchange: Exchange) -> ExchangeFinding | None:
        """The first finding behind which nothing more can be understood."""
        return next((one for one in found if not self._harmless(one, exchange)), None)

    def beside(self, found: ExchangeFinding) -> bool:
        """Whether a finding is about the form beside the content: nothing of what two answers share differs for it."""
        return found.finding.violation.harmless and found.finding.violation.strict_only

    def hides_parity(self, found: ExchangeFinding) -> bool:
        """Whether two answers to one turn may differ for what was found.

        Chat answers are compared by what they say, and a fault that clients cope with changes none of it; of two
        responses every member is compared.
        """
        row = self.catalogue.by_id.get(found.requirement)
        read_on = found.finding.violation.strict_only and row is not None and row.stage is Stage.FORM
        said = read_on and found.finding.form.dialect is not Dialect.RESPONSES
        return not (self.beside(found) or said)

    def _harmless(self, found: ExchangeFinding, exchange: Exchange) -> bool:
        row = self.catalogue.by_id.get(found.requirement)
        violation = found.finding.violation
        if violation.harmless or (violation.strict_only and row is not None and row.stage is Stage.FORM):
            return True
        # Of a requirement that this catalogue does not have nothing is known, so it hides what comes after.
        match row.harmless if row else Harmless.NEVER:
            case Harmless.ALWAYS:
                return True
            case Harmless.COMPLETE:
                return exchange.transcript.end not in BROKEN_OFF
            case Harmless.NEVER:
                return False
