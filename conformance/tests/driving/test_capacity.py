from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from wireproof.driving.capacity import EAGER, FIRST, LONGEST, MOST, Experience, Patience, is_busy, retry_after
from wireproof.model.transcript import End, Piece, Transcript

NOW = datetime(2026, 11, 22, 12, 0, 0, tzinfo=UTC)


def answer(status: int | None, error: Any = None, **headers: str) -> Transcript:
    body = b"" if error is None else json.dumps({"error": error}).encode()
    return Transcript(
        method="POST", url="http://proxy/v1/chat/completions", request_headers=(), request_body=b"", status=status,
        headers=tuple((name.replace("_", "-"), value) for name, value in headers.items()),
        pieces=(Piece(at=0.0, data=body),), end=End.COMPLETE, seconds=0.0,
    )  # fmt: skip


def patience(limit: float = 10.0, experience: Experience | None = None, **how: Any) -> Patience:
    return Patience(limit=limit, experience=experience or Experience(), chance=lambda: 0.0, **how)


def pauses(waiting: Patience, refusal: Transcript) -> list[float]:
    """What is waited while the target always answers so."""
    found = []
    while (wait := waiting.after(refusal, NOW)) is not None:
        found.append(wait.seconds)
    return found


@pytest.mark.parametrize(
    ("said", "busy"),
    [
        (answer(429), True),
        (answer(503, {"code": "overloaded"}), True),
        (answer(429, {"code": None, "type": "rate_limit_error"}), True),
        (answer(429, {"code": "insufficient_quota"}), False),
        (answer(429, {"code": None, "type": "insufficient_quota"}), False),
        (answer(429, "busy"), True),
        (answer(500), False),
        (answer(200), False),
        (answer(None), False),
    ],
)
def test_a_refusal_for_lack_of_capacity_is_reported_by_its_status_and_code(said: Transcript, *, busy: bool) -> None:
    assert is_busy(said) is busy


def test_what_an_answer_asks_for_is_read_whatever_the_case_of_its_names() -> None:
    assert retry_after(answer(429, Retry_After="7"), NOW) == 7.0
    assert retry_after(answer(429), NOW) is None


def test_pauses_grow_until_the_limit() -> None:
    found = pauses(patience(limit=10.0), answer(503))
    assert found == [FIRST, 0.2, 0.4, 0.8, 1.6, 3.2, MOST]
    assert sum(found[:-1]) < 10.0 <= sum(found)


def test_what_the_target_asks_for_is_granted_within_reason() -> None:
    assert pauses(patience(limit=10.0), answer(429, Retry_After="4")) == [4.0, 4.0, 4.0]
    assert pauses(patience(limit=10.0), answer(429, Retry_After="86400")) == [LONGEST]
    # Never sooner than it would be asked without that.
    assert pauses(patience(limit=0.2), answer(429, Retry_After="0")) == [FIRST, 2 * FIRST]


def test_who_knows_that_a_backend_restarts_asks_all_the_time() -> None:
    assert pauses(patience(limit=0.2, eager=True), answer(503, Retry_After="3")) == [EAGER] * 4


def test_chance_shortens_a_pause_of_our_own() -> None:
    waiting = Patience(limit=10.0, experience=Experience(), chance=lambda: 1.0)
    wait = waiting.after(answer(503), NOW)
    assert wait is not None
    assert 0 < wait.seconds < FIRST


@pytest.mark.parametrize("final", [answer(200), answer(500), answer(429, {"code": "insufficient_quota"})])
def test_any_other_answer_stands(final: Transcript) -> None:
    waiting = patience()
    assert waiting.after(answer(503), NOW) is not None
    assert waiting.after(final, NOW) is None
    assert [one.status for one in waiting.waits] == [503]


def test_what_waiting_never_ends_is_waited_for_no_more() -> None:
    known = Experience()
    assert pauses(patience(1.0, known), answer(503))
    assert pauses(patience(1.0, known), answer(503))
    assert pauses(patience(1.0, known), answer(503)) == []
    assert pauses(patience(1.0, known), answer(429)), "of another kind nothing is known yet"


def test_what_waiting_has_ended_more_often_is_waited_for() -> None:
    known = Experience()
    for _ in range(2):
        pauses(patience(1.0, known), answer(503))
    for _ in range(3):
        waiting = patience(1.0, Experience(rewarded=known.rewarded))
        waiting.after(answer(503), NOW)
        waiting.after(answer(200), NOW)
    assert pauses(patience(1.0, known), answer(503))
