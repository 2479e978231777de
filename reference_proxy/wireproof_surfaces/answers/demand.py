"""Calls that a request demands (`tool_choice`): nothing is sent before one, and an answer without one fails. Pure.

Codex cannot be made to call a tool: it always asks its model with "auto". So the model is asked in the developer text,
and its answer is held until it calls what was demanded. An answer that does not is never passed on.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from wireproof_surfaces.events import (
    CallBegan,
    ChoiceFailed,
    ChoiceFinished,
    FailureReason,
    Quiet,
    Ready,
    TurnEvent,
    Working,
    apart,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wireproof_surfaces.conversation import Conversation


@dataclass(frozen=True, kw_only=True, slots=True)
class Demand:
    """One of these tools must be called."""

    names: tuple[str, ...]
    cause: FailureReason = FailureReason.NOT_CALLED
    """Why an answer without such a call fails: it says which field of the request demands it."""


def instructed(conversation: Conversation, demand: Demand | None) -> Conversation:
    """The conversation, with the demand at the end of its developer text."""
    if demand is None:
        return conversation
    which = f"the tool {demand.names[0]}" if len(demand.names) == 1 else f"one of the tools {', '.join(demand.names)}"
    text = f"You must call {which} in this answer. Write nothing else."
    texts = [conversation.developer, text] if conversation.developer else [text]
    return replace(conversation, developer="\n\n".join(texts))


class Holding:
    """Holds an answer back until each of its choices has made a call that was demanded.

    An answer that ends without one fails: `done` is true then, and nothing more passes.
    """

    def __init__(self, demand: Demand, *, choices: int = 1) -> None:
        self._demand = demand
        self._waiting = set(range(choices))
        self._kept: list[TurnEvent] = []
        self.done = False
        """The answer has failed for want of a call."""

    @property
    def holds(self) -> bool:
        """Whether anything is held back."""
        return bool(self._waiting)

    def feed(self, event: TurnEvent) -> list[TurnEvent]:
        """What passes now."""
        if not self._waiting:
            return [event]
        match event:
            # Silences are passed on: comments keep the client waiting (chat.stream.keepalive).
            case Quiet() | Working() | ChoiceFailed():
                return [event]
            case CallBegan() if event.name in self._demand.names:
                self._waiting.discard(event.choice)
            case ChoiceFinished() if event.choice in self._waiting:
                self.done = True
                return [ChoiceFailed(self._demand.cause)]
            case _:
                pass
        self._kept.append(event)
        if self._waiting:
            return []
        kept, self._kept = self._kept, []
        return kept


def hold_for_call(events: Iterator[Ready], demand: Demand | None, *, choices: int = 1) -> Iterator[Ready]:
    """The events, held back until each choice has made a call that was demanded; a failure if one ends without."""
    return events if demand is None else _held(events, Holding(demand, choices=choices))


def _held(events: Iterator[Ready], holding: Holding) -> Iterator[Ready]:
    for event in events:
        for one in apart(event):
            yield from holding.feed(one)
        if holding.done:
            return
