"""The grammar of a Responses stream, as tables.

Two machines read a stream together. The *stream* goes from `response.created` over `response.in_progress` to one
terminal event and its end; between them *items* are told one after the other, each from `response.output_item.added` to
`response.output_item.done`: messages in parts, calls in arguments. A table has one cell for every state and sign: the
next state, or a hole. A hole is the id of the requirement that such a stream breaks.

What an event says is judged in this order: its name, its number, its place (the tables), the indexes and ids by which
it speaks of an item, the sums of what was told. One cause gives one violation: after one of place, index or sum, or
after an event that nobody has published, the stream is judged no more, since what follows has lost its meaning. Names
and numbers stand beside the content: each is told once, and the rest is judged all the same.

Items of kinds that a proxy for Codex never makes (reasoning, web searches, …) have one state: whatever is published may
stand in them.

The values of states and signs are the words in which a violation is told: "a text delta, between items".
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from assay.wire.table import FrameFault, table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.wire.table import Table

SCHEMA = "responses.stream.schema"
ORDER = "responses.stream.order"
EVENT_NAME = "responses.stream.event-name"
SEQUENCE = "responses.stream.sequence"
INDEXES = "responses.stream.indexes"
SUMS = "responses.stream.sums"
TERMINAL = "responses.stream.terminal"

RESPONSES_STREAM_VIOLATIONS = (SCHEMA, ORDER, EVENT_NAME, SEQUENCE, INDEXES, SUMS, TERMINAL)
"""Every requirement that reading a Responses stream can name, in the order of the catalogue."""


FRAME: Mapping[FrameFault, str] = {
    FrameFault.UNREADABLE: SCHEMA,
    FrameFault.EMPTY_DATA: SCHEMA,
    FrameFault.NO_DATA: SCHEMA,
    FrameFault.UNPUBLISHED: SCHEMA,
    FrameFault.MISNAMED: EVENT_NAME,
    FrameFault.OUT_OF_STEP: SEQUENCE,
}


class StreamState(Enum):
    """Where the stream as a whole stands."""

    NEW = "before response.created"
    CREATED = "before response.in_progress"
    RUNNING = "while the answer runs"
    ENDED = "after the terminal event"


class StreamSign(Enum):
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
    """How far the item that is being told has come."""

    BETWEEN = "between items"
    MESSAGE = "in a message, outside its parts"
    PART = "in a part of a message"
    TOLD = "after the text of a part was told as done"
    CALL = "in the arguments of a call"
    ARGUED = "after the arguments were told as done"
    OTHER = "in an item of another kind"


class ItemSign(Enum):
    """What an event says to the item that is being told."""

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
_NEW, _CREATED, _RUNNING, _ENDED = StreamState
STREAM: Table[StreamState, StreamSign] = table(StreamState, {
    #                         NEW       CREATED   RUNNING   ENDED
    StreamSign.CREATED:     (_CREATED, ORDER,    ORDER,    ORDER),
    StreamSign.QUEUED:      (ORDER,    _CREATED, ORDER,    ORDER),
    StreamSign.IN_PROGRESS: (ORDER,    _RUNNING, ORDER,    ORDER),
    StreamSign.ITEM:        (ORDER,    ORDER,    _RUNNING, ORDER),
    StreamSign.ERROR:       (TERMINAL, _CREATED, _RUNNING, ORDER),
    StreamSign.FINISH:      (ORDER,    ORDER,    _ENDED,   TERMINAL),
    StreamSign.FAILURE:     (ORDER,    _ENDED,   _ENDED,   TERMINAL),
    StreamSign.DONE:        (ORDER,    ORDER,    ORDER,    ORDER),
    StreamSign.END:         (TERMINAL, TERMINAL, TERMINAL, _ENDED),
})

_BETWEEN, _MESSAGE, _PART, _TOLD, _CALL, _ARGUED, _OTHER = ItemState
ITEM: Table[ItemState, ItemSign] = table(ItemState, {
    #                          BETWEEN    MESSAGE    PART    TOLD      CALL     ARGUED     OTHER
    ItemSign.MESSAGE:        (_MESSAGE,  ORDER,     ORDER,  ORDER,    ORDER,   ORDER,     ORDER),
    ItemSign.CALL:           (_CALL,     ORDER,     ORDER,  ORDER,    ORDER,   ORDER,     ORDER),
    ItemSign.OTHER:          (_OTHER,    ORDER,     ORDER,  ORDER,    ORDER,   ORDER,     ORDER),
    ItemSign.PART:           (ORDER,     _PART,     ORDER,  ORDER,    ORDER,   ORDER,     _OTHER),
    ItemSign.DELTA:          (ORDER,     ORDER,     _PART,  ORDER,    ORDER,   ORDER,     _OTHER),
    ItemSign.NOTE:           (ORDER,     ORDER,     _PART,  _TOLD,    ORDER,   ORDER,     _OTHER),
    ItemSign.TEXT_DONE:      (ORDER,     ORDER,     _TOLD,  ORDER,    ORDER,   ORDER,     _OTHER),
    ItemSign.PART_DONE:      (ORDER,     ORDER,     ORDER,  _MESSAGE, ORDER,   ORDER,     _OTHER),
    ItemSign.ARGUMENTS:      (ORDER,     ORDER,     ORDER,  ORDER,    _CALL,   ORDER,     _OTHER),
    ItemSign.ARGUMENTS_DONE: (ORDER,     ORDER,     ORDER,  ORDER,    _ARGUED, ORDER,     _OTHER),
    ItemSign.ITEM_DONE:      (ORDER,     _BETWEEN,  ORDER,  ORDER,    ORDER,   _BETWEEN,  _BETWEEN),
    ItemSign.PUBLISHED:      (ORDER,     ORDER,     ORDER,  ORDER,    ORDER,   ORDER,     _OTHER),
    ItemSign.FINISH:         (_BETWEEN,  ORDER,     ORDER,  ORDER,    ORDER,   ORDER,     ORDER),
})
# fmt: on
