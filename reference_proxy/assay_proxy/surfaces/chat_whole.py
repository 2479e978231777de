"""A chat answer as one `chat.completion` object. Pure: events in, its bytes out.

Text before a call is dropped: the content is null, or the blocks of the calls, and then whatever
tail was let through.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from assay_proxy.assembly.aggregator import Aggregator
from assay_proxy.errors import failure
from assay_proxy.events import Arguments, CallClosed, CallOpened, Failed, Finished, Text, Thought, TurnEvent
from assay_proxy.surfaces.chat_stream import reasoning
from assay_proxy.surfaces.json_text import encoded
from assay_proxy.surfaces.usage import Meter, usage_object

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay_proxy.surfaces.chat_dialect import CallFormat
    from assay_proxy.surfaces.chat_stream import Head, Logprobs


@dataclass
class _Choice:
    """What a choice says."""

    call_format: CallFormat
    text: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    tail: list[str] = field(default_factory=list)
    """The text after the first complete call."""
    calls: Aggregator = field(default_factory=Aggregator)
    closed: list[str] = field(default_factory=list)
    """The ids of the complete calls, in the order of their completion."""
    reason: str = "stop"

    def take(self, event: TurnEvent) -> None:
        match event:
            case Text():
                self.say(event.text)
            case Thought():
                self.reasoning += reasoning(event)
            case CallOpened() | Arguments():
                self.calls.feed(event)
            case CallClosed():
                self.calls.feed(event)
                self.closed.append(event.id)
            case Finished():
                self.reason = self.call_format.finish(event.reason)
            case _:
                return

    def say(self, text: str) -> None:
        (self.tail if self.closed else self.text).append(text)

    def entry(self, index: int, logprobs: Logprobs | None) -> dict[str, Any]:
        """The entry of `choices`."""
        calls = self.calls.snapshot()
        # An empty text stays "" (chat.whole.text).
        said: dict[str, Any] = {"role": "assistant", "content": "".join(self.text), "refusal": None}
        message = {**said, "annotations": []}
        if calls:
            # S1 wants no content before a call; here it is known that one follows, unlike in a stream.
            message |= {"content": self._content(), **self.call_format.members(calls)}
        if self.reasoning:
            message["reasoning_content"] = "".join(self.reasoning)
        tokens = logprobs and {"content": None if calls else logprobs(self.text), "refusal": None}
        return {"index": index, "message": message, "logprobs": tokens, "finish_reason": self.reason}

    def _content(self) -> str | None:
        """The content beside calls."""
        tail = "".join(self.tail)
        if not self.call_format.shows_blocks:
            return tail or None
        # S4-18: the first block, and all of them in a burst.
        shown = self.closed if self.call_format.policy == "burst" else self.closed[:1]
        return self.call_format.delimiter.join(self.call_format.block(self.calls.call(id_)) for id_ in shown) + tail


class ChatWhole:
    """Writes a whole answer, with as many choices as the head says."""

    def __init__(self, head: Head) -> None:
        self._head = head
        self._meter = Meter(head.prompt_bytes)
        self._choices = [_Choice(head.call_format) for _ in range(head.choices)]

    def feed(self, event: TurnEvent) -> bytes:
        """Take an event.

        Raises:
            ApiError: the turn has failed.
        """
        self._meter.take(event)
        match event:
            case Failed():
                # Calls that came before do not hide it (chat.whole.backend-error).
                raise failure(event)
            case Text() | Thought() | CallOpened() | Arguments() | CallClosed() | Finished():
                self._choices[event.choice].take(event)
            case _:
                pass
        return b""

    def texts(self, texts: Sequence[str], choice: int = 0) -> bytes:
        """Take pieces of text."""
        text = "".join(texts)
        self._meter.write(text)
        # Each piece by itself only where it counts as a token.
        for said in (text,) if self._head.logprobs is None else texts:
            self._choices[choice].say(said)
        return b""

    def end(self) -> bytes:
        """The body."""
        return encoded(self.answer())

    def answer(self) -> dict[str, Any]:
        """The answer of the events so far."""
        head = self._head
        return {
            "id": head.id,
            "object": "chat.completion",
            "created": head.created,
            "model": head.model,
            "choices": [choice.entry(index, head.logprobs) for index, choice in enumerate(self._choices)],
            "usage": usage_object(self._meter.usage()),
            **head.service,
        }
