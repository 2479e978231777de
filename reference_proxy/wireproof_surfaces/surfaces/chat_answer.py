"""A chat answer as a stream of `chat.completion.chunk` frames, or as one `chat.completion`. Pure: events in, bytes out.

Of each choice of a stream, while the choices interleave freely:

    role → content* → (call opening → arguments* → [block])* → finish

and of all: … → [usage] → [DONE], or an error → one error frame → [DONE]. Arguments are sent as they come: the new
fragment alone, or, cumulative, all so far. In obsidian-xml a call that is complete is followed by one content delta
that holds its whole block; a block after another one begins with the delimiter.

In a whole answer text before a call is dropped: the content is null, or the blocks of the calls, and then whatever tail
was let through.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

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
from wireproof_surfaces.surfaces.chat_dialect import CallFormat
from wireproof_surfaces.surfaces.json_text import members, string, written
from wireproof_surfaces.surfaces.sse import DONE, frame
from wireproof_surfaces.surfaces.usage import Meter, usage_text
from wireproof_surfaces.values import value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


Delta = dict[str, Any]
Logprobs = Callable[[Sequence[str]], list[dict[str, Any]]]


@value(frozen=True, kw_only=True, slots=True)
class ChatHead:
    """What every chunk repeats, and what is known of the whole answer."""

    id: str
    created: int
    model: str
    include_usage: bool = False
    prompt_bytes: Callable[[], int] = int
    """For estimates of usage, and asked for only where there is no other."""
    choices: int = 1
    """How many there are."""
    call_format: CallFormat = field(default_factory=CallFormat)
    service: Mapping[str, Any] = field(default_factory=dict)
    """Members in which a service says what it is, such as `system_fingerprint`; empty where it does not."""
    logprobs: Logprobs | None = None
    """What is reported of the tokens of a text, each of its pieces a token; None: nothing."""


@dataclass
class _StreamedChoice:
    """What a choice has said so far."""

    call_format: CallFormat
    spoken: bool = False
    blocks: int = 0
    _aggregator: Aggregator = field(default_factory=Aggregator)
    _unopened: str = ""
    """The id of the call that is named together with the first of its arguments; empty for none."""

    def deltas(self, event: TurnEvent) -> Iterator[tuple[Delta, str | None]]:
        """The deltas to send for an event, each with its finish_reason; the role before the first of all."""
        for delta, finish in self._after_role(event):
            # chat.stream.role-first, chat.stream.role-once. Without it openai-node's `.stream` fails.
            if not self.spoken:
                self.spoken = True
                yield {"role": "assistant", "content": ""}, None
            yield delta, finish

    def _after_role(self, event: TurnEvent) -> Iterator[tuple[Delta, str | None]]:
        match event:
            case TextAdded():
                yield {"content": event.text}, None
            case Thought():
                for piece in reasoning(event):
                    yield {"reasoning_content": piece}, None
            case CallBegan() if self._aggregator.feed(event):
                if event.beside:
                    self._unopened = event.id
                    return
                yield self.call_format.opening(self._aggregator.calls[event.id]), None
            case ArgumentsAdded() if self._aggregator.feed(event):
                call = self._aggregator.calls[event.id]
                if self._unopened == event.id:
                    self._unopened = ""
                    yield self.call_format.opening(call, event.text), None
                    return
                # chat.stream.arguments-cumulative.
                whole = self.call_format.arguments == "cumulative"
                yield self.call_format.fragment(call, call.arguments if whole else event.text), None
            # One delta, so that no piece of a tag is ever seen (chat.stream.xml-single-delta).
            case CallClosed() if self._aggregator.feed(event) and self.call_format.shows_blocks:
                block = self.call_format.block(self._aggregator.calls[event.id])
                self.blocks += 1
                yield {"content": block if self.blocks == 1 else self.call_format.delimiter + block}, None
            case ChoiceFinished():
                # chat.stream.finish-once: the delta beside a finish_reason is empty.
                yield {}, self.call_format.finish(event.reason)
            case _:
                return


@value(frozen=True, slots=True)
class _Frame:
    """A choice's frames around their deltas: nearly all of a frame is the same in each."""

    before: str
    after: str

    @staticmethod
    def of(head: ChatHead, index: int) -> _Frame:
        # As OpenAI does: null elsewhere, if it was asked for (chat.stream.usage).
        usage = ',"usage":null' if head.include_usage else ""
        return _Frame(
            f'data: {_envelope(head)},"choices":[{{"index":{index},"delta":',
            f',"logprobs":null,"finish_reason":null}}]{usage}}}\n\n',
        )

    def around(self, delta: str, finish: str | None, logprobs: str | None = None) -> bytes:
        """The frame of a delta; it and its logprobs are JSON already."""
        after = self.after
        if logprobs is not None:
            after = after.replace('"logprobs":null', f'"logprobs":{logprobs}', 1)
        if finish is not None:
            after = after.replace('"finish_reason":null', f'"finish_reason":{string(finish)}', 1)
        return f"{self.before}{delta}{after}".encode(errors="replace")


class ChatStream:
    """Writes the body of a stream."""

    def __init__(self, head: ChatHead) -> None:
        self._head = head
        self._meter = Meter(head.prompt_bytes)
        self._choices: dict[int, tuple[_StreamedChoice, _Frame]] = {}
        self._failed = False

    def feed(self, event: TurnEvent) -> bytes:
        """The frames of an event."""
        self._meter.take(event)
        match event:
            case TextAdded() | Thought() | CallBegan() | ArgumentsAdded() | CallClosed() | ChoiceFinished():
                choice, frames = self._choice(event.choice)
                deltas = choice.deltas(event)
                return b"".join(frames.around(written(one), end, self._logprobs(event, one)) for one, end in deltas)
            case ChoiceFailed():
                self._failed = True
                # No finish chunk after it (chat.stream.error-after-text): an answer that failed must not look complete.
                return frame(failure(event).body())
            case _:
                return b""

    def texts(self, texts: Sequence[str], choice: int = 0) -> bytes:
        """The frames of pieces of text."""
        said = self._choices.get(choice)
        if said is None or not said[0].spoken or self._head.logprobs is not None:
            return b"".join([self.feed(TextAdded(choice=choice, text=text)) for text in texts if text])
        self._meter.write("".join(texts))
        before, after = f'{said[1].before}{{"content":', f"}}{said[1].after}"
        return "".join([f"{before}{string(text)}{after}" for text in texts if text]).encode(errors="replace")

    def _logprobs(self, event: TurnEvent, delta: Delta) -> str | None:
        """What is reported of the tokens of a delta; None: nothing."""
        # Not of the delta with the role, which comes before the first text and has none.
        if self._head.logprobs is None or not isinstance(event, TextAdded) or "role" in delta:
            return None
        return written({"content": self._head.logprobs([event.text]), "refusal": None})

    def end(self) -> bytes:
        """The usage chunk, if it was asked for and the turn did not fail, and the end of the stream."""
        # `[DONE]` ends a failed stream too (chat.stream.error-after-text, chat.stream.done-last).
        if not self._head.include_usage or self._failed:
            return DONE
        # `choices` must be there: without it ai-sdk and both `.stream` helpers of OpenAI's SDKs fail.
        usage = usage_text(self._meter.usage())
        return f'data: {_envelope(self._head)},"choices":[],"usage":{usage}}}\n\n'.encode(errors="replace") + DONE

    def _choice(self, index: int) -> tuple[_StreamedChoice, _Frame]:
        if index not in self._choices:
            self._choices[index] = _StreamedChoice(self._head.call_format), _Frame.of(self._head, index)
        return self._choices[index]


def reasoning(thought: Thought) -> tuple[str, ...]:
    """What chat shows of a thought, in pieces: the reasoning itself, or its summary where the model keeps that.

    `reasoning_content` is what many servers have beside the content, and clients read.
    """
    return tuple(piece for piece in thought.raw or thought.summary if piece) if thought.in_chat else ()


def _envelope(head: ChatHead) -> str:
    """What every chunk begins with."""
    return (
        f'{{"id":{string(head.id)},"object":"chat.completion.chunk","created":{head.created},'
        f'"model":{string(head.model)}{members(head.service)}'
    )


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
