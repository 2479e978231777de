"""Saturation: so many requests at the same time that a proxy refuses one, and holds the others in all its slots.

They go to an instance whose backend is not ready: there a request that was accepted waits until the proxy gives up on
its backend. A proxy that lets no request wait has no slots that could be taken, and nothing is said about it.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wireproof.model.reasons import NOT_HELD
from wireproof.requests.plain import TOO_MANY_REQUESTS, UnseenError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

    from wireproof.model.transcript import Transcript

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
