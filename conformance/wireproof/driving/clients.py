"""What a run sends, and the HTTP client that sends it."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import httpx

from wireproof.driving.direct import Direct
from wireproof.targets.address import is_local
from wireproof.targets.clients import NoCookies, settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from wireproof.model.target import Target


@dataclass(frozen=True, kw_only=True, slots=True)
class Outgoing:
    """A request ready to be sent."""

    method: str
    url: str
    """Absolute."""
    headers: Mapping[str, str]
    body: bytes


@asynccontextmanager
async def client_of(target: Target, *, kept: int = 0) -> AsyncIterator[httpx.AsyncClient]:
    """The client of all exchanges of a run, or with `kept` connections that of one scenario which uses them again."""
    limits = httpx.Limits(
        # `jobs` bounds the exchanges; a second bound here could only let a request wait inside its time limit.
        max_connections=None,
        # Each exchange has a connection of its own. A server may close an idle one at the very moment when the next
        # request is written to it, which would look like an answer that was cut off; and a client that leaves must
        # close its connection, not give it back.
        max_keepalive_connections=kept,
    )
    url = target.base_url
    if url.startswith("http://") and is_local(url) and not kept:
        client = httpx.AsyncClient(transport=Direct(), trust_env=False, cookies=NoCookies())
    else:
        client = httpx.AsyncClient(limits=limits, **settings(url))
    async with client:
        yield client
