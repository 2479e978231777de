"""What writes an answer of named events: as a stream of them, or as the whole that they fold to. No I/O."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof_surfaces.errors import failure
from wireproof_surfaces.events import TextAdded
from wireproof_surfaces.surfaces.json_text import encoded
from wireproof_surfaces.surfaces.sse import named_frame

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from wireproof_surfaces.events import TurnEvent
    from wireproof_surfaces.messages.message_answer import MessageEvents
    from wireproof_surfaces.surfaces.json_text import Json
    from wireproof_surfaces.surfaces.responses_answer import ResponseEvents


class EventStream:
    """Writes the body of a stream."""

    def __init__(self, answer: MessageEvents | ResponseEvents, keep: Callable[[Json], None]) -> None:
        self._answer = answer
        self.keep = keep
        """Takes the whole answer; whoever rewrites what is sent puts one here that rewrites that as well."""
        self._begun = False

    def feed(self, event: TurnEvent) -> bytes:
        """The frames of an event."""
        # The beginning comes with the first event, whatever that shows: a stream's first piece must not be empty
        # (`timing.keep_alive`).
        return self._begin() + b"".join(map(named_frame, self._answer.feed(event)))

    def texts(self, texts: Sequence[str], choice: int = 0) -> bytes:
        """The frames of pieces of text."""
        del choice  # such an answer has one
        pieces = [text for text in texts if text]
        return self._answer.say(pieces) or b"".join([self.feed(TextAdded(text=text)) for text in pieces])

    def end(self) -> bytes:
        """The last events."""
        # It is kept before they are sent: a client may go on from an answer as soon as it has read its end.
        return self._begin() + b"".join(map(named_frame, self._answer.end(self.keep)))

    def _begin(self) -> bytes:
        if self._begun:
            return b""
        self._begun = True
        return b"".join(map(named_frame, self._answer.begin()))


class EventsWhole:
    """Writes a whole answer."""

    def __init__(self, answer: MessageEvents | ResponseEvents, keep: Callable[[Json], None]) -> None:
        self._answer = answer
        self.keep = keep
        """As of `EventStream`."""

    def feed(self, event: TurnEvent) -> bytes:
        """Take an event.

        Raises:
            ApiError: the turn has failed.
        """
        # The stream's own machine, its events unread: so both forms say the same (messages.parity, responses.parity).
        for _ in self._answer.feed(event):
            pass
        if self._answer.failed is not None:
            raise failure(self._answer.failed, self._answer.fields)
        return b""

    def texts(self, texts: Sequence[str], choice: int = 0) -> bytes:
        """Take pieces of text."""
        del choice  # such an answer has one
        # Each piece by itself only where it counts as a token.
        pieces = texts if self._answer.tokens_count else ("".join(texts),)
        return b"".join([self.feed(TextAdded(text=text)) for text in pieces if text])

    def end(self) -> bytes:
        """The body."""
        whole = self._answer.whole()
        self.keep(whole)
        return encoded(whole)
