"""One turn: plays its part of a script and has it told as the app-server tells a turn.

A turn is a sequence of model responses. A response is text, thoughts and calls, then its end. If it called tools, the
turn waits for their results and the model is asked again, here: the next part is played. Otherwise the turn is over.
What a part still holds after its end is told all the same: late events.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from assay_mocks.codex import messages, raw_items
from assay_mocks.codex.acting import Acting
from assay_mocks.codex.calling import Calling
from assay_mocks.codex.default_answer import default_answer
from assay_mocks.codex.response import Response, is_told_apart
from assay_mocks.codex.shapes import Fragment, Native, Saying, Text, Whole, tell_shapes
from assay_mocks.codex.story import StoryTelling
from assay_mocks.codex.telling import Telling
from assay_mocks.player import Action, Piece, Until, perform
from assay_mocks.script import (
    Call,
    Command,
    Crash,
    Cut,
    ErrorNotice,
    Fail,
    Finish,
    Open,
    Patch,
    Raw,
    Reflect,
    Repeat,
    Retry,
    Think,
    Usage,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from assay_mocks.codex.casting import Casting
    from assay_mocks.codex.desk import Desk
    from assay_mocks.codex.failures import Cause
    from assay_mocks.codex.nonces import State
    from assay_mocks.codex.threads import Thread

Json = dict[str, Any]

_NOTHING = Usage(input=0, output=0)


class Turn:
    """A turn of `thread`. `step` does one action; then `wait` says until when none is due, `done` that none is left."""

    def __init__(
        self, desk: Desk, thread: Thread, casting: Casting, given: Sequence[Mapping[str, Any]], now: float
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
        words = StoryTelling if casting.told == "story" else Telling
        self._telling = words(desk, thread, self.id, double=desk.version.double or casting.told == "double")
        self._saying: tuple[Call, Iterator[Saying]] | None = None
        self._queued: list[tuple[list[Mapping[str, Any]], str | None, Casting]] = []
        self._over = False
        self._cut = False
        self._spoke = False
        self._calling = Calling(self, desk, thread, self._telling)
        self._acting = Acting(self, desk, thread, self._telling)
        self._index = casting.first
        self._response = self._next_response(now)
        thread.turn = self

    # What the script can see

    def is_open(self, gate: str) -> bool:
        """Whether the gate was opened under the turn's nonce."""
        return gate in self.nonce.gates

    def others_running(self) -> bool:
        """Whether another turn under the nonce still runs."""
        return any(other.state == "running" for other in self.nonce.others(self._record))

    # What the server does with it

    def announce(self, now: float) -> None:
        """Tell that the turn has begun."""
        self._telling.begun(now)

    def begin(self, client_id: str | None, now: float) -> None:
        """Tell that the user's input was taken."""
        if self._given:
            self._telling.user_input(self._given, client_id, now)

    def steer(self, given: Sequence[Mapping[str, Any]], client_id: str | None, casting: Casting, now: float) -> None:
        """More input while the turn runs: heard once the model's answer is over, or at once, cutting it short."""
        if not given:
            return
        self._queued.append((list(given), client_id, casting))
        if self._desk.version.busy == "steers" and not self._calling.awaited:
            self._telling.break_off()
            self._saying = None
            self._telling.rate_limits(now)
            self._hear_queued(now)
            self._desk.rouse(self.nonce)

    def _hear_queued(self, now: float) -> None:
        """Take the input that waited; the model is asked again."""
        for given, client_id, casting in self._queued:
            self._given += given
            self._telling.user_input(given, client_id, now, told=self._desk.version.tells_queued)
            self._casting, self._index = casting, casting.first
        self._queued.clear()
        self._response = self._next_response(now)

    def step(self, now: float) -> None:
        """Do the next action, or find out that there is none before `wait`."""
        self.wait = None
        if self._say_more(now):
            return
        action = self._response.next(now)
        self._open(action, now)
        match action:
            case None:
                self._part_over(now)
            case Until() as until:
                self.wait = until
            case action:
                self._do(action, now)

    def _open(self, action: Action | Until | None, now: float) -> None:
        """The model's service begins to answer, unless it fails before; some versions tell the counts then."""
        if self._response.opened or isinstance(action, Crash | Open):
            return
        self._response.opened = True
        unbegun = isinstance(action, Fail | ErrorNotice) and not self._cause(action).began
        if self._desk.version.counts_first and not unbegun:
            self._telling.counts_before(now)

    def answered(self, request: int, result: object, error: object, now: float) -> None:
        """The client answered a call, or what it was asked to approve of."""
        asked = self._acting if request in self._acting.unanswered else self._calling
        asked.answered(request, result, error, now)
        if self._acting.cancelled:
            self.interrupt(now)
            self._leave()

    def unanswered(self) -> list[int]:
        """The ids of the requests that the client has not answered."""
        return [*self._calling.unanswered, *self._acting.unanswered]

    def interrupt(self, now: float) -> None:
        """End the turn because the client wants it; the requests that wait for that are answered."""
        self._calling.cancel(now)
        opened = self._acting.cancel()
        if self._desk.version.counts_first:
            pass  # told already
        elif self._response.complete:
            self._telling.usage(self._response.usage, now)
        else:
            self._telling.rate_limits(now)
        note = raw_items.aborted(self._desk.ids.uuid(now))
        self._telling.raw(note, now, {"create_time": now, **raw_items.ABORTED_KINDS}, kept=False)
        self._telling.aborted(now)
        self.thread.answer_interrupts()
        self._release("interrupted", now)
        self._telling.completed("interrupted", self._started, now)
        self._acting.resolve(opened, now)

    def abandon(self) -> None:
        """Play nothing more, and tell nobody."""
        self._leave()
        self._free("interrupted", self.thread.updated)

    def _leave(self) -> None:
        """Nothing of the turn is left; the output is written as it was before."""
        self.done = True
        if self._cut:
            self._desk.cut(())

    # Actions

    def _do(self, action: Action, now: float) -> None:
        match action:
            case Piece(text, choice):
                self._say(text, now, choice)
            case Reflect():
                self._say(json.dumps(self._reflection(action), ensure_ascii=False), now)
            case Think(text):
                self._telling.stop_speaking(now)
                self._telling.think(text, now)
            case Call():
                self._begin_call(action)
            case Command() | Patch():
                self._response.asked = True
                self._acting.act(action, now)
            case Retry():
                self._telling.retrying(messages.retry(action), now)
            case Usage():
                self._response.usage = action
            case _:
                self._act(action, now)

    def _act(self, action: Open | Finish | Fail | Crash | ErrorNotice | Repeat | Cut | Raw, now: float) -> None:
        match action:
            case Open(name):
                self.nonce.gates.add(name)
                self._desk.rouse(self.nonce)
            case Finish(reason, choice) if choice is not None:
                self._telling.choice_over(choice, self._response.reason(reason, choice), now)
            case Finish(reason) if reason == "stop" or self._telling.tells_reasons:
                self._finish(reason, now)
            case Finish(reason):
                self._telling.stop_speaking(now)
                counted = reason == "length" and self._desk.version.counts_incomplete
                self._fail(self._desk.version.incomplete[reason], now, counted=counted)
            case Fail():
                self._fail(self._cause(action), now)
            case ErrorNotice():
                self._telling.break_off()
                self._telling.failed(self._cause(action), now, ended=False)
            case _:
                self._disturb(action, now)

    def _cause(self, failure: Fail | ErrorNotice) -> Cause:
        return self._casting.trouble or self._desk.version.causes[failure.cause]

    def _disturb(self, action: Crash | Repeat | Cut | Raw, now: float) -> None:
        match action:
            case Crash(status):
                self._desk.die(status)
            case Repeat(last):
                self._telling.repeat(last, now)
            case Cut(sizes):
                self._cut = True
                self._desk.cut(sizes)
            case Raw():
                self._desk.write(action.line)

    def _say(self, text: str, now: float, choice: int | None = None) -> None:
        self._spoke = True
        self._response.last_character = text[-1:] or self._response.last_character
        self._telling.say(text, "commentary" if self._response.calls_to_come else None, now, choice)

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
        self._saying = call, tell_shapes(call, number)
        if is_told_apart(call):
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
                self._response.asked = True
                self._calling.ask(call, now, late=self._response.complete or self._over)
        return True

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
        if self._response.asked:
            return
        if self._queued:
            self._hear_queued(now)
            return
        self._telling.unread(now)
        self._telling.task_complete(now)
        self._release("completed", now)
        self._telling.completed("completed", self._started, now)

    def _count(self, now: float) -> None:
        self._telling.usage(self._response.usage, now)
        self._telling.differs(now)

    def _fail(self, cause: Cause, now: float, *, counted: bool = False) -> None:
        self._telling.break_off()
        if cause.fills_context:
            self._telling.full_context(now, began=cause.began)
        elif self._desk.version.counts_first:
            pass
        elif counted:
            self._telling.usage(self._response.usage, now, last=_NOTHING)
        elif cause.began or self._spoke:
            self._telling.rate_limits(now)
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
            self._index += 1
            self._response = self._next_response(now)

    def _next_response(self, now: float) -> Response:
        parts = self._casting.parts
        if self._index < len(parts):
            part = parts[self._index]
        else:
            part = default_answer(self.thread.history, self.thread.tools, f"call_{self._desk.ids.number():04}")
        return Response(part, perform(part, self, now))
