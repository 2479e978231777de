"""A chat answer as one `chat.completion` object. Pure: events in, its bytes out.

Text before a call is dropped: the content is null, or the blocks of the calls, and then whatever
tail was let through.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from wireproof_surfaces.assembly.aggregator import Aggregator
from wireproof_surfaces.errors import failure
from wireproof_surfaces.events import (
    ArgumentsAdded,
    CallBegan,
    CallClosed,
    ChoiceFailed,
    ChoiceFinished,
    TextAdded,
    Thought,
    TurnEvent,
)
from wireproof_surfaces.surfaces.chat_stream import reasoning
from wireproof_surfaces.surfaces.json_text import members, string, written
from wireproof_surfaces.surfaces.usage import Meter, usage_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wireproof_surfaces.surfaces.chat_dialect import CallFormat
    from wireproof_surfaces.surfaces.chat_stream import ChatHead, Logprobs


@dataclass(slots=True)
class _WholeChoice:
    """What a choice says."""

    call_format: CallFormat
    text: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    tail: list[str] = field(default_factory=list)
    """The text after the first complete call."""
    aggregator: Aggregator = field(default_factory=Aggregator)
    closed: list[str] = field(default_factory=list)
    """The ids of the complete calls, in the order of their completion."""
    reason: str = "stop"

    def take(self, event: TurnEvent) -> None:
        match event:
            case ChoiceFinished():
                self.reason = self.call_format.finish(event.reason)
            case TextAdded():
                self.say(event.text)
            case Thought():
                self.reasoning += reasoning(event)
            case CallBegan() | ArgumentsAdded():
                self.aggregator.feed(event)
            case CallClosed():
                self.aggregator.feed(event)
                self.closed.append(event.id)
            case _:
                return

    def say(self, text: str) -> None:
        (self.tail if self.closed else self.text).append(text)

    def entry(self, index: int, logprobs: Logprobs | None) -> str:
        """The entry of `choices`, as JSON."""
        calls = list(self.aggregator.calls.values())
        # S1 wants no content before a call; here it is known that one follows, unlike in a stream. An empty text stays
        # "" (chat.whole.text).
        said = self._content() if calls else "".join(self.text)
        message = f'"role":"assistant","content":{"null" if said is None else string(said)},"refusal":null'
        more = f",{written(self.call_format.members(calls))[1:-1]}" if calls else ""
        if self.reasoning:
            more += f',"reasoning_content":{string("".join(self.reasoning))}'
        tokens = "null"
        if logprobs is not None:
            tokens = written({"content": None if calls else logprobs(self.text), "refusal": None})
        return (
            f'{{"index":{index},"message":{{{message},"annotations":[]{more}}},'
            f'"logprobs":{tokens},"finish_reason":{string(self.reason)}}}'
        )

    def _content(self) -> str | None:
        """The content beside calls."""
        tail = "".join(self.tail)
        if not self.call_format.shows_blocks:
            return tail or None
        # Story 2.9, criterion 18: the first block, and all of them in a burst.
        shown = self.closed if self.call_format.policy == "burst" else self.closed[:1]
        blocks = [self.call_format.block(self.aggregator.calls[id_]) for id_ in shown]
        return self.call_format.delimiter.join(blocks) + tail


_SAID = frozenset({TextAdded, Thought, CallBegan, ArgumentsAdded, CallClosed, ChoiceFinished})


class ChatWhole:
    """Writes a whole answer, with as many choices as the head says."""

    def __init__(self, head: ChatHead) -> None:
        self._head = head
        self._meter = Meter(head.prompt_bytes)
        self._choices = [_WholeChoice(head.call_format) for _ in range(head.choices)]

    def feed(self, event: TurnEvent) -> bytes:
        """Take an event.

        Raises:
            ApiError: the turn has failed.
        """
        self._meter.take(event)
        if isinstance(event, ChoiceFailed):
            # Calls that came before do not hide it (chat.whole.backend-error).
            raise failure(event)
        if type(event) in _SAID:
            self._choices[event.choice].take(event)  # type: ignore[union-attr] # all of those have one
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
        head = self._head
        choices = ",".join([choice.entry(index, head.logprobs) for index, choice in enumerate(self._choices)])
        # By hand, as the frames of a stream are: a dozen objects are made of which nearly all are always the same.
        text = (
            f'{{"id":{string(head.id)},"object":"chat.completion","created":{head.created},'
            f'"model":{string(head.model)},"choices":[{choices}],"usage":{usage_text(self._meter.usage())}'
            f"{members(head.service)}}}"
        )
        # replace: half a surrogate pair has no UTF-8.
        return text.encode(errors="replace")
