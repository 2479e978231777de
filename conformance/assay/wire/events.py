"""What a chat answer says, one event per meaning; the same for streams and whole answers.

`frame` is the number of the SSE frame that said it (0 for a whole body). Choices and calls are
numbered as on the wire. Field names and spellings are those of OpenAI's chat completions.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Role:
    """A choice says who speaks."""

    frame: int
    choice: int
    role: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Text:
    """A piece of a choice's content."""

    frame: int
    choice: int
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class CallOpened:
    """The first delta of a tool call (or the head of a call in a whole answer)."""

    frame: int
    choice: int
    index: int
    id: str
    name: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Fragment:
    """A piece of a call's arguments: opaque text, possibly empty."""

    frame: int
    choice: int
    index: int
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Finished:
    """A choice's finish_reason."""

    frame: int
    choice: int
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """Token counts of the answer; `cached` and `reasoning` are None when not told."""

    frame: int
    prompt: int
    completion: int
    total: int
    cached: int | None = None
    reasoning: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Failed:
    """An error object: `data: {"error": …}` in a stream, or an error body."""

    frame: int
    message: str
    type: str
    code: str | None
    param: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Comment:
    """An SSE comment (`: …`), as used to keep a connection alive."""

    frame: int
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Done:
    """`data: [DONE]`."""

    frame: int


ChatEvent = Role | Text | CallOpened | Fragment | Finished | Usage | Failed | Comment | Done
