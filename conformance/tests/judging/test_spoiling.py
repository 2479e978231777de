"""What a fault hides, rule by rule, and what it does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from wireproof.judging.spoiling import LEADS_ON, SENT_BACK, ExchangeFinding, Spoilt, explained_by, spoilt_by
from wireproof.model.catalogue import load
from wireproof.model.dialect import Dialect
from wireproof.model.requirement import Requirement, Stage
from wireproof.model.verdict import Finding
from wireproof.reading.exchange import Exchange
from wireproof.wire.facet import CONTENT, UNREADABLE, UNTOUCHED, Facet
from wireproof.wire.stream import TOGETHER
from wireproof.wire.violation import MemberFault, Members, Violation

Make = Callable[..., Exchange]
Find = Callable[..., ExchangeFinding]

ROWS = load().by_id
FORM = next(row for row in ROWS.values() if row.stage is Stage.FORM and row.spoils is None)
"""A row of form that does not say what is lost where it is broken."""
TEXT = ROWS["chat.stream.text"]
FINISH = ROWS["chat.stream.finish-reason"]
HISTORY = ROWS["turn.history-reaches-backend"]
SAYING = [row for row in ROWS.values() if row.spoils is not None or row.needs is not None]


@pytest.fixture
def find(right_stream: Make) -> Find:
    """A finding of a row, with members of its violation, in a right answer of a dialect."""

    def make(row: Requirement, dialect: Dialect = Dialect.OPENAI_JSON, **members: Any) -> ExchangeFinding:
        exchange = right_stream("text-hello", dialect=dialect)
        violation = Violation(requirement=row.id, seen="wrong", **members)
        finding = Finding(form=exchange.form, exchange=0, violation=violation)
        return ExchangeFinding(exchange=exchange, finding=finding)

    return make


def spoilt(*found: ExchangeFinding) -> Spoilt:
    made = Spoilt(load(), {})
    made.add(found)
    return made


# What is lost by a fault


def test_what_a_violation_says_is_lost_comes_before_its_part_and_its_row(find: Find) -> None:
    lost = frozenset({Facet.USAGE})
    assert spoilt_by(find(FORM, spoils=lost, part=Facet.TEXT), FORM) == lost
    assert spoilt_by(find(FORM, spoils=UNTOUCHED, part=Facet.TEXT), FORM) == UNTOUCHED
    assert spoilt_by(find(FORM, part=Facet.TEXT), FORM) == {Facet.TEXT}
    assert spoilt_by(find(FORM), FORM) == FORM.spoilt_by_it == UNREADABLE


def test_a_fault_of_form_that_clients_cope_with_spoils_nothing_and_one_of_content_what_its_row_says(find: Find) -> None:
    assert spoilt_by(find(FORM, strict_only=True), FORM) == UNTOUCHED
    assert spoilt_by(find(TEXT, strict_only=True), TEXT) == TEXT.spoilt_by_it != UNTOUCHED


def test_of_a_requirement_that_the_catalogue_lacks_nothing_is_known(find: Find) -> None:
    assert spoilt_by(find(TEXT), None) == UNREADABLE


# What is hidden


def test_a_row_is_hidden_behind_what_spoils_a_part_that_it_needs_and_by_nothing_else(find: Find) -> None:
    lost = find(FORM, spoils=frozenset({Facet.TEXT}))
    assert spoilt(lost).behind(TEXT) is lost
    assert spoilt(lost).behind(FINISH) is None
    assert spoilt(find(FORM, spoils=UNTOUCHED)).behind(TEXT) is None


def test_the_first_finding_that_spoils_a_part_is_the_one_that_hides(find: Find) -> None:
    usage, text, again = (find(FORM, spoils=frozenset({facet})) for facet in (Facet.USAGE, Facet.TEXT, Facet.TEXT))
    parts = spoilt(usage, text, again)
    assert parts.behind(TEXT) is text
    assert parts.first is usage
    assert (Facet.TEXT in parts, Facet.FINISH in parts, None in parts) == (True, False, False)
    assert spoilt().first is None


# What a backend reports


@pytest.mark.parametrize("facet", Facet)
def test_a_report_that_can_be_read_is_lost_with_the_text_alone(find: Find, facet: Facet) -> None:
    parts = spoilt(find(FORM, spoils=frozenset({facet})))
    parts.lose_report(is_report=True)
    assert (Facet.RECEIVED in parts) == (facet in {Facet.TEXT, Facet.RECEIVED})


@pytest.mark.parametrize("facet", Facet)
def test_a_report_that_cannot_be_read_is_lost_with_anything_that_an_answer_says(find: Find, facet: Facet) -> None:
    parts = spoilt(find(FORM, spoils=frozenset({facet})))
    parts.lose_report(is_report=False)
    assert (Facet.RECEIVED in parts) == (facet in {*CONTENT, Facet.END, Facet.RECEIVED})


# What continues a conversation


@pytest.mark.parametrize("facet", Facet)
def test_what_is_spoilt_later_is_what_the_client_sends_back(find: Find, facet: Facet) -> None:
    lost = find(FORM, spoils=frozenset({facet}))
    later = spoilt(lost).for_later
    if facet in LEADS_ON:
        assert later == dict.fromkeys(Facet, lost)
    elif facet in {*SENT_BACK, Facet.HISTORY}:
        assert later == {Facet.HISTORY: lost}
    else:
        assert later == {}
    after = Spoilt(load(), later)
    assert (after.behind(HISTORY) is lost) == (facet in {*LEADS_ON, *SENT_BACK, Facet.HISTORY})
    # The text of a later turn is judged, unless the client could not go on.
    assert (after.behind(TEXT) is lost) == (facet in LEADS_ON)


# What a finding explains


def test_a_member_too_many_explains_no_difference_and_another_fault_of_it_does(find: Find) -> None:
    about = Members(fault=MemberFault.EXTRA, names=("colour",))
    assert explained_by(find(TEXT, strict_only=True, about=about), TEXT) == UNTOUCHED
    assert Facet.TEXT in explained_by(find(TEXT), TEXT)


def test_what_is_wrong_with_an_answer_may_change_the_order_of_its_events(find: Find) -> None:
    assert Facet.EVENTS in explained_by(find(TEXT), TEXT)


def test_an_answer_that_broke_off_may_lack_everything_and_a_wrong_text_changes_no_finish(find: Find) -> None:
    assert explained_by(find(TEXT, spoils=frozenset({Facet.END})), TEXT) >= UNREADABLE | {Facet.ERROR}
    assert explained_by(find(TEXT), TEXT).isdisjoint({Facet.FINISH, Facet.USAGE, Facet.CALL})


@pytest.mark.parametrize("facet", [Facet.CALL, Facet.EVERY_CALL])
def test_a_call_that_is_lost_changes_the_calls_their_arguments_and_the_finish(find: Find, facet: Facet) -> None:
    explained = explained_by(find(FINISH, spoils=frozenset({facet})), FINISH)
    assert explained >= {Facet.CALL, Facet.ARGUMENTS, Facet.FINISH}
    assert Facet.USAGE not in explained


def test_characters_that_are_lost_change_text_and_arguments(find: Find) -> None:
    row = ROWS["chat.stream.utf8"]
    assert explained_by(find(row, spoils=frozenset({Facet.ENCODING})), row) >= {Facet.TEXT, Facet.ARGUMENTS}


@pytest.mark.parametrize(("dialect", "in_text"), [(Dialect.OBSIDIAN_XML, True), (Dialect.OPENAI_JSON, False)])
def test_calls_that_are_written_into_the_text_change_it(find: Find, dialect: Dialect, *, in_text: bool) -> None:
    found = find(FINISH, dialect, spoils=frozenset({Facet.ARGUMENTS}))
    assert (Facet.TEXT in explained_by(found, FINISH)) == in_text


# What the catalogue says


def test_what_a_row_spoils_and_needs_can_be_spoilt_and_can_be_needed() -> None:
    # An exchange as a whole, its process and its room are lost with the answer: no row is judged without one.
    of_answers = set(Facet) - {Facet.ANSWER, Facet.PROCESS, Facet.ROOM, Facet.OWNER}
    assert SAYING
    for row in SAYING:
        assert row.spoilt_by_it <= of_answers, row.id
        assert row.needed <= of_answers, row.id
        # Only what the client sends back spoils a history.
        assert Facet.HISTORY not in row.spoilt_by_it, row.id
        if row.stage is Stage.FORM:
            assert row.needed == UNTOUCHED, f"form is judged first, so {row.id} needs nothing"


def test_each_part_that_a_row_needs_is_spoilt_by_a_fault() -> None:
    lost = {facet for row in ROWS.values() for facet in row.spoilt_by_it} | TOGETHER
    needed = {facet for row in ROWS.values() for facet in row.needed}
    assert needed - lost <= {Facet.HISTORY, Facet.RECEIVED}
