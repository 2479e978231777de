"""A Responses stream, read: pieces of bytes in; frames, payloads, events and violations out.

The grammar itself is `assay.wire.responses_grammar`; this module puts its questions. What is said is told in the same
events as a chat stream, all of choice 0, so that both are put together and compared alike: a call is opened by its
`call_id`, the terminal event is the finish, the usage and the end. An answer without text has none, whether it has an
empty message or no message.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.wire.chat import Reading
from assay.wire.events import CallOpened, ChatEvent, Comment, Done, Failed, Fragment, Text
from assay.wire.fields import JsonObject, integer_of, object_of, parse_object, text_of
from assay.wire.responses_events import (
    ADDED,
    ARGUMENTS_DELTA,
    OF_THE_STREAM,
    PUBLISHED,
    TERMINAL,
    TEXT_DELTA,
    item_sign,
)
from assay.wire.responses_grammar import (
    FRAME,
    RESPONSES_STREAM_VIOLATIONS,
    SCHEMA,
    STREAM,
    FrameFault,
    StreamSign,
    StreamState,
)
from assay.wire.responses_grammar import TERMINAL as TERMINAL_ROW
from assay.wire.responses_items import Items
from assay.wire.responses_whole import ends
from assay.wire.sse import Frame, Reader
from assay.wire.violation import Place, Violation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = ["RESPONSES_STREAM_VIOLATIONS", "ResponsesStream", "read_responses"]

_STABLE = ("id", "created_at", "model")
_SHOWN = 60


class ResponsesStream:
    """Reads one streamed body as it arrives; what comes out does not depend on how the bytes are cut."""

    def __init__(self) -> None:
        self._reader = Reader(SCHEMA)
        self._frames: list[Frame] = []
        self._payloads: list[tuple[Frame, JsonObject]] = []
        self._events: list[ChatEvent] = []
        self._violations: list[Violation] = []
        self._state = StreamState.NEW
        self._items = Items()
        self._calls: dict[int, int] = {}  # output_index → number of the call
        self._first: JsonObject = {}  # what the first response said of itself
        self._numbered = 0
        self._named: set[str] = set()
        self._ended = False
        self._silent = False  # something was broken behind which the rest means nothing

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
        self._step(StreamSign.END, Place(offset=self._reader.offset, length=0))
        return self._events[known:]

    def reading(self) -> Reading:
        """All that was read so far, a copy."""
        return Reading(
            frames=tuple(self._frames),
            payloads=tuple(self._payloads),
            events=tuple(self._events),
            violations=tuple(self._violations),
        )

    def _take(self, frames: Iterable[Frame]) -> None:
        for frame in frames:
            self._frames.append(frame)
            self._events += [Comment(frame=frame.number, text=comment) for comment in frame.comments]
            self._hear_reader(frame.number)
            self._take_frame(frame)
        self._hear_reader(len(self._frames))

    def _hear_reader(self, number: int) -> None:
        """Tell what the reader found wrong with the bytes of this frame (or of one that never came)."""
        for found in self._reader.violations:
            if found.place and found.place.frame == number:
                self._break(FRAME[FrameFault.UNREADABLE], found.seen, found.place)

    def _take_frame(self, frame: Frame) -> None:
        if frame.data is None:
            if frame.fields:
                self._fault(FrameFault.NO_DATA, frame)
        elif not frame.data.strip():
            self._fault(FrameFault.EMPTY_DATA, frame)
        elif frame.data == "[DONE]":
            self._step(StreamSign.DONE, frame.place)
        else:
            self._take_data(frame, frame.data)

    def _take_data(self, frame: Frame, data: str) -> None:
        try:
            payload = parse_object(data)
        except ValueError as error:
            self._break(FRAME[FrameFault.UNREADABLE], f"{FrameFault.UNREADABLE.value}: {error}", frame.place)
            return
        self._payloads.append((frame, payload))
        type_ = text_of(payload.get("type")) or frame.event or ""
        self._name(frame, payload, type_)
        self._judge(frame, payload, type_)
        self._events += self._said(frame.number, payload, type_)

    def _name(self, frame: Frame, payload: JsonObject, type_: str) -> None:
        if frame.event != payload.get("type"):
            seen = f"event is {frame.event!r}, the type of the data is {payload.get('type')!r:.{_SHOWN}}"
            self._fault(FrameFault.MISNAMED, frame, seen)
        number = payload.get("sequence_number")
        if type_ in PUBLISHED and integer_of(number) != self._numbered:
            seen = f"sequence_number is {number!r:.{_SHOWN}}, it should be {self._numbered}"
            self._fault(FrameFault.OUT_OF_STEP, frame, seen)
        self._numbered += 1

    def _judge(self, frame: Frame, payload: JsonObject, type_: str) -> None:
        sign = OF_THE_STREAM.get(type_)
        item = item_sign(type_, payload)
        if sign is None and item is None:
            seen = f"{FrameFault.UNPUBLISHED.value}: {type_!r:.{_SHOWN}}"
            self._break(FRAME[FrameFault.UNPUBLISHED], seen, frame.place)
            return
        if not self._step(sign or StreamSign.ITEM, frame.place):
            return
        fault = self._items.take(type_, item, payload) if item else None
        if sign is StreamSign.FINISH:
            fault = self._items.finish(object_of(payload.get("response")).get("output"))
        if fault:
            self._break(*fault, frame.place)
        elif "response" in payload:
            self._compare(object_of(payload["response"]), type_, frame.place)

    def _compare(self, response: JsonObject, type_: str, place: Place) -> None:
        """A response is the one that was created, and says the status of its event."""
        self._first = self._first or response
        for name in _STABLE:
            if name in self._first and response.get(name) != self._first[name]:
                seen = f"{name} is {response.get(name)!r:.60}, but was {self._first.get(name)!r:.60} at first"
                self._break(TERMINAL_ROW, seen, place)
        status = TERMINAL.get(type_)
        if status is not None and response.get("status") != status:
            self._break(TERMINAL_ROW, f"{type_} holds a response of status {response.get('status')!r:.60}", place)

    def _said(self, number: int, payload: JsonObject, type_: str) -> Iterator[ChatEvent]:
        """What an event tells a client, whatever is wrong with it."""
        item, index = object_of(payload.get("item")), integer_of(payload.get("output_index")) or 0
        match type_, payload.get("delta"):
            case _, str(text) if type_ == TEXT_DELTA and text:
                yield Text(frame=number, choice=0, text=text)
            case _, str(text) if type_ == ARGUMENTS_DELTA:
                call = self._calls.get(index, max(len(self._calls) - 1, 0))
                yield Fragment(frame=number, choice=0, index=call, text=text)
            case _ if type_ == ADDED and item.get("type") == "function_call":
                call = self._calls.setdefault(index, len(self._calls))
                id_, name = text_of(item.get("call_id")) or "", text_of(item.get("name")) or ""
                yield CallOpened(frame=number, choice=0, index=call, id=id_, name=name)
            case _ if type_ in TERMINAL:
                yield from ends(object_of(payload.get("response")), number, called=bool(self._calls))
                yield Done(frame=number)
            case _ if type_ == "error":
                message, code = text_of(payload.get("message")) or "", text_of(payload.get("code"))
                yield Failed(frame=number, message=message, type="", code=code, param=text_of(payload.get("param")))
            case _:
                pass

    def _step(self, sign: StreamSign, place: Place) -> bool:
        cell = STREAM[self._state, sign]
        if isinstance(cell, str):
            self._break(cell, f"{sign.value}, {self._state.value}", place)
            return False
        self._state = cell
        return True

    def _fault(self, fault: FrameFault, frame: Frame, seen: str = "") -> None:
        self._tell(Violation(requirement=FRAME[fault], seen=seen or fault.value, place=frame.place))

    def _break(self, requirement: str, seen: str, place: Place) -> None:
        self._tell(Violation(requirement=requirement, seen=seen, place=place))
        self._silent = True

    def _tell(self, violation: Violation) -> None:
        if not self._silent and violation.requirement not in self._named:
            self._named.add(violation.requirement)
            self._violations.append(violation)


def read_responses(pieces: Iterable[bytes], *, ended: bool = True) -> Reading:
    """Read a streamed body from the pieces in which it arrived.

    Args:
        pieces: Its bytes, cut anywhere.
        ended: Whether that is all of it; False where the client left before the end, so nothing is missing.
    """
    stream = ResponsesStream()
    for piece in pieces:
        stream.feed(piece)
    if ended:
        stream.end()
    return stream.reading()
