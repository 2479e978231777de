"""Crowding: so many requests at once that a proxy turns one away, and holds the others in all its slots.

It is done to a twin whose backend is not ready: there, requests that were let in wait, until the proxy gives up on its
backend. A proxy that does not let them wait has no slots that could be taken, and nothing is said about it.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.requests.plain import TOO_MANY_REQUESTS, UnseenError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

    from assay.model.transcript import Transcript

GRACE = 0.25
"""Seconds in which the rest of a crowd may be answered as its first one was: then nobody was let in."""


@dataclass(frozen=True, kw_only=True)
class Crowd:
    """Requests on their way; `refusal` is the status of the first that was turned away."""

    members: Sequence[asyncio.Task[Transcript]]
    refusal: int | None

    def stands(self) -> None:
        """See that those who were let in are still inside.

        Raises:
            UnseenError: somebody has left.
        """
        done = [member.result().status for member in self.members if member.done()]
        if len(done) == len(self.members) or any(status != self.refusal for status in done):
            raise UnseenError("the target's slots could not be held: it does not let requests wait for its backend")


@asynccontextmanager
async def crowded(send: Callable[[], Awaitable[Transcript]], size: int) -> AsyncIterator[Crowd]:
    """Send `size` requests at once, one more than there are slots; at the end, wait until all are answered.

    Raises:
        UnseenError: nobody was turned away, or everybody was.
    """
    members = [asyncio.ensure_future(send()) for _ in range(size)]
    try:
        done, _ = await asyncio.wait(members, return_when=asyncio.FIRST_COMPLETED)
        refusal = next(iter(done)).result().status
        if refusal != TOO_MANY_REQUESTS:
            await asyncio.wait(members, timeout=GRACE)
        crowd = Crowd(members=members, refusal=refusal)
        crowd.stands()
        yield crowd
    finally:
        await asyncio.wait(members)
