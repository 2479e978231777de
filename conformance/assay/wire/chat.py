"""A chat stream, read: pieces of bytes in; frames, payloads, events and violations out.

The grammar itself is `assay.wire.grammar`; this module puts its questions. A frame is first taken as server-sent
events have it, then as JSON, then as a sign to the stream, then delta by delta as signs to its choices.
Events end where a client stops reading: at `[DONE]` or at the first error frame; only comments are told after that.
Comments may stand anywhere, after `[DONE]` too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from assay.wire.calls import Answer, assemble
from assay.wire.choice import ChoiceReader
from assay.wire.deltas import Delta, read_deltas
from assay.wire.events import ChatEvent, Comment, Done
from assay.wire.fields import JsonObject, failure_of, object_of, parse_object, usage_of
from assay.wire.grammar import CHAT_STREAM_VIOLATIONS, FRAME, STABLE, STREAM, FrameFault, StreamSign, StreamState
from assay.wire.sse import Frame, Reader
from assay.wire.violation import Place, Violation

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["CHAT_STREAM_VIOLATIONS", "ChatStream", "Reading", "read_stream"]

_RUNNING = frozenset({StreamState.OPEN, StreamState.COUNTED})


@dataclass(frozen=True, kw_only=True)
class Reading:
    """A body, read.

    Attributes:
        frames: The SSE frames; none for a whole body.
        payloads: Each frame that holds a JSON object, with that object, error frames included; for a whole body, all
            of it as one frame.
        events: What was said, in order.
        violations: What was broken, in the order in which it showed.
    """

    frames: tuple[Frame, ...]
    payloads: tuple[tuple[Frame, JsonObject], ...]
    events: tuple[ChatEvent, ...]
    violations: tuple[Violation, ...]

    @cached_property
    def answer(self) -> Answer:
        """The events, put together."""
        return assemble(self.events)


class ChatStream:
    """Reads one streamed body as it arrives; what comes out does not depend on how the bytes are cut.

    `blocks`: the dialect tells calls in `<use_tool>` blocks, so content that ends with one is a call, not a tail.
    """

    def __init__(self, *, blocks: bool = False) -> None:
        self._blocks = blocks
        self._reader = Reader()
        self._frames: list[Frame] = []
        self._payloads: list[tuple[Frame, JsonObject]] = []
        self._events: list[ChatEvent] = []
        self._violations: list[Violation] = []
        self._reading: Reading | None = None
        self._state = StreamState.OPEN
        self._choices: dict[int, ChoiceReader] = {}
        self._first: dict[str, object] = {}  # the members that must not change, as first told
        self._named: set[str] = set()  # requirements that the stream as a whole has broken
        self._ended = False
        self._deaf = False  # something could not be read: what follows cannot be judged

    @property
    def events(self) -> Sequence[ChatEvent]:
        """What was said so far: a view that grows as pieces are fed, at no cost."""
        return self._events

    def feed(self, piece: bytes) -> Sequence[ChatEvent]:
        """Read the next bytes of the body, as many or few as there are.

        Returns:
            The events that these bytes complete.

        Raises:
            ValueError: The body was said to have ended.
        """
        known = len(self._events)
        self._take(self._reader.feed(piece))
        return self._events[known:]

    def end(self) -> Sequence[ChatEvent]:
        """Say that the body has ended; what is missing then is a violation. More than once does no harm.

        Returns:
            The events of a last block that was cut off.
        """
        if self._ended:
            return []
        self._ended = True
        known = len(self._events)
        self._take(self._reader.end())
        place = Place(offset=self._reader.offset, length=0)
        self._step(StreamSign.END if self._close(place) else StreamSign.CUT, place)
        self._reading = None
        return self._events[known:]

    def reading(self) -> Reading:
        """All that was read so far; a copy, made anew only after more was fed (see `events` for the cheap way)."""
        if self._reading is None:
            self._reading = Reading(
                frames=tuple(self._frames),
                payloads=tuple(self._payloads),
                events=tuple(self._events),
                violations=tuple(self._violations),
            )
        return self._reading

    def _take(self, frames: Iterable[Frame]) -> None:
        for frame in frames:
            self._reading = None
            self._frames.append(frame)
            self._take_frame(frame, malformed=self._hear_reader(frame.number))
        self._deaf |= self._hear_reader(len(self._frames))

    def _hear_reader(self, number: int) -> bool:
        """Tell the reader's violation if it is about this frame (or about one that never came)."""
        found = [
            violation for violation in self._reader.violations if violation.place and violation.place.frame == number
        ]
        for violation in found:
            self._name(violation)
        return bool(found)

    def _take_frame(self, frame: Frame, *, malformed: bool) -> None:
        self._events += [Comment(frame=frame.number, text=comment) for comment in frame.comments]
        if frame.data is None:
            self._deaf |= malformed and bool(frame.fields)
            if frame.fields and not malformed:
                self._fault(FrameFault.NO_DATA, frame)
        elif not frame.data.strip():
            self._fault(FrameFault.EMPTY_DATA, frame)
        else:
            if frame.event is not None:
                self._fault(FrameFault.EVENT_LINE, frame, repr(frame.event[:60]))
            self._take_data(frame, frame.data)

    def _take_data(self, frame: Frame, data: str) -> None:
        if data == "[DONE]":
            self._done(frame)
            return
        try:
            payload = parse_object(data)
        except ValueError as error:
            self._fault(FrameFault.UNREADABLE, frame, str(error))
            self._deaf = True
            return
        self._payloads.append((frame, payload))
        if payload.get("error") is not None:
            self._error(frame, payload["error"])
        else:
            self._chunk(frame, payload)

    def _done(self, frame: Frame) -> None:
        self._close(frame.place)
        if self._step(StreamSign.DONE, frame.place):
            self._events.append(Done(frame=frame.number))

    def _error(self, frame: Frame, error: object) -> None:
        running = self._state in _RUNNING
        late = bool(self._choices) and all(choice.finished for choice in self._choices.values())
        accepted = self._step(StreamSign.LATE_ERROR if late else StreamSign.ERROR, frame.place)
        if not running:
            return
        self._state = StreamState.FAILED  # even by one that comes too late: clients stop here
        failure = failure_of(error, frame.number)
        self._events.append(failure)
        if accepted and not (object_of(error) and failure.message):
            self._fault(FrameFault.ERROR_SHAPE, frame)

    def _chunk(self, frame: Frame, chunk: JsonObject) -> None:
        deltas = read_deltas(chunk)
        self._step(self._sign(deltas, chunk.get("usage")), frame.place)
        if self._state not in _RUNNING:
            return
        self._compare(frame, chunk)
        for delta in deltas:
            self._delta(delta, frame)
        if usage := usage_of(chunk.get("usage"), frame.number):
            self._events.append(usage)

    def _sign(self, deltas: tuple[Delta, ...], usage: object) -> StreamSign:
        if not deltas:
            return StreamSign.BARE if usage is None else StreamSign.USAGE
        if usage is not None:
            return StreamSign.BESIDE
        named = [self._choices.get(delta.index) for delta in deltas]
        return StreamSign.LATE if all(choice and choice.settled for choice in named) else StreamSign.CHUNK

    def _compare(self, frame: Frame, chunk: JsonObject) -> None:
        for member, requirement in STABLE.items():
            value = chunk.get(member)
            first = self._first.setdefault(member, value) if value is not None else None
            if value != first:
                seen = f"{member} is {str(value)[:60]!r}, but was {str(first)[:60]!r} before"
                self._name(Violation(requirement=requirement, seen=seen, place=frame.place))

    def _delta(self, delta: Delta, frame: Frame) -> None:
        choice = self._choices.setdefault(delta.index, ChoiceReader(delta.index, blocks=self._blocks))
        before = choice.violation
        self._events += choice.read(delta, frame)
        if choice.violation and not before and not self._deaf:
            self._violations.append(choice.violation)

    def _close(self, place: Place) -> bool:
        """The answer ends; False if a choice was not finished. A stream without any choice lacks the first."""
        if self._state not in _RUNNING:
            return True
        choices = self._choices or {0: ChoiceReader(0, blocks=self._blocks)}
        broken = [choice.violation for choice in choices.values() if not choice.close(place)]
        if not self._deaf:
            self._violations += [violation for violation in broken if violation]
        return not broken

    def _step(self, sign: StreamSign, place: Place) -> bool:
        cell = STREAM[self._state, sign]
        if isinstance(cell, str):
            self._name(Violation(requirement=cell, seen=f"{sign.value}, {self._state.value}", place=place))
            return False
        self._state = cell
        return True

    def _fault(self, fault: FrameFault, frame: Frame, detail: str = "") -> None:
        seen = f"{fault.value}: {detail}" if detail else fault.value
        self._name(Violation(requirement=FRAME[fault], seen=seen, place=frame.place))

    def _name(self, violation: Violation) -> None:
        if not self._deaf and violation.requirement not in self._named:
            self._reading = None
            self._named.add(violation.requirement)
            self._violations.append(violation)


def read_stream(pieces: Iterable[bytes], *, ended: bool = True, blocks: bool = False) -> Reading:
    """Read a streamed body from the pieces in which it arrived.

    Args:
        pieces: Its bytes, cut anywhere.
        ended: Whether that is all of it; False where the client left before the end, so nothing is missing.
        blocks: See `ChatStream`.
    """
    stream = ChatStream(blocks=blocks)
    for piece in pieces:
        stream.feed(piece)
    if ended:
        stream.end()
    return stream.reading()
