"""One turn: it plays its part of a script and sends what the app-server sends of a turn.

A turn is a sequence of the model's answers. An answer is text, thoughts and calls, then its end. If it called tools,
the turn waits for their results and the model is asked again: the next part of the script is played. Otherwise the turn
is over. What a part still holds after its end is sent all the same: late events.

    answer begins → text, thoughts, calls → answer ends ─┬→ calls answered → the next answer begins
                                                         ├→ input was queued → the next answer begins
                                                         ├→ turn/completed: completed
                  → answer fails ────────────────────────┴→ turn/completed: failed

An interrupt ends the turn at any point. The parts are the place in the script (`ScriptPosition`), what is done for its
`Actions`, the `TurnCourse` of the answers with a `Compaction` while there is one, the calls that the client runs
(`CallRunner`), the backend's `OwnTools`, their `Results`, and the `Notifier` that sends everything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wireproof_codex.notifications import item_messages, raw_items
from wireproof_codex.notifications.notifier import Notifier
from wireproof_codex.notifications.sender import NotificationSender
from wireproof_codex.turns.actions import Actions
from wireproof_codex.turns.calls import CallRunner
from wireproof_codex.turns.course import TurnCourse
from wireproof_codex.turns.own_tools import OwnTools
from wireproof_codex.turns.results import Results, Shared
from wireproof_codex.turns.script_position import ScriptPosition
from wireproof_scripts.player import Until

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wireproof_codex.context import ServerContext
    from wireproof_codex.threads.thread import Thread
    from wireproof_scripts.selection import Selection


class PlayedTurn:
    """A turn of `thread` that answers the input `given` with `casting`.

    `summary`: what the model answers when it first has to summarise the conversation; None: it need not.
    `schema`: the JSON schema that the client wants the answer to match; None: it wants none.
    `only_summary`: `casting` is a summary, and the turn nothing else. `step` does one action; afterwards `wait` says
    until when there is nothing to do, and `done` that nothing is left.
    """

    def __init__(
        self,
        context: ServerContext,
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
        self._script = ScriptPosition(context, thread, casting, given, schema)
        self.nonce = self._script.nonce
        # A script can have both families from a version that has one (shapes.double-telling).
        both = self._version.messages.legacy_events or casting.notifications == "double"
        sender = NotificationSender(
            context, thread, self.id, both_families=both, nested=casting.notifications == "nested"
        )
        self._notifier = notifier = Notifier(sender, story=casting.notifications in {"story", "nested"})
        self._results = Results(sender)
        shared = Shared(turn=self, context=context, thread=thread, notifier=notifier, results=self._results)
        self._calls = CallRunner(shared)
        self._own_tools = OwnTools(shared)
        self._course = TurnCourse(shared, self._script, self._calls, self._own_tools)
        self._actions = Actions(shared, self._script, self._course, self._calls, self._own_tools)
        self._summary = (casting, self._script.record) if only_summary else (summary, record)
        # A real server answers turn/start at once and the model begins 20 to 150 ms later (all 27 recorded versions).
        # Without that a client that subscribes after the response would miss the end of the turn and wait without end.
        self._answers_at = context.now + context.pace
        thread.turn = self

    # For the methods and the server

    def announce(self) -> None:
        """Send that the turn has begun."""
        self._notifier.turn_started(requested=self.steerable)

    def begin(self, client_id: str | None) -> None:
        """Send that the user's input was taken; if a summary comes first, then after it."""
        self._course.begin(client_id, self._summary, has_input=self.steerable)

    def take_output(self, name: str, output: str) -> None:
        """Take the output of a tool, `toolOutput` of turn/start, in the place of the user's input."""
        identity = f"fco_{self._context.uuid()}"
        self.thread.remember([{"type": "function_call_output", "id": identity, "name": name, "output": output}])
        self._course.notifier.item(item_messages.tool_output(identity, name, output))

    def steer(self, given: Sequence[Mapping[str, Any]], client_id: str | None, casting: Selection) -> None:
        """Take more input: the model gets it when its answer is over, in some versions at once, which cuts that off."""
        # A turn/start with `input: []` joins a running turn, and changes nothing.
        if not given:
            return
        self._course.queued.append((list(given), client_id, casting))
        # 0.169.0 cuts the request in flight; but while calls or approvals wait the input follows their results.
        waits = self._calls.awaited or self._own_tools.awaited
        if self._version.turns.when_busy == "steers" and not waits and self._course.compaction is None:
            self._course.notifier.answer.break_off()
            self._actions.drop_call()  # else its next piece would come with the new answer
            self._course.notifier.counts.rate_limits()
            self._course.take_queued()
            self._context.turns.wake_all(self.nonce)

    def answered(self, request: int, result: object, error: object) -> None:
        """Take the client's answer to a call or to a request for approval."""
        asked = self._own_tools if self._own_tools.sent(request) else self._calls
        asked.answered(request, result, error)
        if self._own_tools.cancelled:
            # The client chose "cancel", which is an interrupt without a request.
            self.interrupt()
            self._course.leave()

    def unanswered(self) -> list[int]:
        """The ids of the requests that the client has not answered."""
        return [*self._calls.unanswered, *self._own_tools.unanswered]

    @property
    def waits_for_approval(self) -> bool:
        """Whether it waits for the client's answer about a command, a patch or a question."""
        return self._own_tools.awaited

    def interrupt(self, reason: str = "interrupted") -> None:
        """End the turn because the client wants it, or because another one takes its place: `replaced`.

        The requests that wait for that are answered.
        """
        # An interrupted agentMessage gets no item/completed (0.89.0, 0.169.0).
        self._course.notifier.answer.break_off()
        self._calls.cancel()
        # Kept, because serverRequest/resolved comes last: on 0.169.0 after turn/completed.
        opened = self._own_tools.cancel()
        self._results.release()
        self._course.count_interrupted()
        if self._version.turns.raw_interrupt_note and reason == "interrupted":
            note = raw_items.aborted(self._context.uuid())
            kinds = {"create_time": self._context.now, **raw_items.ABORTED_KINDS}
            self._course.notifier.sender.raw(note, kinds, kept=False)
        self._course.notifier.aborted(reason)
        # turn/interrupt is answered before turn/completed (0.89.0, 0.169.0).
        self.thread.answer_interrupts()
        self._course.release("interrupted")
        self._course.notifier.turn_completed("interrupted", self._course.started)
        self._own_tools.resolve(opened)

    def drop(self) -> None:
        """Play nothing more, without a notification."""
        self._course.leave()
        self._course.end("interrupted", self.thread.updated)  # a turn that is dropped is no update of its thread

    # One action after the other

    def step(self) -> None:
        """Do the next action, or set `wait` if there is none before that moment."""
        course = self._course
        self.wait = None
        if self._context.now < self._answers_at:
            self.wait = Until(self._answers_at)
            return
        # A call is finished before the next step of the script, but each piece is an action of its own: turns
        # alternate.
        if self._actions.send_piece_of_call():
            return
        # The rest of the part waits: after the failure it is late events.
        if course.response.failure is not None:
            course.fail_after_calls(course.response.failure)
            return
        action = course.response.next(self._context.now)
        self._actions.open(action)
        match action:
            case None:
                course.part_over()
            case Until() as until:
                self.wait = until
            case action:
                self._actions.do(action)
