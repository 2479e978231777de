"""The events of a turn: the one language between the backends and everything that writes answers.

Backends decode their notifications into these events; tool assembly and the surfaces know nothing else. Choices are
numbered from 0. A call is one CallOpened, any number of Arguments, one CallClosed. It is structured, or
textual: a block in the text.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Collection

# No `function_call`: that is one dialect's spelling of `tool_calls` (`surfaces.chat_dialect`).
FinishReason = Literal["stop", "length", "content_filter", "tool_calls"]
Source = Literal["structured", "textual"]


class FailureReason(Enum):
    """Why a turn failed; `errors.FAILURES` has the HTTP error for each."""

    RATE_LIMITED = "rate limited"
    QUOTA = "quota exhausted"
    CONTEXT = "context window exceeded"
    OVERLOADED = "overloaded"
    BUSY = "too many requests at once"
    REJECTED = "request rejected"
    TOOLS_REJECTED = "tools rejected"
    IMAGES_REJECTED = "images rejected"
    NO_IMAGES = "no images"
    SCHEMA_UNKNOWN = "no schema for answers"
    MODEL_UNKNOWN = "no such model"
    NOT_CALLED = "tool not called"
    FUNCTION_NOT_CALLED = "function not called"
    CREDENTIALS = "credentials refused upstream"
    UNREACHABLE = "upstream not reached"
    TIMEOUT = "silent for too long"
    UNAVAILABLE = "not available"
    GARBLED = "unreadable message"
    LAGGING = "client too slow"
    FAILED = "failed"


@dataclass(frozen=True, kw_only=True, slots=True)
class TextAdded:
    """A piece of the answer's text."""

    choice: int = 0
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Texts:
    """Several pieces of one choice's text that are ready together; each is still sent by itself.

    Made by `backends.mailbox`, so that much text costs a look at many pieces at once, not at each.
    """

    choice: int = 0
    texts: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class MessageEnded:
    """A message of the answer is complete, and another one begins."""

    choice: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Thought:
    """The model has reasoned; a thought is whole, and no part of the answer's text.

    The decoders of the proxy's backends make none: what Codex shows of it is for its own user (contract §5).
    """

    choice: int = 0
    summary: tuple[str, ...] = ()
    """The summary, in the pieces in which it came."""
    raw: tuple[str, ...] = ()
    """The reasoning itself, in its pieces; empty where the model keeps it."""
    encrypted: str = ""
    """The reasoning for the model's service alone; empty for none."""
    in_chat: bool = False
    """Whether chat shows it, which OpenAI's does not."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CallBegan:
    """A tool call begins."""

    choice: int = 0
    id: str
    name: str
    source: Source = "structured"
    beside: bool = False
    """Whether streams of chat send the first of its arguments, of which there are some, in the delta with its name."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ArgumentsAdded:
    """A fragment of a call's arguments: the model's own characters."""

    choice: int = 0
    id: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class CallClosed:
    """The call's arguments are complete."""

    choice: int = 0
    id: str
    block: str | None = None
    """The `<use_tool>` block that held the call, verbatim; None when there was none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CallsEnded:
    """The model's response is over and it held calls: no more calls follow until they are answered."""

    choice: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class UsageReported:
    """Tokens so far, as the backend reported them; a later report for the same choice replaces an earlier one."""

    choice: int = 0
    prompt: int
    completion: int
    cached: int = 0
    reasoning: int = 0


def total(reports: Collection[UsageReported], choice: int = 0) -> UsageReported:
    """The sum of several reports."""
    return UsageReported(
        choice=choice,
        prompt=sum(usage.prompt for usage in reports),
        completion=sum(usage.completion for usage in reports),
        cached=sum(usage.cached for usage in reports),
        reasoning=sum(usage.reasoning for usage in reports),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class ChoiceFinished:
    """The end of a choice."""

    choice: int = 0
    reason: FinishReason
    stop: str | None = None
    """The text that ended it, one of those that the request asks to stop at; None: no such text did."""


@lru_cache
def finished(choice: int, reason: FinishReason) -> ChoiceFinished:
    """The end of a choice that no text ended: nearly every answer ends like others."""
    return ChoiceFinished(choice=choice, reason=reason)


@dataclass(frozen=True, slots=True)
class ChoiceFailed:
    """The end of a choice without an answer."""

    cause: FailureReason
    choice: int | None = None
    """None: all choices have failed."""
    detail: str = ""
    """A text for the client; empty for none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnOver:
    """The backend will send nothing more about a choice, not even its usage."""

    choice: int = 0


@dataclass(frozen=True, slots=True)
class Working:
    """The backend is busy with something that is not part of the answer."""


@dataclass(frozen=True, slots=True)
class Quiet:
    """The backend has sent nothing for this long; made by `answers.timing`, not by backends."""

    seconds: float


Event = (
    TextAdded
    | MessageEnded
    | Thought
    | CallBegan
    | ArgumentsAdded
    | CallClosed
    | CallsEnded
    | UsageReported
    | ChoiceFinished
    | ChoiceFailed
    | TurnOver
    | Working
)
"""What a backend emits."""

TurnEvent = Event | Quiet
"""The backend's events, and its silences."""

Ready = TurnEvent | Texts
"""What the reader of a turn gets: an event, a silence, or pieces of text that are ready together."""


def apart(ready: Ready) -> tuple[TurnEvent, ...]:
    """One by one, as the backend sent them."""
    if isinstance(ready, Texts):
        return tuple(TextAdded(choice=ready.choice, text=text) for text in ready.texts)
    return (ready,)
