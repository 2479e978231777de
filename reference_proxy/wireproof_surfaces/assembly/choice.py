"""What one choice says, from the backend's events about it. Pure.

A choice is open, then perhaps calling, then finished; each state says what still passes:

    open      text and calls pass; Finished and Failed end it
    calling   text is a tail and dropped (unless tails pass); calls pass; any end of the model's answer ends it
    finished  nothing passes

A stop text ends an open choice where it begins.

Calls beyond the limit are dropped. A stream ends with the call that reaches the limit; a whole answer reads the model's
answer to its end, since an error after its calls wins there. A choice with a call finishes as `tool_calls`,
whatever the backend says, but for one that a limit ended within a call; one whose calls are complete is an answer,
whatever fails after them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from wireproof_surfaces.assembly.characters import Joiner
from wireproof_surfaces.assembly.reconcile import CallEvent, Reconciler
from wireproof_surfaces.assembly.separator import Separator
from wireproof_surfaces.events import (
    ArgumentsAdded,
    CallBegan,
    CallClosed,
    CallsEnded,
    ChoiceFinished,
    FinishReason,
    MessageEnded,
    Quiet,
    TextAdded,
    Thought,
    TurnEvent,
    TurnOver,
    finished,
)
from wireproof_surfaces.values import value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wireproof_surfaces.tools.use_tool import TextCall


@dataclass(slots=True)
class StopTexts:
    """Looks for the first of `stops` that is complete, however the text is cut; none of them is empty."""

    stops: tuple[str, ...]
    found: str | None = None
    """The one that was found; nothing passes behind it."""
    _held: str = ""

    def feed(self, piece: str) -> str:
        """What passes of the text so far and was not returned before: all but what may be the head of a stop."""
        if self.found is not None:
            return ""
        text = self._held + piece
        # The first that is complete, as a model's service finds it token by token; of two the one that began earlier.
        ends = [(at + len(stop), at, stop) for stop in self.stops if (at := text.find(stop)) >= 0]
        if ends:
            _, at, self.found = min(ends)
            self._held = ""
            return text[:at]
        kept = max(_head_at_the_end(text, stop) for stop in self.stops)
        self._held = text[len(text) - kept :]
        return text[: len(text) - kept]

    @property
    def holds(self) -> bool:
        """Whether it holds what may be the head of a stop."""
        return bool(self._held)

    def end(self) -> str:
        """What is left when no more of this text comes."""
        rest, self._held = self._held, ""
        return rest


def _head_at_the_end(text: str, stop: str) -> int:
    """How many characters at the end of the text are the head of a stop."""
    longest = min(len(text), len(stop) - 1)
    return next((size for size in range(longest, 0, -1) if text.endswith(stop[:size])), 0)


@value(frozen=True, kw_only=True, slots=True)
class Rules:
    """What a choice may say."""

    limit: int | None = None
    """The most calls; None for any number."""
    ends_early: bool = True
    """Whether the choice ends with the call that reaches the limit, without waiting for the model's end."""
    calls: bool = True
    """Whether calls pass; without them a block in the text is text."""
    tails: bool = False
    """Whether text after calls passes."""
    errors_win: bool = False
    """Whether a failure after complete calls is still a failure."""
    stops: tuple[str, ...] = ()
    """Texts before the first of which the choice ends; none of them is empty."""


State = Literal["open", "calling", "finished"]
"""How far a choice is."""


@dataclass(slots=True)
class ChoiceAssembly:
    """The choice with this index; `seed` as for the reconciler."""

    index: int
    rules: Rules
    seed: str = ""
    state: State = "open"
    _text: Joiner = field(default_factory=Joiner)
    _separator: Separator = field(default_factory=Separator)
    # None until there is a call: most answers have none.
    _reconciler: Reconciler | None = None
    # One per call: fragments of several calls may interleave.
    _fragments: dict[str, Joiner] = field(default_factory=dict)
    _kept: set[str] = field(default_factory=set)
    _incomplete: set[str] = field(default_factory=set)
    _stops: StopTexts | None = field(init=False)

    def __post_init__(self) -> None:
        self._stops = StopTexts(self.rules.stops) if self.rules.stops else None

    def feed(self, event: TurnEvent) -> Iterator[TurnEvent]:
        """What passes of the event; failures are not fed."""
        if self.state == "finished":
            return
        match event:
            case TextAdded():
                yield from self._separate(self._text.feed(event.text))
            case ChoiceFinished():
                yield from self.end(event.reason)
            case MessageEnded():
                yield from self._rest()
                # A new message is at the start of a line and in no code fence.
                self._separator = Separator()
            case Thought():
                yield from self._rest()
                yield event
            # turn.tool-choice-none: no call reaches the client, whatever the backend does.
            case CallBegan() | ArgumentsAdded() | CallClosed() if self.rules.calls:
                yield from self._structured(event)
            case Quiet():
                yield from self._release()
            case CallsEnded() | TurnOver():
                yield from self.end("stop")
            case _:
                return

    @property
    def calm(self) -> bool:
        """Whether it is open and has had no call, not even one that still waits."""
        return self.state == "open" and self._reconciler is None

    def passes(self, text: str) -> bool:
        """Whether a piece of text passes as it is, which it does in an open choice that holds nothing back.

        If so it is taken; if not nothing has changed, and it is to be fed.
        """
        if self.state != "open" or not text or self._stops or not self._text.passes(text):
            return False
        return not self.rules.calls or self._separator.passes(text)

    def survive(self) -> Iterator[TurnEvent]:
        """Emit what still waits, now that the turn has failed; then `answered` says whether that is an answer."""
        yield from self._rest()
        if self.state != "finished" and self._reconciler is not None:
            yield from self._emit(self._reconciler.end())

    @property
    def answered(self) -> bool:
        """Whether it is an answer although nothing more comes."""
        complete = bool(self._kept) and not self._incomplete and not self.rules.errors_win
        return self.state == "finished" or complete

    def end(self, reason: FinishReason) -> Iterator[TurnEvent]:
        """Emit what still waits, and the end."""
        if self._reconciler is not None or self._holds_text:
            yield from self.survive()
        if self.state != "finished":
            self.state = "finished"
            # Calls win over any other reason (chat.stream.finish-reason), where they are whole.
            cut = self._incomplete and reason != "stop"
            yield finished(self.index, "tool_calls" if self._kept and not cut else reason)

    @property
    def _holds_text(self) -> bool:
        return self._text.holds or self._separator.holds or (self._stops is not None and self._stops.holds)

    def _separate(self, text: str) -> Iterator[TurnEvent]:
        for part in self._separator.feed(text) if self.rules.calls else [text]:
            if isinstance(part, str):
                yield from self._plain(part)
            else:
                yield from self._block(part)

    def _plain(self, text: str) -> Iterator[TurnEvent]:
        # Words behind a block: its twin in structure did not come first. Blanks decide nothing.
        if self.state == "calling" and text.strip():
            yield from self._release()
        # chat.stream.tail-suppressed.
        if not (self.state == "open" or (self.state == "calling" and self.rules.tails)):
            return
        passing = text if self._stops is None else self._stops.feed(text)
        if passing:
            yield TextAdded(choice=self.index, text=passing)
        if self._stops is not None and self._stops.found is not None:
            self.state = "finished"
            reason: FinishReason = "tool_calls" if self._kept else "stop"
            yield ChoiceFinished(choice=self.index, reason=reason, stop=self._stops.found)

    def _block(self, call: TextCall) -> Iterator[TurnEvent]:
        if self.state == "calling":
            yield from self._release()
        if self.state != "finished" and self._calls().textual(call):
            self.state = "calling"

    def _structured(self, event: CallEvent) -> Iterator[TurnEvent]:
        # Text that was held stands before the call.
        if isinstance(event, CallBegan):
            yield from self._rest()
        for whole in self._joined(event):
            yield from self._emit(self._calls().structured(whole))

    def _calls(self) -> Reconciler:
        if self._reconciler is None:
            self._reconciler = Reconciler(self.index, self.seed)
        return self._reconciler

    def _release(self) -> Iterator[TurnEvent]:
        """The calls from the text that still wait."""
        if self._reconciler is not None:
            yield from self._emit(self._reconciler.release())

    def _joined(self, event: CallEvent) -> Iterator[CallEvent]:
        """The event, its text in whole characters."""
        joiner = self._fragments.setdefault(event.id, Joiner())
        match event:
            case ArgumentsAdded():
                if text := joiner.feed(event.text):
                    yield replace(event, text=text)
            case CallClosed():
                if rest := joiner.end():
                    yield ArgumentsAdded(choice=self.index, id=event.id, text=rest)
                yield event
            case CallBegan():
                yield event

    def _rest(self) -> Iterator[TurnEvent]:
        """The text that was held back."""
        if text := self._text.end():
            yield from self._separate(text)
        if text := self._separator.end():
            yield from self._plain(text)
        # What is no text ends it: no stop reaches over a call or a thought.
        if self._stops is not None and (text := self._stops.end()) and self.state != "finished":
            yield TextAdded(choice=self.index, text=text)

    def _emit(self, events: Iterator[CallEvent]) -> Iterator[TurnEvent]:
        for event in events:
            if self.state != "finished":
                yield from self._call(event)

    def _call(self, event: CallEvent) -> Iterator[TurnEvent]:
        limit = self.rules.limit
        if isinstance(event, CallBegan) and (limit is None or len(self._kept) < limit):
            self.state = "calling"
            self._kept.add(event.id)
            self._incomplete.add(event.id)
        # Beyond the limit, or of such a call.
        if event.id not in self._kept:
            return
        yield event
        if isinstance(event, CallClosed):
            self._incomplete.discard(event.id)
            # Not with the last call alone: calls may overlap, and each that was opened is to be complete.
            if self.rules.ends_early and len(self._kept) == limit and not self._incomplete:
                self.state = "finished"
                yield finished(self.index, "tool_calls")
