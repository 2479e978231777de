"""Asking: the plain requests of a scenario, one after the other, where and when they are to be asked."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.driving.saturation import Crowd, crowded
from assay.requests.plain import examine, following

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable

    from assay.model.scenario import Request
    from assay.model.target import Target
    from assay.model.transcript import Transcript


@dataclass(frozen=True, kw_only=True)
class Asker:
    """Who asks. `slots` bounds the exchanges at a time; who asks the target's twin holds `twin`: its slots are few."""

    target: Target
    send: Callable[[Request], Awaitable[Transcript]]
    slots: asyncio.Semaphore
    unready: asyncio.Lock

    async def ask(self, request: Request) -> list[Transcript]:
        """What came of a request, and of the further ones with it.

        Raises:
            UnseenError: the target does not show what they are about.
        """
        said: list[Transcript] = []
        async with AsyncExitStack() as held:
            if any(one.unready for one in request.each):
                await held.enter_async_context(self.unready)
            crowd: Crowd | None = None
            for one in request.each:
                if one.full and crowd is None:
                    crowd = await held.enter_async_context(self._crowd(one))
                transcript = await self._one(following(one, said), crowd)
                examine(one, transcript, self.target)
                said.append(transcript)
        return said

    def _crowd(self, request: Request) -> AbstractAsyncContextManager[Crowd]:
        return crowded(lambda: self.send(request), (self.target.slots or 0) + 1)

    async def _one(self, request: Request, crowd: Crowd | None) -> Transcript:
        if crowd is None:
            async with self.slots:
                return await self.send(request)
        transcript = await self.send(request)
        crowd.stands()
        return transcript
