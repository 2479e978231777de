"""What a turn plays: the answers of the model, one part of a script after the other, and how each of them ends."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from assay_codex.notifications.notifier import Telling
from assay_codex.notifications.story import StoryTelling
from assay_codex.turns.response import Failure, Response
from assay_codex.turns.results import Results
from assay_scripts.blocks import is_structured_call
from assay_scripts.call_shapes import CallOutput, Fragment, Native, Text, Whole, in_shapes
from assay_scripts.default_answer import default_answer
from assay_scripts.player import Until, perform

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from assay_codex.context import Desk
    from assay_codex.threads.thread import Thread
    from assay_codex.turns.acting import Acting
    from assay_codex.turns.calling import Calling
    from assay_codex.versions.failures import Cause
    from assay_scripts.nonces import State
    from assay_scripts.selection import Selection
    from assay_scripts.steps import Call, Reflect

Json = dict[str, Any]


class Playing:
    """Plays for a turn of `thread`: `wait` says until when nothing is due, `done` that nothing is left.

    Who makes one gives it `_calling` and `_acting`, which ask the client.
    """

    _calling: Calling
    _acting: Acting

    def __init__(
        self, desk: Desk, thread: Thread, casting: Selection, given: Sequence[Mapping[str, Any]], now: float
    ) -> None:
        self.id = desk.turn_id(thread, now)
        self.thread = thread
        self.nonce = casting.nonce
        self.wait: Until | None = None
        self.done = False
        self._desk = desk
        self._casting = casting
        self._started = now
        self._given = list(given)
        self._heard = list(thread.history)
        self._record = casting.nonce.begin(casting.script, casting.first)
        words = StoryTelling if casting.notifications == "story" else Telling
        self._telling = words(desk, thread, self.id, double=desk.version.double or casting.notifications == "double")
        self._results = Results(desk, self._telling)
        self._saying: tuple[Call, Iterator[CallOutput]] | None = None
        self._queued: list[tuple[list[Mapping[str, Any]], str | None, Selection]] = []
        self._over = False
        self._cut = False
        self._spoke = False
        self._index = casting.first
        self._response = self._next_response(now)

    # What the script can see

    def is_open(self, gate: str) -> bool:
        """Whether the gate was opened under the turn's nonce."""
        return gate in self.nonce.gates

    def others_running(self) -> bool:
        """Whether another turn under the nonce still runs."""
        return any(other.state == "running" for other in self.nonce.others(self._record))

    # What is said

    def _say(self, text: str, now: float, choice: int | None = None, *, whole: bool = False) -> None:
        self._spoke = True
        self._response.last_character = text[-1:] or self._response.last_character
        tell = self._telling.say_whole if whole else self._telling.say
        tell(text, "commentary" if self._response.calls_to_come else None, now, choice)

    def _reflection(self, step: Reflect) -> Json:
        if step.what == "turns":
            others = self.nonce.others(self._record)
            return {"turns": [{"script": it.script, "part": it.part, "state": it.state} for it in others]}
        return {
            "developer": self.thread.developer,
            "base": self.thread.base,
            "model": self.thread.settings.asked_model,
            "history": self._heard,
            "input": self._given,
            "tools": self.thread.tools,
        }

    # Calls

    def _begin_call(self, call: Call) -> None:
        """Tell a call; what there is to tell of it comes one by one."""
        number = self._response.calls[call.choice or 0]
        self._response.calls[call.choice or 0] += 1
        self._saying = call, in_shapes(call, number)
        if is_structured_call(call):
            self._response.calls_to_come -= 1
            if "native" not in call.shapes:
                self.thread.remember([self._calling.raw(call)])

    def _say_more(self, now: float) -> bool:
        """Tell the next piece of a call; whether there was one."""
        call, sayings = self._saying or (None, iter(()))
        saying = next(sayings, None)
        if call is None or saying is None:
            self._saying = None
            return False
        self._spoke = True
        match saying:
            case Text(text, own_line):
                self._say(f"\n{text}" if own_line and self._response.last_character != "\n" else text, now, call.choice)
            case Fragment(delta):
                self._telling.turn_to_call(now)
                self._telling.fragment(delta, call.choice, now)
            case Whole(message):
                self._telling.turn_to_call(now)
                self._telling.whole(message, call.choice, now)
            case Native():
                self._ask(call, now)
        return True

    def _ask(self, call: Call, now: float) -> None:
        """Ask the client to run the tool."""
        self._response.asked = True
        self._calling.ask(call, now, late=self._response.complete or self._over)

    # Ends

    def _finish(self, reason: str, now: float) -> None:
        self._telling.stop_speaking(now)
        if self._over:
            self._telling.task_complete(now)
            self._telling.completed("completed", self._started, now)
            return
        self._telling.response_over(self._response.usage, self._response.reason(reason), now)
        self._response.complete = True
        if not self._response.asked or self._desk.version.counts_first:
            self._count(now)
        self._results.release(now)
        if self._response.asked:
            return
        if self._queued:
            self._hear_queued(now)
            return
        if self._telling.last_words:
            self._telling.unread(now)
        self._telling.task_complete(now)
        self._release("completed", now)
        self._telling.completed("completed", self._started, now)

    def _count(self, now: float) -> None:
        self._telling.usage(self._response.usage, now)
        self._telling.differs(now)

    def _fail(self, failure: Failure, now: float) -> None:
        """The model's answer breaks off; the turn fails now or, in some versions, when its calls are answered."""
        self._telling.break_off(now)
        if self._desk.version.awaits_calls and not self._over and not self._response.complete:
            self._results.release(now)
            self._response.failure = failure
        else:
            self._results.drop()
            self._end_failed(failure, now)

    def _break_down(self, failure: Failure, now: float) -> None:
        """The answer broke off: the turn fails as soon as its calls are answered, unless there is more input."""
        if self._calling.awaited or self._acting.awaited:
            self.wait = Until(math.inf)
        elif self._queued and self._desk.version.busy == "steers":
            self._count_failed(failure, now)
            self._hear_queued(now)
        else:
            self._response.failure = None
            self._end_failed(failure, now)

    def _count_failed(self, failure: Failure, now: float) -> None:
        if failure.counted:
            self._telling.usage(self._response.usage, now, kept=True)
        elif failure.cause.began or self._spoke:
            self._telling.counts_before(now)

    def _end_failed(self, failure: Failure, now: float) -> None:
        cause = failure.cause
        if cause.fills_context:
            self._telling.full_context(now, began=cause.began)
        elif not self._desk.version.counts_first:
            self._count_failed(failure, now)
        self._tell_failed(cause, now)

    def _tell_failed(self, cause: Cause, now: float) -> None:
        self.thread.failed = True
        self._free("failed", now)
        self._telling.failed(cause, now)
        self._telling.unread(now)
        self._telling.task_complete(now, failed=True)
        self._telling.completed("failed", self._started, now, cause)

    def _release(self, state: State, now: float) -> None:
        self._free(state, now)
        self._telling.status(now)

    def _free(self, state: State, now: float) -> None:
        """The turn is over and the thread free again; late events change nothing of it."""
        self.thread.updated = now
        if not self._over:
            self._over = True
            self._record.state = state
            self.thread.turn = None
            self._desk.rouse(self.nonce)

    def _part_over(self, now: float) -> None:
        self._telling.stop_speaking(now)
        if self._over:
            self._leave()
        elif self._calling.awaited or self._acting.awaited:
            self.wait = Until(math.inf)
        else:
            if self._desk.version.counts_first:
                self._telling.differs(now)
            else:
                self._count(now)
            self._go_on(now)

    def _go_on(self, now: float) -> None:
        """Ask the model again, now that its calls are answered."""
        if self._queued:
            self._hear_queued(now)
            return
        self._index += 1
        self._response = self._next_response(now)

    def _next_response(self, now: float) -> Response:
        self._results.hold()
        parts = self._casting.parts
        if self._index < len(parts):
            part = parts[self._index]
        else:
            part = default_answer(self.thread.history, self.thread.tools, f"call_{self._desk.ids.number():04}")
        return Response(part, perform(part, self, now))

    def _hear_queued(self, now: float) -> None:
        """Take the input that waited; the model is asked again."""
        for given, client_id, casting in self._queued:
            self._given += given
            self._telling.user_input(given, client_id, now, told=self._desk.version.tells_queued)
            self._casting, self._index = casting, casting.first
        self._queued.clear()
        self._response = self._next_response(now)

    def _leave(self) -> None:
        """Nothing of the turn is left; the output is written as it was before."""
        self.done = True
        if self._cut:
            self._desk.cut(())
