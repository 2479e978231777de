"""The plain requests of a scenario, sent one after the other, to the instance and in the state that each names.

One state is saturation: so many requests at the same time that a proxy refuses one, and holds the others in all its
slots. They go to an instance whose backend is not ready: there a request that was accepted waits until the proxy gives
up on its backend. A proxy that lets no request wait has no slots that could be taken, and nothing is said about it.
"""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from wireproof.model.reasons import NOT_HELD
from wireproof.requests.plain import TOO_MANY_REQUESTS, UnseenError, examine, following

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

    from wireproof.model.scenario import Request
    from wireproof.model.target import Target
    from wireproof.model.transcript import Transcript

    Send = Callable[[Request], Awaitable[Transcript]]

GRACE = 0.25
"""Seconds in which the other requests may be answered as the first one was; if all are, none was accepted."""


@dataclass(frozen=True, kw_only=True)
class Saturation:
    """Requests on their way, enough to take all slots."""

    requests: Sequence[asyncio.Task[Transcript]]
    refusal: int | None
    """The status of the first answer: that of a request that was refused. None: the connection was closed."""

    def check(self) -> None:
        """See that the accepted requests still hold the slots.

        Raises:
            UnseenError: one was answered otherwise than with the refusal, or all were refused.
        """
        # `result` also raises what went wrong in a request of ours, such as a target that is gone.
        done = [request.result().status for request in self.requests if request.done()]
        if len(done) == len(self.requests) or any(status != self.refusal for status in done):
            raise UnseenError(NOT_HELD)


@asynccontextmanager
async def saturated(send: Callable[[], Awaitable[Transcript]], size: int) -> AsyncIterator[Saturation]:
    """Send `size` requests at once, one more than there are slots; at the end, wait until all are answered.

    Raises:
        UnseenError: none was refused, or all were.
    """
    # At once, and outside the run's own slots: fewer `jobs` than the target has slots would never fill them.
    requests = [asyncio.ensure_future(send()) for _ in range(size)]
    try:
        done, _ = await asyncio.wait(requests, return_when=asyncio.FIRST_COMPLETED)
        refusal = next(iter(done)).result().status
        if refusal != TOO_MANY_REQUESTS:
            # A 429 shows that slots exist. Any other status may be that of a proxy that refuses whatever comes while
            # its backend is not ready: wait and see whether all get it.
            await asyncio.wait(requests, timeout=GRACE)
        saturation = Saturation(requests=requests, refusal=refusal)
        saturation.check()
        yield saturation
    finally:
        # Not cancelled: they must give their slots back before the next scenario uses the unready instance.
        await asyncio.wait(requests)


async def ask(
    requests: Sequence[Request], target: Target, send: Send, send_at_once: Send, unready: asyncio.Lock
) -> list[Transcript]:
    """The transcripts of requests, sent one after the other.

    They end early where an answer lacks the response that the next request continues.

    `send` sends a request when a slot is free for it, `send_at_once` without waiting for anything. `unready` is held
    while a scenario uses the unready instance, whose slots are few.

    Raises:
        UnseenError: the target does not show what the requests are about.
    """
    done: list[Transcript] = []
    async with AsyncExitStack() as held:
        # Held for all requests of the scenario, not for each: the saturating ones must stay until the last is
        # answered.
        if any(one.unready for one in requests):
            await held.enter_async_context(unready)
        saturation: Saturation | None = None
        for one in requests:
            # Once for a scenario: later requests are to find the same slots taken. It ends, and its requests with
            # it, when the stack unwinds.
            if one.full and saturation is None:
                # Never without declared slots: `plain.unsupported_reason` has refused the scenario then.
                size = (target.slots or 0) + 1
                saturation = await held.enter_async_context(saturated(partial(send_at_once, one), size))
            # Written only now, since it may name the response that an earlier answer brought
            # (responses.previous-id).
            written = following(one, done, target.model)
            if written is None:
                break
            # Not waiting for a slot of our own: the target holds the saturating requests only for a moment.
            transcript = await (send_at_once if saturation else send)(written)
            if saturation:
                # After the answer: had the slots come free before it, it would say nothing of a proxy that is full.
                saturation.check()
            examine(one, transcript, target)
            done.append(transcript)
    return done
