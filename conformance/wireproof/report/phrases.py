"""A broken requirement as lines of styled text: what it asks, who breaks, what was seen and where, what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from wireproof.model.verdict import Finding, Outcome, Verdict, VerdictLevel
from wireproof.report.curl import curl
from wireproof.report.effects import seen_effects
from wireproof.report.excerpt import excerpt
from wireproof.report.grouping import exchange_of
from wireproof.wire.quoting import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wireproof.model.catalogue import Requirement
    from wireproof.model.transcript import Transcript
    from wireproof.results.certificate import Certificate

STYLES: dict[Verdict, str] = {
    Verdict.PASS: "green",
    Verdict.FAIL: "bold red",
    Verdict.WARN: "yellow",
    Verdict.NOT_APPLICABLE: "dim",
    Verdict.NOT_OBSERVED: "cyan",
    Verdict.ERROR: "bold magenta",
}
CLIENTS = 4
"""How many broken clients are listed."""


def broken_requirement(
    certificate: Certificate, requirement: Requirement, outcome: Outcome, finding: Finding | None = None
) -> Iterator[Text]:
    """The lines on one outcome that is a failure or a warning; the first is a headline, and commands are `no_wrap`.

    `finding` is the one to show; None: the first of the outcome that harms clients, else the first.
    """
    verdict = outcome.at(certificate.level)
    yield Text.assemble(
        (verdict.value.upper(), STYLES[verdict]), " ", (requirement.id, "bold"),
        f"  {requirement.level}{_elsewhere(outcome, certificate.level)}",
    )  # fmt: skip
    yield Text(requirement.text)
    hint = requirement.hint
    if outcome.findings:
        harmful = (one for one in outcome.findings if not one.violation.strict_only)
        # One alone: the others are of the same requirement in the same scenario.
        shown = finding or next(harmful, outcome.findings[0])
        exchange = exchange_of(certificate, outcome, shown)
        # What the row says of clients is about violations that harm them; a note is none of these.
        harms = outcome.at(VerdictLevel.COMPAT) is outcome.verdict
        for effect in seen_effects(requirement, [exchange], {shown.violation.kind})[:CLIENTS] if harms else ():
            yield Text(f"breaks {effect}", style="yellow")
        hint = shown.violation.hint or hint
        yield from _finding(certificate, outcome, shown, exchange.transcript)
    else:
        # A failure without a finding is a declared one that passes now: the reason says so.
        yield Text(f"{outcome.scenario}: {outcome.reason}")
    yield Text(f"to do: {hint}")


def _elsewhere(outcome: Outcome, level: VerdictLevel) -> str:
    """What the outcome is at the other level, where that differs."""
    (other,) = set(VerdictLevel) - {level}
    verdict = outcome.at(other)
    return "" if verdict is outcome.at(level) else f" ({verdict} at level {other})"


def _finding(certificate: Certificate, outcome: Outcome, finding: Finding, transcript: Transcript) -> Iterator[Text]:
    yield Text(f"seen in {outcome.scenario} ({finding.form}): {visible(finding.violation.seen)}")
    place = finding.violation.place
    body = transcript.body_at(place) if place else b""
    if place is not None and body:  # a connection that was closed has no bytes to show
        shown = excerpt(body, place)
        yield Text.assemble(f"at {shown.where}: ", (shown.before, "dim"), (shown.at, "bold red"), (shown.after, "dim"))
    yield Text(f"request: {curl(transcript, certificate.target)}", no_wrap=True)
