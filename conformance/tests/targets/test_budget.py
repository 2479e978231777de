from __future__ import annotations

import asyncio
import json

import pytest

from wireproof.targets import budget as module
from wireproof.targets.budget import Budget, SpentError

BODY = json.dumps({"max_tokens": 20, "messages": ["x" * 40]}).encode()
COST = len(BODY) // 3 + 20


def test_requests_are_counted_until_the_bound() -> None:
    async def spend(budget: Budget) -> None:
        await budget.take(BODY)
        await budget.take(BODY)
        with pytest.raises(SpentError, match="2 requests are spent; --max-requests"):
            await budget.take(BODY)
        assert (budget.sent, budget.spent) == (2, 2 * COST)

    asyncio.run(spend(Budget(requests=2)))


def test_a_request_that_would_exceed_the_tokens_is_not_taken() -> None:
    async def spend(budget: Budget) -> None:
        await budget.take(BODY)
        with pytest.raises(SpentError, match="tokens are spent; --max-tokens"):
            await budget.take(BODY)
        # One that costs less may still be sent.
        await budget.take(b'{"max_tokens": 1}')
        assert budget.sent == 2

    asyncio.run(spend(Budget(tokens=COST + 10)))


def test_what_an_answer_counts_corrects_what_was_taken_for_it() -> None:
    async def spend(budget: Budget) -> None:
        await budget.take(BODY)
        budget.settle(BODY, 7)
        assert budget.spent == 7
        await budget.take(BODY)
        budget.settle(BODY, 0)
        assert (budget.sent, budget.spent) == (2, 7)

    asyncio.run(spend(Budget(tokens=COST + 10)))


def test_without_bounds_nothing_is_refused() -> None:
    async def spend(budget: Budget) -> None:
        for _ in range(1000):
            await budget.take(BODY)

    asyncio.run(spend(Budget()))


def test_requests_are_spread_over_the_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr(module, "now", lambda: 100.0)
    monkeypatch.setattr(asyncio, "sleep", sleep)

    async def spend(budget: Budget) -> None:
        await asyncio.gather(*(budget.take(BODY) for _ in range(4)))

    asyncio.run(spend(Budget(rate=30)))
    # The clock stands still: each waits for all that were taken before it.
    assert waits == [0.0, 2.0, 4.0, 6.0]
