"""A script as the events of a turn: what a backend would send of it, played without one. No I/O.

Each choice of an answer plays its own part of the script. `next` gives what happens next: plain text as it is, some
pieces at a time, which is nearly all there is in a long answer; anything else as events; a wait; None at the end.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from wireproof_endpoint.api.causes import CAUSES
from wireproof_scripts import steps
from wireproof_scripts.asked.templates import filled, has_templates
from wireproof_scripts.calls import call_shapes
from wireproof_scripts.calls.blocks import BLOCKS, cut
from wireproof_scripts.json_text import parse_json
from wireproof_scripts.player import Action, Until, perform
from wireproof_scripts.steps import TextDelta, http
from wireproof_surfaces.events import (
    ArgumentsAdded,
    CallBegan,
    CallClosed,
    CallsEnded,
    ChoiceFailed,
    ChoiceFinished,
    Event,
    FailureReason,
    MessageEnded,
    TextAdded,
    Thought,
    TurnOver,
    UsageReported,
    Working,
    finished,
)
from wireproof_surfaces.tools.call_ids import call_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from wireproof_endpoint.received import Received
    from wireproof_scripts.nonces import Nonce, State, TurnRecord
    from wireproof_scripts.player import Performance
    from wireproof_scripts.selection import Selection

_USAGE = steps.Usage()

Texts = tuple[str, ...]
Next = Texts | list[Event] | Until | http.Wire | None
"""Plain text of the choice, one delta a piece; events; a wait; a step of HTTP; or the end."""


class PlayedChoice:
    """The turn of one choice of `choices`, which plays a selection.

    `later` gives the part after the last one of a script. `changed` is called when something has changed for which
    other turns under the nonce may wait. `seed` makes the ids of calls without one unlike those of other answers.
    """

    # How far it is: as on the class until something happens.
    _performance: Performance | None = None
    _usage = _USAGE
    _indexed = False
    """Whether any step named a choice: then those that name none belong to the first."""
    _calls = 0
    _acted = False
    """Whether the part used tools of a backend's own: the model is asked again after it."""
    _cut = False
    """Whether the last call was left open."""
    _spoken = _message_ended = False
    _last_character = "\n"
    _draft: _Draft | None = None
    _ahead: Action | Until | None = None
    """What came after plain text, and is still to be done."""

    def __init__(
        self,
        selection: Selection,
        received: Received,
        *,
        later: Callable[[Received], tuple[steps.Step, ...]],
        changed: Callable[[Nonce], None],
        choice: int,
        choices: int,
        seed: str,
    ) -> None:
        self.choice = choice
        self.selection = selection
        """What it plays."""
        self._nonce = selection.nonce
        self.nonce = id(selection.nonce)
        """Distinguishes the nonce from others, as long as the turn lives."""
        self._received = received
        self._later = later
        self._changed = changed
        self._choices = choices
        self._seed = seed
        self._record: TurnRecord = selection.begin()
        self._part = selection.first
        self._called: set[str] = set()

    @property
    def part(self) -> tuple[steps.Step, ...]:
        """What it plays now; nothing where the script is over."""
        parts = self.selection.parts
        return parts[self._part] if self._part < len(parts) else ()

    def next(self, now: float, most: int = 1) -> Next:
        """What happens next; `now` is in seconds of any clock that does not go back, `most` of pieces of text."""
        action, self._ahead = self._ahead, None
        if action is None:
            action = self._act(now)
        if type(action) is TextDelta and self._is_plain(action):
            return self._run(action, now, most)
        return None if action is None else self._of(action)

    def _act(self, now: float) -> Action | Until | None:
        """The next action of the script; None after the last."""
        if self._performance is None:
            return self._begin(now)
        try:
            return self._performance.send(now)
        except StopIteration:
            return None

    def _is_plain(self, piece: TextDelta) -> bool:
        """Whether a piece is text as it is, and nothing but that."""
        special = self._indexed or self._message_ended or self._draft is not None
        return not (special or piece.whole or piece.choice is not None)

    def _run(self, first: TextDelta, now: float, most: int) -> Texts:
        """Plain text, as many pieces of it as are ready."""
        texts, performance = [first.text], self._performance
        self._spoken = True
        while len(texts) < most and performance is not None:
            try:
                action = performance.send(now)
            except StopIteration:
                break
            # What makes text special comes as a step of its own, and ends the run.
            if type(action) is not TextDelta or action.whole or action.choice is not None:
                self._ahead = action
                break
            texts.append(action.text)
        said = texts[-1] or "".join(texts)
        self._last_character = said[-1:] or self._last_character
        return tuple(texts)

    def close(self) -> None:
        """Nothing more is played; a turn that has not ended was interrupted."""
        self._end("interrupted")
        # Without what performs it, a long text is free as soon as it was sent.
        self._performance = self._ahead = None

    # Actions

    def _begin(self, now: float) -> Action | Until:
        part = self.part if self._part < len(self.selection.parts) else self._later(self._received)
        if has_templates(part):
            part = filled(part, self._received.items)
        # What was said is kept only where it may have to be said again.
        self._draft = _Draft() if steps.Retry in map(type, part) else None
        self._acted = False
        self._performance = perform(part, self._nonce, self._record, now)
        return next(self._performance)

    def _of(self, action: Action | Until) -> Next:
        if isinstance(action, TextDelta):
            return self._said(action)
        if isinstance(action, Until):
            return action
        if isinstance(action, steps.Finish):  # before a union of many: each turn has one
            return self._finish(action)
        if isinstance(action, http.Wire):
            return self._wire(action)
        return self._events(action)

    def _wire(self, step: http.Wire) -> Next:
        """A step of HTTP, which is the whole answer's: the first choice plays it. A choice refuses by itself."""
        if self.choice and not isinstance(step, http.Refusal):
            return [Working()]
        if isinstance(step, http.Ending):
            self._end("failed")
        return step

    def _said(self, piece: TextDelta) -> list[Event]:
        """Text that may be another choice's, or said again, or a message of its own."""
        text = piece.text
        self._last_character = text[-1:] or self._last_character
        if self._elsewhere(piece.choice):
            return [Working()]
        if self._draft is not None:
            fresh = self._draft.new(text)
            if fresh is None:
                return [self._failed(FailureReason.FAILED)]
            text = fresh
        return self._in_message(text, whole=piece.whole)

    def _in_message(self, text: str, *, whole: bool) -> list[Event]:
        """Text that may begin a message behind another one, or be one by itself."""
        another = self._spoken and (whole or self._message_ended)
        self._spoken, self._message_ended = True, whole
        said = TextAdded(choice=self.choice, text=text)
        return [MessageEnded(choice=self.choice), said] if another else [said]

    def _elsewhere(self, named: int | None) -> bool:
        """Whether what names this choice, or none, is about another one."""
        self._indexed = self._indexed or named is not None
        return (0 if named is None else named) != self.choice if self._indexed else False

    def _events(self, action: Action) -> list[Event]:  # noqa: PLR0911 - one for each step
        match action:
            case steps.Call():
                return self._call(action)
            case steps.Code(tool=tool) if tool:
                return self._call(steps.Call(id=action.id, name=tool, arguments=action.arguments))
            case steps.Fail(cause) | steps.ErrorNotice(cause):
                return [self._failed(CAUSES[cause])]
            case steps.Crash():
                return [self._failed(FailureReason.UNAVAILABLE)]
            case steps.Raw():
                return self._raw(action)
            case steps.Think():
                return [self._thought(action)]
            case steps.Reflect():
                return [TextAdded(choice=self.choice, text=json.dumps(self._reflection(action), ensure_ascii=False))]
            case _:
                self._note(action)
                return [Working()]

    def _note(self, action: Action) -> None:
        """Take a step of which nothing is sent."""
        match action:
            case steps.Usage():
                self._usage = action
            case steps.Open(name):
                self._nonce.gates.add(name)
                self._changed(self._nonce)
            case steps.Command() | steps.Patch() | steps.Code() | steps.Plan() | steps.McpCall() | steps.Question():
                self._acted = True
            case steps.Retry() if self._draft is not None and action.attempts:
                self._draft.begin_again()
            # How a backend spells and cuts its output is nothing that an endpoint could show.
            case _:
                pass

    def _thought(self, step: steps.Think) -> Event:
        self._message_ended = True
        summary = tuple(cut(step.text, step.pieces))
        return Thought(
            choice=self.choice, summary=summary, raw=step.raw, encrypted=step.encrypted, in_chat=step.in_chat
        )

    def _raw(self, raw: steps.Raw) -> list[Event]:
        """A line of a backend's output; only one that is no text shows."""
        try:
            raw.line.decode()
        except UnicodeDecodeError:
            return [self._failed(FailureReason.GARBLED)]
        return [Working()]

    def _call(self, call: steps.Call) -> list[Event]:
        """The events of a call, in whatever shapes it has: all structured ones are the same call."""
        events: list[Event] = []
        structured = False
        if self._elsewhere(call.choice):
            return [Working()]
        for shape in call.shapes:
            if shape in BLOCKS:
                events += self._textual(call, shape)
            elif not structured:
                structured = True
                events += self._structured(call)
        return events or [Working()]

    def _textual(self, call: steps.Call, shape: steps.Shape) -> Iterator[Event]:
        for output in call_shapes.in_shapes(replace(call, shape=shape, also=()), 0):
            if isinstance(output, call_shapes.ShapeText):
                # A sentinel counts at the start of a line only.
                breaks = output.own_line and self._last_character != "\n"
                text = f"\n{output.text}" if breaks else output.text
                self._last_character = text[-1:] or self._last_character
                yield TextAdded(choice=self.choice, text=text)

    def _structured(self, call: steps.Call) -> Iterator[Event]:
        self._message_ended = True
        id_ = call.id or call_id(self._seed, self.choice, self._calls)
        # A call is known by its id: the same one again is a repetition.
        if id_ in self._called:
            return
        self._calls += 1
        self._called.add(id_)
        pieces = cut(call.arguments, call.pieces)
        pieces = pieces[:-1] if call.unfinished else pieces
        yield CallBegan(choice=self.choice, id=id_, name=call.name, beside=call.beside and any(pieces))
        for piece in pieces:
            yield ArgumentsAdded(choice=self.choice, id=id_, text=piece)
        self._cut = call.unfinished or self._is_cut(call)
        if not self._cut:
            yield CallClosed(choice=self.choice, id=id_)

    def _is_cut(self, call: steps.Call) -> bool:
        """Whether a call is what an answer broke off in that was as long as it may: its arguments are not whole."""
        limited = any(isinstance(step, steps.Finish) and step.reason != "stop" for step in self.part)
        return limited and not _is_json(call.arguments)

    def _finish(self, finish: steps.Finish) -> list[Event]:
        if finish.choice is not None:
            return [] if self._elsewhere(finish.choice) else [ChoiceFinished(choice=self.choice, reason=finish.reason)]
        if self._draft is not None and self._draft.repeats:
            return [self._failed(FailureReason.FAILED)]
        if self._acted and not self._called:
            # The backend has done what the model wanted, and asks it again.
            self._part += 1
            self._performance = None
            return [Working()]
        # Calls wait for their results: the client leaves such a turn, and asks again.
        self._end("interrupted" if self._called else "completed")
        whole = self._called and not (self._cut and finish.reason != "stop")
        ends = CallsEnded(choice=self.choice) if whole else finished(self.choice, finish.reason)
        return [*self._counts(), ends, _over(self.choice)]

    def _counts(self) -> list[Event]:
        if self._usage.unknown or (self._indexed and self.choice > 0):
            return []
        return [_counted(self._usage, self.choice)]

    def _failed(self, cause: FailureReason) -> ChoiceFailed:
        self._end("failed")
        # None is all choices; with several the others may still have answers.
        return ChoiceFailed(cause, self.choice if self._choices > 1 else None)

    def _reflection(self, step: steps.Reflect) -> dict[str, object]:
        match step.what:
            case "received":
                return self._received.report()
            case "turns":
                others = self._nonce.others(self._record)
                return {"turns": [{"script": it.script, "part": it.part, "state": it.state} for it in others]}
            case "backend":
                return {"endpoint": "wireproof", "nonce": self._nonce.name}

    def _end(self, state: State) -> None:
        if self._record.state == "running":
            self._record.state = state
            self._changed(self._nonce)


def counts(selection: Selection) -> UsageReported:
    """The counts that the part of a selection will report, for who has to know them before."""
    part = selection.parts[selection.first] if selection.first < len(selection.parts) else ()
    reported = (step for step in reversed(part) if isinstance(step, steps.Usage))
    return _counted(next(reported, _USAGE), 0)


def _is_json(text: str) -> bool:
    try:
        parse_json(text)
    except ValueError:
        return False
    return True


# Events do not change, and with these nearly every answer ends.


@lru_cache
def _counted(usage: steps.Usage, choice: int) -> UsageReported:
    return UsageReported(
        choice=choice, prompt=usage.input, completion=usage.output, cached=usage.cached, reasoning=usage.reasoning
    )


@lru_cache
def _over(choice: int) -> TurnOver:
    return TurnOver(choice=choice)


class _Draft:
    """Text that breaks off and is said again: only what is new of it passes."""

    def __init__(self) -> None:
        self._said = ""
        self._again = 0
        self.repeats = False
        """Whether text is said again that was not all said yet."""

    def begin_again(self) -> None:
        """From here on the text comes once more."""
        self._again, self.repeats = 0, bool(self._said)

    def new(self, text: str) -> str | None:
        """What was not said before; None when it differs from what was."""
        if not self.repeats:
            self._said += text
            return text
        left = self._said[self._again :]
        if not (left.startswith(text) or text.startswith(left)):
            return None
        self._again += len(text)
        fresh = text[len(left) :]
        self._said += fresh
        self.repeats = self._again < len(self._said)
        return fresh
