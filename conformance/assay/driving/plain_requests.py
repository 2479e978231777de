"""The plain requests of a scenario, sent one after the other, to the instance and in the state that each names."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.driving.saturation import Saturation, saturated
from assay.requests.plain import examine, following

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable

    from assay.model.scenario import Request
    from assay.model.target import Target
    from assay.model.transcript import Transcript


@dataclass(frozen=True, kw_only=True)
class Asker:
    """Sends plain requests."""

    target: Target
    send: Callable[[Request], Awaitable[Transcript]]
    slots: asyncio.Semaphore
    """One for each exchange that may run at the same time."""
    unready: asyncio.Lock
    """Held while a scenario uses the unready instance, whose slots are few."""

    async def ask(self, request: Request) -> list[Transcript]:
        """The transcripts of a request and of the further ones with it.

        Raises:
            UnseenError: the target does not show what the requests are about.
        """
        done: list[Transcript] = []
        async with AsyncExitStack() as held:
            if any(one.unready for one in request.each):
                await held.enter_async_context(self.unready)
            saturation: Saturation | None = None
            for one in request.each:
                if one.full and saturation is None:
                    saturation = await held.enter_async_context(self._saturated(one))
                transcript = await self._one(following(one, done), saturation)
                examine(one, transcript, self.target)
                done.append(transcript)
        return done

    def _saturated(self, request: Request) -> AbstractAsyncContextManager[Saturation]:
        return saturated(lambda: self.send(request), (self.target.slots or 0) + 1)

    async def _one(self, request: Request, saturation: Saturation | None) -> Transcript:
        if saturation is None:
            async with self.slots:
                return await self.send(request)
        # Without waiting for a slot of our own: the target holds the saturating requests only for a moment.
        transcript = await self.send(request)
        saturation.check()
        return transcript
