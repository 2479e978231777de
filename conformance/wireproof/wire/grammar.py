"""The grammar of a chat stream, as tables.

Three machines read a stream together. The *stream* follows its chunks, usage, errors and `[DONE]`; each *choice* goes
from its role through text and calls to its finish; each *call* is opened once, then grows. What a frame says is a sign
to each machine that it concerns. A table has one cell for every state and sign: the next state, or a violation, which
is the id of the requirement that such a stream breaks (see `wireproof.wire.table`).

One cause gives one violation, and no fault hides another:

- Behind a hole the choice is read on in the state that the cell names, as clients do. Each hole is named once in a
  choice, and of one frame each requirement once.
- A missing role is supplied: the sign that came before it is judged again as if it had come.
- Frames are judged before any of this (`FRAME`). At one that cannot be read at all the answer ends for most clients,
  and so it does here: what came before is a beginning.
- A stream that breaks off with a choice unfinished names the missing finish, not also the missing `[DONE]`: whoever
  ends too early misses both. Hence `CUT` beside `END`.
- Usage that comes too early is named when the rest of the answer follows it (`CHUNK` in `COUNTED`). Naming it when it
  comes would name it in each stream that merely lacks its finish.
- A chunk for choices that have ended is a sign of its own (`LATE`): the choice names it, so the stream does not.

A dialect that writes calls into the content has a sign of its own for a delta that ends with such a block: it may
follow the deltas of its call, and nothing may follow it but other calls and the finish.

The values of states and signs are the words of a violation: "choice 0: content, after a tool call".
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from wireproof.wire.facet import Facet
from wireproof.wire.table import FrameFault, Hole, Table, note, table

if TYPE_CHECKING:
    from collections.abc import Mapping


FRAMES = "chat.stream.frames"
KEEPALIVE = "chat.stream.keepalive-is-comment"
ROLE_FIRST = "chat.stream.role-first"
ROLE_ONCE = "chat.stream.role-once"
NO_MIXED = "chat.stream.no-mixed-frame"
UTF8 = "chat.stream.utf8"
OPENING = "chat.stream.call-opening"
ON_CHANGE = "chat.stream.call-delta-on-change"
TAIL = "chat.stream.tail-suppressed"
XML_SINGLE = "chat.stream.xml-single-delta"
FINISH_ONCE = "chat.stream.finish-once"
AFTER_FINISH = "chat.stream.nothing-after-finish"
USAGE = "chat.stream.usage"
DONE_LAST = "chat.stream.done-last"
AFTER_ERROR = "chat.stream.error-after-text"

STABLE: Mapping[str, str] = {
    "id": "chat.stream.stable-id",
    "created": "chat.stream.stable-created",
    "model": "chat.stream.stable-model",
}
"""Members that are the same in every chunk that has them → the requirement that a change breaks."""

FRAME: Mapping[FrameFault, str] = {
    FrameFault.EVENT_LINE: FRAMES,
    FrameFault.UNREADABLE: FRAMES,
    # Meant as keep-alives, both raise in most clients; a comment does not.
    FrameFault.EMPTY_DATA: KEEPALIVE,
    FrameFault.NO_DATA: KEEPALIVE,
    # Clients show `error.message`; without it users see nothing of what went wrong.
    FrameFault.ERROR_SHAPE: AFTER_ERROR,
}
"""Fault of a frame → the requirement that it breaks."""

STRICT_ONLY = frozenset({FrameFault.EVENT_LINE})
"""The faults of a frame that every measured client copes with."""


class StreamState(Enum):
    """How far the stream as a whole has come."""

    OPEN = "while the answer runs"
    COUNTED = "after the usage chunk"
    FAILED = "after an error frame"
    DONE = "after [DONE]"


class StreamSign(Enum):
    """What a frame, or the end of the body, says to the stream as a whole."""

    CHUNK = "a chunk with choices"
    LATE = "a chunk of choices that have ended"
    BARE = "a chunk without choices"
    USAGE = "a usage chunk"
    BESIDE = "usage in a chunk that has choices"
    ERROR = "an error frame"
    LATE_ERROR = "an error frame although every choice has its finish"
    DONE = "[DONE]"
    END = "the end of the body without [DONE]"
    CUT = "the end of the body inside a choice"


class ChoiceState(Enum):
    """How far a choice has come."""

    NEW = "before its role"
    SPEAKING = "after its role"
    CALLING = "after a tool call"
    FINISHED = "after its finish"


class ChoiceSign(Enum):
    """What a delta says to its choice; one delta may say several, in this order."""

    ROLE = "role assistant"
    STRANGER = "a role that is not assistant"
    TORN = "half of a surrogate pair"
    MIXED = "content and a call in one delta"
    TEXT = "content"
    BLOCK = "a block of a tool call in the content"
    PIECE = "a piece of a block in the content"
    CALL = "a delta of a call"
    EMPTY = "an empty delta"
    FINISH = "a finish_reason"
    FULL = "a finish_reason beside a delta that is not empty"
    END = "the end of the answer without a finish_reason"


class CallState(Enum):
    """Whether a call is known."""

    UNKNOWN = "not yet opened"
    OPENED = "already opened"


class CallSign(Enum):
    """What one entry of `tool_calls` says."""

    HEAD = "id, type and name"
    PART = "a part of id, type function and name"
    GROWTH = "a fragment of its arguments"
    SAME = "a delta that adds nothing"
    ASTRAY = "an index that is missing, no integer, out of turn or changed"
    NO_TEXT = "arguments that are not a string"


# What is lost by a hole.
_TEXT, _CALLS = frozenset({Facet.TEXT}), frozenset({Facet.CALL, Facet.ARGUMENTS})
_FAILURE = frozenset({Facet.ERROR})
_UNENDED = frozenset({Facet.FINISH, Facet.END})

# fmt: off
_OPEN, _COUNTED, _FAILED, _DONE = StreamState
# Every client stops at the error frame.
_LATE_FRAME = note(AFTER_ERROR, _FAILED)
# A body that ends without [DONE] has ended all the same.
_NO_DONE = note(DONE_LAST, _DONE)
_BESIDE = note(USAGE, _OPEN)
_EARLY = Hole(USAGE, _COUNTED)
# No client reads on after [DONE].
_AFTER = Hole(DONE_LAST, _DONE)
STREAM: Table[StreamState, StreamSign] = table(StreamState, {
    #                        OPEN          COUNTED       FAILED       DONE
    StreamSign.CHUNK:      (_OPEN,        _EARLY,       _LATE_FRAME, _AFTER),
    # No violation here: the choice names it (`AFTER_FINISH`).
    StreamSign.LATE:       (_OPEN,        _COUNTED,     _LATE_FRAME, _AFTER),
    StreamSign.BARE:       (_OPEN,        _EARLY,       _LATE_FRAME, _AFTER),
    StreamSign.USAGE:      (_COUNTED,     _EARLY,       _LATE_FRAME, _AFTER),
    # OpenAI's usage has a chunk of its own, with `choices: []`; beside choices it is null. Clients take it there, too.
    StreamSign.BESIDE:     (_BESIDE,      _EARLY,       _LATE_FRAME, _AFTER),
    StreamSign.ERROR:      (_FAILED,      _FAILED,      _LATE_FRAME, _AFTER),
    # codex-story, criterion 10: what the backend reports after the finish leaves no trace.
    StreamSign.LATE_ERROR: (
        Hole(AFTER_FINISH, _OPEN, _FAILURE), Hole(AFTER_FINISH, _COUNTED, _FAILURE), _LATE_FRAME, _AFTER
    ),
    # After an error frame [DONE] may come or not (codex-story, criterion 14): clients stop at the error.
    StreamSign.DONE:       (_DONE,        _DONE,        _DONE,       _AFTER),
    StreamSign.END:        (_NO_DONE,     _NO_DONE,     _FAILED,     _DONE),
    # Never a violation of the stream: the choice names its missing finish.
    StreamSign.CUT:        (_OPEN,        _COUNTED,     _FAILED,     _DONE),
})

# First column: openai-node's `.stream` raises without a role, and Copilot drops the call; the others read on as if it
# had come. Last column: all clients append content that comes after the finish.
_NEW, _SPEAKING, _CALLING, _FINISHED = ChoiceState
_NO_ROLE = Hole(ROLE_FIRST, _SPEAKING, again=True)
_ROLE_AGAIN, _ROLE_LATE = note(ROLE_ONCE, _SPEAKING), note(ROLE_ONCE, _CALLING)
_BOTH = note(NO_MIXED, _CALLING)
_TAIL = note(TAIL, _CALLING)
_FINISH = note(FINISH_ONCE, _FINISHED)
# LangChain joins the two reasons to one, "stopstop".
_FINISH_AGAIN = Hole(FINISH_ONCE, _FINISHED)
_NOTHING = note(AFTER_FINISH, _FINISHED)
# What comes after the finish is no event: what came before it is judged as the beginning of an answer.
_LATE, _LATE_ROLE = Hole(AFTER_FINISH, _FINISHED, frozenset({Facet.END})), Hole(AFTER_FINISH, _FINISHED)
_CUT = Hole(FINISH_ONCE, _FINISHED, _UNENDED)
CHOICE: Table[ChoiceState, ChoiceSign] = table(ChoiceState, {
    #                      NEW        SPEAKING     CALLING      FINISHED
    ChoiceSign.ROLE:     (_SPEAKING, _ROLE_AGAIN, _ROLE_LATE,  _NOTHING),
    ChoiceSign.STRANGER: (
        Hole(ROLE_FIRST, _SPEAKING), Hole(ROLE_ONCE, _SPEAKING), Hole(ROLE_ONCE, _CALLING), _LATE_ROLE
    ),
    ChoiceSign.TORN:     (_NO_ROLE, Hole(UTF8, _SPEAKING, _TEXT | _CALLS), Hole(UTF8, _CALLING, _TEXT | _CALLS),
                          _LATE),
    ChoiceSign.MIXED:    (_NO_ROLE,  _BOTH,       _BOTH,       _LATE),
    ChoiceSign.TEXT:     (_NO_ROLE,  _SPEAKING,   _TAIL,       _LATE),
    ChoiceSign.BLOCK:    (_NO_ROLE,  _CALLING,    _CALLING,    _LATE),
    # Before a call a piece may be plain text, as a block without its end is (textual.unterminated).
    ChoiceSign.PIECE:    (_NO_ROLE,  _SPEAKING,   Hole(XML_SINGLE, _CALLING, _TEXT), _LATE),
    ChoiceSign.CALL:     (_NO_ROLE,  _CALLING,    _CALLING,    _LATE),
    ChoiceSign.EMPTY:    (_NO_ROLE,  _SPEAKING,   _CALLING,    _NOTHING),
    ChoiceSign.FINISH:   (_NO_ROLE,  _FINISHED,   _FINISHED,   _FINISH_AGAIN),
    # After a finish the same one again is a second finish; with content beside it, something came after.
    ChoiceSign.FULL:     (_NO_ROLE,  _FINISH,     _FINISH,     _LATE),
    ChoiceSign.END:      (_CUT,      _CUT,        _CUT,        _FINISHED),
})

_UNKNOWN, _OPENED = CallState
# What is lost depends on what a delta lacks or repeats: see `CallDelta.spoils`.
_WRONG = Hole(OPENING, _OPENED)
CALL: Table[CallState, CallSign] = table(CallState, {
    #                   UNKNOWN   OPENED
    # A second head: pydantic-ai raises at it; langchain-openai and Copilot get the call wrong.
    CallSign.HEAD:    (_OPENED,  _WRONG),
    CallSign.PART:    (_WRONG,   _WRONG),
    CallSign.GROWTH:  (_WRONG,   _OPENED),
    # codex-story, criterion 7: a delta only when the state has changed.
    CallSign.SAME:    (_WRONG,   note(ON_CHANGE, _OPENED)),
    CallSign.ASTRAY:  (_WRONG,   _WRONG),
    CallSign.NO_TEXT: (_WRONG,   _WRONG),
})
# fmt: on

_CELLS = (cell for table in (STREAM, CHOICE, CALL) for cell in table.values())
CHAT_STREAM_VIOLATIONS = frozenset({
    *FRAME.values(), *STABLE.values(), *(cell.requirement for cell in _CELLS if isinstance(cell, Hole)),
})  # fmt: skip
"""Every requirement that reading a chat stream can name."""
