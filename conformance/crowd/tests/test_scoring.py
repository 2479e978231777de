"""What a certificate found of a draw."""

from __future__ import annotations

from wireproof.model.dialect import Dialect
from wireproof.model.scenario import Form, Mode
from wireproof.model.target import Target
from wireproof.model.verdict import Finding, Outcome, Verdict
from wireproof.results.certificate import Certificate
from wireproof.wire.violation import Violation
from wireproof_crowd.draws import Draw, DrawKind
from wireproof_crowd.scoring import lines, score, share, summary

DRAW = Draw(kind=DrawKind.RANDOM, number=3, faults=("no-role", "no-done"))
ROLE, DONE, OTHER = "chat.stream.role-first", "chat.stream.done-last", "http.models.list"


def certificate(*outcomes: Outcome) -> Certificate:
    target = Target(base_url="http://127.0.0.1:1/v1", model="codex")
    return Certificate(target=target, date="2026-11-22", runs=(), outcomes=outcomes, musts=frozenset(), seconds=1.0)


def broken(row: str, seen: str = "it is wrong") -> Outcome:
    violation = Violation(requirement=row, seen=seen)
    finding = Finding(form=Form(Dialect.OPENAI_JSON, Mode.STREAM), exchange=0, violation=violation)
    return Outcome(scenario="text-hello", requirement=row, verdict=Verdict.FAIL, findings=(finding,))


def hidden(row: str, behind: str) -> Outcome:
    reason = f"hidden behind {behind}"
    return Outcome(
        scenario="text-hello", requirement=row, verdict=Verdict.NOT_OBSERVED, reason=reason, hidden_behind=behind
    )


def test_a_fault_is_found_under_its_own_row() -> None:
    found = score(DRAW, certificate(broken(ROLE), broken(DONE)))
    assert (found.found, found.missed, found.accused) == (2, (), ())
    assert share([found]) == 1.0


def test_a_fault_that_is_hidden_is_missed_with_what_hides_it() -> None:
    found = score(DRAW, certificate(broken(ROLE), hidden(DONE, ROLE)))
    (missed,) = found.missed
    assert (missed.fault, missed.row, missed.behind) == ("no-done", DONE, f"{ROLE} (1)")
    assert missed.why == f"1 not observed; hidden behind {ROLE}"
    assert share([found]) == 0.5
    assert list(lines(found)) == [
        "random-02-003 1/2",
        f"random-02-003 missed  no-done -> {DONE}: {missed.why} | behind {ROLE} (1)",
    ]


def test_a_row_that_no_fault_breaks_is_accused() -> None:
    found = score(DRAW, certificate(broken(ROLE), broken(DONE), broken(OTHER, "no list")))
    (accused,) = found.accused
    assert accused.row == OTHER
    assert accused.where == "text-hello stream: no list"
    assert list(summary([found])) == ["random, 2 faults, 1 draws: 100.00% found, 1 clean rows accused"]
