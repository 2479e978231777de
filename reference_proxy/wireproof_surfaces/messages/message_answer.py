"""A message as the events of its stream; the whole message is what they fold to. Pure.

    message_start → blocks → message_delta → message_stop, or at any time → error

The blocks end with the turn's answer, but the last two events wait until the turn's usage is known.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from wireproof_surfaces.errors import MESSAGES_FIELDS
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
from wireproof_surfaces.messages.message_object import (
    BrokenInputError,
    MessageBlocks,
    begun_usage,
    message,
    stopped,
    usage_object,
)
from wireproof_surfaces.surfaces.sse import named_frame
from wireproof_surfaces.surfaces.usage import Meter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from wireproof_surfaces.errors import RequestFields
    from wireproof_surfaces.events import UsageReported
    from wireproof_surfaces.messages.message_object import MessageHead
    from wireproof_surfaces.surfaces.json_text import Json

PING = named_frame({"type": "ping"})
"""What a silent stream gets: this API's own keep-alive, at any place."""


@dataclass
class MessageEvents:
    """One message under way."""

    head: MessageHead
    failed: ChoiceFailed | None = None
    """How it failed; nothing is said after that."""
    fields: ClassVar[RequestFields] = MESSAGES_FIELDS
    tokens_count: ClassVar[bool] = False
    """Whether something is reported of each token, which a piece of text is."""
    _blocks: MessageBlocks = field(init=False)
    _meter: Meter = field(init=False)
    _finished: ChoiceFinished = field(default_factory=lambda: ChoiceFinished(reason="stop"))

    def __post_init__(self) -> None:
        self._blocks = MessageBlocks(self.head.names, self.head.thoughts_shown, self.head.inputs_checked)
        self._meter = Meter(self.head.prompt_bytes)

    def expect(self, usage: UsageReported) -> None:
        """Take the counts that the answer will have; what is reported later replaces them."""
        self._meter.take(usage)

    def begin(self) -> Iterator[Json]:
        """The event before any block."""
        yield {"type": "message_start", "message": message(self.head, begun_usage(self._meter.usage()))}

    def feed(self, event: TurnEvent) -> Iterator[Json]:
        """The events to send for one of the turn's."""
        if self.failed is not None:
            return
        self._meter.take(event)
        try:
            yield from self._events(event)
        except BrokenInputError as broken:
            yield from self._fail(ChoiceFailed(FailureReason.GARBLED, detail=str(broken)))

    def say(self, texts: Sequence[str]) -> bytes:
        """The frames of more text of the open block; empty when none is open, and nothing is taken."""
        frames = "".join(self._blocks.more(texts))
        if frames:
            self._meter.write("".join(texts))
        return frames.encode(errors="replace")

    def end(self, keep: Callable[[Json], None]) -> Iterator[Json]:
        """The events behind the last block; `keep` is given the whole message."""
        if self.failed is None:
            whole = self.whole()
            keep(whole)
            yield {"type": "message_delta", "delta": stopped(self._finished), "usage": whole["usage"]}
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
                # A call that is still open is one that a limit cut (`assembly.choice`).
                yield from self._blocks.close(cut=event.reason in {"length", "content_filter"})
            case ChoiceFailed():
                yield from self._fail(event)
            case _:
                return

    def _fail(self, failed: ChoiceFailed) -> Iterator[Json]:
        self.failed = failed
        yield error_event(failed)
