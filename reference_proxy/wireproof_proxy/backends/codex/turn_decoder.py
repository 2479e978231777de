"""The state of one turn, for one choice: what of it was emitted already, whichever notifications it came in. Pure.

Text comes as deltas of a message; a message without any delta has its text in the notification of its completion, and
so has the end of a turn without any text before. When the model's stream breaks, Codex asks it again, and the message
begins once more under another id: the part that was emitted already is not emitted twice. If the text differs this
time, the turn fails, for what a client has read cannot be taken back. What reads notifications (`decode`,
`story_decode`) calls the methods here.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from wireproof_proxy.backends.codex.call_collector import CallCollector, CallPiece
from wireproof_proxy.backends.codex.failures import cause_of, cut_short, detail_of
from wireproof_proxy.backends.untrusted_json import as_count, as_mapping
from wireproof_surfaces.events import (
    CallsEnded,
    ChoiceFailed,
    ChoiceFinished,
    Event,
    FinishReason,
    MessageEnded,
    TextAdded,
    TurnOver,
    UsageReported,
    Working,
    total,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wireproof_surfaces.events import FailureReason


_COUNTS: Mapping[str, tuple[str, ...]] = {
    "prompt": ("inputTokens", "input_tokens", "promptTokens", "prompt_tokens"),
    "completion": ("outputTokens", "output_tokens", "completionTokens", "completion_tokens"),
    "cached": ("cachedInputTokens", "cached_input_tokens", "cached_tokens"),
    "reasoning": ("reasoningOutputTokens", "reasoning_output_tokens", "reasoning_tokens"),
}
_DETAILS = ("prompt_tokens_details", "completion_tokens_details", "input_tokens_details", "output_tokens_details")


@dataclass
class _Known:
    """Text that went by."""

    length: int = 0
    _hash: hashlib.blake2b = field(default_factory=hashlib.blake2b)

    def add(self, text: str) -> None:
        """More of it."""
        self.length += len(text)
        # surrogatepass: half a character may come alone, its other half with the next delta.
        self._hash.update(text.encode(errors="surrogatepass"))

    def same(self, other: _Known) -> bool:
        """Whether both are the same text."""
        return self._hash.digest() == other._hash.digest()


@dataclass
class RepeatFilter:
    """Drops what a message repeats after it has begun again; one message after the other.

    A message may be longer than memory should hold, so the part that was emitted is kept as its length and its hash
    alone. A difference is therefore noticed only when as much text has come again.
    """

    _emitted: _Known = field(default_factory=_Known)
    _again: _Known = field(default_factory=_Known)
    repeats: bool = False
    """Whether a message has begun again and is not yet where it was before."""

    def new(self, text: str) -> str | None:
        """The part of the text that is new; None when the message differs from what it was before."""
        left = self._emitted.length - self._again.length if self.repeats else 0
        repeated, rest = text[:left], text[left:]
        if self.repeats:
            self._again.add(repeated)
            # Only now is there as much text as was hashed.
            if len(repeated) == left:
                self.repeats = False
                if not self._again.same(self._emitted):
                    return None
        self._emitted.add(rest)
        return rest

    def begin_again(self) -> None:
        """The message comes once more, from its beginning."""
        self._again = _Known()
        self.repeats = self._emitted.length > 0

    def end(self) -> None:
        """The message is complete."""
        self._emitted = _Known()


@dataclass
class CodexTurnDecoder:
    """The state of a turn, and the events that follow from a notification."""

    tools: frozenset[str] = frozenset()
    """The names of the tools that the backend was offered."""
    choice: int = 0
    choices: int = 1
    """How many choices the answer has."""
    seed: str = ""
    turn_id: str | None = None
    """None until the turn has started."""
    over: bool = False
    """Whether the turn has ended: nothing more is emitted."""
    indexed: bool = False
    """Whether any notification named a choice."""
    responded: bool = False
    """Whether the model has completed a response."""
    calls: CallCollector = field(init=False)
    _messages: set[str] = field(default_factory=set)
    """The ids of messages with text so far; "" for messages that have none."""
    _spoken: bool = False
    _ended: bool = False
    _repeats: RepeatFilter = field(default_factory=RepeatFilter)
    _summed: UsageReported | None = None

    def __post_init__(self) -> None:
        self.calls = CallCollector(self.choice, self.seed)

    def text(self, text: str, message: str = "") -> list[Event]:
        """A delta of the message with this id."""
        if not text:
            return []
        self._messages.add(message)
        return self._go_on(text)

    def message(self, text: str, message: str = "") -> list[Event]:
        """The message with this id is complete."""
        # Codex sends no deltas where its model's service sent none: the whole text is in the completion then.
        had_deltas = message in self._messages
        # Messages without an id are known one at a time.
        self._messages.discard("")
        events: list[Event] = [Working()]
        if text and not had_deltas:
            self._messages.add(message)
            events = self._go_on(text)
        # Shorter than what was sent before it began again.
        if self._repeats.repeats and not self.over:
            return self.failed({})
        self._repeats.end()
        self._ended = True
        return events

    def _go_on(self, text: str) -> list[Event]:
        """More of a message, without what was emitted of it before it began again."""
        new = self._repeats.new(text)
        if new is None:
            return self.failed({})
        return self._say(new) if new else [Working()]

    def _say(self, text: str) -> list[Event]:
        """The text, behind the end of the message before it if that was another one."""
        ended: list[Event] = [MessageEnded(choice=self.choice)] if self._spoken and self._ended else []
        self._spoken, self._ended = True, False
        return [*ended, TextAdded(choice=self.choice, text=text)]

    def native(self, id_: str, name: str, arguments: str) -> list[Event]:
        """A call that the client is to run."""
        events = self.calls.whole(CallPiece(shape="native", id=id_, name=name, text=arguments))
        return events or [Working()]

    def summed(self, usage: UsageReported | None) -> list[Event]:
        """The tokens of one response of the model; they add up."""
        if usage and self._summed:
            usage = total((usage, self._summed), self.choice)
        self._summed = usage or self._summed
        return [self._summed] if self._summed else [Working()]

    def counted(self, usage: UsageReported | None) -> list[Event]:
        """The tokens of the turn so far; ignored where responses were counted one by one, which is more exact.

        A turn that holds several choices counts the tokens of all of them, so only its first choice reports them.
        """
        elsewhere = self.indexed and self.choice > 0
        return [usage] if usage and not self._summed and not elsewhere else [Working()]

    def response_over(self) -> list[Event]:
        """The model has ended a response: no more calls follow."""
        self.responded = True
        if self._repeats.repeats:
            return self.failed({})
        closed = self.calls.close()
        return [*closed, CallsEnded(choice=self.choice)] if self.calls.any else [Working()]

    def finish(self, reason: FinishReason) -> list[Event]:
        """The choice is complete, whether or not the turn is."""
        # Calls are complete before the end is: their events come first.
        return [*self.calls.close(), ChoiceFinished(choice=self.choice, reason=reason)]

    def complete(self, last: str = "", message: str = "") -> list[Event]:
        """The turn is over; `last` is its last message, emitted here if it had no text before."""
        if self._repeats.repeats:
            return self.failed({})
        self.over = True
        # Only if nothing was said: the end of a turn repeats its last message (0.169.0).
        unsent = last and not self._spoken and message not in self._messages
        text = [TextAdded(choice=self.choice, text=last)] if unsent else []
        return [*text, *self.finish("stop"), TurnOver(choice=self.choice)]

    def retried(self) -> list[Event]:
        """The model's answer begins again: the incomplete message will come once more from its beginning."""
        self._repeats.begin_again()
        return [Working()]

    def failed(self, error: Mapping[str, Any]) -> list[Event]:
        """The turn is over, by this error; an answer that was cut short is an answer."""
        self.over = True
        if reason := cut_short(error):
            return [*self.finish(reason), TurnOver(choice=self.choice)]
        return [self.failure(cause_of(error), detail_of(error))]

    def failure(self, cause: FailureReason, detail: str = "") -> ChoiceFailed:
        """The failure of this choice, which is of all of them if there is but one."""
        # None closes the mailbox at once; with several choices the others may still have answers.
        return ChoiceFailed(cause, self.choice if self.choices > 1 else None, detail)

    def usage(self, reported: object) -> UsageReported | None:
        """Token counts, however they are spelled; None when the prompt or the completion is missing."""
        counts = as_mapping(reported)
        places = [counts, *(as_mapping(counts.get(name)) for name in _DETAILS)]
        found = {
            name: next((n for place in places for key in keys if (n := as_count(place.get(key))) is not None), None)
            for name, keys in _COUNTS.items()
        }
        prompt, completion = found["prompt"], found["completion"]
        # Half a count would look exact; the surface estimates instead.
        if prompt is None or completion is None:
            return None
        return UsageReported(
            choice=self.choice,
            prompt=prompt,
            completion=completion,
            cached=found["cached"] or 0,
            reasoning=found["reasoning"] or 0,
        )
