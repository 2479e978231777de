from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from wireproof.judging.checks import CHECKS, shapes
from wireproof.model.dialect import Dialect
from wireproof.reading.exchange import Exchange

Make = Callable[..., Exchange]
ROW = "shapes.late-id"
ARGUMENTS = '{"query": "same bytes", "limit": 1.50}'
LATE = ["shape-late-id", "shape-late-id-done"]
SEEN = 'the backend sent the id "call_shape" for localSearch; the answer has "call_own"'


@pytest.mark.parametrize("name", LATE)
@pytest.mark.parametrize("dialect", list(Dialect))
def test_the_backends_own_id_is_right(name: str, dialect: Dialect, right_stream: Make, right_whole: Make) -> None:
    for right in (right_stream, right_whole):
        assert list(CHECKS.look(ROW, right(name, dialect=dialect))) == []


@pytest.mark.parametrize("name", LATE)
def test_an_id_of_the_proxys_own_is_found_in_either_mode(
    name: str, stream: Make, whole: Make, call: Callable[..., Mapping[str, Any]]
) -> None:
    streamed = stream(name, call(0, "call_own", "localSearch", ARGUMENTS), {"finish": "tool_calls"})
    at_once = whole(name, None, "tool_calls", calls=[("call_own", "localSearch", ARGUMENTS)])
    for exchange in (streamed, at_once):
        (violation,) = CHECKS.look(ROW, exchange)
        assert (violation.requirement, violation.seen) == (ROW, SEEN)


def test_a_call_without_an_id_may_have_any(whole: Make) -> None:
    exchange = whole("shape-no-id", None, "tool_calls", calls=[("call_own", "localSearch", ARGUMENTS)])
    assert list(CHECKS.look(ROW, exchange)) == []


def test_the_checks_are_those_of_shapes() -> None:
    assert list(shapes.check) == [ROW]
