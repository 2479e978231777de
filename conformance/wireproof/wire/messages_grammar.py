"""The grammar of a Messages stream, as tables; and the published words of events, blocks, ends and errors.

Two machines read a stream together. The *stream* goes from `message_start` over `message_delta` to `message_stop`;
between the first two come *blocks*, one after the other, each from `content_block_start` over its deltas to
`content_block_stop`. Each block is a machine of its own, found by the `index` of the event: so two that are open at
once, which every measured client copes with, are read as what they are. A table has one cell for every state and sign:
the next state, or a violation, which is the id of the requirement that such a stream breaks (see
`wireproof.wire.table`).

An event is judged in this order: its name, its place in the stream, the block that it is of, its place in that block,
what it adds up to. No fault hides another: behind an event that is out of place the stream is read on as if what it
needs had come. `ping` may come anywhere, and clients are to pass over types that they do not know.

An error ends the stream without `message_stop`; a block that is open then was cut off, and is no fault.

The values of states and signs are the words of a violation: "a text_delta, in a tool_use block".

https://platform.claude.com/docs/en/build-with-claude/streaming
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from wireproof.wire.facet import Facet
from wireproof.wire.table import FrameFault, Hole, Table, note, table

if TYPE_CHECKING:
    from collections.abc import Mapping


SCHEMA = "messages.stream.schema"
EVENT_NAME = "messages.stream.event-name"
ORDER = "messages.stream.order"
INDEXES = "messages.stream.indexes"
DELTA_KINDS = "messages.stream.delta-kinds"
TEXT = "messages.stream.text"
ARGUMENTS = "messages.stream.arguments"
THINKING = "messages.stream.thinking"
STOP_REASON = "messages.stream.stop-reason"
USAGE = "messages.stream.usage"
TERMINAL = "messages.stream.terminal"
ERROR_BEFORE_OUTPUT = "messages.stream.error-before-output"
ERROR_IN_STREAM = "messages.stream.error-in-stream"

MESSAGES_STREAM_VIOLATIONS = (
    SCHEMA, EVENT_NAME, ORDER, INDEXES, DELTA_KINDS, TEXT, ARGUMENTS, THINKING, STOP_REASON, USAGE, TERMINAL,
    ERROR_BEFORE_OUTPUT, ERROR_IN_STREAM,
)  # fmt: skip
"""Every requirement that reading a Messages stream can name, in the order of the catalogue."""

FRAME: Mapping[FrameFault, str] = {
    FrameFault.UNREADABLE: SCHEMA,
    FrameFault.EMPTY_DATA: SCHEMA,
    FrameFault.NO_DATA: SCHEMA,
    FrameFault.UNPUBLISHED: SCHEMA,
    FrameFault.MISNAMED: EVENT_NAME,
    # Without the blank line @anthropic-ai/sdk loses the last event and raises.
    FrameFault.UNCLOSED: EVENT_NAME,
}
"""Fault of a frame → the requirement that it breaks."""


class MessageStreamState(Enum):
    """How far the stream as a whole has come."""

    NEW = "before message_start"
    RUNNING = "while the message runs"
    CLOSING = "after message_delta"
    ENDED = "after message_stop"
    FAILED = "after an error"


class MessageStreamSign(Enum):
    """What an event, or the end of the body, says to the stream as a whole."""

    START = "message_start"
    BLOCK = "an event of a content block"
    DELTA = "message_delta"
    STOP = "message_stop"
    ERROR = "an error event"
    END = "the end of the body"


class BlockState(Enum):
    """How far a content block has come."""

    ABSENT = "before its block has started"
    TEXT = "in a text block"
    CALL = "in a tool_use block"
    THINKING = "in a thinking block"
    SIGNED = "after the signature of a thinking block"
    COMPLETE = "in a redacted_thinking block"
    OTHER = "in a block of another kind"
    STOPPED = "after its block has stopped"


class BlockSign(Enum):
    """What an event says to its content block."""

    TEXT = "a text block starts"
    CALL = "a tool_use block starts"
    THINKING = "a thinking block starts"
    COMPLETE = "a redacted_thinking block starts"
    OTHER = "a block of another kind starts"
    TEXT_DELTA = "a text_delta"
    CITATION = "a citations_delta"
    ARGUMENTS = "an input_json_delta"
    THOUGHT = "a thinking_delta"
    SIGNATURE = "a signature_delta"
    OTHER_DELTA = "a delta of another kind"
    STOP = "content_block_stop"
    FINISH = "the end of the message"


START, DELTA, STOP = "message_start", "message_delta", "message_stop"
BLOCK_START, BLOCK_DELTA, BLOCK_STOP = "content_block_start", "content_block_delta", "content_block_stop"
PING, ERROR = "ping", "error"

OF_THE_STREAM: Mapping[str, MessageStreamSign] = {
    START: MessageStreamSign.START,
    BLOCK_START: MessageStreamSign.BLOCK,
    BLOCK_DELTA: MessageStreamSign.BLOCK,
    BLOCK_STOP: MessageStreamSign.BLOCK,
    DELTA: MessageStreamSign.DELTA,
    STOP: MessageStreamSign.STOP,
    ERROR: MessageStreamSign.ERROR,
}
"""Type → sign. `ping` is none: it may come anywhere and says nothing."""

BLOCKS: Mapping[str, BlockSign] = {
    "text": BlockSign.TEXT,
    "tool_use": BlockSign.CALL,
    "thinking": BlockSign.THINKING,
    "redacted_thinking": BlockSign.COMPLETE,
}
"""Type of a block → sign; the other types are `OTHER`."""

OTHER_BLOCKS = frozenset({
    "server_tool_use", "web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result",
    "bash_code_execution_tool_result", "text_editor_code_execution_tool_result", "tool_search_tool_result",
    "container_upload", "advisor_tool_result", "mcp_tool_use", "mcp_tool_result", "mcp_tool_listing", "compaction",
    "fallback",
})  # fmt: skip
"""The other published types of blocks, which a proxy for a text model never makes; some of them need a beta header."""

DELTAS: Mapping[str, BlockSign] = {
    "text_delta": BlockSign.TEXT_DELTA,
    "citations_delta": BlockSign.CITATION,
    "input_json_delta": BlockSign.ARGUMENTS,
    "thinking_delta": BlockSign.THOUGHT,
    "signature_delta": BlockSign.SIGNATURE,
}
"""Type of a delta → sign; the other types are `OTHER_DELTA`."""

TOOL_USE = "tool_use"
"""The stop reason of an answer with calls."""
STOP_SEQUENCE = "stop_sequence"
"""The stop reason of an answer that one of the request's own sequences ended, which it then names."""
STOP_REASONS: Mapping[str, str] = {
    "end_turn": "stop",
    STOP_SEQUENCE: "stop",
    "pause_turn": "stop",
    TOOL_USE: "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
}
"""Stop reason → the finish reason of chat completions for it, so that all surfaces are compared as data."""
WITHOUT_CALLS = frozenset({"end_turn", STOP_SEQUENCE})
"""The stop reasons of an answer that is complete and calls nothing."""
CUT = frozenset({"max_tokens", "model_context_window_exceeded"})
"""The stop reasons of an answer that was cut, perhaps inside its last call."""

ERROR_TYPES: Mapping[int, str] = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    409: "conflict_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}
"""HTTP status → the type of error that it has; what else is wrong with a request is an invalid_request_error."""

_UNENDED = frozenset({Facet.FINISH, Facet.USAGE, Facet.END})
_UNFINISHED = frozenset({Facet.FINISH, Facet.USAGE})

# fmt: off
_NEW, _RUNNING, _CLOSING, _ENDED, _FAILED = MessageStreamState
_RUNS, _CLOSES = Hole(ORDER, _RUNNING), Hole(ORDER, _CLOSING)
# message_start alone has the answer's id and model.
_NAMELESS = Hole(ORDER, _RUNNING, frozenset({Facet.ID, Facet.SETTINGS}))
# Most clients add to the answer what comes then.
_OVER = Hole(TERMINAL, _ENDED, frozenset({Facet.EVENTS, Facet.TEXT, Facet.CALL, Facet.ARGUMENTS}))
_AFTER = Hole(ERROR_IN_STREAM, _FAILED)
# A body that ends too soon: @anthropic-ai/sdk raises, the others take what came for the whole answer.
_NEVER = Hole(TERMINAL, _ENDED, _UNENDED)
STREAM: Table[MessageStreamState, MessageStreamSign] = table(MessageStreamState, {
    #                            NEW       RUNNING   CLOSING   ENDED     FAILED
    # @anthropic-ai/sdk raises at a second one.
    MessageStreamSign.START:   (_RUNNING,  _RUNS,    _CLOSES,  _OVER,    _AFTER),
    # Without message_start both SDKs raise. A block after message_delta is lost to @anthropic-ai/sdk.
    MessageStreamSign.BLOCK:   (_NAMELESS, _RUNNING, _CLOSES,  _OVER,    _AFTER),
    # The docs allow several, of which the last counts; LangChain adds up their counts.
    MessageStreamSign.DELTA:   (_CLOSES,   _CLOSING, note(STOP_REASON, _CLOSING), _OVER, _AFTER),
    # Without message_delta no client learns why the answer ended: the runners of both SDKs run no tool.
    MessageStreamSign.STOP:    (Hole(ORDER, _ENDED, _UNFINISHED), Hole(STOP_REASON, _ENDED, _UNFINISHED),
                                _ENDED, _OVER, _AFTER),
    # Before message_start there is no stream yet: a failure then is an HTTP error.
    MessageStreamSign.ERROR:   (Hole(ERROR_BEFORE_OUTPUT, _FAILED), _FAILED, _FAILED, _OVER, _AFTER),
    MessageStreamSign.END:     (_NEVER,    _NEVER,   Hole(TERMINAL, _ENDED), _ENDED, _FAILED),
})

_ABSENT, _TEXT, _CALL, _THINKING, _SIGNED, _COMPLETE, _OTHER, _STOPPED = BlockState
_LOST_TEXT = frozenset({Facet.TEXT, Facet.EVENTS})
_LOST_CALL = frozenset({Facet.CALL, Facet.ARGUMENTS, Facet.CALL_ID})
# A delta in a block of another kind: the block stays what it is, and most clients lose what the delta holds.
_T = {state: Hole(DELTA_KINDS, state, _LOST_TEXT) for state in BlockState}
_A = {state: Hole(DELTA_KINDS, state, _LOST_CALL | {Facet.EVENTS}) for state in BlockState}
# The SDKs empty the text of a block with a thinking_delta in it; Claude Code raises.
_H = {state: Hole(THINKING, state, _LOST_TEXT | {Facet.ARGUMENTS}) for state in BlockState}
# Clients are to pass over what they do not know; @ai-sdk/anthropic reports an error and goes on.
_U = {state: note(DELTA_KINDS, state) for state in BlockState}
_R = {state: note(THINKING, state) for state in BlockState}
# A block is known by its first delta where its start is missing; of a call nothing says which tool it calls.
_NO_TEXT, _NO_CALL = Hole(ORDER, _TEXT), Hole(ORDER, _CALL, _LOST_CALL)
_NO_THOUGHT, _NO_OTHER = Hole(ORDER, _THINKING), Hole(ORDER, _OTHER)
_END = Hole(ORDER, _STOPPED)
_GONE = Hole(ORDER, _STOPPED, _LOST_TEXT | _LOST_CALL)
# Every measured client copes without a signature, and sends "" back.
_UNSIGNED = note(THINKING, _STOPPED)
_S = BlockSign
# A block that has started starts once more.
_AGAIN = tuple(Hole(ORDER, state) for state in BlockState if state is not _ABSENT)
BLOCK: Table[BlockState, BlockSign] = table(BlockState, {
    #                 ABSENT      TEXT       CALL       THINKING       SIGNED       COMPLETE       OTHER     STOPPED
    _S.TEXT:        (_TEXT,      *_AGAIN),
    _S.CALL:        (_CALL,      *_AGAIN),
    _S.THINKING:    (_THINKING,  *_AGAIN),
    _S.COMPLETE:    (_COMPLETE,  *_AGAIN),
    _S.OTHER:       (_OTHER,     *_AGAIN),
    _S.TEXT_DELTA:  (_NO_TEXT,   _TEXT,     _T[_CALL], _T[_THINKING], _T[_SIGNED], _T[_COMPLETE], _OTHER,   _END),
    _S.CITATION:    (_NO_TEXT,   _TEXT,     _T[_CALL], _T[_THINKING], _T[_SIGNED], _T[_COMPLETE], _OTHER,   _END),
    _S.ARGUMENTS:   (_NO_CALL,   _A[_TEXT], _CALL,     _A[_THINKING], _A[_SIGNED], _A[_COMPLETE], _OTHER,   _END),
    _S.THOUGHT:     (_NO_THOUGHT, _H[_TEXT], _H[_CALL], _THINKING,    _R[_SIGNED], _R[_COMPLETE], _OTHER,   _END),
    # The SDKs replace the signature by a later one.
    _S.SIGNATURE:   (_NO_THOUGHT, _H[_TEXT], _H[_CALL], _SIGNED,      _R[_SIGNED], _R[_COMPLETE], _OTHER,   _END),
    _S.OTHER_DELTA: (_NO_OTHER,  _U[_TEXT], _U[_CALL], _U[_THINKING], _U[_SIGNED], _U[_COMPLETE], _OTHER,   _END),
    # Of a block of which nothing else came nobody knows what it was.
    _S.STOP:        (_GONE,      _STOPPED,  _STOPPED,  _UNSIGNED,     _STOPPED,    _STOPPED,      _STOPPED, _END),
    # Claude Code takes a block over when it stops, and drops one that does not; @ai-sdk/anthropic drops its call.
    _S.FINISH:      (_ABSENT,    _END,      _END,      _END,          _END,        _END,          _END,     _STOPPED),
})
# fmt: on
