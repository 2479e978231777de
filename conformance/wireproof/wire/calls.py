"""Events assembled to what a client ends up with: text, calls and finish per choice, usage, error.

An answer does not show how it was sent (frames, fragments), so those of a stream and of a whole body compare as data.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, assert_never

from wireproof.wire.events import (
    CallOpened,
    ChatEvent,
    Comment,
    Done,
    Failed,
    Finished,
    Fragment,
    Role,
    Text,
    TokenUsage,
)

if TYPE_CHECKING:
    from collections.abc import Iterable


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
    role: str | None
    """The role of its message; None when there was none."""
    text: str | None
    """Its content; None when there was none at all."""
    calls: tuple[ToolCall, ...]
    """Its calls, in the order in which they were opened."""
    finish: str | None
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


@dataclass(slots=True)
class _CallParts:
    id: str = ""
    name: str = ""
    fragments: list[str] = field(default_factory=list)

    def joined(self, *, cumulative: bool) -> ToolCall:
        # Cumulative deltas repeat all before them (codex-story, criterion 8): joined, the arguments would stand there
        # several times. An empty one repeats nothing: it is a delta too many, not the end of the arguments.
        fragments = [*filter(None, self.fragments)][-1:] if cumulative else self.fragments
        return ToolCall(id=self.id, name=self.name, arguments="".join(fragments))


@dataclass(slots=True)
class _ChoiceParts:
    role: str | None = None
    finish: str | None = None
    texts: list[str] = field(default_factory=list)
    calls: dict[int, _CallParts] = field(default_factory=dict)

    def call(self, index: int) -> _CallParts:
        # A fragment of a call that was never opened opens one without id and name, so that it is not lost.
        return self.calls.setdefault(index, _CallParts())

    def joined(self, index: int, *, cumulative: bool) -> Choice:
        return Choice(
            index=index,
            role=self.role,
            # "" is not None: a whole answer whose content is empty must keep it as "" (chat.whole.text).
            text="".join(self.texts) if self.texts else None,
            calls=tuple(call.joined(cumulative=cumulative) for call in self.calls.values()),
            finish=self.finish,
        )


@dataclass(slots=True)
class _Parts:
    choices: dict[int, _ChoiceParts] = field(default_factory=dict)
    usage: TokenUsage | None = None
    error: Failed | None = None

    def choice(self, index: int) -> _ChoiceParts:
        return self.choices.setdefault(index, _ChoiceParts())

    def add(self, event: ChatEvent) -> None:
        match event:
            case Role(choice=choice, role=role):
                self.choice(choice).role = role
            case Text(choice=choice, text=text):
                self.choice(choice).texts.append(text)
            case CallOpened(choice=choice, index=index, id=id_, name=name):
                call = self.choice(choice).call(index)
                call.id, call.name = id_, name
            case Fragment(choice=choice, index=index, text=text):
                self.choice(choice).call(index).fragments.append(text)
            case Finished(choice=choice, reason=reason):
                self.choice(choice).finish = reason
            case TokenUsage():
                # Without its frame: where it stood must not make a stream differ from the whole answer.
                self.usage = replace(event, frame=0)
            case Failed():
                self.error = replace(event, frame=0)
            # How an answer was sent, not what it says.
            case Comment() | Done():
                pass
            case _:
                assert_never(event)


def assemble(events: Iterable[ChatEvent], *, cumulative: bool = False) -> Answer:
    """The answer in these events; with `cumulative` the last fragment of a call is all of its arguments.

    What came twice although it may come once (role, finish, usage, error) counts as it came last: clients overwrite.
    """
    parts = _Parts()
    for event in events:
        parts.add(event)
    return Answer(
        # By index: in a stream the choices of n > 1 may begin in any order (codex-story, criterion 16).
        choices=tuple(choice.joined(index, cumulative=cumulative) for index, choice in sorted(parts.choices.items())),
        usage=parts.usage,
        error=parts.error,
    )
