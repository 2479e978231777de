"""One row broken in two ways is two findings, and the evidence under a verdict made it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from wireproof.model.catalogue import load
from wireproof.model.dialect import DEFAULT
from wireproof.model.scenario import Form, Mode
from wireproof.model.verdict import Finding, Outcome, Verdict, VerdictLevel
from wireproof.report import data
from wireproof.report.grouping import blocks, by_way
from wireproof.results.document import Configuration, MadeWith
from wireproof.wire.violation import MemberFault, Members, StatusDue, Violation

if TYPE_CHECKING:
    from collections.abc import Callable

    from wireproof.reading.exchange import Exchange
    from wireproof.results.certificate import Certificate
    from wireproof.results.document import Report

    Make = Callable[..., Exchange]
    Certified = Callable[..., Certificate]

ROW = "http.error.envelope"
FORM = Form(DEFAULT, Mode.WHOLE)
NOTE = {"strict_only": True}
MISSING = {"about": Members(fault=MemberFault.MISSING, names=("type",))}


def outcome(scenario: str, *violations: Violation) -> Outcome:
    findings = tuple(Finding(form=FORM, exchange=0, violation=one) for one in violations)
    return Outcome(scenario=scenario, requirement=ROW, verdict=Verdict.FAIL, findings=findings)


def violation(seen: str, **how: object) -> Violation:
    return Violation(requirement=ROW, seen=seen, **how)  # type: ignore[arg-type]  # by name


@pytest.fixture
def envelopes(plain: Make, error_body: Callable[..., bytes], certified: Certified) -> Certificate:
    """Of three errors the first breaks the letter of the envelope alone, the last two have none that can be read."""
    noted = plain("route-unknown", 404, error_body(code=1))
    lost = [plain(name, 400, b"<html>no</html>") for name in ("body-not-json", "body-not-object")]
    judged = certified(noted, *lost)
    return replace(judged, outcomes=tuple(map(_noted, judged.outcomes)))


def _noted(one: Outcome) -> Outcome:
    """The first scenario's finding as one that breaks the letter alone."""
    if one.scenario != "route-unknown":
        return one
    notes = (replace(finding, violation=replace(finding.violation, strict_only=True)) for finding in one.findings)
    return replace(one, findings=tuple(notes))


def found(certificate: Certificate) -> Report:
    made = MadeWith(wireproof="0", python="3", system="")
    asked = Configuration(
        command="", jobs=1, at_a_time=0, selection=(), level=VerdictLevel.COMPAT, allow_partial=False, known={}
    )
    return data.report_of(certificate, load(), asked, made)


def test_what_harms_stands_first_with_its_own_evidence_and_count(envelopes: Certificate) -> None:
    harming, *others = [one for one in found(envelopes).findings if one.requirement == ROW]
    assert (harming.compat, set(harming.scenarios)) == (Verdict.FAIL, {"body-not-json", "body-not-object"})
    assert harming.excerpt is not None
    assert "<html>" in harming.excerpt.at
    assert [(one.strict, one.compat, one.scenarios) for one in others] == [
        (Verdict.FAIL, Verdict.WARN, ("route-unknown",))
    ]


def test_a_block_has_the_verdict_of_its_own_findings(envelopes: Certificate) -> None:
    broken = [one for one in envelopes.outcomes if one.requirement == ROW and one.verdict is Verdict.FAIL]
    shown = list(blocks(envelopes, broken))
    assert [block.outcome.at(VerdictLevel.COMPAT) for block in shown] == [Verdict.FAIL, Verdict.WARN]
    assert shown[0].where == "in: body-not-json, body-not-object"
    assert shown[1].where == "in: route-unknown"


@pytest.mark.parametrize(
    ("one", "other", "ways"),
    [
        ({}, {}, 1),
        ({}, NOTE, 2),
        ({"kind": "a second finish"}, {"kind": "no finish"}, 2),
        (MISSING, MISSING, 1),
        (MISSING, {"about": Members(fault=MemberFault.EXTRA, names=("type",))}, 2),
        ({"status": StatusDue(came=200, due=400)}, {"status": StatusDue(came=500, due=400)}, 2),
    ],
)
def test_a_way_is_what_the_violations_say(one: dict[str, object], other: dict[str, object], ways: int) -> None:
    seen = [
        (outcome(f"s{number}", had), had) for number, had in enumerate((violation("a", **one), violation("b", **other)))
    ]
    pairs = [(of, of.findings[0]) for of, _ in seen]
    assert len(by_way(pairs)) == ways


def test_a_declared_failure_that_passes_now_has_a_way_of_its_own() -> None:
    stale = Outcome(scenario="s", requirement=ROW, verdict=Verdict.FAIL, reason="it passes now")
    assert by_way([(stale, None)]) == [[(stale, None)]]
