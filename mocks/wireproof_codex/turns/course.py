"""The course of a turn: its answers, what follows each of them, and the end.

An answer that ends leads to the next one, when calls were answered or input was queued, or to the end of the turn. A
summary of the conversation may come before or between the answers; while it does, what is played and sent is the
summary's.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from wireproof_codex.turns.compaction import Compaction, choose_summary
from wireproof_scripts.player import Until

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wireproof_codex.notifications.notifier import Notifier
    from wireproof_codex.turns.calls import CallRunner
    from wireproof_codex.turns.own_tools import OwnTools
    from wireproof_codex.turns.response import BrokenOff, Response
    from wireproof_codex.turns.results import Shared
    from wireproof_codex.turns.script_position import ScriptPosition
    from wireproof_codex.versions.failures import FailureCause
    from wireproof_scripts.nonces import State, TurnRecord
    from wireproof_scripts.selection import Selection

Input = tuple[list["Mapping[str, Any]"], str | None, "Selection"]
"""What the user says, the client's id for it, and what the model is to answer."""


class TurnCourse:
    """Where one turn is, and what comes next in it."""

    def __init__(self, shared: Shared, script: ScriptPosition, calls: CallRunner, own_tools: OwnTools) -> None:
        self.started = shared.context.now
        self.over = False
        """The turn has ended, whatever late events it still has."""
        self.compaction: Compaction | None = None
        """The summary under way."""
        self.queued: list[Input] = []
        """Input that the model gets when its answer is over."""
        self.said = False
        """Anything of an answer was sent."""
        self.thread = shared.thread
        self._turn = shared.turn
        self._shared = shared
        self._context = shared.context
        self._version = shared.context.version
        self._results = shared.results
        self._script = script
        self._calls = calls
        self._own_tools = own_tools
        self._client_id: str | None = None
        self._cut = False
        # Begun with the first step: the input is in the history then, which templates and the default answer read.
        self._own_response: Response | None = None

    # What differs while the conversation is summarised

    @property
    def notifier(self) -> Notifier:
        """What sends everything now."""
        return self.compaction.notifier if self.compaction else self._shared.notifier

    @property
    def response(self) -> Response:
        """The answer that is played now."""
        if self.compaction:
            return self.compaction.response
        self._own_response = self._own_response or self._next_response()
        return self._own_response

    # The input

    def begin(
        self, client_id: str | None, summary: tuple[Selection | None, TurnRecord | None], *, has_input: bool
    ) -> None:
        """Take the user's input; if a summary comes first, then after it."""
        self._client_id = client_id
        casting, record = summary
        if casting is None or record is None:
            self._take_input()
        else:
            # A turn of thread/compact/start has no input to take.
            then = self._take_input if has_input else self._end_summary_turn
            self.compaction = Compaction(self._shared, self._script, casting, record, then)

    def _take_input(self) -> None:
        if self._script.given:  # `input: []` is no item
            self.notifier.user_input(self._script.given, self._client_id)
        if self.queued:
            self.take_queued()

    def take_queued(self) -> None:
        """Take the input that waited, and ask the model again."""
        for given, client_id, casting in self.queued:
            self._script.given += given
            # Before 0.98.0 queued input reached the model without an item for the client.
            self.notifier.user_input(given, client_id, as_item=self._version.turns.reports_queued_input)
            self._script.move(casting)
        self.queued.clear()
        self._own_response = self._next_response()

    # How an answer ends

    def finish(self, reason: str) -> None:
        """The answer is complete: with it the turn, unless there are calls or more input."""
        if self.compaction is not None:
            self._finish_summary(self.compaction, reason)
            return
        answer, response = self.notifier.answer, self.response
        answer.complete()
        # A second `finish` is scripted on purpose: the end of the turn comes twice.
        if self.over:
            self._complete()
            return
        answer.end(response.usage, response.reason(reason), called=self._calls.any)
        response.complete = True
        # From 0.131.0 on the counts of an answer with calls come when these are answered (`part_over`).
        if not self.response.asked:
            self._count()
        elif self._version.counts.early:
            answer.count(self.response.usage)
        self._results.release()
        if self.response.asked:
            return
        if self.queued:
            self.take_queued()
            return
        if self.notifier.last_text:  # a turn without text leaves nothing to read
            self.notifier.unread()
        self._complete()

    def _complete(self) -> None:
        """Send the end of the turn, with the status that it leaves if it is the first end."""
        self.notifier.task_complete()
        # Before turn/completed, as in 0.169.0: the thread is idle when a client reads the end of its turn.
        if not self.over:
            self.release("completed")
        self.notifier.turn_completed("completed", self.started)

    def part_over(self) -> None:
        """Nothing of the part is left: the model is asked again once its calls are answered."""
        self.notifier.answer.complete()
        if self.over:
            self.leave()
        # Without a limit: 0.169.0 held a call open for 400 s, and went on when it was answered.
        elif self._awaits_client:
            self._turn.wait = Until(math.inf)
        else:
            if self._version.counts.early:
                self.notifier.diff()
            else:
                self._count()
            self._ask_again()

    @property
    def _awaits_client(self) -> bool:
        return self._calls.awaited or self._own_tools.awaited

    def _ask_again(self) -> None:
        # From 0.99.0 on, also between two answers: results of tools may be what fills the context.
        limit = self._version.compaction.limit
        if limit is not None and self.thread.context >= limit:
            casting = choose_summary(self._context, self.thread)
            record = casting.begin()
            self.compaction = Compaction(self._shared, self._script, casting, record, self._go_on_after_summary)
        elif self.queued:
            self.take_queued()
        else:
            self._script.advance()
            self._own_response = self._next_response()

    def _next_response(self) -> Response:
        self._results.hold()
        return self._script.response()

    # How a summary ends

    def _finish_summary(self, compaction: Compaction, reason: str) -> None:
        compaction.finish(reason)
        self.compaction = None
        compaction.then()

    def _end_summary_turn(self) -> None:
        """End a turn that was to summarise the conversation, nothing else."""
        self._complete()
        self.leave()

    def _go_on_after_summary(self) -> None:
        """Ask the model again, which knows the summary alone."""
        if self.queued:
            self.take_queued()
            return
        # The history is another one now: its marker, or the number of its turns, may lead to another part.
        self._script.choose_again()
        self._own_response = self._next_response()

    def _fail_summary(self, compaction: Compaction, failure: BrokenOff) -> None:
        """The turn fails with its summary, unless that is asked for again."""
        if not compaction.fail(failure):  # it was asked for again, of less
            return
        self.compaction = None
        # Seen from 0.160.0 on; before, the input of such a turn never came as an item.
        if self._script.given and self._version.turns.reports_input_after_failure:
            self.notifier.user_input(self._script.given, self._client_id)
        self._send_failed(failure.cause)
        self.leave()

    # How an answer fails

    def fail(self, failure: BrokenOff) -> None:
        """The answer breaks off; the turn fails now or, from 0.121 on, when the calls before it are answered."""
        if self.compaction is not None:
            self._fail_summary(self.compaction, failure)
            return
        self.notifier.answer.break_off()
        if self._version.calls.fail_after_answers and not self.over and not self.response.complete:
            self._results.release()
            self.response.failure = failure
        else:
            # The model is not asked again in this turn, so no result can reach it.
            self._results.drop()
            self._end_failed(failure)

    def fail_after_calls(self, failure: BrokenOff) -> None:
        """Fail the turn as soon as the calls are answered; input that waits goes to the model instead."""
        if self._awaits_client:
            self._turn.wait = Until(math.inf)
        # In 0.169.0 more input saves the turn; 0.124.0 to 0.160.0 do so as well, which is not played
        # (docs/fidelity.md).
        elif self.queued and self._version.turns.when_busy == "steers":
            self._count_failed(failure)
            self.take_queued()
        else:
            self.response.failure = None
            self._end_failed(failure)

    def _end_failed(self, failure: BrokenOff) -> None:
        cause = failure.cause
        if cause.fills_context:
            self.notifier.counts.full_context(began=cause.began)
        elif not self._version.counts.early:
            self._count_failed(failure)
        self._send_failed(cause)

    def _send_failed(self, cause: FailureCause) -> None:
        self.thread.failed = True
        # Frees the thread, so that the status which `failed` sends is systemError and not active.
        self.end("failed", self._context.now)
        self.notifier.failed(cause)
        self.notifier.unread()
        self.notifier.task_complete(failed=True)
        self.notifier.turn_completed("failed", self.started, cause)

    # Counts

    def _count(self) -> None:
        self.notifier.answer.count(self.response.usage)
        self.notifier.diff()

    def _count_failed(self, failure: BrokenOff) -> None:
        if failure.counted:
            self.notifier.answer.count(self.response.usage, failed=True)
        # A service that refused at once has sent no rate limits.
        elif failure.cause.began or self.said:
            self.notifier.counts.so_far()

    def count_interrupted(self) -> None:
        """Send the counts of the answer that is interrupted."""
        if self._version.counts.early or self.compaction is not None:
            return  # the counts were sent when the answer began
        if self.response.complete:
            self.notifier.answer.count(self.response.usage)
        elif self.response.failure is not None:
            self._count_failed(self.response.failure)
        elif self.response.opened:
            self.notifier.counts.so_far()

    # The end

    def release(self, state: State) -> None:
        """End the turn, and send the status of its thread, which is free then."""
        self.end(state, self._context.now)
        self.notifier.status()

    def end(self, state: State, updated: float) -> None:
        """Free the thread: the turn is over, whatever late events it still has."""
        self.thread.updated = updated
        if self.compaction is not None:
            self.compaction.end(state)
        if not self.over:
            self.over = True
            self._script.end(state)
            self.thread.turn = None
            # Scripts may wait until no other turn under the nonce runs.
            self._context.turns.wake_all(self._script.nonce)

    def cut(self, sizes: tuple[int, ...]) -> None:
        """Send the output in pieces of these sizes, until the turn is done."""
        self._cut = True
        self._context.cut(sizes)

    def leave(self) -> None:
        """Nothing of the turn is left; the output is no longer cut."""
        self._turn.done = True
        if self._cut:
            self._context.cut(())
