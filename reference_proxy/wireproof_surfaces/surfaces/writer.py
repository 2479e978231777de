"""What writes an answer: events are pushed in, bytes come out. It does no I/O and never waits.

Whoever has the events drives it: the proxy's threads pull them from a backend (`pieces`), an event loop feeds them as
they come.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from wireproof_surfaces.events import Texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from wireproof_surfaces.events import Ready, TurnEvent


class Writer(Protocol):
    """Writes one answer."""

    def feed(self, event: TurnEvent) -> bytes:
        """The bytes to send for an event; none when it has nothing to show, or when the answer is sent whole.

        Raises:
            ApiError: the turn has failed, and the answer is whole: then it is this error.
        """

    def texts(self, texts: Sequence[str], choice: int = 0) -> bytes:
        """The same as `feed` of a `Text` for each of these that is not empty, without the events."""

    def end(self) -> bytes:
        """The bytes to send when all events were fed."""


@runtime_checkable
class Keeping(Protocol):
    """A writer whose whole answer is stored."""

    keep: Callable[[dict[str, Any]], None]
    """Takes it, before its client has its end."""


def pieces(events: Iterable[Ready], writer: Writer) -> Iterator[bytes]:
    """The body: one piece for whatever was ready together and one for the end; one with nothing to send is empty.

    Raises:
        ApiError: as by `Writer.feed`.
    """
    for event in events:
        yield writer.texts(event.texts, event.choice) if isinstance(event, Texts) else writer.feed(event)
    yield writer.end()
