"""What an answer says, one event per meaning; the same events for streams and whole answers, whatever the surface.

Choices and calls have the numbers that they have on the wire. Field names and spellings are those of OpenAI's chat
completions.

`assemble` makes of events what a client ends up with: text, calls and finish per choice, usage, error. That does not
show how an answer was sent (frames, fragments), so those of a stream and of a whole body compare as data.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, assert_never

if TYPE_CHECKING:
    from collections.abc import Iterable

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
_OfAChoice = Role | Text | CallOpened | Fragment | Finished


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolCall:
    """A tool call."""

    id: str
    """Its id; "" when there is none, as in the legacy dialect."""
    name: str
    """The tool's name."""
    arguments: str
    """All fragments of its arguments, joined."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """One choice of an answer."""

    index: int
    """Its index on the wire."""
    role: str | None = None
    """The role of its message; None when there was none."""
    text: str | None = None
    """Its content; None when there was none at all."""
    calls: tuple[ToolCall, ...] = ()
    """Its calls, in the order in which they were opened."""
    finish: str | None = None
    """Its finish reason; None when there was no finish."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """All that a client gets."""

    choices: tuple[Choice, ...]
    """By their indexes."""
    usage: TokenUsage | None
    """The counts, with `frame` 0; None when there were none."""
    error: Failed | None
    """The error, with `frame` 0; None when there was none."""

    @property
    def calls(self) -> list[ToolCall]:
        """The calls of all choices."""
        return [call for choice in self.choices for call in choice.calls]


def assemble(events: Iterable[ChatEvent], *, cumulative: bool = False) -> Answer:
    """The answer in these events; with `cumulative` the last fragment of a call is all of its arguments.

    What came twice although it may come once (role, finish, usage, error) counts as it came last: clients overwrite.
    """
    said: dict[int, list[_OfAChoice]] = {}
    usage: TokenUsage | None = None
    error: Failed | None = None
    for event in events:
        match event:
            case TokenUsage():
                # Without its frame: where it stood must not make a stream differ from the whole answer.
                usage = replace(event, frame=0)
            case Failed():
                error = replace(event, frame=0)
            # How an answer was sent, not what it says.
            case Comment() | Done():
                pass
            case _:
                said.setdefault(event.choice, []).append(event)
    # By index: in a stream the choices of n > 1 may begin in any order (codex-story, criterion 16).
    choices = tuple(_choice(index, those, cumulative=cumulative) for index, those in sorted(said.items()))
    return Answer(choices=choices, usage=usage, error=error)


def _choice(index: int, said: list[_OfAChoice], *, cumulative: bool) -> Choice:
    role: str | None = None
    finish: str | None = None
    texts: list[str] = []
    calls: dict[int, list[CallOpened | Fragment]] = {}
    for event in said:
        match event:
            case Role():
                role = event.role
            case Text():
                texts.append(event.text)
            case Finished():
                finish = event.reason
            case CallOpened() | Fragment():
                calls.setdefault(event.index, []).append(event)
            case _:
                assert_never(event)
    # "" is not None: a whole answer whose content is empty must keep it as "" (chat.whole.text).
    text = "".join(texts) if texts else None
    made = tuple(_call(those, cumulative=cumulative) for those in calls.values())
    return Choice(index=index, role=role, text=text, calls=made, finish=finish)


def _call(said: list[CallOpened | Fragment], *, cumulative: bool) -> ToolCall:
    # A fragment of a call that was never opened opens one without id and name, so that it is not lost.
    heads = [(one.id, one.name) for one in said if isinstance(one, CallOpened)] or [("", "")]
    fragments = [one.text for one in said if isinstance(one, Fragment)]
    if cumulative:
        # Cumulative deltas repeat all before them (codex-story, criterion 8): joined, the arguments would stand there
        # several times. An empty one repeats nothing: it is a delta too many, not the end of the arguments.
        fragments = [*filter(None, fragments)][-1:]
    return ToolCall(id=heads[-1][0], name=heads[-1][1], arguments="".join(fragments))
