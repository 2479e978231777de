"""A message as the events of its stream; the whole message is what they fold to. Pure.

    message_start → blocks → message_delta → message_stop, or at any time → error

The blocks end with the turn's answer, but the last two events wait until the turn's usage is known.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from wireproof_surfaces.errors import MESSAGES_FIELDS, failure
from wireproof_surfaces.events import (
    ArgumentsAdded,
    CallBegan,
    CallClosed,
    ChoiceFailed,
    ChoiceFinished,
    FailureReason,
    TextAdded,
    Thought,
    TurnEvent,
)
from wireproof_surfaces.messages.error_form import error_event
from wireproof_surfaces.messages.message_blocks import BrokenInputError, MessageBlocks
from wireproof_surfaces.messages.message_object import begun_usage, message, stopped, usage_object
from wireproof_surfaces.surfaces.json_text import encoded
from wireproof_surfaces.surfaces.sse import named_frame
from wireproof_surfaces.surfaces.usage import Meter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from wireproof_surfaces.events import UsageReported
    from wireproof_surfaces.messages.message_object import MessageHead
    from wireproof_surfaces.surfaces.json_text import Json

PING = named_frame({"type": "ping"})
"""What a silent stream gets: this API's own keep-alive, at any place."""


@dataclass
class _MessageEvents:
    """One message under way."""

    head: MessageHead
    failed: ChoiceFailed | None = None
    """How it failed; nothing is said after that."""
    _blocks: MessageBlocks = field(init=False)
    _meter: Meter = field(init=False)
    _finished: ChoiceFinished = field(default_factory=lambda: ChoiceFinished(reason="stop"))

    def __post_init__(self) -> None:
        self._blocks = MessageBlocks(self.head.names, self.head.thoughts_shown)
        self._meter = Meter(self.head.prompt_bytes)

    def expect(self, usage: UsageReported) -> None:
        """Take the counts that the answer will have; what is reported later replaces them."""
        self._meter.take(usage)

    def begin(self) -> Json:
        """The event before any block."""
        return {"type": "message_start", "message": message(self.head, begun_usage(self._meter.usage()))}

    def feed(self, event: TurnEvent) -> Iterator[Json]:
        """The events to send for one of the turn's."""
        if self.failed is not None:
            return
        self._meter.take(event)
        try:
            yield from self._events(event)
        except BrokenInputError:
            yield from self._fail(ChoiceFailed(FailureReason.GARBLED))

    def say(self, texts: Sequence[str]) -> bytes:
        """The frames of more text of the open block; empty when none is open, and nothing is taken."""
        frames = "".join(self._blocks.more(texts))
        if frames:
            self._meter.write("".join(texts))
        return frames.encode(errors="replace")

    def end(self) -> Iterator[Json]:
        """The events behind the last block."""
        if self.failed is None:
            usage = usage_object(self._meter.usage())
            yield {"type": "message_delta", "delta": stopped(self._finished), "usage": usage}
            yield {"type": "message_stop"}

    def whole(self) -> Json:
        """The message, when all was fed."""
        usage = usage_object(self._meter.usage())
        return message(self.head, usage, content=self._blocks.done, stop=stopped(self._finished))

    def _events(self, event: TurnEvent) -> Iterator[Json]:
        match event:
            case TextAdded() | Thought() | CallBegan() | ArgumentsAdded() | CallClosed():
                yield from self._blocks.feed(event)
            case ChoiceFinished():
                self._finished = event
                yield from self._blocks.close()
            case ChoiceFailed():
                yield from self._fail(event)
            case _:
                return

    def _fail(self, failed: ChoiceFailed) -> Iterator[Json]:
        self.failed = failed
        yield error_event(failed)


class MessageStream:
    """Writes the body of a stream; `keep` is given the whole message before its client has its end."""

    def __init__(self, head: MessageHead, keep: Callable[[Json], None]) -> None:
        self._answer = _MessageEvents(head)
        self.expect = self._answer.expect
        self.keep = keep
        """Takes the whole message; whoever rewrites what is sent puts one here that rewrites that as well."""
        self._begun = False

    def feed(self, event: TurnEvent) -> bytes:
        """The frames of an event."""
        # The beginning comes with the first event, whatever that shows: a stream's first piece must not be empty
        # (`timing.keep_alive`).
        return self._begin() + b"".join(map(named_frame, self._answer.feed(event)))

    def texts(self, texts: Sequence[str], choice: int = 0) -> bytes:
        """The frames of pieces of text."""
        del choice  # a message is the only one
        pieces = [text for text in texts if text]
        return self._answer.say(pieces) or b"".join([self.feed(TextAdded(text=text)) for text in pieces])

    def end(self) -> bytes:
        """The last events."""
        begun = self._begin()
        if self._answer.failed is None:
            # Before it is sent: a client may continue a thread as soon as it has read its end.
            self.keep(self._answer.whole())
        return begun + b"".join(map(named_frame, self._answer.end()))

    def _begin(self) -> bytes:
        if self._begun:
            return b""
        self._begun = True
        return named_frame(self._answer.begin())


class MessageWhole:
    """Writes a whole message; `keep` is given it too."""

    def __init__(self, head: MessageHead, keep: Callable[[Json], None]) -> None:
        self._answer = _MessageEvents(head)
        self.expect = self._answer.expect
        self.keep = keep
        """Takes the whole message; whoever rewrites what is sent puts one here that rewrites that as well."""

    def feed(self, event: TurnEvent) -> bytes:
        """Take an event.

        Raises:
            ApiError: the turn has failed.
        """
        # The stream's own machine, its events unread: so both forms say the same (messages.parity).
        for _ in self._answer.feed(event):
            pass
        if self._answer.failed is not None:
            raise failure(self._answer.failed, MESSAGES_FIELDS)
        return b""

    def texts(self, texts: Sequence[str], choice: int = 0) -> bytes:
        """Take pieces of text."""
        del choice  # a message is the only one
        return self.feed(TextAdded(text="".join(texts)))

    def end(self) -> bytes:
        """The body."""
        whole = self._answer.whole()
        self.keep(whole)
        return encoded(whole)
