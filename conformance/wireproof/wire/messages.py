"""A Messages stream, read: the machine that puts the questions of `wireproof.wire.messages_grammar` to events.

The events that it gives are those of a chat stream, all of choice 0, so that all surfaces are assembled and compared
alike: a tool_use block is a call, the stop reason is given as chat's finish reason for it, a `ping` is the comment that
keeps a connection alive. Thoughts are no part of an answer; that they stand where they belong is judged.

https://platform.claude.com/docs/en/build-with-claude/streaming
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from wireproof.wire.events import CallOpened, ChatEvent, Comment, Done, Fragment, Text
from wireproof.wire.facet import UNREADABLE, UNTOUCHED, Facet
from wireproof.wire.fields import JsonObject, failure_of, integer_of, object_of, text_of
from wireproof.wire.messages_blocks import Block, BlockTracker
from wireproof.wire.messages_grammar import (
    BLOCK_START,
    BLOCK_STOP,
    CUT,
    DELTA,
    DELTA_KINDS,
    ERROR,
    ERROR_IN_STREAM,
    ERROR_TYPES,
    EVENT_NAME,
    FRAME,
    OF_THE_STREAM,
    PING,
    SCHEMA,
    START,
    STOP,
    STOP_REASON,
    STREAM,
    USAGE,
    MessageStreamSign,
    MessageStreamState,
)
from wireproof.wire.messages_whole import finish_of, stop_faults, usage_in
from wireproof.wire.quoting import short
from wireproof.wire.stream import Findings, Stream, misnamed
from wireproof.wire.table import FrameFault

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from wireproof.wire.sse import SseFrame
    from wireproof.wire.violation import Place

_NAMED = frozenset({PING, ERROR})
"""The event lines whose value the SDKs look at; of any other they only need that there is one."""


def messages_stream() -> Stream:
    """A reader of one streamed message."""
    # After malformed bytes nothing is judged: an event may be lost with them, and every index and sum after it.
    return Stream(_Messages, FRAME, reads_malformed=False)


class _Messages:
    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._add = findings.fault
        self._state = MessageStreamState.NEW
        self._blocks = BlockTracker()
        self._usage: JsonObject = {}  # that of message_start
        self._foreign = False  # a frame came that is no event of this surface, so nothing is missing for its own sake

    def payload(self, frame: SseFrame, payload: JsonObject) -> Iterator[ChatEvent]:
        """Take an event."""
        # That both names agree is judged in `_name`; either is enough to read the event.
        type_ = text_of(payload.get("type")) or frame.event or ""
        if not text_of(payload.get("type")) and payload.get("error") is not None:
            type_ = ERROR
        if not type_:
            self._untyped(frame, payload)
            return
        self._name(frame, payload, type_)
        if type_ == PING:
            yield Comment(frame=frame.number, text=PING)
            return
        sign = OF_THE_STREAM.get(type_)
        if sign is None:
            # Clients are to pass over it; @ai-sdk/anthropic reports an error and goes on.
            seen = f"{FrameFault.UNPUBLISHED.value}: {short(type_)}"
            self._add(SCHEMA, FrameFault.UNPUBLISHED.value, seen, frame.place, strict_only=True)
            return
        yield from self._take(frame, payload, type_, sign)

    def done(self, frame: SseFrame) -> Iterable[ChatEvent]:
        """Take a `[DONE]`, which Messages do not have."""
        # Alone it is passed over by every client; under the name of an event the SDKs parse it, and raise.
        seen = "a [DONE], which Messages do not have"
        self._add(EVENT_NAME, "[DONE]", seen, frame.place, strict_only=not frame.event)
        return ()

    def end(self, place: Place) -> None:
        """Take the end of the body."""
        if not self._foreign:
            self._step(MessageStreamSign.END, place)

    def _untyped(self, frame: SseFrame, payload: JsonObject) -> None:
        """A frame that is no event at all, such as a chunk of chat completions."""
        self._foreign = True
        seen = (
            f"a frame that is no event: it has neither a type nor an event: line, but {', '.join(payload) or 'nothing'}"
        )
        self._add(SCHEMA, "untyped", seen, frame.place, UNREADABLE)

    def _name(self, frame: SseFrame, payload: JsonObject, type_: str) -> None:
        if type_ == frame.event == payload.get("type"):
            return
        seen = misnamed(frame.event, payload.get("type"))
        if type_ == ERROR and (frame.event != ERROR or "type" not in payload):
            # anthropic for Python stops in silence at an error without its event line.
            self._add(ERROR_IN_STREAM, FrameFault.MISNAMED.value, seen, frame.place)
            return
        unread = type_ == PING or (frame.event and frame.event not in _NAMED)
        harmless = bool(unread) and bool(text_of(payload.get("type")))
        self._add(FRAME[FrameFault.MISNAMED], FrameFault.MISNAMED.value, seen, frame.place, strict_only=harmless)

    def _take(self, frame: SseFrame, payload: JsonObject, type_: str, sign: MessageStreamSign) -> Iterator[ChatEvent]:
        # Behind the end most clients read on, so what an event says is read; what it breaks is that it comes.
        place, late = frame.place, self._state in {MessageStreamState.ENDED, MessageStreamState.FAILED}
        self._step(sign, place)
        if sign is MessageStreamSign.BLOCK:
            block, found = self._blocks.take(type_, payload)
            self._findings.add_at(place, [] if late else found)
            yield from _said(block, type_, payload, frame.number)
        elif late:
            return
        elif type_ == START:
            self._starts(object_of(payload.get("message")), place)
        elif type_ == DELTA:
            yield from self._closes(frame, payload)
        elif type_ == STOP:
            # Where message_delta is missing, the blocks end here.
            yield from self._end_blocks(frame, cut=False)
            yield Done(frame=frame.number)
        else:
            yield from self._fails(frame, payload)

    def _starts(self, message: JsonObject, place: Place) -> None:
        """What is wrong with the message at its start, beside what its schema says."""
        if message.get("content"):
            seen = f"message_start holds content, which belongs in blocks: {short(message['content'])}"
            self._add(DELTA_KINDS, "content", seen, place)
        if message.get("stop_reason") is not None:
            seen = f"message_start has the stop_reason {short(message['stop_reason'])}, it should be null"
            self._add(STOP_REASON, "early", seen, place, strict_only=True)
        self._usage = object_of(message.get("usage"))
        self._count(self._usage, ("input_tokens", "output_tokens"), START, place)

    def _closes(self, frame: SseFrame, payload: JsonObject) -> Iterator[ChatEvent]:
        """Take a message_delta: the blocks end, and the answer with them."""
        place, delta, usage = frame.place, object_of(payload.get("delta")), object_of(payload.get("usage"))
        reason = text_of(delta.get("stop_reason"))
        yield from self._end_blocks(frame, cut=reason in CUT)
        if reason not in CUT:
            self._findings.add_at(place, self._blocks.inputs())
        for kind, seen, letter in stop_faults(delta, calls=self._blocks.calls or self._blocks.astray):
            lost = UNTOUCHED if letter else frozenset({Facet.FINISH})
            self._add(STOP_REASON, kind, seen, place, lost, strict_only=letter)
        if self._count(usage, ("output_tokens",), DELTA, place) and integer_of(usage.get("input_tokens")) is None:
            # LangChain takes all counts from here; the published type lets it be absent.
            seen = "the usage of message_delta has no input_tokens"
            self._add(USAGE, "input", seen, place, strict_only=True)
        if reason is not None:
            yield finish_of(reason, frame.number)
        counted = usage_in(usage, frame.number, self._usage)
        if counted is not None:
            yield counted

    def _end_blocks(self, frame: SseFrame, *, cut: bool) -> Iterator[ChatEvent]:
        """The message ends: what is open is whole, although nothing has said so; unless the model was cut short."""
        for block in () if cut else self._blocks.unfilled():
            yield _filled(block, frame.number)
        self._findings.add_at(frame.place, self._blocks.finish())

    def _count(self, usage: JsonObject, names: tuple[str, ...], type_: str, place: Place) -> bool:
        """Whether these counts are integers; a violation where one is not."""
        missing = [name for name in names if integer_of(usage.get(name)) is None]
        if missing:
            # The SDKs raise in either place.
            seen = f"the usage of {type_} has no {' and no '.join(missing)}" if usage else f"{type_} has no usage"
            self._add(USAGE, type_, seen, place, frozenset({Facet.USAGE}))
        return not missing

    def _fails(self, frame: SseFrame, payload: JsonObject) -> Iterator[ChatEvent]:
        error = failure_of(payload.get("error"), frame.number)
        known = error.type in ERROR_TYPES.values()
        if not error.message or not known:
            seen = f"the error has the type {short(error.type)} and the message {short(error.message)}"
            # Clients show the message, and look at the type to know whether to ask again.
            self._add(ERROR_IN_STREAM, "envelope", seen, frame.place, strict_only=bool(error.message))
        yield error

    def _step(self, sign: MessageStreamSign, place: Place) -> None:
        self._state = self._findings.step(STREAM, self._state, sign, place)


def _said(block: Block, type_: str, event: JsonObject, number: int) -> Iterator[ChatEvent]:
    """The events for a client, whatever is wrong with this one."""
    head, delta = object_of(event.get("content_block")), object_of(event.get("delta"))
    call = max(block.call or 0, 0)
    match delta.get("type"), delta:
        case "text_delta", {"text": str(text)} if text:
            yield Text(frame=number, choice=0, text=text)
        case "input_json_delta", {"partial_json": str(text)} if text:
            yield Fragment(frame=number, choice=0, index=call, text=text)
        case _:
            pass
    if type_ == BLOCK_START and head.get("type") == "text" and text_of(head.get("text")):
        yield Text(frame=number, choice=0, text=head["text"])
    if type_ == BLOCK_START and head.get("type") == "tool_use":
        id_, name = text_of(head.get("id")) or "", text_of(head.get("name")) or ""
        yield CallOpened(frame=number, choice=0, index=call, id=id_, name=name)
    if type_ == BLOCK_STOP and block.call is not None and not any(block.fragments):
        yield _filled(block, number)


def _filled(block: Block, number: int) -> Fragment:
    """Give a call without deltas its input, as both SDKs read it: that of its start, {} where there is none."""
    text = json.dumps(block.given, ensure_ascii=False)
    block.fragments.append(text)
    return Fragment(frame=number, choice=0, index=block.call or 0, text=text)
