"""Notes what goes out of an ASGI application."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any

from wireproof_endpoint.journal.entry import Ended

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from wireproof_endpoint.journal.entry import Entry
    from wireproof_endpoint.journal.ring import Journal

    Send = Callable[[dict[str, Any]], Awaitable[None]]


def noted(journal: Journal, entry: Entry, send: Send) -> Send:
    """A `send` that notes in an entry what it sends; the one that is given where nothing is kept."""
    if not entry.kept:
        return send

    async def sending(message: dict[str, Any]) -> None:
        await send(message)
        if message["type"] == "http.response.body":
            now = monotonic()
            entry.send(now, message["body"])
            if not message.get("more_body"):
                journal.end(entry, now, Ended.COMPLETED)
        elif message["type"] == "http.response.start":
            entry.open(message["status"])

    return sending
