"""What failed beside other requests and went well alone, where something else explains it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest

from wireproof.judging.checks import CHECKS
from wireproof.judging.crowding import crowded
from wireproof.model.transcript import Death, End, Wait
from wireproof.reading.exchange import Exchange

Make = Callable[..., Exchange]
DEATH = Death(status=1, last_words="no memory")


def said(exchange: Exchange, **how: object) -> Exchange:
    return dataclasses.replace(exchange, transcript=dataclasses.replace(exchange.transcript, beside=3, **how))  # type: ignore[arg-type]  # by name


@pytest.mark.parametrize(
    ("status", "end", "gone"),
    [
        (503, End.COMPLETE, True),
        (502, End.COMPLETE, True),
        (None, End.REFUSED, True),
        (None, End.CUT, True),
        (500, End.COMPLETE, False),
    ],
)
def test_what_could_not_be_reached_after_a_death_is_no_matter_of_capacity(
    plain: Make, status: int | None, end: End, *, gone: bool
) -> None:
    failed = said(plain("text-hello", status, b"", end=end))
    died = said(plain("call-one", None, b"", end=End.CUT), death=DEATH)
    assert crowded([failed]) == [failed]
    assert crowded([failed], died=True) == ([] if gone else [failed])
    assert crowded([died, failed]) == ([] if gone else [failed])


def looked_at(exchange: Exchange) -> list[str]:
    return [one.seen for one in CHECKS.look("target.capacity", exchange)]


def test_a_backend_that_is_started_again_has_no_lack_of_room(right_whole: Make) -> None:
    returning = right_whole("crash-first", 1)
    assert returning.turn is not None
    assert returning.turn.retry_on_503
    waited = {status: (Wait(status=status, seconds=0.1, asked=False),) for status in (429, 503)}
    assert looked_at(said(returning, waits=waited[503])) == []
    assert len(looked_at(said(returning, waits=waited[429]))) == 1
    assert len(looked_at(said(right_whole("text-hello"), waits=waited[503]))) == 1
