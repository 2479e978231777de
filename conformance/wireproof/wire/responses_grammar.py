"""The grammar of a Responses stream, as tables.

Two machines read a stream together. The *stream* goes from `response.created` over `response.in_progress` to one
terminal event and its end; between them come *items*, one after the other, each from `response.output_item.added` to
`response.output_item.done`: messages in parts, calls in arguments. A table has one cell for every state and sign: the
next state, or a violation, which is the id of the requirement that such a stream breaks (see `wireproof.wire.table`).

An event is judged in this order: its name, its number, its place (the tables), the indexes and ids by which it refers
to an item, the sums of the deltas. The order matters, since one cause gives one violation: a sum is only worth
comparing once it is known whose it is. After a fault of place, index or sum nothing more is judged, because what
follows has lost its meaning; nor after an event `response.…` that is not published, since it may hold what a published
one would. Names, numbers, the status of a response, which its event says too, and events of a vendor's own do not touch
the content: each is reported once, and the rest is still judged; so it is behind a `Note`.

Items do not overlap (contract §9), although each event carries its `output_index`: so one machine follows them all.
Items of kinds that a proxy for Codex never makes (reasoning, web searches, …) have one state, in which every published
event may come. The published events that only such items have are passed over wherever they come.

The values of states and signs are the words of a violation: "a delta of a part, between items".
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from wireproof.wire.table import FrameFault, Note, table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wireproof.wire.table import Table

SCHEMA = "responses.stream.schema"
ORDER = "responses.stream.order"
EVENT_NAME = "responses.stream.event-name"
STATUS = "responses.stream.status"
SEQUENCE = "responses.stream.sequence"
INDEXES = "responses.stream.indexes"
SUMS = "responses.stream.sums"
TERMINAL = "responses.stream.terminal"

RESPONSES_STREAM_VIOLATIONS = (SCHEMA, ORDER, EVENT_NAME, STATUS, SEQUENCE, INDEXES, SUMS, TERMINAL)
"""Every requirement that reading a Responses stream can name, in the order of the catalogue."""


FRAME: Mapping[FrameFault, str] = {
    FrameFault.UNREADABLE: SCHEMA,
    FrameFault.EMPTY_DATA: SCHEMA,
    FrameFault.NO_DATA: SCHEMA,
    FrameFault.UNPUBLISHED: SCHEMA,
    FrameFault.MISNAMED: EVENT_NAME,
    FrameFault.OUT_OF_STEP: SEQUENCE,
}
"""Fault of a frame → the requirement that it breaks."""


class ResponseStreamState(Enum):
    """How far the stream as a whole has come."""

    NEW = "before response.created"
    CREATED = "before response.in_progress"
    RUNNING = "while the answer runs"
    ENDED = "after the terminal event"


class ResponseStreamSign(Enum):
    """What an event, or the end of the body, says to the stream as a whole."""

    CREATED = "response.created"
    QUEUED = "response.queued"
    IN_PROGRESS = "response.in_progress"
    ITEM = "an event of an item"
    ERROR = "an error event"
    FINISH = "response.completed or response.incomplete"
    FAILURE = "response.failed"
    DONE = "[DONE]"
    END = "the end of the body"


class ItemState(Enum):
    """How far the open item has come."""

    BETWEEN = "between items"
    MESSAGE = "in a message, outside its parts"
    PART = "in a part of a message"
    TEXT_DONE = "after the text of a part was done"
    CALL = "in the arguments of a call"
    ARGUMENTS_DONE = "after the arguments were done"
    OTHER = "in an item of another kind"


class ItemSign(Enum):
    """What an event says to the open item."""

    MESSAGE = "a message is added"
    CALL = "a function_call is added"
    OTHER = "an item of another kind is added"
    PART = "a content part is added"
    DELTA = "a delta of a part"
    NOTE = "an annotation of a part"
    TEXT_DONE = "the text of a part as done"
    PART_DONE = "a content part as done"
    ARGUMENTS = "a delta of arguments"
    ARGUMENTS_DONE = "arguments as done"
    ITEM_DONE = "an item as done"
    PUBLISHED = "an event of an item of another kind"
    FINISH = "the end of the answer"


# fmt: off
_NEW, _CREATED, _RUNNING, _ENDED = ResponseStreamState
STREAM: Table[ResponseStreamState, ResponseStreamSign] = table(ResponseStreamState, {
    #                         NEW       CREATED   RUNNING   ENDED
    # Without it the `.stream` helpers of openai-python and openai-node raise.
    ResponseStreamSign.CREATED:     (_CREATED, ORDER,    ORDER,    ORDER),
    ResponseStreamSign.QUEUED:      (ORDER,    _CREATED, ORDER,    ORDER),
    ResponseStreamSign.IN_PROGRESS: (ORDER,    _RUNNING, ORDER,    ORDER),
    ResponseStreamSign.ITEM:        (ORDER,    ORDER,    _RUNNING, ORDER),
    # Before response.created there is no stream yet: a failure then is an HTTP error (codex-story, criterion 14).
    ResponseStreamSign.ERROR:       (TERMINAL, _CREATED, _RUNNING, ORDER),
    ResponseStreamSign.FINISH:      (ORDER,    ORDER,    _ENDED,   TERMINAL),
    # A failure may come as soon as there is a response, also inside an item.
    ResponseStreamSign.FAILURE:     (ORDER,    _ENDED,   _ENDED,   TERMINAL),
    # At the end every client passes over it.
    ResponseStreamSign.DONE:        (ORDER,    ORDER,    ORDER,    Note(ORDER, _ENDED)),
    # Without a terminal event codex, openai-agents and litellm raise, and opencode asks again without end.
    ResponseStreamSign.END:         (TERMINAL, TERMINAL, TERMINAL, _ENDED),
})

_BETWEEN, _MESSAGE, _PART, _TEXT, _CALL, _DONE, _OTHER = ItemState
# Every client takes the arguments from the item as done, or from the deltas.
_NO_DONE = Note(ORDER, _BETWEEN)
ITEM: Table[ItemState, ItemSign] = table(ItemState, {
    #                          BETWEEN    MESSAGE    PART    TEXT      CALL     DONE       OTHER
    ItemSign.MESSAGE:        (_MESSAGE,  ORDER,     ORDER,  ORDER,    ORDER,   ORDER,     ORDER),
    ItemSign.CALL:           (_CALL,     ORDER,     ORDER,  ORDER,    ORDER,   ORDER,     ORDER),
    ItemSign.OTHER:          (_OTHER,    ORDER,     ORDER,  ORDER,    ORDER,   ORDER,     ORDER),
    ItemSign.PART:           (ORDER,     _PART,     ORDER,  ORDER,    ORDER,   ORDER,     _OTHER),
    # Outside a part the `.stream` helpers and @ai-sdk/openai raise, and codex and opencode show no text.
    ItemSign.DELTA:          (ORDER,     ORDER,     _PART,  ORDER,    ORDER,   ORDER,     _OTHER),
    ItemSign.NOTE:           (ORDER,     ORDER,     _PART,  _TEXT,    ORDER,   ORDER,     _OTHER),
    ItemSign.TEXT_DONE:      (ORDER,     ORDER,     _TEXT,  ORDER,    ORDER,   ORDER,     _OTHER),
    ItemSign.PART_DONE:      (ORDER,     ORDER,     ORDER,  _MESSAGE, ORDER,   ORDER,     _OTHER),
    ItemSign.ARGUMENTS:      (ORDER,     ORDER,     ORDER,  ORDER,    _CALL,   ORDER,     _OTHER),
    ItemSign.ARGUMENTS_DONE: (ORDER,     ORDER,     ORDER,  ORDER,    _DONE,   ORDER,     _OTHER),
    # openai-python, litellm, openai-node and @ai-sdk/openai lose a call that is never done.
    ItemSign.ITEM_DONE:      (ORDER,     _BETWEEN,  ORDER,  ORDER,    _NO_DONE, _BETWEEN, _BETWEEN),
    ItemSign.PUBLISHED:      (_BETWEEN,  _MESSAGE,  _PART,  _TEXT,    _CALL,   _DONE,     _OTHER),
    ItemSign.FINISH:         (_BETWEEN,  ORDER,     ORDER,  ORDER,    ORDER,   ORDER,     ORDER),
})
# fmt: on
