"""A Responses stream, read: the machine that puts the questions of `wireproof.wire.responses_grammar` to events.

The events that it gives are those of a chat stream, all of choice 0, so that both are assembled and compared alike: a
call is opened by its `call_id`; the terminal event is the finish, the usage and the end. An answer without text has
none, whether it has an empty message or no message.

https://platform.openai.com/docs/api-reference/responses-streaming
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof.wire.events import CallOpened, ChatEvent, Done, Failed, Fragment, Text
from wireproof.wire.fields import JsonObject, integer_of, object_of, text_of
from wireproof.wire.quoting import quoted
from wireproof.wire.responses_events import (
    ADDED,
    ARGUMENTS_DELTA,
    OF_THE_STREAM,
    PUBLISHED,
    STATUSES,
    TERMINAL,
    TEXT_DELTA,
    item_sign,
)
from wireproof.wire.responses_grammar import (
    FRAME,
    RESPONSES_STREAM_VIOLATIONS,
    STATUS,
    STREAM,
    ResponseStreamSign,
    ResponseStreamState,
)
from wireproof.wire.responses_grammar import TERMINAL as TERMINAL_ROW
from wireproof.wire.responses_items import ItemTracker
from wireproof.wire.responses_whole import ends
from wireproof.wire.stream import Findings, Stream, read_pieces
from wireproof.wire.table import FrameFault, Note
from wireproof.wire.violation import Place, Violation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from wireproof.wire.reading import Reading
    from wireproof.wire.sse import Frame

__all__ = ["RESPONSES_STREAM_VIOLATIONS", "read_responses", "responses_stream"]

_STABLE = ("id", "created_at", "model")
_SHOWN = 60
_KEEPALIVE = "keepalive"
"""OpenAI's service sends events of this type in long silences; no client stumbles over them."""


def responses_stream() -> Stream:
    """A reader of one streamed response."""
    findings = Findings()
    # After malformed bytes nothing is judged: an event may be lost with them, and every number and sum after it.
    return Stream(_Responses(findings), findings, FRAME, reads_malformed=False)


def read_responses(pieces: Iterable[bytes], *, ended: bool = True) -> Reading:
    """Read a streamed response; see `read_pieces`."""
    return read_pieces(responses_stream(), pieces, ended=ended)


class _Responses:
    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._state = ResponseStreamState.NEW
        self._items = ItemTracker()
        self._calls: dict[int, int] = {}  # output_index → number of the call
        self._first: JsonObject = {}  # the first response object
        self._numbered = 0  # the sequence_number that is due

    def payload(self, frame: Frame, payload: JsonObject) -> Iterator[ChatEvent]:
        """Take an event."""
        # That both names agree is judged in `_name`; either is enough to read the event.
        type_ = text_of(payload.get("type")) or frame.event or ""
        self._name(frame, payload, type_)
        self._judge(frame, payload, type_)
        yield from self._said(frame.number, payload, type_)

    def done(self, frame: Frame) -> Iterable[ChatEvent]:
        """Take a `[DONE]`, which Responses do not have."""
        # Every tested client ignores it, but it is no event of this surface and may not follow the last one.
        self._step(ResponseStreamSign.DONE, frame.place)
        return ()

    def end(self, place: Place) -> None:
        """Take the end of the body."""
        self._step(ResponseStreamSign.END, place)

    def _name(self, frame: Frame, payload: JsonObject, type_: str) -> None:
        if frame.event != payload.get("type"):
            seen = _misnamed(frame.event, payload.get("type"))
            # Every client reads the type; none needs the line.
            self._fault(FrameFault.MISNAMED, frame, seen, strict_only=bool(text_of(payload.get("type"))))
        number, due = payload.get("sequence_number"), self._numbered
        # Every published event counts, whatever its number says: one that is missing is found by the next. One of an
        # unpublished type is named as that and as nothing else, so it may be numbered or not.
        self._numbered += type_ in PUBLISHED or number == due
        if type_ in PUBLISHED and integer_of(number) != due:
            seen = f"sequence_number is {quoted(number, _SHOWN)}, it should be {due}"
            # Typed clients need the number; what it says, none looks at.
            self._fault(FrameFault.OUT_OF_STEP, frame, seen, strict_only=integer_of(number) is not None)

    def _judge(self, frame: Frame, payload: JsonObject, type_: str) -> None:
        sign = OF_THE_STREAM.get(type_)
        item = item_sign(type_, payload)
        if sign is None and item is None:
            self._unpublished(frame, type_)
            return
        if not self._step(sign or ResponseStreamSign.ITEM, frame.place):
            return
        fault = self._items.take(type_, item, payload) if item else None
        if self._items.note:
            requirement, seen = self._items.note
            self._note(requirement, seen, frame.place)
        # A failure may come inside an item, so the output of a failed response is not compared.
        if sign is ResponseStreamSign.FINISH:
            fault = self._items.finish(object_of(payload.get("response")).get("output"))
        if fault:
            self._break(*fault, frame.place)
        elif "response" in payload:
            self._compare(object_of(payload["response"]), type_, frame.place)

    def _unpublished(self, frame: Frame, type_: str) -> None:
        """An event of a type that is not published. openai-node's `.stream` raises at all but keep-alives."""
        seen = f"{FrameFault.UNPUBLISHED.value}: {quoted(type_, _SHOWN)}"
        # In place of a published one, as response.function_call.delta is: it may hold any part of the answer.
        if not type_ or type_.startswith("response."):
            self._break(FRAME[FrameFault.UNPUBLISHED], seen, frame.place)
        else:
            self._fault(FrameFault.UNPUBLISHED, frame, seen, strict_only=type_ == _KEEPALIVE)

    def _compare(self, response: JsonObject, type_: str, place: Place) -> None:
        """A response object is the one that was created, and has the status of its event."""
        self._first = self._first or response
        for name in _STABLE:
            # A member that is missing is for the schema.
            if name in self._first and name in response and response[name] != self._first[name]:
                seen = (
                    f"{name} is {quoted(response[name], _SHOWN)}, but was {quoted(self._first[name], _SHOWN)} at first"
                )
                self._note(TERMINAL_ROW, seen, place)
        status = STATUSES.get(type_)
        if status is not None and response.get("status") != status:
            said = quoted(response.get("status"), _SHOWN)
            seen = f"{type_} holds a response whose status is {said}; it should be {quoted(status)}"
            self._findings.add_once(Violation(requirement=STATUS, seen=seen, place=place))

    def _said(self, number: int, payload: JsonObject, type_: str) -> Iterator[ChatEvent]:
        """The events for a client, whatever is wrong with this one."""
        item, index = object_of(payload.get("item")), integer_of(payload.get("output_index")) or 0
        match type_, payload.get("delta"):
            # Deltas of a refusal are no text: chat has a member of its own for them, too.
            case _, str(text) if type_ == TEXT_DELTA and text:
                yield Text(frame=number, choice=0, text=text)
            case _, str(text) if type_ == ARGUMENTS_DELTA:
                # Arguments of a call that was never opened go to the last one, so that they are not lost.
                call = self._calls.get(index, max(len(self._calls) - 1, 0))
                yield Fragment(frame=number, choice=0, index=call, text=text)
            case _ if type_ == ADDED and item.get("type") == "function_call":
                call = self._calls.setdefault(index, len(self._calls))
                id_, name = text_of(item.get("call_id")) or "", text_of(item.get("name")) or ""
                yield CallOpened(frame=number, choice=0, index=call, id=id_, name=name)
            case _ if type_ in TERMINAL:
                # By its event, which clients go by: a status that says something else is another requirement's.
                ended = {**object_of(payload.get("response")), "status": TERMINAL[type_]}
                yield from ends(ended, number, called=bool(self._calls))
                yield Done(frame=number)
            # It ends nothing by itself: response.failed may follow.
            case _ if type_ == "error":
                message, code = text_of(payload.get("message")) or "", text_of(payload.get("code"))
                yield Failed(frame=number, message=message, type="", code=code, param=text_of(payload.get("param")))
            case _:
                pass

    def _step(self, sign: ResponseStreamSign, place: Place) -> bool:
        seen = f"{sign.value}, {self._state.value}"
        match STREAM[self._state, sign]:
            case str(requirement):
                self._break(requirement, seen, place)
                return False
            case Note(requirement=requirement, then=state):
                self._note(requirement, seen, place)
                self._state = state
                return False
            case state:
                self._state = state
                return True

    def _fault(self, fault: FrameFault, frame: Frame, seen: str, *, strict_only: bool = False) -> None:
        """Add what is wrong with a frame beside the content."""
        self._findings.add_once(
            Violation(requirement=FRAME[fault], seen=seen, place=frame.place, strict_only=strict_only, harmless=True)
        )

    def _note(self, requirement: str, seen: str, place: Place) -> None:
        """Add what every client copes with."""
        self._findings.add_once(Violation(requirement=requirement, seen=seen, place=place, strict_only=True))

    def _break(self, requirement: str, seen: str, place: Place) -> None:
        """Add what breaks the order, an index or a sum: what follows has lost its meaning."""
        self._findings.add_last(Violation(requirement=requirement, seen=seen, place=place))


def _misnamed(event: str | None, type_: object) -> str:
    """What an event line says, where it does not say the type of its data."""
    line = "there is no event: line" if event is None else f"the event: line says {quoted(event, _SHOWN)}"
    return f"{line}, the type of the data is {quoted(type_, _SHOWN)}"
