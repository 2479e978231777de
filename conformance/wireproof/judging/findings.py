"""What one run has shown so far: what was found in it, and what could not be observed behind that."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING

from wireproof.judging.checks import live
from wireproof.judging.checks.answered import answered
from wireproof.judging.registry import Checks, NotShownError
from wireproof.judging.spoiling import ExchangeFinding, explained_by
from wireproof.judging.unjudged import ours
from wireproof.model.requirement import Requirement, Stage
from wireproof.model.verdict import Finding
from wireproof.wire.facet import UNREADABLE, Facet

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from wireproof.judging.cases import SymptomCase
    from wireproof.judging.causes import Cause
    from wireproof.judging.outcomes import ScenarioRun
    from wireproof.model.catalogue import Catalogue
    from wireproof.model.scenario import Form
    from wireproof.reading.exchange import Exchange
    from wireproof.wire.violation import Violation

CONTENT = frozenset({Stage.CONTENT, Stage.ANSWER})
_MEANING = CONTENT | {Stage.SENSE, Stage.SUBJECT}
"""What cannot be judged behind a violation of form. A subject is judged by the content of its scenarios."""


Explained = tuple[str, bool, str]
"""A requirement that is broken, whether only its letter is, and in what a text differs (`Violation.differs`)."""


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
    hidden_in: dict[str, set[Form]] = field(default_factory=dict)
    """Requirement → the forms in which it could not. Without any: it is about several forms together."""
    not_shown: dict[str, dict[Form, str]] = field(default_factory=dict)
    """Requirement → the forms whose answers do not show whether it is kept → why."""
    alone: dict[Exchange, ExchangeFinding] = field(default_factory=dict)
    """The exchanges that cannot be compared with another one, each with the finding that says why: it has no answer,
    or it continues an answer that is spoilt."""
    errors: dict[str, str] = field(default_factory=dict)
    """Requirement → the sentence about a check of it that failed."""
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
    followed: frozenset[tuple[Exchange, str]] = frozenset()
    """Such an exchange, and a requirement of which something was found in it that follows from the cause; as late."""
    moved: Mapping[ExchangeFinding, Cause] = field(default_factory=dict)
    """A finding → the cause that counts it; known as late."""
    counted: Mapping[str, Cause] = field(default_factory=dict)
    """Requirement → the cause that counts a fault which this requirement finds broken as well; known as late."""
    spoilt: Mapping[str, Cause] = field(default_factory=dict)
    """Those of them of whose answers each has such a fault, and one that harms clients; known as late."""

    @property
    def broken_anyway(self) -> frozenset[Explained]:
        """What is broken whatever the scenario's subject is."""
        subject = self.run.scenario.attribute_to
        return frozenset(
            (found.requirement, violation.strict_only, violation.differs)
            for found in self.findings
            for violation in (found.finding.violation,)
            if subject in {None, found.requirement}
        )

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
                self.hidden_in.setdefault(row.id, set()).add(exchange.form)

    def hide_meaning(self, exchange: Exchange, behind: ExchangeFinding) -> None:
        """Note that content and sense cannot be observed behind a finding."""
        self.hide(exchange, (row for row in self.rows if row.stage in _MEANING), behind)

    def of(self, *stages: Stage) -> Iterator[Requirement]:
        """The rows of these stages."""
        return (row for row in self.rows if row.stage in stages)

    def look(self, rows: Iterable[Requirement], exchange: Exchange) -> Iterator[Violation]:
        """What the checks of those rows find that are about answers of this form."""
        for row in rows:
            if row.speaks_of(exchange.form):
                asked = row.stage is Stage.ANSWER
                found = answered(row.id, exchange, self.checks) if asked else self._checked(row, exchange)
                yield from self.guarded(row, found, exchange.form)

    def guarded(self, row: Requirement, found: Iterable[Violation], form: Form) -> Iterator[Violation]:
        """What a check finds, until it fails itself: that is an error of ours, and no matter of the other rows."""
        try:
            yield from found
        except NotShownError as why:
            self.not_shown.setdefault(row.id, {})[form] = str(why)
        except Exception as error:  # noqa: BLE001 (whatever a check fails at, it is noted as the row's verdict)
            self.errors.setdefault(row.id, ours(f"judge {row.id}", error))

    def _checked(self, row: Requirement, exchange: Exchange) -> Iterator[Violation]:
        if exchange.asks is None:
            yield from self.checks.look(row.id, exchange)
            return
        # A model does not report what it received, as a script can.
        found = [] if row.stage is Stage.SENSE else list(self.checks.look(row.id, exchange))
        yield from found
        # What is missing beside the content leaves it to be judged, and its counts.
        if not any(UNREADABLE & (UNREADABLE if one.spoils is None else one.spoils) for one in found):
            yield from live.look(row, exchange)

    def explained(self, exchange: Exchange) -> dict[Facet, ExchangeFinding]:
        """The parts in which an answer may differ from another one, each with a finding in it that explains that."""
        found = [one for one in self.findings if one.exchange is exchange]
        return {facet: one for one in found for facet in explained_by(one, self.catalogue.by_id.get(one.requirement))}
