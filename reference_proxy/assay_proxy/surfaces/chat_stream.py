"""A chat answer as a stream of `chat.completion.chunk` frames. Pure: events in, bytes out.

Of each choice, while the choices interleave freely:

    role → content* → (call opening → arguments* → [block])* → finish

and of all: … → [usage] → [DONE], or an error → one error frame → [DONE]. Arguments are sent as they come: the new
fragment alone, or, cumulative, all so far. In obsidian-xml a call that is complete is followed by one content delta
that holds its whole block; a block after another one begins with the delimiter.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from assay_proxy.assembly.aggregator import Aggregator
from assay_proxy.errors import failure
from assay_proxy.events import Arguments, CallClosed, CallOpened, Failed, Finished, Text, TurnEvent
from assay_proxy.surfaces.chat_dialect import CallFormat
from assay_proxy.surfaces.sse import DONE, frame
from assay_proxy.surfaces.usage import Meter, usage_object

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Delta = dict[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Head:
    """What every chunk repeats, and what is known of the whole answer."""

    id: str
    created: int
    model: str
    include_usage: bool = False
    prompt_bytes: int = 0
    """For estimates of usage."""
    choices: int = 1
    """How many there are."""
    call_format: CallFormat = field(default_factory=CallFormat)


@dataclass
class _Choice:
    """What a choice has said so far."""

    call_format: CallFormat
    spoken: bool = False
    blocks: int = 0
    calls: Aggregator = field(default_factory=Aggregator)

    def deltas(self, event: TurnEvent) -> Iterator[tuple[Delta, str | None]]:
        """The deltas to send for an event, each with its finish_reason; the role before the first of all."""
        for delta, finish in self._after_role(event):
            # chat.stream.role-first, chat.stream.role-once (S4-7). Without it openai-node's `.stream` fails.
            if not self.spoken:
                self.spoken = True
                yield {"role": "assistant", "content": ""}, None
            yield delta, finish

    def _after_role(self, event: TurnEvent) -> Iterator[tuple[Delta, str | None]]:
        match event:
            case Text():
                yield {"content": event.text}, None
            case CallOpened() if self.calls.feed(event):
                yield self.call_format.opening(self.calls.call(event.id)), None
            case Arguments() if self.calls.feed(event):
                yield self.call_format.fragment(self.calls.index(event.id), self._fragment(event)), None
            # One delta, so that no piece of a tag is ever seen (chat.stream.xml-single-delta, S4-1).
            case CallClosed() if self.calls.feed(event) and self.call_format.shows_blocks:
                yield {"content": self._block(event)}, None
            case Finished():
                # chat.stream.finish-once: the delta beside a finish_reason is empty.
                yield {}, self.call_format.finish(event.reason)
            case _:
                return

    def _fragment(self, event: Arguments) -> str:
        whole = self.call_format.arguments == "cumulative"
        # S4-8.
        return self.calls.call(event.id).arguments if whole else event.text

    def _block(self, event: CallClosed) -> str:
        block = self.call_format.block(self.calls.call(event.id))
        self.blocks += 1
        return block if self.blocks == 1 else self.call_format.delimiter + block


@dataclass
class _Writer:
    head: Head
    meter: Meter
    choices: dict[int, _Choice] = field(default_factory=dict)
    failed: bool = False

    def write(self, event: TurnEvent) -> Iterator[Delta]:
        """The payloads to send for an event."""
        self.meter.take(event)
        match event:
            case Text() | CallOpened() | Arguments() | CallClosed() | Finished():
                choice = self.choices.setdefault(event.choice, _Choice(self.head.call_format))
                for delta, finish in choice.deltas(event):
                    yield self._payload(event.choice, delta, finish)
            case Failed():
                self.failed = True
                # No finish chunk after it (chat.stream.error-after-text): an answer that failed must not look complete.
                yield failure(event).body()
            case _:
                return

    def last(self) -> Iterator[Delta]:
        """The usage chunk, if it was asked for and the turn did not fail."""
        if self.head.include_usage and not self.failed:
            # `choices` must be there: without it ai-sdk and both `.stream` helpers of OpenAI's SDKs fail.
            yield {**self._envelope(), "choices": [], "usage": usage_object(self.meter.usage())}

    def _payload(self, choice: int, delta: Delta, finish: str | None) -> Delta:
        entry = {"index": choice, "delta": delta, "logprobs": None, "finish_reason": finish}
        payload = {**self._envelope(), "choices": [entry]}
        # As OpenAI does: null elsewhere, if it was asked for (chat.stream.usage).
        return {**payload, "usage": None} if self.head.include_usage else payload

    def _envelope(self) -> Delta:
        head = self.head
        return {"id": head.id, "object": "chat.completion.chunk", "created": head.created, "model": head.model}


def write(events: Iterable[TurnEvent], head: Head) -> Iterator[bytes]:
    """The body, one piece per event; a piece is empty when the event has nothing to show."""
    writer = _Writer(head, Meter(head.prompt_bytes))
    for event in events:
        yield b"".join(frame(payload) for payload in writer.write(event))
    # `[DONE]` ends a failed stream too (chat.stream.error-after-text, chat.stream.done-last).
    yield b"".join(frame(payload) for payload in writer.last()) + DONE
