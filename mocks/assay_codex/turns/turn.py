"""One turn: it plays its part of a script and sends what the app-server sends of a turn.

A turn is a sequence of the model's answers. An answer is text, thoughts and calls, then its end. If it called tools,
the turn waits for their results and the model is asked again: the next part of the script is played. Otherwise the turn
is over. What a part still holds after its end is sent all the same: late events.

    answer begins → text, thoughts, calls → answer ends ─┬→ calls answered → the next answer begins
                                                         ├→ input was queued → the next answer begins
                                                         ├→ turn/completed: completed
                  → answer fails ────────────────────────┴→ turn/completed: failed

An interrupt ends the turn at any point. The parts are the place in the script (`ScriptPosition`), the calls that the
client runs (`Calls`), the backend's own tools (`Approvals`), their `Results`, a `Compaction` while there is one, and
the `Notifier` that sends everything.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from assay_codex.notifications import item_messages, raw_items, turn_messages
from assay_codex.notifications.answer import AnswerEnd
from assay_codex.notifications.notifier import Notifier
from assay_codex.turns.answer_pieces import AnswerPieces
from assay_codex.turns.approvals import Approvals
from assay_codex.turns.calls import Calls
from assay_codex.turns.compaction import Compaction, choose_summary
from assay_codex.turns.parts import Shared
from assay_codex.turns.response import Failure, Response
from assay_codex.turns.results import Results
from assay_codex.turns.script_position import ScriptPosition
from assay_codex.versions.failures import RECONNECTS, Cause
from assay_codex.versions.version import NEWEST
from assay_scripts import steps
from assay_scripts.player import Action, Until, reconnecting
from assay_scripts.selection import Selection
from assay_scripts.steps import Piece

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay_codex.context import TurnContext
    from assay_codex.threads.thread import Thread
    from assay_scripts.nonces import State
    from assay_scripts.steps import Elsewhere

Json = dict[str, Any]
_Input = tuple[list["Mapping[str, Any]"], str | None, Selection]


class Turn:
    """A turn of `thread` that answers the input `given` with `casting`.

    `summary`: what the model answers when it first has to summarise the conversation; None: it need not.
    `schema`: the JSON schema that the client wants the answer to match; None: it wants none.
    `only_summary`: `casting` is a summary, and the turn nothing else. `step` does one action; afterwards `wait` says
    until when there is nothing to do, and `done` that nothing is left.
    """

    def __init__(
        self,
        context: TurnContext,
        thread: Thread,
        casting: Selection,
        given: Sequence[Mapping[str, Any]],
        summary: Selection | None = None,
        *,
        only_summary: bool = False,
        schema: object = None,
    ) -> None:
        # Begun before the turn's own record, since it is played first.
        record = summary.begin() if summary else None
        self.id = context.turn_id(thread)
        self.thread = thread
        self.wait: Until | None = None
        self.done = False
        self.steerable = not only_summary
        self._context = context
        self._version = context.version
        self._started = context.now
        self._script = ScriptPosition(context, thread, casting, given, schema)
        self.nonce = self._script.nonce
        # A script can have both families from a version that has one (shapes.double-telling).
        both = self._version.messages.legacy_events or casting.notifications == "double"
        self._own_notifier = Notifier(
            context,
            thread,
            self.id,
            both_families=both,
            story=casting.notifications in {"story", "nested"},
            nested=casting.notifications == "nested",
        )
        self._results = Results(self._own_notifier.sender)
        self._shared = Shared(
            turn=self, context=context, thread=thread, notifier=self._own_notifier, results=self._results
        )
        self._calls = Calls(self._shared)
        self._approvals = Approvals(self._shared)
        self._pieces = AnswerPieces(self._shared, self._calls)
        self._summary = (casting, self._script.record) if only_summary else (summary, record)
        self._compaction: Compaction | None = None
        self._queued: list[_Input] = []
        self._client_id: str | None = None
        self._over = False
        self._cut = False
        # A real server answers turn/start at once and the model begins 20 to 150 ms later (all 27 recorded versions).
        # Without that a client that subscribes after the response would miss the end of the turn and wait without end.
        self._answers_at = context.now + context.pace
        # Begun with the first step: the input is in the history then, which templates and the default answer read.
        self._own_response: Response | None = None
        thread.turn = self

    # What differs while the conversation is summarised

    @property
    def _notifier(self) -> Notifier:
        return self._compaction.notifier if self._compaction else self._own_notifier

    @property
    def _response(self) -> Response:
        if self._compaction:
            return self._compaction.response
        self._own_response = self._own_response or self._next_response()
        return self._own_response

    # For the methods and the server

    def announce(self) -> None:
        """Send that the turn has begun."""
        self._own_notifier.turn_started(requested=self.steerable)

    def begin(self, client_id: str | None) -> None:
        """Send that the user's input was taken; if a summary comes first, then after it."""
        self._client_id = client_id
        casting, record = self._summary
        if casting is None or record is None:
            self._take_input()
        else:
            # A turn of thread/compact/start has no input to take.
            then = self._take_input if self.steerable else self._end_summary_turn
            self._compaction = Compaction(self._shared, self._script, casting, record, then)

    def take_output(self, name: str, output: str) -> None:
        """Take the output of a tool, `toolOutput` of turn/start, in the place of the user's input."""
        identity = f"fco_{self._context.uuid()}"
        self.thread.remember([{"type": "function_call_output", "id": identity, "name": name, "output": output}])
        self._notifier.item(item_messages.tool_output(identity, name, output))

    def steer(self, given: Sequence[Mapping[str, Any]], client_id: str | None, casting: Selection) -> None:
        """Take more input: the model gets it when its answer is over, in some versions at once, which cuts that off."""
        # A turn/start with `input: []` joins a running turn, and changes nothing.
        if not given:
            return
        self._queued.append((list(given), client_id, casting))
        # 0.169.0 cuts the request in flight; but while calls wait the input follows their results.
        if self._version.turns.when_busy == "steers" and not self._calls.awaited and self._compaction is None:
            self._notifier.answer.break_off()
            self._pieces.drop_call()  # else its next piece would come with the new answer
            self._notifier.counts.rate_limits()
            self._take_queued()
            self._context.wake(self.nonce)

    def answered(self, request: int, result: object, error: object) -> None:
        """Take the client's answer to a call or to a request for approval."""
        asked = self._approvals if self._approvals.sent(request) else self._calls
        asked.answered(request, result, error)
        if self._approvals.cancelled:
            # The client chose "cancel", which is an interrupt without a request.
            self.interrupt()
            self._leave()

    def unanswered(self) -> list[int]:
        """The ids of the requests that the client has not answered."""
        return [*self._calls.unanswered, *self._approvals.unanswered]

    @property
    def waits_for_approval(self) -> bool:
        """Whether it waits for the client's answer about a command, a patch or a question."""
        return self._approvals.awaited

    def interrupt(self) -> None:
        """End the turn because the client wants it; the requests that wait for that are answered."""
        self._abort("interrupted")

    def replace(self) -> None:
        """End the turn because another one takes its place."""
        self._abort("replaced")

    def _abort(self, reason: str) -> None:
        # An interrupted agentMessage gets no item/completed (0.89.0, 0.169.0).
        self._notifier.answer.break_off()
        self._calls.cancel()
        # Kept, because serverRequest/resolved comes last: on 0.169.0 after turn/completed.
        opened = self._approvals.cancel()
        self._results.release()
        self._count_interrupted()
        if self._version.turns.raw_interrupt_note and reason == "interrupted":
            note = raw_items.aborted(self._context.uuid())
            kinds = {"create_time": self._context.now, **raw_items.ABORTED_KINDS}
            self._notifier.sender.raw(note, kinds, kept=False)
        self._notifier.aborted(reason)
        # turn/interrupt is answered before turn/completed (0.89.0, 0.169.0).
        self.thread.answer_interrupts()
        self._release("interrupted")
        self._notifier.turn_completed("interrupted", self._started)
        self._approvals.resolve(opened)

    def drop(self) -> None:
        """Play nothing more, without a notification."""
        self._leave()
        self._end("interrupted", self.thread.updated)  # a turn that is dropped is no update of its thread

    # One action after the other

    def step(self) -> None:
        """Do the next action, or set `wait` if there is none before that moment."""
        self.wait = None
        if self._context.now < self._answers_at:
            self.wait = Until(self._answers_at)
            return
        # A call is finished before the next step of the script, but each piece is an action of its own: turns
        # alternate.
        if self._send_piece_of_call():
            return
        # The rest of the part waits: after the failure it is late events.
        if self._response.failure is not None:
            self._fail_after_calls(self._response.failure)
            return
        action = self._response.next(self._context.now)
        self._open(action)
        match action:
            case None:
                self._part_over()
            case Until() as until:
                self.wait = until
            case action:
                self._do(action)

    def _open(self, action: Action | Until | None) -> None:
        """Note that the model begins to answer, unless it fails before; some versions send the counts then."""
        # A crash and an opened gate are no words of the model, so nothing shows that it has begun.
        if self._response.opened or isinstance(action, steps.Crash | steps.Open) or self._is_unreached(action):
            return
        self._response.opened = True
        failed_before = isinstance(action, steps.Fail | steps.ErrorNotice) and not self._cause(action).began
        if (self._version.counts.early or self._compaction is not None) and not failed_before:
            self._notifier.counts.so_far()

    def _is_unreached(self, action: Action | Until | None) -> bool:
        """Whether the action says no more than that the model's service is not reached yet."""
        match action:
            case steps.Retry(attempts=attempts):
                return not attempts  # a script's retry of 0 attempts is one try to reach the service
            case steps.Fail():
                return self._cause(action).retried and self._version.failures.reconnects
        # The waits between two such tries are silence of the network, not of the model.
        return isinstance(action, Until) and self._response.unreached

    def _do(self, action: Action) -> None:
        match action:
            case Piece(text, choice, whole):
                self._write(text, choice, whole=whole)
            case steps.Reflect():
                self._write(json.dumps(self._script.reflection(action), ensure_ascii=False))
            case steps.Think():
                # Thoughts are an item of their own: the text after them is another agentMessage.
                self._notifier.answer.complete()
                self._notifier.thought(action)
            case steps.Call():
                self._pieces.begin_call(self._response, action)
            case steps.Command() | steps.Patch() | steps.Code() | steps.Question():
                self._run(action)
            case steps.Usage():
                self._response.usage = action
            case steps.Finish() | steps.Fail() | steps.ErrorNotice() | steps.Retry():
                self._do_end(action)
            case _:
                self._do_outside(action)

    def _do_end(self, action: steps.Finish | steps.Fail | steps.ErrorNotice | steps.Retry) -> None:
        answer = self._notifier.answer
        match action:
            case steps.Finish(reason, choice) if choice is not None:
                answer.end_choice(choice, self._response.reason(reason, choice))
            # The app-server knows no finish reasons: an answer cut off there fails the turn, though its text came
            # complete.
            case steps.Finish(reason) if reason == "stop" or answer.reports_reasons:
                self._finish(reason)
            case steps.Finish(reason):
                answer.complete()
                # From 0.169.0 on the tokens of an answer that ran out of them are counted; of a filtered one never.
                counted = reason == "length" and self._version.counts.incomplete_answers
                self._fail(Failure(self._version.failures.incomplete[reason], counted))
            # From 0.150.0 on it tries endlessly: only an interrupt ends such a turn (measured up to 195 s on 0.169.0).
            case steps.Fail() if self._is_unreached(action):
                self._response.play(reconnecting(NEWEST.failures.causes["connection"].message, RECONNECTS))
            case steps.Fail():
                self._fail(Failure(self._cause(action)))
            case steps.ErrorNotice():
                answer.break_off()  # an ErrorNotice is a failure without the end of the turn
                self._notifier.failed(self._cause(action), ended=False)
            case steps.Retry():
                self._retry(action)

    def _do_outside(self, action: steps.Open | steps.Crash | steps.Repeat | steps.Cut | steps.Raw | Elsewhere) -> None:
        """Do what is no part of an answer; scripts with steps of other players were rejected when they were chosen."""
        match action:
            case steps.Open(name):
                # By nonce, so that turns of other threads and clients do not open each other's gates.
                self.nonce.gates.add(name)
                self._context.wake(self.nonce)
            case steps.Crash(status):
                self._context.die(status)
            case steps.Repeat(last):
                self._notifier.sender.repeat(last)
            case steps.Cut(sizes):
                self._cut = True
                self._context.cut(sizes)
            case steps.Raw():
                self._context.write(action.line)

    def _cause(self, failure: steps.Fail | steps.ErrorNotice) -> Cause:
        casting = self._compaction.casting if self._compaction is not None else self._script.casting
        if casting.problem is not None:  # the marker or the file is wrong: the client's mistake
            return Cause(message=casting.problem, info="badRequest", began=False)
        return self._version.failures.causes[failure.cause]

    def _retry(self, retry: steps.Retry) -> None:
        """Send that the model is asked again; its answer begins once more."""
        self._response.unreached = self._is_unreached(retry)
        # Versions with early counts have sent them when the answer began.
        if self._response.opened and not self._version.counts.early:
            self._notifier.counts.rate_limits()
        self._notifier.retrying(turn_messages.retry(retry))
        # The answer restarts under a new item id, as it does in real servers.
        self._response.opened = False

    # Text and calls

    def _write(self, text: str, choice: int | None = None, *, whole: bool = False) -> None:
        self._pieces.write(self._response, self._notifier, text, choice, whole=whole)

    def _send_piece_of_call(self) -> bool:
        """Send the next piece of a call; False if there is none."""
        sent = self._pieces.call_piece(self._response, self._notifier)
        if isinstance(sent, steps.Call):
            self._request_call(sent)
        return bool(sent)

    def _request_call(self, call: steps.Call) -> None:
        """Ask the client to run the tool; a summary runs none, the call is one of its raw items."""
        if self._compaction is not None:
            # No tools are offered for a summary, so the client cannot be asked.
            self._notifier.sender.raw(self._calls.raw(call))
            return
        self._response.asked = True
        # Calls after `finish` come all the same: a proxy must survive late events.
        self._calls.ask(call, late=self._response.complete or self._over)

    def _run(self, action: steps.Command | steps.Patch | steps.Code | steps.Question) -> None:
        """Do what the model wants done here; a summary does nothing."""
        if self._compaction is not None:
            return
        self._response.asked = True
        match action:
            case steps.Code():
                self._calls.run(action)
            case steps.Question():
                self._approvals.question(action)
            case _:
                self._approvals.act(action)

    @property
    def _awaits_client(self) -> bool:
        return self._calls.awaited or self._approvals.awaited

    # How an answer ends

    def _finish(self, reason: str) -> None:
        """The answer is complete: with it the turn, unless there are calls or more input."""
        if self._compaction is not None:
            self._finish_summary(self._compaction, reason)
            return
        answer, response = self._notifier.answer, self._response
        answer.complete()
        # A second `finish` is scripted on purpose: the end of the turn comes twice.
        if self._over:
            self._send_completed()
            return
        answer.end(AnswerEnd(usage=response.usage, reason=response.reason(reason), called=self._calls.any))
        response.complete = True
        # From 0.131.0 on the counts of an answer with calls come when these are answered (`_part_over`).
        if not self._response.asked or self._version.counts.early:
            self._count()
        self._results.release()
        if self._response.asked:
            return
        if self._queued:
            self._take_queued()
            return
        if self._notifier.last_text:  # a turn without text leaves nothing to read
            self._notifier.unread()
        self._notifier.task_complete()
        # Before turn/completed, as in 0.169.0: the thread is idle when a client reads the end of its turn.
        self._release("completed")
        self._notifier.turn_completed("completed", self._started)

    def _send_completed(self) -> None:
        """Send the end of the turn once more: a late `finish`."""
        self._notifier.task_complete()
        self._notifier.turn_completed("completed", self._started)

    def _part_over(self) -> None:
        """Nothing of the part is left: the model is asked again once its calls are answered."""
        self._notifier.answer.complete()
        if self._over:
            self._leave()
        # Without a limit: 0.169.0 held a call open for 400 s, and went on when it was answered.
        elif self._awaits_client:
            self.wait = Until(math.inf)
        else:
            if self._version.counts.early:
                self._notifier.diff()
            else:
                self._count()
            self._ask_again()

    def _ask_again(self) -> None:
        # From 0.99.0 on, also between two answers: results of tools may be what fills the context.
        limit = self._version.compaction.limit
        if limit is not None and self.thread.context >= limit:
            casting = choose_summary(self._context, self.thread)
            record = casting.begin()
            self._compaction = Compaction(self._shared, self._script, casting, record, self._go_on_after_summary)
        elif self._queued:
            self._take_queued()
        else:
            self._script.advance()
            self._own_response = self._next_response()

    def _next_response(self) -> Response:
        self._results.hold()
        return self._script.response()

    def _take_input(self) -> None:
        if self._script.given:  # `input: []` is no item
            self._notifier.user_input(self._script.given, self._client_id)
        if self._queued:
            self._take_queued()

    def _take_queued(self) -> None:
        """Take the input that waited, and ask the model again."""
        for given, client_id, casting in self._queued:
            self._script.given += given
            # Before 0.98.0 queued input reached the model without an item for the client.
            self._notifier.user_input(given, client_id, as_item=self._version.turns.reports_queued_input)
            self._script.move(casting)
        self._queued.clear()
        self._own_response = self._next_response()

    # How a summary ends

    def _finish_summary(self, compaction: Compaction, reason: str) -> None:
        compaction.finish(reason)
        self._compaction = None
        compaction.then()

    def _end_summary_turn(self) -> None:
        """End a turn that was to summarise the conversation, nothing else."""
        self._notifier.task_complete()
        self._release("completed")
        self._notifier.turn_completed("completed", self._started)
        self._leave()

    def _go_on_after_summary(self) -> None:
        """Ask the model again, which knows the summary alone."""
        if self._queued:
            self._take_queued()
            return
        # The history is another one now: its marker, or the number of its turns, may lead to another part.
        self._script.choose_again()
        self._own_response = self._next_response()

    def _fail_summary(self, compaction: Compaction, failure: Failure) -> None:
        """The turn fails with its summary, unless that is asked for again."""
        if not compaction.fail(failure):  # it was asked for again, of less
            return
        self._compaction = None
        # Seen from 0.160.0 on; before, the input of such a turn never came as an item.
        if self._script.given and self._version.turns.reports_input_after_failure:
            self._notifier.user_input(self._script.given, self._client_id)
        self._send_failed(failure.cause)
        self._leave()

    # How an answer fails

    def _fail(self, failure: Failure) -> None:
        """The answer breaks off; the turn fails now or, from 0.121 on, when the calls before it are answered."""
        if self._compaction is not None:
            self._fail_summary(self._compaction, failure)
            return
        self._notifier.answer.break_off()
        if self._version.calls.fail_after_answers and not self._over and not self._response.complete:
            self._results.release()
            self._response.failure = failure
        else:
            # The model is not asked again in this turn, so no result can reach it.
            self._results.drop()
            self._end_failed(failure)

    def _fail_after_calls(self, failure: Failure) -> None:
        """Fail the turn as soon as the calls are answered; input that waits goes to the model instead."""
        if self._awaits_client:
            self.wait = Until(math.inf)
        # In 0.169.0 more input saves the turn; 0.124.0 to 0.160.0 do so as well, which is not played
        # (docs/fidelity.md).
        elif self._queued and self._version.turns.when_busy == "steers":
            self._count_failed(failure)
            self._take_queued()
        else:
            self._response.failure = None
            self._end_failed(failure)

    def _end_failed(self, failure: Failure) -> None:
        cause = failure.cause
        if cause.fills_context:
            self._notifier.counts.full_context(began=cause.began)
        elif not self._version.counts.early:
            self._count_failed(failure)
        self._send_failed(cause)

    def _send_failed(self, cause: Cause) -> None:
        self.thread.failed = True
        # Frees the thread, so that the status which `failed` sends is systemError and not active.
        self._end("failed", self._context.now)
        self._notifier.failed(cause)
        self._notifier.unread()
        self._notifier.task_complete(failed=True)
        self._notifier.turn_completed("failed", self._started, cause)

    # Counts

    def _count(self) -> None:
        self._notifier.answer.count(self._response.usage)
        self._notifier.diff()

    def _count_failed(self, failure: Failure) -> None:
        if failure.counted:
            self._notifier.answer.count(self._response.usage, failed=True)
        # A service that refused at once has sent no rate limits.
        elif failure.cause.began or self._pieces.any:
            self._notifier.counts.so_far()

    def _count_interrupted(self) -> None:
        if self._version.counts.early or self._compaction is not None:
            return  # the counts were sent when the answer began
        if self._response.complete:
            self._notifier.answer.count(self._response.usage)
        elif self._response.failure is not None:
            self._count_failed(self._response.failure)
        elif self._response.opened:
            self._notifier.counts.so_far()

    # The end

    def _release(self, state: State) -> None:
        self._end(state, self._context.now)
        self._notifier.status()

    def _end(self, state: State, updated: float) -> None:
        """Free the thread: the turn is over, whatever late events it still has."""
        self.thread.updated = updated
        if self._compaction is not None:
            self._compaction.end(state)
        if not self._over:
            self._over = True
            self._script.end(state)
            self.thread.turn = None
            self._context.wake(self.nonce)  # scripts may wait until no other turn under the nonce runs

    def _leave(self) -> None:
        """Nothing of the turn is left; the output is no longer cut."""
        self.done = True
        if self._cut:
            self._context.cut(())
