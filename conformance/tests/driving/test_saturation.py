from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from wireproof.driving.plain_requests import saturated
from wireproof.model.transcript import End, Transcript
from wireproof.requests.plain import UnseenError

if TYPE_CHECKING:
    from collections.abc import Callable


def transcript(status: int) -> Transcript:
    return Transcript(
        method="POST", url="", request_headers=(), request_body=b"", status=status, headers=(), pieces=(),
        end=End.COMPLETE, seconds=0.0,
    )  # fmt: skip


class Proxy:
    """Lets `slots` requests in, which wait until it gives up, and turns the others away."""

    def __init__(self, slots: int, refusal: int = 429) -> None:
        self.slots, self.refusal, self.answered = slots, refusal, 0
        self.given_up = asyncio.Event()

    async def send(self) -> Transcript:
        self.slots -= 1
        status = self.refusal
        if self.slots >= 0:
            await self.given_up.wait()
            status = 503
        self.answered += 1
        return transcript(status)


@pytest.mark.parametrize("refusal", [429, 503, 404])
def test_saturation_lasts_while_one_request_is_refused_and_the_others_wait(refusal: int) -> None:
    async def play() -> None:
        proxy = Proxy(slots=3, refusal=refusal)
        async with saturated(proxy.send, 4) as saturation:
            assert saturation.refusal == refusal
            assert proxy.answered == 1
            saturation.check()
            proxy.given_up.set()
        assert proxy.answered == 4

    asyncio.run(play())


def test_saturation_is_over_when_the_requests_are_answered() -> None:
    async def play() -> None:
        proxy = Proxy(slots=2)
        async with saturated(proxy.send, 3) as saturation:
            proxy.given_up.set()
            await asyncio.wait(saturation.requests)
            with pytest.raises(UnseenError, match="does not let requests wait"):
                saturation.check()

    asyncio.run(play())


@pytest.mark.parametrize("make", [lambda: Proxy(slots=0, refusal=503), lambda: Proxy(slots=0)])
def test_where_no_request_waits_there_is_no_saturation(make: Callable[[], Proxy]) -> None:
    async def play() -> None:
        with pytest.raises(UnseenError):
            async with saturated(make().send, 3):
                pytest.fail("there is no saturation")

    asyncio.run(play())
