"""A Responses stream, read: the machine that puts the questions of `wireproof.wire.responses_grammar` to events.

The events that it gives are those of a chat stream, all of choice 0, so that both are assembled and compared alike: a
call is opened by its `call_id`; the terminal event is the finish, the usage and the end. An answer without text has
none, whether it has an empty message or no message.

https://platform.openai.com/docs/api-reference/responses-streaming
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof.wire.events import CallOpened, ChatEvent, Done, Failed, Fragment, Text
from wireproof.wire.facet import CONTENT
from wireproof.wire.fields import JsonObject, integer_of, object_of, text_of
from wireproof.wire.quoting import quoted, short
from wireproof.wire.responses_grammar import (
    ADDED,
    ARGUMENTS_DELTA,
    FRAME,
    OF_THE_STREAM,
    PUBLISHED,
    STATUS,
    STATUSES,
    STREAM,
    TERMINAL,
    TERMINAL_ROW,
    TEXT_DELTA,
    ResponseStreamSign,
    ResponseStreamState,
    item_sign,
)
from wireproof.wire.responses_items import ItemTracker
from wireproof.wire.responses_whole import ends
from wireproof.wire.stream import Findings, Stream, misnamed
from wireproof.wire.table import FrameFault

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from wireproof.wire.sse import SseFrame
    from wireproof.wire.violation import Place

_STABLE = ("id", "created_at", "model")
_KEEPALIVE = "keepalive"
"""OpenAI's service sends events of this type in long silences; no client stumbles over them."""


def responses_stream() -> Stream:
    """A reader of one streamed response."""
    # After malformed bytes nothing is judged: an event may be lost with them, and every number and sum after it.
    return Stream(_Responses, FRAME, reads_malformed=False)


class _Responses:
    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._state = ResponseStreamState.NEW
        self._items = ItemTracker()
        self._calls: dict[int, int] = {}  # output_index → number of the call
        self._opened = 0  # how many calls were opened
        self._first: JsonObject = {}  # the first response object
        self._numbered = 0  # the sequence_number that is due

    def payload(self, frame: SseFrame, payload: JsonObject) -> Iterator[ChatEvent]:
        """Take an event."""
        # That both names agree is judged in `_name`; either is enough to read the event.
        type_ = text_of(payload.get("type")) or frame.event or ""
        self._name(frame, payload, type_)
        self._judge(frame, payload, type_)
        yield from self._said(frame.number, payload, type_)

    def done(self, frame: SseFrame) -> Iterable[ChatEvent]:
        """Take a `[DONE]`, which Responses do not have."""
        # Every tested client ignores it, but it is no event of this surface and may not follow the last one.
        self._step(ResponseStreamSign.DONE, frame.place)
        return ()

    def end(self, place: Place) -> None:
        """Take the end of the body."""
        self._step(ResponseStreamSign.END, place)

    def _name(self, frame: SseFrame, payload: JsonObject, type_: str) -> None:
        if frame.event != payload.get("type"):
            seen = misnamed(frame.event, payload.get("type"))
            # Every client reads the type; none needs the line.
            self._fault(FrameFault.MISNAMED, frame, seen, strict_only=bool(text_of(payload.get("type"))))
        number, due = payload.get("sequence_number"), self._numbered
        # Every published event counts, whatever its number says: one that is missing is found by the next. One of an
        # unpublished type is named as that and as nothing else, so it may be numbered or not.
        self._numbered += type_ in PUBLISHED or number == due
        if type_ in PUBLISHED and integer_of(number) != due:
            seen = f"sequence_number is {short(number)}, it should be {due}"
            # Typed clients need the number; what it says, none looks at.
            self._fault(FrameFault.OUT_OF_STEP, frame, seen, strict_only=integer_of(number) is not None)

    def _judge(self, frame: SseFrame, payload: JsonObject, type_: str) -> None:
        sign = OF_THE_STREAM.get(type_)
        item = item_sign(type_, payload)
        if sign is None and item is None:
            self._unpublished(frame, type_)
            return
        ended = self._state is ResponseStreamState.ENDED
        self._step(sign or ResponseStreamSign.ITEM, frame.place)
        # No client reads on after the terminal event.
        if ended:
            return
        faults = self._items.take(type_, item, payload) if item else []
        # A failure may come inside an item, so the output of a failed response is not compared.
        if sign is ResponseStreamSign.FINISH:
            faults += self._items.finish(object_of(payload.get("response")).get("output"))
        self._findings.add_at(frame.place, faults)
        if "response" in payload:
            self._compare(object_of(payload["response"]), type_, frame.place)

    def _unpublished(self, frame: SseFrame, type_: str) -> None:
        """An event of a type that is not published. openai-node's `.stream` raises at all but keep-alives."""
        seen = f"{FrameFault.UNPUBLISHED.value}: {short(type_)}"
        # In place of a published one, as response.function_call.delta is: it may hold any part of the answer.
        if not type_ or type_.startswith("response."):
            self._items.lose()
            self._findings.fault(FRAME[FrameFault.UNPUBLISHED], type_, seen, frame.place, CONTENT)
        else:
            self._fault(FrameFault.UNPUBLISHED, frame, seen, strict_only=type_ == _KEEPALIVE)

    def _compare(self, response: JsonObject, type_: str, place: Place) -> None:
        """A response object is the one that was created, and has the status of its event."""
        self._first = self._first or response
        for name in _STABLE:
            # A member that is missing is for the schema.
            if name in self._first and name in response and response[name] != self._first[name]:
                seen = f"{name} is {short(response[name])}, but was {short(self._first[name])} at first"
                # Every client copes with that.
                self._findings.fault(TERMINAL_ROW, name, seen, place, strict_only=True)
        status = STATUSES.get(type_)
        if status is not None and response.get("status") != status:
            said = short(response.get("status"))
            seen = f"{type_} holds a response whose status is {said}; it should be {quoted(status)}"
            self._findings.fault(STATUS, "", seen, place)

    def _said(self, number: int, payload: JsonObject, type_: str) -> Iterator[ChatEvent]:
        """The events for a client, whatever is wrong with this one."""
        item, index = object_of(payload.get("item")), integer_of(payload.get("output_index")) or 0
        match type_, payload.get("delta"):
            # Deltas of a refusal are no text: chat has a member of its own for them, too.
            case _, str(text) if type_ == TEXT_DELTA and text:
                yield Text(frame=number, choice=0, text=text)
            case _, str(text) if type_ == ARGUMENTS_DELTA:
                # Arguments of a call that was never opened go to the last one, so that they are not lost.
                call = self._calls.get(index, max(self._opened - 1, 0))
                yield Fragment(frame=number, choice=0, index=call, text=text)
            case _ if type_ == ADDED and item.get("type") == "function_call":
                # Each opens one, although two may carry one index: the item tells them apart.
                call = self._calls[index] = self._opened
                self._opened += 1
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

    def _step(self, sign: ResponseStreamSign, place: Place) -> None:
        self._state = self._findings.step(STREAM, self._state, sign, place)

    def _fault(self, fault: FrameFault, frame: SseFrame, seen: str, *, strict_only: bool = False) -> None:
        """Add what is wrong with a frame beside the content."""
        self._findings.fault(FRAME[fault], fault.value, seen, frame.place, strict_only=strict_only)
