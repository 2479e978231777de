from __future__ import annotations

import asyncio

from wireproof.driving.slots import Slots


def serve(limit: Slots, capacity: int, rounds: int) -> list[int]:
    """Rounds of as many exchanges as are allowed against a target that serves so many; how many each had."""
    allowed = []
    for _ in range(rounds):
        running, since = int(limit.allowed), limit.falls
        allowed.append(running)
        for number in range(1, running + 1):
            if number <= capacity:
                limit.served(since)
            else:
                limit.refused(number, since)
    return allowed


def test_a_target_that_serves_all_is_asked_for_all() -> None:
    limit = Slots(most=8)
    assert serve(limit, capacity=100, rounds=50) == [8] * 50
    assert limit.found == 8


def test_what_a_target_serves_is_found_and_hardly_exceeded() -> None:
    limit = Slots(most=32)
    allowed = serve(limit, capacity=4, rounds=200)
    assert limit.found in {3, 4}
    assert max(allowed[5:]) == 5, "it is tried again now and then, by one"
    assert sum(one > 4 for one in allowed) < 40
    assert sum(allowed) / len(allowed) > 2.5


def test_refusals_of_one_moment_are_one_sign() -> None:
    limit = Slots(most=8)
    for number in range(1, 9):
        limit.refused(number, 0)
    assert (limit.allowed, limit.falls) == (4.0, 1)


def test_who_is_refused_alone_is_refused_for_another_reason() -> None:
    limit = Slots(most=8)
    limit.refused(1, 0)
    assert (limit.allowed, limit.found) == (8.0, 8)


def test_one_at_a_time_is_the_least() -> None:
    limit = Slots(most=2)
    for _ in range(5):
        limit.refused(2, limit.falls)
    assert (limit.allowed, limit.found) == (1.0, 1)


def test_a_recovered_target_is_asked_for_all_again() -> None:
    limit = Slots(most=8)
    limit.refused(8, 0)
    serve(limit, capacity=100, rounds=100)
    assert (int(limit.allowed), limit.found) == (8, 8)


def test_exchanges_wait_while_as_many_run_as_are_allowed() -> None:
    async def play() -> int:
        slots, most = Slots(most=3), 0

        async def exchange() -> None:
            nonlocal most
            async with slots.take() as slot:
                with slot.request():
                    most = max(most, slots.running)
                    await asyncio.sleep(0)
                slot.served()

        await asyncio.gather(*(exchange() for _ in range(50)))
        assert (slots.taken, slots.running) == (0, 0)
        return most

    assert asyncio.run(play()) == 3


def test_after_a_fall_fewer_run_and_none_is_forgotten() -> None:
    async def play() -> list[int]:
        slots, seen = Slots(most=8), []

        async def exchange() -> None:
            async with slots.take() as slot:
                with slot.request():
                    seen.append(slots.running)
                    await asyncio.sleep(0)
                if seen[-1] > 2:
                    slot.refused()
                else:
                    slot.served()

        async with asyncio.timeout(30):
            await asyncio.gather(*(exchange() for _ in range(100)))
        return seen

    seen = asyncio.run(play())
    assert len(seen) == 100
    assert max(seen[20:]) <= 4


def test_what_waits_to_be_sent_again_does_not_run() -> None:
    async def play() -> Slots:
        slots = Slots(most=4)
        async with slots.take() as waiting, slots.take() as slot:
            with waiting.request():
                pass
            with slot.request():
                pass
            slot.refused()
        return slots

    assert asyncio.run(play()).falls == 0, "it ran alone"
