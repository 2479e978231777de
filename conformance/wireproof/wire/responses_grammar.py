"""The grammar of a Responses stream, as tables: its events, the signs that they are, and which may follow which.

Two machines read a stream together. The *stream* goes from `response.created` over `response.in_progress` to one
terminal event and its end; between them come *items*, one after the other, each from `response.output_item.added` to
`response.output_item.done`: messages in parts, calls in arguments. A table has one cell for every state and sign: the
next state, or a violation, which is the id of the requirement that such a stream breaks (see `wireproof.wire.table`).

An event is judged in this order: its name, its number, its place (the tables), the indexes and ids by which it refers
to an item, the sums of the deltas. No fault hides another: behind an event that is out of place the stream is read on
as if what it needs had come, so that a missing event is one violation. Each fault is named once. Only the sums are
compared no more behind one that is wrong in the same item, since those of its other events follow from it; and none of
this is judged after an event `response.…` that is not published, since it may hold what a published one would.

Items do not overlap (contract §9), although each event carries its `output_index`: so one machine follows them all.
Items of kinds that a proxy for Codex never makes (reasoning, web searches, …) have one state, in which every published
event may come. The published events that only such items have are passed over wherever they come.

All types that OpenAI has published are here, also those of items that a proxy for Codex never makes: an event of such a
type is no violation. Each type is about the stream as a whole or about an item.

The values of states and signs are the words of a violation: "a delta of a part, between items".

https://platform.openai.com/docs/api-reference/responses-streaming
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from wireproof.wire.facet import Facet
from wireproof.wire.fields import JsonObject, object_of, text_of
from wireproof.wire.table import FrameFault, Hole, Table, note, table

if TYPE_CHECKING:
    from collections.abc import Mapping


SCHEMA = "responses.stream.schema"
ORDER = "responses.stream.order"
EVENT_NAME = "responses.stream.event-name"
STATUS = "responses.stream.status"
SEQUENCE = "responses.stream.sequence"
INDEXES = "responses.stream.indexes"
SUMS = "responses.stream.sums"
TERMINAL_ROW = "responses.stream.terminal"

RESPONSES_STREAM_VIOLATIONS = (SCHEMA, ORDER, EVENT_NAME, STATUS, SEQUENCE, INDEXES, SUMS, TERMINAL_ROW)
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


OF_THE_STREAM: Mapping[str, ResponseStreamSign] = {
    "response.created": ResponseStreamSign.CREATED,
    "response.queued": ResponseStreamSign.QUEUED,
    "response.in_progress": ResponseStreamSign.IN_PROGRESS,
    "error": ResponseStreamSign.ERROR,
    "response.completed": ResponseStreamSign.FINISH,
    "response.incomplete": ResponseStreamSign.FINISH,
    "response.failed": ResponseStreamSign.FAILURE,
}
"""Type → sign, of the events of the stream as a whole."""

TERMINAL: Mapping[str, str] = {
    "response.completed": "completed",
    "response.incomplete": "incomplete",
    "response.failed": "failed",
}
"""Type of a terminal event → the status of the response in it."""

STATUSES: Mapping[str, str] = {
    "response.created": "in_progress",
    "response.in_progress": "in_progress",
    **TERMINAL,
}
"""Type of an event → the status of the response in it; a response that waits (`response.queued`) is left out."""

ADDED, ITEM_DONE = "response.output_item.added", "response.output_item.done"
PART_ADDED, PART_DONE = "response.content_part.added", "response.content_part.done"
TEXT_DELTA, TEXT_DONE = "response.output_text.delta", "response.output_text.done"
REFUSAL_DELTA, REFUSAL_DONE = "response.refusal.delta", "response.refusal.done"
ARGUMENTS_DELTA, ARGUMENTS_DONE = "response.function_call_arguments.delta", "response.function_call_arguments.done"

OF_AN_ITEM: Mapping[str, ItemSign] = {
    ITEM_DONE: ItemSign.ITEM_DONE,
    PART_ADDED: ItemSign.PART,
    PART_DONE: ItemSign.PART_DONE,
    TEXT_DELTA: ItemSign.DELTA,
    TEXT_DONE: ItemSign.TEXT_DONE,
    REFUSAL_DELTA: ItemSign.DELTA,
    REFUSAL_DONE: ItemSign.TEXT_DONE,
    "response.output_text.annotation.added": ItemSign.NOTE,
    ARGUMENTS_DELTA: ItemSign.ARGUMENTS,
    ARGUMENTS_DONE: ItemSign.ARGUMENTS_DONE,
}
"""Type → sign, of the events of messages and calls. That of an added item depends on the item's type, see `_KINDS`."""

_KINDS: Mapping[str, ItemSign] = {"message": ItemSign.MESSAGE, "function_call": ItemSign.CALL}
"""Type of an added item → sign; the other types are `OTHER`."""

_ELSEWHERE: Mapping[str, tuple[str, ...]] = {
    "audio": ("delta", "done"),
    "audio.transcript": ("delta", "done"),
    "code_interpreter_call_code": ("delta", "done"),
    "code_interpreter_call": ("completed", "in_progress", "interpreting"),
    "compaction": ("compacting",),
    "file_search_call": ("completed", "in_progress", "searching"),
    "shell_call_command": ("added", "delta", "done"),
    "shell_call_output_content": ("delta", "done"),
    "reasoning_summary_part": ("added", "done"),
    "reasoning_summary_text": ("delta", "done"),
    "reasoning_text": ("delta", "done"),
    "web_search_call": ("completed", "in_progress", "searching"),
    "image_generation_call": ("completed", "generating", "in_progress", "partial_image"),
    "mcp_call_arguments": ("delta", "done"),
    "mcp_call": ("completed", "failed", "in_progress"),
    "mcp_list_tools": ("completed", "failed", "in_progress"),
    "custom_tool_call_input": ("delta", "done"),
}
ELSEWHERE = frozenset(f"response.{stem}.{end}" for stem, ends in _ELSEWHERE.items() for end in ends)
"""The types of events of items of other kinds."""

# openai-node's `.stream` raises at any other type.
PUBLISHED = frozenset(OF_THE_STREAM) | frozenset(OF_AN_ITEM) | {ADDED} | ELSEWHERE
"""All types that OpenAI has published."""


def item_sign(type_: str, event: JsonObject) -> ItemSign | None:
    """What an event says to the open item; None when its type is not published, or not one of items."""
    if type_ == ADDED:
        kind = text_of(object_of(event.get("item")).get("type")) or ""
        # An item of a type that is not known here is for the schema, so its events are read as those of any other kind.
        return _KINDS.get(kind, ItemSign.OTHER)
    return ItemSign.PUBLISHED if type_ in ELSEWHERE else OF_AN_ITEM.get(type_)


_UNENDED = frozenset({Facet.FINISH, Facet.USAGE, Facet.END})

# fmt: off
_NEW, _CREATED, _RUNNING, _ENDED = ResponseStreamState
_STAYS = {state: Hole(ORDER, state) for state in ResponseStreamState}
_RUNS, _ENDS = _STAYS[_RUNNING], _STAYS[_ENDED]
_AGAIN = Hole(TERMINAL_ROW, _ENDED)
_NEVER = Hole(TERMINAL_ROW, _ENDED, _UNENDED)
STREAM: Table[ResponseStreamState, ResponseStreamSign] = table(ResponseStreamState, {
    #                                NEW       CREATED   RUNNING   ENDED
    # Without it the `.stream` helpers of openai-python and openai-node raise.
    ResponseStreamSign.CREATED:     (_CREATED, _STAYS[_CREATED], _RUNS, _ENDS),
    ResponseStreamSign.QUEUED:      (_STAYS[_CREATED], _CREATED, _RUNS, _ENDS),
    ResponseStreamSign.IN_PROGRESS: (_RUNS,    _RUNNING, _RUNS,    _ENDS),
    ResponseStreamSign.ITEM:        (_RUNS,    _RUNS,    _RUNNING, _ENDS),
    # Before response.created there is no stream yet: a failure then is an HTTP error (codex-story, criterion 14).
    ResponseStreamSign.ERROR:       (Hole(TERMINAL_ROW, _ENDED, _UNENDED), _CREATED, _RUNNING, _ENDS),
    ResponseStreamSign.FINISH:      (_ENDS,    _ENDS,    _ENDED,   _AGAIN),
    # A failure may come as soon as there is a response, also inside an item.
    ResponseStreamSign.FAILURE:     (_ENDS,    _ENDED,   _ENDED,   _AGAIN),
    # At the end every client passes over it.
    ResponseStreamSign.DONE:        (_STAYS[_NEW], _STAYS[_CREATED], _RUNS, note(ORDER, _ENDED)),
    # Without a terminal event codex, openai-agents and litellm raise, and opencode asks again without end.
    ResponseStreamSign.END:         (_NEVER,   _NEVER,   _NEVER,   _ENDED),
})

_BETWEEN, _MESSAGE, _PART, _TEXT, _CALL, _DONE, _OTHER = ItemState
# Out of place: what should have come before it is missing, and it is read on as if that had come.
_M, _C, _O = Hole(ORDER, _MESSAGE), Hole(ORDER, _CALL), Hole(ORDER, _OTHER)
_P, _T, _A, _B = Hole(ORDER, _PART), Hole(ORDER, _TEXT), Hole(ORDER, _DONE), Hole(ORDER, _BETWEEN)
# Every client takes the arguments from the item as done, or from the deltas.
_NO_DONE = note(ORDER, _BETWEEN)
ITEM: Table[ItemState, ItemSign] = table(ItemState, {
    #                          BETWEEN    MESSAGE    PART    TEXT      CALL     DONE       OTHER
    ItemSign.MESSAGE:        (_MESSAGE,  _M,        _M,     _M,       _M,      _M,        _M),
    ItemSign.CALL:           (_CALL,     _C,        _C,     _C,       _C,      _C,        _C),
    ItemSign.OTHER:          (_OTHER,    _O,        _O,     _O,       _O,      _O,        _O),
    ItemSign.PART:           (_P,        _PART,     _P,     _P,       _P,      _P,        _OTHER),
    # Outside a part the `.stream` helpers and @ai-sdk/openai raise, and codex and opencode show no text.
    ItemSign.DELTA:          (_P,        _P,        _PART,  _P,       _P,      _P,        _OTHER),
    ItemSign.NOTE:           (_P,        _P,        _PART,  _TEXT,    _P,      _P,        _OTHER),
    ItemSign.TEXT_DONE:      (_T,        _T,        _TEXT,  _T,       _T,      _T,        _OTHER),
    ItemSign.PART_DONE:      (_M,        _M,        _M,     _MESSAGE, _M,      _M,        _OTHER),
    ItemSign.ARGUMENTS:      (_C,        _C,        _C,     _C,       _CALL,   _C,        _OTHER),
    ItemSign.ARGUMENTS_DONE: (_A,        _A,        _A,     _A,       _DONE,   _A,        _OTHER),
    # openai-python, litellm, openai-node and @ai-sdk/openai lose a call that is never done.
    ItemSign.ITEM_DONE:      (_B,        _BETWEEN,  _B,     _B,       _NO_DONE, _BETWEEN, _BETWEEN),
    ItemSign.PUBLISHED:      (_BETWEEN,  _MESSAGE,  _PART,  _TEXT,    _CALL,   _DONE,     _OTHER),
    ItemSign.FINISH:         (_BETWEEN,  _B,        _B,     _B,       _B,      _B,        _B),
})
# fmt: on
