"""What a fault hides: the rows that need a part of the answer which the fault spoils, and nothing else.

A violation says which parts of its answer are lost by it, or the row of its requirement does (`spoils`). A row says
which parts must be there where it is judged (`needs`). Two things follow from what was found before: an answer that
broke off is a beginning (`Facet.END`), and what a client sends back of a spoilt answer is spoilt in the exchanges that
continue the conversation (`Facet.HISTORY`).

What two answers or a stored one differ in for a fault that was found is more than what cannot be read: a finding about
a part explains every difference in it (`explained_by`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wireproof.model.requirement import Requirement, Stage
from wireproof.wire.facet import CONTENT, UNREADABLE, UNTOUCHED, Facet

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from wireproof.model.catalogue import Catalogue
    from wireproof.model.verdict import Finding
    from wireproof.reading.exchange import Exchange

SENT_BACK = frozenset({Facet.TEXT, Facet.ARGUMENTS, Facet.CALL_ID})
"""What a client repeats of an answer in its next request."""
LEADS_ON = frozenset({Facet.CALL, Facet.END})
"""What decides what a client does next: without it, the next request is another one than the scenario's."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ExchangeFinding:
    """A finding under the name that its check gives, and the exchange in which it was made."""

    exchange: Exchange
    finding: Finding
    attributable: bool = False
    """Whether it may be attributed to the scenario's subject."""

    @property
    def requirement(self) -> str:
        """The id of the requirement that it breaks."""
        return self.finding.violation.requirement


class Spoilt:
    """The parts of an answer that are spoilt, each with the first finding that spoils it."""

    def __init__(self, catalogue: Catalogue, earlier: Mapping[Facet, ExchangeFinding]) -> None:
        """`earlier` is what is spoilt for what came before in the conversation."""
        self._rows = catalogue.by_id
        self._by: dict[Facet, ExchangeFinding] = dict(earlier)

    def add(self, found: Iterable[ExchangeFinding]) -> None:
        """Take account of findings in the answer."""
        for one in found:
            for facet in spoilt_by(one, self._rows.get(one.requirement)):
                self._by.setdefault(facet, one)

    def behind(self, row: Requirement) -> ExchangeFinding | None:
        """The finding behind which a row cannot be judged; None if it can."""
        return next((one for facet, one in self._by.items() if facet in row.needed), None)

    def unended(self, row: Requirement) -> ExchangeFinding | None:
        """The finding for which a row is judged by the beginning of an answer alone; None if by all of it."""
        return None if row.needed.isdisjoint(CONTENT) else self._by.get(Facet.END)

    def lose_report(self, *, is_report: bool) -> None:
        """The text should be the backend's report: what spoils it spoils the report.

        `is_report`: whether it can be read as one. If not, anything that is lost of what the answer says may be why.
        """
        why = {Facet.TEXT} if is_report else CONTENT | {Facet.END}
        lost = next((one for facet, one in self._by.items() if facet in why), None)
        if lost is not None:
            self._by.setdefault(Facet.RECEIVED, lost)

    @property
    def first(self) -> ExchangeFinding | None:
        """The first finding that spoils anything; None if nothing is spoilt."""
        return next(iter(self._by.values()), None)

    def __contains__(self, facet: Facet | None) -> bool:
        """Whether a part is spoilt."""
        return facet in self._by

    @property
    def for_later(self) -> dict[Facet, ExchangeFinding]:
        """What is spoilt in the exchange that continues the conversation."""
        lost = next((one for facet, one in self._by.items() if facet in LEADS_ON), None)
        if lost is not None:
            return dict.fromkeys(Facet, lost)
        # Ids first: for a wrong one a server may refuse what continues the conversation.
        back = self._by.get(Facet.CALL_ID) or next(
            (one for facet, one in self._by.items() if facet in {*SENT_BACK, Facet.HISTORY}), None
        )
        return {} if back is None else {Facet.HISTORY: back}


def spoilt_by(found: ExchangeFinding, row: Requirement | None) -> frozenset[Facet]:
    """The parts of an answer that are lost by a violation of a row."""
    violation = found.finding.violation
    if violation.spoils is not None:
        return violation.spoils
    if violation.part is not None:
        return frozenset({violation.part})
    # Of a requirement that the catalogue does not have nothing is known.
    if row is None:
        return UNREADABLE
    # A fault of form that every client copes with: it reads on behind it, and so does the suite.
    return UNTOUCHED if violation.strict_only and row.stage is Stage.FORM else row.spoilt_by_it


def explained_by(found: ExchangeFinding, row: Requirement | None) -> frozenset[Facet]:
    """The parts in which an answer may differ from another one for a violation."""
    violation = found.finding.violation
    # A member too many, or a header: nothing that a client is shown differs for it.
    if violation.strict_only and violation.about is not None:
        return UNTOUCHED
    # What the row itself names: a violation that says what is lost may be one that clients read over.
    named = (row.spoils or UNTOUCHED) if row is not None else UNREADABLE
    if row is not None and violation.spoils is None:
        named |= frozenset(row.facets)
    if violation.part is not None:
        named |= {violation.part}
    # Whatever is wrong with an answer, its events may come in another order for it.
    parts = spoilt_by(found, row) | named | {Facet.EVENTS}
    if Facet.END in parts:
        parts |= UNREADABLE | {Facet.ERROR, Facet.SETTINGS}
    if parts & {Facet.CALL, Facet.EVERY_CALL}:
        parts |= {Facet.CALL, Facet.ARGUMENTS, Facet.FINISH}
    if Facet.ENCODING in parts:
        parts |= {Facet.TEXT, Facet.ARGUMENTS}
    # A dialect may write calls into the text.
    if parts & {Facet.CALL, Facet.ARGUMENTS} and found.exchange.dialect.spec.blocks:
        parts |= {Facet.TEXT}
    return parts
