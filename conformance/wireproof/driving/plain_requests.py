"""The plain requests of a scenario, sent one after the other, to the instance and in the state that each names."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wireproof.driving.saturation import Saturation, saturated
from wireproof.requests.plain import examine, following

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable, Sequence

    from wireproof.model.scenario import Request
    from wireproof.model.target import Target
    from wireproof.model.transcript import Transcript


@dataclass(frozen=True, kw_only=True)
class Asker:
    """Sends plain requests."""

    target: Target
    send: Callable[[Request], Awaitable[Transcript]]
    """Sends a request when a slot is free for it."""
    send_at_once: Callable[[Request], Awaitable[Transcript]]
    """Sends a request without waiting for anything."""
    unready: asyncio.Lock
    """Held while a scenario uses the unready instance, whose slots are few."""

    async def ask(self, requests: Sequence[Request]) -> list[Transcript]:
        """The transcripts of requests, sent one after the other.

        They end early where an answer lacks the response that the next request continues.

        Raises:
            UnseenError: the target does not show what the requests are about.
        """
        done: list[Transcript] = []
        async with AsyncExitStack() as held:
            # Held for all requests of the scenario, not for each: the saturating ones must stay until the last is
            # answered.
            if any(one.unready for one in requests):
                await held.enter_async_context(self.unready)
            saturation: Saturation | None = None
            for one in requests:
                # Once for a scenario: later requests are to find the same slots taken. It ends, and its requests with
                # it, when the stack unwinds.
                if one.full and saturation is None:
                    saturation = await held.enter_async_context(self._saturated(one))
                # Written only now, since it may name the response that an earlier answer brought
                # (responses.previous-id).
                written = following(one, done, self.target.model)
                if written is None:
                    break
                transcript = await self._one(written, saturation)
                examine(one, transcript, self.target)
                done.append(transcript)
        return done

    def _saturated(self, request: Request) -> AbstractAsyncContextManager[Saturation]:
        # Never without declared slots: `plain.unsupported_reason` has refused the scenario then.
        return saturated(lambda: self.send_at_once(request), (self.target.slots or 0) + 1)

    async def _one(self, request: Request, saturation: Saturation | None) -> Transcript:
        if saturation is None:
            return await self.send(request)
        # Without waiting for a slot of our own: the target holds the saturating requests only for a moment.
        transcript = await self.send_at_once(request)
        # After the answer: had the slots come free before it, it would say nothing of a proxy that is full.
        saturation.check()
        return transcript
