"""What an answer says, one event per meaning; the same events for streams and whole answers, chat and Responses.

Choices and calls have the numbers that they have on the wire. Field names and spellings are those of OpenAI's chat
completions.
"""

from __future__ import annotations

from dataclasses import dataclass

# `frame` is repeated in each class: a base class for it would make the closed union below an open hierarchy.


@dataclass(frozen=True, kw_only=True, slots=True)
class Role:
    """The role of a choice's message."""

    frame: int
    """The number of the SSE frame that says it; 0 for a whole body. So in all events."""
    choice: int
    """The index of the choice."""
    role: str
    """`assistant`, or what stands there instead."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Text:
    """A piece of a choice's content."""

    frame: int
    choice: int
    text: str
    """The piece; empty only where a whole answer's content is empty."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CallOpened:
    """The first delta of a tool call, or the head of a call in a whole answer."""

    frame: int
    choice: int
    index: int
    """The index of the call in its choice."""
    id: str
    """The call's id; "" when there is none."""
    name: str
    """The tool's name; "" when there is none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Fragment:
    """A piece of a call's arguments."""

    frame: int
    choice: int
    index: int
    """The index of the call in its choice."""
    text: str
    """Opaque text, possibly empty: it is JSON only when it is complete, and then only if the model wrote JSON."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Finished:
    """A choice's finish."""

    frame: int
    choice: int
    reason: str
    """Its `finish_reason`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TokenUsage:
    """The token counts of the answer."""

    frame: int
    prompt: int
    """Tokens of the request."""
    completion: int
    """Tokens of the answer."""
    total: int
    """Their sum, as the answer gives it."""
    cached: int | None = None
    """Tokens of the request that came from a cache; None when the answer does not say."""
    reasoning: int | None = None
    """Tokens of the answer that are reasoning; None when it does not say."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Failed:
    """An error object: `data: {"error": …}` in a stream, or an error body."""

    frame: int
    message: str
    """For a person; "" when it is missing."""
    type: str
    """The kind of error; "" when it is missing."""
    code: str | None
    """The error's code; None when it is null or missing."""
    param: str | None
    """The field of the request that it is about; None when it is null or missing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Comment:
    """An SSE comment (`: …`), as used to keep a connection alive."""

    frame: int
    text: str
    """Without the colon and one space."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Done:
    """The end of the stream: `data: [DONE]`, or the terminal event of a response."""

    frame: int


# Closed, so that a `match` with `assert_never` finds each place in which a new event must be handled.
ChatEvent = Role | Text | CallOpened | Fragment | Finished | TokenUsage | Failed | Comment | Done
