from __future__ import annotations

from datetime import UTC, datetime

import pytest

from wireproof.wire.asked_wait import asked_wait

NOW = datetime(2026, 11, 22, 12, 0, 0, tzinfo=UTC)
IN_A_MINUTE = str(int(NOW.timestamp()) + 60)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": " 0 "}, 0.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "Sun, 22 Nov 2026 12:00:05 GMT"}, 5.0),
        ({"retry-after": "Sun, 22 Nov 2026 11:59:00 GMT"}, 0.0),
        # The target's clock is an hour ahead; its own date says so.
        ({"retry-after": "Sun, 22 Nov 2026 13:00:05 GMT", "date": "Sun, 22 Nov 2026 13:00:00 GMT"}, 5.0),
        ({"retry-after": "Sun, 22 Nov 2026 12:00:05 -0000"}, 5.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "9" * 400}, None),
        ({"retry-after": "Sun, 99 Nov 2026 12:00:05 GMT"}, None),
        ({"retry-after": f"Sun, 22 Nov {'9' * 20} 12:00:05 GMT"}, None),
        ({"retry-after": f"Sun, {'9' * 20} Nov 2026 12:00:05 GMT"}, None),
        ({"retry-after": f"Sun, 22 Nov 2026 12:00:05 +{'9' * 20}"}, None),
        ({"retry-after": "Sun, 22 Nov 2026 12:00:05 GMT", "date": f"Sun, 22 Nov {'9' * 20} 12:00:00 GMT"}, 5.0),
        ({}, None),
        ({"retry-after-ms": "1500", "retry-after": "60"}, 1.5),
        ({"retry-after-ms": "soon", "retry-after": "6"}, 6.0),
        ({"x-ratelimit-reset-requests": "6m0s", "x-ratelimit-remaining-requests": "0"}, 360.0),
        ({"x-ratelimit-reset-tokens": "20ms"}, 0.02),
        ({"x-ratelimit-reset-requests": "1m30.5s"}, 90.5),
        # The limit that is not used up says nothing of this refusal; of two that are, the later one counts.
        ({"x-ratelimit-reset-requests": "1s", "x-ratelimit-remaining-requests": "9"}, None),
        ({"x-ratelimit-reset-requests": "1s", "x-ratelimit-reset-tokens": "3s"}, 3.0),
        ({"x-ratelimit-reset": "12"}, 12.0),
        ({"x-ratelimit-reset": IN_A_MINUTE}, 60.0),
        ({"x-ratelimit-reset": f"{IN_A_MINUTE}000"}, 60.0),
        ({"x-ratelimit-reset": "2026-11-22T12:00:09Z"}, 9.0),
        ({"x-ratelimit-reset": "later"}, None),
        ({"retry-after": "2", "x-ratelimit-reset-requests": "50s"}, 2.0),
    ],
)
def test_a_refusal_says_how_long_to_wait_in_many_ways(headers: dict[str, str], seconds: float | None) -> None:
    found = asked_wait(headers, NOW)
    assert found is None if seconds is None else found == pytest.approx(seconds)
