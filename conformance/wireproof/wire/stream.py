"""A streamed body, read as it arrives: what all surfaces share.

`Stream` takes bytes to frames (`wireproof.wire.sse`), frames to JSON objects, and gives these to the machine of its
surface (`wireproof.wire.chat`, `.responses`, `.messages`), which judges them by its tables and gives the events that
they say. What comes out does not depend on how the bytes are cut.

The machine is a part of the stream, not a subclass: what it needs of the stream is one list, `Findings`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from wireproof.wire.events import ChatEvent, Comment
from wireproof.wire.facet import UNTOUCHED, Facet
from wireproof.wire.fields import JsonObject, parse_object
from wireproof.wire.quoting import short
from wireproof.wire.reading import Reading
from wireproof.wire.sse import Reader, SseFrame
from wireproof.wire.table import FrameFault, Hole, Sign, State, Table
from wireproof.wire.violation import Place, Violation, fault

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence


LOST = frozenset({Facet.FINISH, Facet.USAGE, Facet.END, Facet.ERROR})
"""What is lost of an answer that cannot be read to its end."""
TOGETHER = frozenset({Facet.BODY})
"""What is lost where all of a stream can be read, and no client could: when each piece of it reached one."""
DONE = "[DONE]"
"""The data of the frame that ends a chat stream. It is no JSON."""


class Findings:
    """The violations of one stream: one cause is to give one violation."""

    def __init__(self) -> None:
        self.violations: list[Violation] = []
        """In the order in which they showed; each part of a stream may break the same requirement."""

    def add_once(self, violation: Violation) -> None:
        """Add a violation of the stream as a whole, unless it is known of this frame, or of another one alike."""
        for number, known in enumerate(self.violations):
            if known.requirement == violation.requirement and (
                known.kind == violation.kind or _frame(known) == _frame(violation)
            ):
                # The same fault: what is lost by it is lost in either place.
                lost = (known.spoils or UNTOUCHED) | (violation.spoils or UNTOUCHED)
                self.violations[number] = replace(known, spoils=lost)
                return
        self.violations.append(violation)

    def fault(
        self,
        requirement: str,
        kind: str,
        seen: str,
        place: Place,
        spoils: frozenset[Facet] = UNTOUCHED,
        *,
        strict_only: bool = False,
    ) -> None:
        """Add what is wrong beside the tables, once."""
        self.add_once(fault(requirement, kind, seen, spoils, place=place, strict_only=strict_only))

    def add_at(self, place: Place, found: Iterable[Violation]) -> None:
        """Add what was found without a place, which is this one."""
        for violation in found:
            self.add_once(replace(violation, place=place))

    def step(self, table: Table[State, Sign], state: State, sign: Sign, place: Place) -> State:
        """The state after a sign to the stream as a whole; where the table has a hole, that is a violation."""
        cell = table[state, sign]
        if not isinstance(cell, Hole):
            return cell
        self.add_once(cell.violation(f"{sign.value}, {state.value}", place))
        return cell.then


def _frame(violation: Violation) -> int | None:
    """The frame in which a violation is; None for the end of the body."""
    return violation.place.frame if violation.place else None


class Machine(Protocol):
    """What a surface makes of the frames of a stream. It adds violations to the `Findings` that it was made with."""

    def payload(self, frame: SseFrame, payload: JsonObject) -> Iterable[ChatEvent]:
        """Take the JSON object of a frame; give the events that it says."""

    def done(self, frame: SseFrame) -> Iterable[ChatEvent]:
        """Take a `[DONE]`; give the events that it says."""

    def end(self, place: Place) -> None:
        """Take the end of the body: what is missing then is a violation."""


class Stream:
    """Reads one streamed body as it arrives.

    Args:
        machine: Makes what the surface makes of its frames; it adds its violations to these findings.
        faults: Fault of a frame → the requirement that it breaks.
        reads_malformed: A frame with malformed bytes is judged by the data that can be read of it. Without, nothing is
            judged after one.
        strict_only: The faults that every measured client copes with.
    """

    def __init__(
        self,
        machine: Callable[[Findings], Machine],
        faults: Mapping[FrameFault, str],
        *,
        reads_malformed: bool,
        strict_only: Collection[FrameFault] = (),
    ) -> None:
        self._findings = Findings()
        self._machine = machine(self._findings)
        self._faults = faults
        self._reads_malformed = reads_malformed
        self._strict_only = strict_only
        self._reader = Reader(faults[FrameFault.UNREADABLE], unclosed=faults.get(FrameFault.UNCLOSED))
        self._frames: list[SseFrame] = []
        self._payloads: list[tuple[SseFrame, JsonObject]] = []
        self._events: list[ChatEvent] = []
        self._reading: Reading | None = None
        self._ended = False
        self._broken_off = False  # most clients stop there, and the meaning of what follows is lost

    @property
    def events(self) -> Sequence[ChatEvent]:
        """What was said so far: a view that grows as pieces are fed, at no cost."""
        return self._events

    @property
    def frames(self) -> int:
        """How many frames have come so far."""
        return len(self._frames)

    def feed(self, piece: bytes) -> Sequence[ChatEvent]:
        """Read the next bytes of the body, as many or few as there are.

        Returns:
            The events that these bytes complete.

        Raises:
            ValueError: `end` was called before.
        """
        known = len(self._events)
        self._take(self._reader.feed(piece))
        return self._events[known:]

    def end(self) -> Sequence[ChatEvent]:
        """The body has ended; what is missing then is a violation. A second call does nothing.

        Returns:
            The events of a last block that was cut off.
        """
        if self._ended:
            return []
        self._ended = True
        known = len(self._events)
        self._take(self._reader.end())
        if not self._broken_off:
            self._machine.end(Place(offset=self._reader.offset, length=0))
        return self._events[known:]

    def reading(self) -> Reading:
        """All that was read so far, as a copy (`events` costs nothing). The same object until there is more."""
        made = self._reading
        # Frames and violations only grow, and nothing else changes without one of them: equal counts, equal reading.
        if made and (len(made.frames), len(made.violations)) == (len(self._frames), len(self._findings.violations)):
            return made
        self._reading = Reading(
            frames=tuple(self._frames),
            payloads=tuple(self._payloads),
            events=tuple(self._events),
            violations=tuple(self._findings.violations),
        )
        return self._reading

    def discard(self) -> None:
        """Give up what was read: it fills the memory, and nothing is to be made of it."""
        self._frames.clear()
        self._payloads.clear()
        self._events.clear()
        self._reading = None

    def _take(self, frames: Iterable[SseFrame]) -> None:
        for frame in frames:
            self._frames.append(frame)
            self._events += [Comment(frame=frame.number, text=comment) for comment in frame.comments]
            # A block of comments says nothing of the answer, so its malformed bytes hide nothing.
            self._add_reader_violations(frame.number, said=frame.data is not None or not frame.fields)
            if not self._broken_off:
                self._take_frame(frame)
        # A violation may be of a block that never became a frame, since it is too large: nothing is read after that.
        self._add_reader_violations(len(self._frames), said=False)

    def _add_reader_violations(self, number: int, *, said: bool) -> None:
        """Add what is malformed in the bytes of the frame of this number; `said`: what it says can be read."""
        for violation in self._reader.violations:
            if violation.place and violation.place.frame == number:
                reads_on = said and (self._reads_malformed or violation.spoils == UNTOUCHED)
                lost = violation.spoils if reads_on else LOST | (violation.spoils or LOST)
                self._findings.add_once(replace(violation, spoils=lost))
                self._broken_off = self._broken_off or not reads_on

    def _take_frame(self, frame: SseFrame) -> None:
        if frame.data is None:
            # A block of comments alone is legal anywhere.
            if frame.fields:
                self._fault(FrameFault.NO_DATA, frame)
        # Most clients parse it as JSON and raise.
        elif not frame.data.strip():
            self._fault(FrameFault.EMPTY_DATA, frame)
        else:
            # The data is still read: a line too many leaves it as it is.
            if frame.event is not None and FrameFault.EVENT_LINE in self._faults:
                self._fault(FrameFault.EVENT_LINE, frame, short(frame.event))
            self._take_data(frame, frame.data)

    def _take_data(self, frame: SseFrame, data: str) -> None:
        if data == DONE:
            self._events += self._machine.done(frame)
            return
        try:
            payload = parse_object(data)
        except ValueError as error:
            self._take_unreadable(frame, data, str(error))
            return
        self._payloads.append((frame, payload))
        self._events += self._machine.payload(frame, payload)

    def _take_unreadable(self, frame: SseFrame, data: str, error: str) -> None:
        """Data that is not JSON. Lines that are, each by itself, lack the blank lines between them, and no more."""
        lines = data.split("\n")
        readable = len(lines) > 1 and all(map(_is_readable, lines))
        # It may have held anything, a finish or a call.
        self._fault(FrameFault.UNREADABLE, frame, error, spoils=TOGETHER if readable else LOST)
        self._broken_off = not readable
        for line in lines if readable else ():
            self._take_data(frame, line)

    def _fault(
        self, fault: FrameFault, frame: SseFrame, detail: str = "", *, spoils: frozenset[Facet] = UNTOUCHED
    ) -> None:
        seen, harmless = f"{fault.value}: {detail}" if detail else fault.value, fault in self._strict_only
        self._findings.fault(self._faults[fault], fault.value, seen, frame.place, spoils, strict_only=harmless)


def misnamed(event: str | None, type_: object) -> str:
    """What an event line says, where it does not say the type of its data."""
    line = "there is no event: line" if event is None else f"the event: line says {short(event)}"
    return f"{line}, the type of the data is {short(type_)}"


def _is_readable(line: str) -> bool:
    """Whether a line is what a frame may hold."""
    try:
        parse_object(line)
    except ValueError:
        return line == DONE
    return True


def read_pieces(stream: Stream, pieces: Iterable[bytes]) -> Reading:
    """Read a streamed body from the pieces in which it arrived, cut anywhere; the stream has read nothing yet."""
    for piece in pieces:
        stream.feed(piece)
    stream.end()
    return stream.reading()
