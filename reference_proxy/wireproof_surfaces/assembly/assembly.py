"""What an answer says, from the backend's events: all choices, each by itself, and the end of them all. Pure.

The answer ends when every choice has. A failure of choices whose calls are complete ends them as if all
were well; any other is the failure of the whole answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof_surfaces.assembly.choice import ChoiceAssembly, Rules
from wireproof_surfaces.events import (
    CallsEnded,
    ChoiceFailed,
    ChoiceFinished,
    Quiet,
    Ready,
    TextAdded,
    Texts,
    TurnEvent,
    TurnOver,
    UsageReported,
    Working,
    apart,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

# Many versions of Codex count a response's tokens only after its calls are answered, which may be never.
USAGE_PATIENCE = 2.0
"""Seconds."""


class Assembly:
    """What an answer says, event by event: the backend's are fed, what passes of them comes back.

    `await_usage` reads on after the finish until the backend has reported the usage of every choice, shows that it
    will not, or is quiet for `USAGE_PATIENCE` seconds. `seed` differs from that of every other answer.
    """

    def __init__(self, rules: Rules, *, choices: int = 1, await_usage: bool = False, seed: str = "") -> None:
        self._choices = [ChoiceAssembly(index, rules, seed) for index in range(choices)]
        # The choices whose usage may still be reported.
        self._unpaid = set(range(choices))
        self._await_usage = await_usage
        self._failed = False
        self._over = False
        """Nothing more will be said."""
        self.done = False
        """Nothing more is wanted of the backend."""
        self.calm = True
        """Whether no choice has ended or had a call: then nothing waits for a silence."""

    def feed(self, event: TurnEvent) -> list[TurnEvent]:
        """What passes of an event."""
        before = self._over
        passed = self._passed(event)
        # Lists, which cost less than generators: it is asked for every event.
        states = [choice.state for choice in self._choices]
        # Noted here, since it is asked for more often than anything is fed.
        self.calm = self.calm and False not in [choice.calm for choice in self._choices]
        self._over = self._failed or states.count("finished") == len(states)
        self.done = self._over and not (self._await_usage and self._may_be_paid(event, over=before))
        return passed

    def pull(self, events: Iterable[Ready]) -> Iterator[Ready]:
        """What passes of all events, up to the last choice's Finished, or Failed, then perhaps Usage."""
        choices = len(self._choices)
        for event in events:
            match event:
                case Texts():
                    yield from self.together(event)
                case TextAdded() if event.choice < choices and self.passes(event.text, event.choice):
                    yield event
                case _:
                    yield from self.feed(event)
            if self.done:
                return

    def passes(self, text: str, choice: int = 0) -> bool:
        """Whether a `TextAdded` of this choice passes as it is: then it is taken, as by `feed`; else nothing changes.

        Nearly every piece of a long answer does, and without an event for each a stream costs a fraction.
        """
        return self._choices[choice].passes(text)

    def together(self, event: Texts) -> Sequence[Ready]:
        """What passes of pieces of text: nearly always the pieces as they are."""
        if event.choice < len(self._choices) and self.passes("".join(event.texts), event.choice):
            return (event,)
        return [passed for text in apart(event) for passed in self.feed(text)]

    def _passed(self, event: TurnEvent) -> list[TurnEvent]:
        match event:
            case Quiet():
                # A silence releases calls from the text that a choice still holds (`Reconciler.release`).
                return [*(passed for choice in self._choices for passed in choice.feed(event)), event]
            case Working():
                return [event]
            case ChoiceFailed():
                return list(self._fail(event))
            case UsageReported():
                self._unpaid.discard(event.choice)
                return [event]
            case _:
                self._settle(event)
                # A backend may speak of a choice that was not asked for: that is dropped (chat.stream.isolation).
                return list(self._choices[event.choice].feed(event)) if event.choice < len(self._choices) else []

    def _may_be_paid(self, event: TurnEvent, *, over: bool) -> bool:
        """Whether usage may still come, after an event that found the answer `over` or made it so."""
        if self._failed or (isinstance(event, Quiet) and over and event.seconds > USAGE_PATIENCE):
            return False
        return bool(self._unpaid)

    def _settle(self, event: TurnEvent) -> None:
        """A choice that ends at the backend once more than it ended here has nothing more to report."""
        match event:
            case TurnOver():
                self._unpaid.discard(event.choice)
            case CallsEnded() | ChoiceFinished() if self._finished(event.choice):
                self._unpaid.discard(event.choice)
            case _:
                return

    def _finished(self, choice: int) -> bool:
        return choice < len(self._choices) and self._choices[choice].state == "finished"

    def _fail(self, event: ChoiceFailed) -> Iterator[TurnEvent]:
        struck = [
            choice for choice in self._choices if event.choice in {None, choice.index} and choice.state != "finished"
        ]
        self._unpaid -= {choice.index for choice in self._choices if event.choice in {None, choice.index}}
        for choice in struck:
            # First what still waits: it may be the call that makes this an answer.
            yield from choice.survive()
        if all(choice.answered for choice in struck):
            for choice in struck:
                # chat.stream.error-after-call.
                yield from choice.end("stop")
        else:
            # One choice without an answer fails them all: an answer has one status, a stream one error frame.
            self._failed = True
            yield event
