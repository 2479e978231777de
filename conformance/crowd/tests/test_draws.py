"""Draws: seeded, of faults that can all be seen, likelier those that strangers have in a careless week."""

from __future__ import annotations

import itertools
from statistics import mean

import pytest

from wireproof.model.catalogue import load
from wireproof_crowd.draws import SIZES, Draw, DrawKind, draw, drawable
from wireproof_crowd.known import alone, also, beside, frequencies, strangers
from wireproof_crowd.samples import hides, shown_in
from wireproof_mocks.miniatures import FAULTS
from wireproof_mocks.miniatures.agent_faults import AGENT_FAULTS
from wireproof_mocks.miniatures.turn_faults import GATEWAY_FAULTS

CROWDS = [(kind, size) for kind in DrawKind for size in SIZES]
A_FEW = 2
NOT_SAMPLED = {
    # More bytes than a sample has.
    "arguments-cut-at-64-kib", "arguments-cut-at-half-a-mebibyte", "long-texts-cut", "results-cut", "too-large-is-400",
    "size-before-key", "media-type-before-size", "whole-arguments-cut-at-64-kib", "whole-huge-arguments-lost",
    # When something is sent, and what becomes of a connection.
    "one-frame-behind", "body-left-open", "response-body-left-open", "departure-ignored", "departure-not-noticed",
    "message-body-left-open", "leaving-not-noticed", "query-is-part-of-the-path",
    "unread-body-is-the-next-request", "streams-spoil-their-connection", "first-body-of-a-connection-kept",
    # Several requests, or an instance whose slots are taken.
    "prompts-share-a-buffer", "capacity-before-model", "key-compared-by-prefix", "form-taken-for-json",
    "charset-is-415", "results-trimmed",
    "tools-of-codex-refused",
    # The scenarios of stop sequences, of held threads and of input in parts are younger than the samples; record these
    # on a machine that does nothing else.
    "stop-sequence-null", "stop-sequence-ends-the-turn", "no-name-of-the-stop-sequence", "end-turn-at-a-stop-sequence",
    "thread-continued-without-its-beginning", "instructions-beside-items-lost", "first-part-of-messages-only",
}  # fmt: skip
"""Faults that no recorded exchange shows, so that what hides them is not known: they are drawn beside any other."""


@pytest.mark.parametrize(("kind", "size"), CROWDS)
def test_a_draw_has_as_many_faults_as_it_should_each_of_a_row_of_its_own(kind: DrawKind, size: int) -> None:
    for number in range(A_FEW):
        one = draw(kind, size, number)
        assert len(one.faults) == len(one.rows) == size
        assert one == draw(kind, size, number)
        assert one.name == f"{kind}-{size:02}-{number:03}"


def test_draws_differ() -> None:
    assert len({draw(kind, 6, number).faults for kind in DrawKind for number in range(A_FEW)}) == 2 * A_FEW


@pytest.mark.parametrize(("kind", "size"), CROWDS)
def test_in_a_draw_each_fault_shows_beside_each(kind: DrawKind, size: int) -> None:
    for number in range(A_FEW):
        faults = [FAULTS[name] for name in draw(kind, size, number).faults]
        pairs = itertools.combinations(faults, 2)
        assert [(one.name, other.name) for one, other in pairs if hides(one, other)] == []


def test_a_fault_is_put_where_nothing_undoes_it() -> None:
    numbers_lost, renumbered = FAULTS["events-without-numbers"], FAULTS["content-index-from-one"]
    assert hides(numbers_lost, renumbered)
    assert not hides(renumbered, numbers_lost)
    # It changes what is JSON, and behind the other nothing is.
    text, bytes_of_events = FAULTS["finish-lost"], FAULTS["event-lines"]
    assert hides(bytes_of_events, text)
    assert not hides(text, bytes_of_events)


def test_of_two_that_leave_nothing_of_each_other_in_any_order_a_draw_has_one() -> None:
    end_lost, end_respelt = FAULTS["no-terminal-event"], FAULTS["in-progress-to-the-end"]
    assert hides(end_lost, end_respelt)
    assert hides(end_respelt, end_lost)


def test_every_fault_but_these_shows_in_a_sample() -> None:
    assert {fault.name for fault in drawable() if not shown_in(fault)} <= NOT_SAMPLED


def test_a_careless_week_has_the_faults_of_strangers() -> None:
    often = frequencies()

    def usual(kind: DrawKind) -> float:
        return mean(often.get(row, 0.0) for number in range(10) for row in draw(kind, 12, number).rows)

    assert usual(DrawKind.CARELESS) > 3 * usual(DrawKind.RANDOM)


def test_frequencies_are_of_rows_and_name_the_strangers() -> None:
    assert strangers().keys() <= load().by_id.keys() | {"http.health.live"}
    assert "litellm" in strangers()["http.error.envelope"]
    assert all(count >= 1 for count in frequencies().values())


def test_what_is_never_drawn_is_there_and_has_a_reason() -> None:
    assert alone().keys() <= FAULTS.keys()
    assert {fault.name for fault in (*AGENT_FAULTS, *GATEWAY_FAULTS)} <= alone().keys()
    assert {name for pair in beside() for name in pair} <= {fault.name for fault in drawable()}
    assert {(fault in FAULTS, row in load().by_id) for fault, row in also()} == {(True, True)}
    assert all([*alone().values(), *beside().values(), *also().values()])


def test_a_draw_is_named_by_what_it_has() -> None:
    one = Draw(kind=DrawKind.RANDOM, number=7, faults=("no-role", "no-done"))
    assert one.rows == {"chat.stream.role-first": "no-role", "chat.stream.done-last": "no-done"}
    assert one.name == "random-02-007"
