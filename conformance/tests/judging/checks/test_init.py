"""The checks as a whole: each is of a row, and each row can be found broken."""

from __future__ import annotations

import pytest

from wireproof.judging.causes import CAUSED
from wireproof.judging.checks import CHECKS, GRAMMAR, live
from wireproof.judging.client_checks import CLIENT_CHECKS
from wireproof.model.catalogue import load
from wireproof.model.requirement import Requirement, Stage
from wireproof.model.side import Side
from wireproof.scenarios import PLAIN, SCENARIOS
from wireproof.wire.message import ENVELOPE, ERROR

SUBJECTS = {scenario.attribute_to for scenario in SCENARIOS}
ANSWERED = {row for scenario in PLAIN for row in (*scenario.exercises, *(one.judged for one in scenario.requests))}


@pytest.mark.each("row", sorted({*CHECKS, *CLIENT_CHECKS, *GRAMMAR, ENVELOPE, ERROR}))
def test_every_check_and_every_name_of_the_grammar_is_of_a_row(row: str) -> None:
    assert row in load().by_id


@pytest.mark.each("row", load().requirements, ids=lambda row: row.id)
def test_every_row_can_be_found_broken(row: Requirement) -> None:
    if row.side is Side.CLIENT:
        assert row.id in CLIENT_CHECKS
        return
    match row.stage:
        case Stage.SUBJECT:
            assert row.id in SUBJECTS
            assert row.id not in CHECKS, "no stage runs its check"
        case Stage.ANSWER:
            assert row.id in ANSWERED
        case Stage.FORM:
            assert row.id in CHECKS or row.id in GRAMMAR
        case Stage.TARGET:
            assert row.id in CHECKS or not CAUSED.isdisjoint(row.facets)
        case _:
            assert row.id in CHECKS or live.judges(row)


def test_what_needs_the_right_answer_cannot_be_judged_without_it() -> None:
    needs_script = {row.id for row in load().requirements if row.needs_script}
    assert {row.id for row in load().requirements if row.stage in {Stage.SENSE, Stage.PARITY}} <= needs_script
    assert {"chat.stream.text", "chat.whole.text", "chat.stream.arguments-verbatim"} <= needs_script
    halves = {"chat.stream.utf8", "chat.stream.usage", "responses.stream.sums", "responses.stream.terminal"}
    assert halves <= needs_script & GRAMMAR, "the grammar sees half of them, the script the other"


def test_what_holds_of_any_answer_can_be_judged_without_the_right_one() -> None:
    invariant = {row.id for row in load().requirements if not row.needs_script}
    assert {row.id for row in load().requirements if row.stage in {Stage.FORM, Stage.ERROR}} <= invariant
    assert {"chat.stream.stop-after-first", "chat.stream.call-opening", "chat.whole.content-null"} <= invariant
