"""Which requirements a fault breaks that a run goes round: those of exchanges that were sent without the way round."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof.model.verdict import Verdict
from wireproof.requests.ways_round import shows

if TYPE_CHECKING:
    from wireproof.model.target import WayTaken
    from wireproof.results.certificate import Certificate

__all__ = ["broken_by"]

_BROKEN = frozenset({Verdict.FAIL, Verdict.WARN})


def broken_by(taken: WayTaken, certificate: Certificate) -> dict[str, Verdict]:
    """Requirement → the verdict on it in the scenarios that were driven without this way round."""
    sent = {
        (run.scenario.name, form, one.number)
        for run in certificate.runs
        if run.scenario.name in taken.shown_by
        for form, exchanges in run.exchanges.items()
        for one in exchanges
        if shows(taken, one.transcript.request_body, form)
    }
    return {
        outcome.requirement: outcome.verdict
        for outcome in certificate.outcomes
        if outcome.verdict in _BROKEN
        and any((outcome.scenario, one.form, one.exchange) in sent for one in outcome.findings)
    }
