"""One turn: plays its part of a script and has it told as the app-server tells a turn.

A turn is a sequence of model responses. A response is text, thoughts and calls, then its end. If it called tools, the
turn waits for their results and the model is asked again, here: the next part is played. Otherwise the turn is over.
What a part still holds after its end is told all the same: late events.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from assay_codex.notifications import item_messages, raw_items, turn_messages
from assay_codex.turns.acting import Acting
from assay_codex.turns.calling import Calling
from assay_codex.turns.compacting import Compacting
from assay_codex.turns.response import Failure
from assay_codex.versions.failures import CAUSES, RECONNECTS, Cause
from assay_scripts.player import Action, Piece, Until, reconnecting
from assay_scripts.steps import (
    Call,
    Code,
    Command,
    Crash,
    Cut,
    ErrorNotice,
    Fail,
    Finish,
    Open,
    Patch,
    Question,
    Raw,
    Reflect,
    Repeat,
    Retry,
    Think,
    Usage,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay_codex.context import Desk
    from assay_codex.threads.thread import Thread
    from assay_scripts.selection import Selection


class Turn(Compacting):
    """A turn of `thread`. `step` does one action; then `wait` says until when none is due, `done` that none is left."""

    def __init__(
        self,
        desk: Desk,
        thread: Thread,
        casting: Selection,
        given: Sequence[Mapping[str, Any]],
        now: float,
        summary: Selection | None = None,
        *,
        asked: bool = False,
    ) -> None:
        super().__init__(desk, thread, casting, given, now, summary, asked=asked)
        self._calling = Calling(self, desk, thread, self._telling, self._results)
        self._acting = Acting(self, desk, thread, self._telling, self._results)
        thread.turn = self

    # What the server does with it

    def announce(self, now: float) -> None:
        """Tell that the turn has begun."""
        self._telling.begun(now, asked=self.steerable)

    def take_output(self, name: str, output: str, now: float) -> None:
        """The turn begins with the output of a tool."""
        identity = f"fco_{self._desk.ids.uuid(now)}"
        self.thread.remember([{"type": "function_call_output", "id": identity, "name": name, "output": output}])
        self._telling.item(item_messages.tool_output(identity, name, output), turn_messages.ms(now), now)

    def steer(self, given: Sequence[Mapping[str, Any]], client_id: str | None, casting: Selection, now: float) -> None:
        """More input while the turn runs: heard once the model's answer is over, or at once, cutting it short."""
        if not given:
            return
        self._queued.append((list(given), client_id, casting))
        if self._desk.version.busy == "steers" and not self._calling.awaited and self._compaction is None:
            self._telling.break_off(now)
            self._saying = None
            self._telling.rate_limits(now)
            self._hear_queued(now)
            self._desk.rouse(self.nonce)

    def step(self, now: float) -> None:
        """Do the next action, or find out that there is none before `wait`."""
        self.wait = None
        if self._say_more(now):
            return
        if self._response.failure is not None:
            self._break_down(self._response.failure, now)
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
        if self._response.opened or isinstance(action, Crash | Open) or self._is_unreached(action):
            return
        self._response.opened = True
        unbegun = isinstance(action, Fail | ErrorNotice) and not self._cause(action).began
        if (self._desk.version.counts_first or self._compaction is not None) and not unbegun:
            self._telling.counts_before(now)

    def _is_unreached(self, action: Action | Until | None) -> bool:
        """Whether it only tells that the model's service is not reached yet."""
        match action:
            case Retry(attempts=attempts):
                return not attempts
            case Fail():
                return self._cause(action).retried and self._desk.version.reconnects
        return isinstance(action, Until) and self._response.unreached

    def answered(self, request: int, result: object, error: object, now: float) -> None:
        """The client answered a call, or what it was asked to approve of."""
        asked = self._acting if self._acting.asked(request) else self._calling
        asked.answered(request, result, error, now)
        if self._acting.cancelled:
            self.interrupt(now)
            self._leave()

    def unanswered(self) -> list[int]:
        """The ids of the requests that the client has not answered."""
        return [*self._calling.unanswered, *self._acting.unanswered]

    @property
    def asks(self) -> bool:
        """Whether it waits for the client's word on a command, a patch or a question."""
        return self._acting.awaited

    def interrupt(self, now: float) -> None:
        """End the turn because the client wants it; the requests that wait for that are answered."""
        self._abort("interrupted", now)

    def give_way(self, now: float) -> None:
        """End the turn because another one takes its place."""
        self._abort("replaced", now)

    def _abort(self, reason: str, now: float) -> None:
        self._telling.break_off(now)
        self._calling.cancel(now)
        opened = self._acting.cancel()
        self._results.release(now)
        self._count_interrupted(now)
        if self._desk.version.notes_interrupts and reason == "interrupted":
            note = raw_items.aborted(self._desk.ids.uuid(now))
            self._telling.raw(note, now, {"create_time": now, **raw_items.ABORTED_KINDS}, kept=False)
        self._telling.aborted(reason, now)
        self.thread.answer_interrupts()
        self._release("interrupted", now)
        self._telling.completed("interrupted", self._started, now)
        self._acting.resolve(opened, now)

    def _count_interrupted(self, now: float) -> None:
        if self._desk.version.counts_first or self._compaction is not None:
            return  # told already
        if self._response.complete:
            self._telling.usage(self._response.usage, now)
        elif self._response.failure is not None:
            self._count_failed(self._response.failure, now)
        elif self._response.opened:
            self._telling.counts_before(now)

    def abandon(self) -> None:
        """Play nothing more, and tell nobody."""
        self._leave()
        self._free("interrupted", self.thread.updated)

    # Actions

    def _do(self, action: Action, now: float) -> None:
        match action:
            case Piece(text, choice, whole):
                self._say(text, now, choice, whole=whole)
            case Reflect():
                self._say(json.dumps(self._reflection(action), ensure_ascii=False), now)
            case Think():
                self._telling.stop_speaking(now)
                self._telling.think(action, now)
            case Call():
                self._begin_call(action)
            case Command() | Patch() | Code() | Question():
                self._run(action, now)
            case Retry():
                self._retry(action, now)
            case Usage():
                self._response.usage = action
            case _:
                self._act(action, now)

    def _run(self, action: Command | Patch | Code | Question, now: float) -> None:
        """Do what the model wants done here; a summary does nothing."""
        if self._compaction is not None:
            return
        self._response.asked = True
        match action:
            case Code():
                self._calling.run(action, now)
            case Question():
                self._acting.question(action, now)
            case _:
                self._acting.act(action, now)

    def _retry(self, retry: Retry, now: float) -> None:
        """The model is asked again; it begins to answer anew."""
        self._response.unreached = self._is_unreached(retry)
        if self._response.opened and not self._desk.version.counts_first:
            self._telling.rate_limits(now)
        self._telling.retrying(turn_messages.retry(retry), now)
        self._response.opened = False

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
                self._fail(Failure(self._desk.version.incomplete[reason], counted), now)
            case Fail() if self._is_unreached(action):
                self._response.play(reconnecting(CAUSES["connection"].message, RECONNECTS))
            case Fail():
                self._fail(Failure(self._cause(action)), now)
            case ErrorNotice():
                self._telling.break_off(now)
                self._telling.failed(self._cause(action), now, ended=False)
            case _:
                self._disturb(action, now)

    def _cause(self, failure: Fail | ErrorNotice) -> Cause:
        casting = self._compaction.casting if self._compaction is not None else self._casting
        if casting.problem is not None:  # the marker or the file is wrong: the client's mistake
            return Cause(message=casting.problem, info="badRequest", began=False)
        return self._desk.version.causes[failure.cause]

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
