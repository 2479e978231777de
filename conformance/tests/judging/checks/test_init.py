from __future__ import annotations

import pytest

from assay.judging.checks import CONTENT, ERRORS, FORM, INVARIANT, SENSE
from assay.judging.checks.chat_stream import SCRIPTED
from assay.model.catalogue import load
from assay.wire.chat import CHAT_STREAM_VIOLATIONS


def test_no_requirement_is_checked_in_two_stages() -> None:
    tables = [FORM, CONTENT, SENSE, ERRORS]
    assert sum(map(len, tables)) == len({row for table in tables for row in table})


@pytest.mark.parametrize("row", sorted({*FORM, *CONTENT, *SENSE, *ERRORS, *INVARIANT}))
def test_every_check_is_of_a_requirement_of_the_catalogue(row: str) -> None:
    assert row in load().by_id


def test_what_needs_the_right_answer_is_not_called_invariant() -> None:
    assert not INVARIANT & (SENSE.keys() | SCRIPTED)
    assert not INVARIANT & {"chat.stream.text", "chat.whole.text", "chat.stream.arguments-verbatim"}


def test_what_holds_of_any_answer_is_invariant() -> None:
    assert (FORM.keys() | ERRORS.keys() | set(CHAT_STREAM_VIOLATIONS)) - SCRIPTED <= INVARIANT
    assert {"chat.stream.stop-after-first", "chat.whole.choices", "chat.whole.content-null"} <= INVARIANT


def test_half_a_requirement_is_one_of_the_grammars() -> None:
    assert set(CHAT_STREAM_VIOLATIONS) >= SCRIPTED
