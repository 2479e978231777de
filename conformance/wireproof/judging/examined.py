"""What one run has shown so far: what was found in it, and what could not be observed behind that."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from wireproof.judging.causes import Fault
from wireproof.judging.checks import live
from wireproof.judging.checks.answered import answered
from wireproof.model.dialect import Dialect
from wireproof.model.requirement import Harmless, Stage
from wireproof.model.scenario import Form
from wireproof.model.transcript import End
from wireproof.model.verdict import Finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from wireproof.judging.cases import Case
    from wireproof.judging.causes import Cause
    from wireproof.judging.outcomes import Run
    from wireproof.judging.registry import Checks
    from wireproof.model.catalogue import Catalogue
    from wireproof.model.requirement import Requirement
    from wireproof.reading.exchange import Exchange
    from wireproof.wire.violation import Violation

BROKEN_OFF = frozenset({End.CUT, End.TIMEOUT, End.ENDLESS})
CONTENT = frozenset({Stage.CONTENT, Stage.ANSWER})
_MEANING = CONTENT | {Stage.SENSE, Stage.SUBJECT}
"""What cannot be judged behind a violation of form. A subject is judged by the content of its scenarios."""

Place = tuple[Form, int]
"""An exchange of a run: its form, and its number."""


@dataclass(frozen=True, kw_only=True)
class Found:
    """A finding under the name that its check gives, and whether it may be attributed to the scenario's subject."""

    finding: Finding
    attributable: bool

    @property
    def place(self) -> Place:
        """The exchange of the run in which it was made."""
        return self.finding.form, self.finding.exchange

    @property
    def requirement(self) -> str:
        """The id of the requirement that it breaks."""
        return self.finding.violation.requirement


@dataclass(kw_only=True)
class Examined:
    """What a run has shown so far."""

    run: Run
    catalogue: Catalogue
    checks: Checks
    rows: tuple[Requirement, ...]
    """The rows that the scenario is judged by, in the catalogue's order."""
    findings: list[Found] = field(default_factory=list)
    hidden: dict[str, Found] = field(default_factory=dict)
    """Requirement → the first finding behind which it could not be observed."""
    cases: list[Case] = field(default_factory=list)
    """The exchanges without an answer, where one was due."""
    expected: list[Case] = field(default_factory=list)
    """Those without an answer where an error may have been due."""
    served: list[Exchange] = field(default_factory=list)
    """Those of conversations with an answer."""
    causes: tuple[Cause, ...] = ()
    """The causes whose first exchange is one of this run's; known when all runs have been examined."""
    lost: Mapping[Place, Cause] = field(default_factory=dict)
    """The exchanges that show nothing but what a cause says, which then says it for all of them; known as late."""
    moved: Mapping[int, Cause] = field(default_factory=dict)
    """Identity of a finding → the cause that counts it; known as late."""
    counted: Mapping[str, Cause] = field(default_factory=dict)
    """Requirement → the cause that counts a fault which this requirement finds broken as well; known as late."""
    spoilt: Mapping[str, Cause] = field(default_factory=dict)
    """Those of them of whose answers each has such a fault, and one that harms clients; known as late."""

    @property
    def vouched(self) -> frozenset[str]:
        """The requirements that are broken whatever the scenario's subject is."""
        subject = self.run.scenario.attribute_to
        return frozenset(found.requirement for found in self.findings if subject in {None, found.requirement})

    @property
    def faults(self) -> Iterator[Fault]:
        """What was found of its answers, with the exchanges."""
        exchanges = dict(places_of(self.run))
        return (Fault(exchange=exchanges[found.place], finding=found.finding) for found in self.findings)

    def find(self, exchange: Exchange, violations: Iterable[Violation], *, attributable: bool = False) -> list[Found]:
        """Note violations of an exchange, and return them."""
        found = [
            Found(
                finding=Finding(form=exchange.form, exchange=exchange.number, violation=violation),
                attributable=attributable,
            )
            for violation in violations
        ]
        self.findings += found
        return found

    def hide(self, exchange: Exchange, rows: Iterable[Requirement], behind: Found) -> None:
        """Note that requirements about answers of this form cannot be observed behind a finding."""
        for row in rows:
            if row.speaks_of(exchange.form):
                self.hidden.setdefault(row.id, behind)

    def hide_meaning(self, exchange: Exchange, behind: Found) -> None:
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

    def breaking(self, found: Iterable[Found], exchange: Exchange) -> Found | None:
        """The first finding behind which nothing more can be understood."""
        return next((one for one in found if not self._harmless(one, exchange)), None)

    def beside(self, found: Found) -> bool:
        """Whether a finding is about the form beside the content: nothing of what two answers share differs for it."""
        return found.finding.violation.harmless and found.finding.violation.strict_only

    def hides_parity(self, found: Found) -> bool:
        """Whether two answers to one turn may differ for what was found.

        Chat answers are compared by what they say, and a fault that clients cope with changes none of it; of two
        responses every member is compared.
        """
        row = self.catalogue.by_id.get(found.requirement)
        read_on = found.finding.violation.strict_only and row is not None and row.stage is Stage.FORM
        said = read_on and found.finding.form.dialect is not Dialect.RESPONSES
        return not (self.beside(found) or said)

    def _harmless(self, found: Found, exchange: Exchange) -> bool:
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


def places_of(run: Run) -> Iterator[tuple[Place, Exchange]]:
    """The exchanges of a run with their places."""
    return (((form, exchange.number), exchange) for form, those in run.exchanges.items() for exchange in those)
