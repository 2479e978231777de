"""One finding with its exchange: what runs collect, and what causes are found in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wireproof.model.verdict import Finding
    from wireproof.reading.exchange import Exchange


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
