"""What a turn does for each action of its script, while an answer of the model is played.

How an answer ends, and what follows it, is `course`'s affair.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from wireproof_codex.notifications import messages
from wireproof_codex.notifications.story import send_delta, send_message
from wireproof_codex.turns.response import BrokenOff
from wireproof_codex.versions.failures import RECONNECTS, FailureCause
from wireproof_codex.versions.version import NEWEST
from wireproof_scripts import steps
from wireproof_scripts.calls import call_shapes
from wireproof_scripts.calls.blocks import is_structured_call
from wireproof_scripts.player import Action, Until, reconnecting
from wireproof_scripts.steps import TextDelta

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wireproof_codex.turns.calls import CallRunner
    from wireproof_codex.turns.course import TurnCourse
    from wireproof_codex.turns.own_tools import OwnTools
    from wireproof_codex.turns.results import Shared
    from wireproof_codex.turns.script_position import ScriptPosition
    from wireproof_scripts.steps import Elsewhere


class Actions:
    """Does the actions of one turn, each in the answer that its course says."""

    def __init__(
        self, shared: Shared, script: ScriptPosition, course: TurnCourse, calls: CallRunner, own_tools: OwnTools
    ) -> None:
        self._context = shared.context
        self._version = shared.context.version
        self._thread = shared.thread
        self._script = script
        self._course = course
        self._calls = calls
        self._own_tools = own_tools
        self._phase: str | None = None
        # One at a time: the turn does nothing else while its call has pieces left.
        self._call: tuple[steps.Call, Iterator[call_shapes.CallOutput]] | None = None

    def open(self, action: Action | Until | None) -> None:
        """Note that the model begins to answer, unless it fails before; some versions send the counts then."""
        # A crash and an opened gate are no words of the model, so nothing shows that it has begun.
        if self._course.response.opened or isinstance(action, steps.Crash | steps.Open) or self._is_unreached(action):
            return
        self._course.response.opened = True
        failed_before = isinstance(action, steps.Fail | steps.ErrorNotice) and not self._cause(action).began
        if (self._version.counts.early or self._course.compaction is not None) and not failed_before:
            self._course.notifier.counts.so_far()

    def _is_unreached(self, action: Action | Until | None) -> bool:
        """Whether the action says no more than that the model's service is not reached yet."""
        match action:
            case steps.Retry(attempts=attempts):
                return not attempts  # a script's retry of 0 attempts is one try to reach the service
            case steps.Fail():
                return self._cause(action).retried and self._version.failures.reconnects
        # The waits between two such tries are silence of the network, not of the model.
        return isinstance(action, Until) and self._course.response.unreached

    def do(self, action: Action) -> None:
        """Do an action of the script."""
        match action:
            case TextDelta():
                self._write(action)
            case steps.Reflect():
                self._write(TextDelta(json.dumps(self._script.reflection(action), ensure_ascii=False)))
            case steps.Think():
                # Thoughts are an item of their own: the text after them is another agentMessage.
                self._course.notifier.answer.complete()
                self._course.notifier.thought(action)
            case steps.WebSearch():
                self._course.notifier.answer.complete()
                self._course.notifier.searched(action)
            case steps.Call():
                self._begin_call(action)
            case steps.Command() | steps.Patch() | steps.Code() | steps.Plan() | steps.McpCall() | steps.Question():
                self._run(action)
            case steps.Usage():
                self._course.response.usage = action
            case steps.Finish() | steps.Fail() | steps.ErrorNotice() | steps.Retry():
                self._do_end(action)
            case _:
                self._do_outside(action)

    def _do_end(self, action: steps.Finish | steps.Fail | steps.ErrorNotice | steps.Retry) -> None:
        answer = self._course.notifier.answer
        match action:
            case steps.Finish(reason, choice) if choice is not None:
                answer.end_choice(choice, self._course.response.reason(reason, choice))
            # The app-server knows no finish reasons: an answer cut off there fails the turn, though its text came
            # complete.
            case steps.Finish(reason) if reason == "stop" or answer.reports_reasons:
                self._course.finish(reason)
            case steps.Finish(reason):
                answer.complete()
                # From 0.169.0 on the tokens of an answer that ran out of them are counted; of a filtered one never.
                counted = reason == "length" and self._version.counts.incomplete_answers
                self._course.fail(BrokenOff(self._version.failures.incomplete[reason], counted))
            # From 0.150.0 on it tries endlessly: only an interrupt ends such a turn (measured up to 195 s on 0.169.0).
            case steps.Fail() if self._is_unreached(action):
                self._course.response.play(reconnecting(NEWEST.failures.causes["connection"].message, RECONNECTS))
            case steps.Fail():
                self._course.fail(BrokenOff(self._cause(action)))
            case steps.ErrorNotice():
                answer.break_off()  # an ErrorNotice is a failure without the end of the turn
                self._course.notifier.failed(self._cause(action), ended=False)
            case steps.Retry():
                self._retry(action)

    def _do_outside(self, action: steps.Open | steps.Crash | steps.Repeat | steps.Cut | steps.Raw | Elsewhere) -> None:
        """Do what is no part of an answer; scripts with steps of other players were rejected when they were chosen."""
        match action:
            case steps.Open(name):
                # By nonce, so that turns of other threads and clients do not open each other's gates.
                self._script.nonce.gates.add(name)
                self._context.turns.wake_all(self._script.nonce)
            case steps.Crash(status):
                self._context.die(status)
            case steps.Repeat(last):
                self._course.notifier.sender.repeat(last)
            case steps.Cut(sizes):
                self._course.cut(sizes)
            case steps.Raw():
                self._context.write(action.line)

    def _cause(self, failure: steps.Fail | steps.ErrorNotice) -> FailureCause:
        casting = self._course.compaction.casting if self._course.compaction is not None else self._script.casting
        if casting.problem is not None:  # the marker or the file is wrong: the client's mistake
            return FailureCause(message=casting.problem, info="badRequest", began=False)
        return self._version.failures.causes[failure.cause]

    def _retry(self, retry: steps.Retry) -> None:
        """Send that the model is asked again; its answer begins once more."""
        self._course.response.unreached = self._is_unreached(retry)
        # Versions with early counts have sent them when the answer began.
        if self._course.response.opened and not self._version.counts.early:
            self._course.notifier.counts.rate_limits()
        self._course.notifier.retrying(messages.retry(retry))
        # The answer restarts under a new item id, as it does in real servers.
        self._course.response.opened = False

    # Text, and calls in whatever shapes they have, piece by piece

    def _write(self, piece: TextDelta) -> None:
        """Send a piece of text; where another phase is named than the open message has, in a new one."""
        response, answer = self._course.response, self._course.notifier.answer
        if piece.phase and piece.phase != self._phase:
            answer.complete()
        self._phase = piece.phase
        self._course.said = True
        # An empty piece leaves the line where it was.
        response.last_character = piece.text[-1:] or response.last_character
        # The text before a call is commentary; versions before 0.105.0 have no phases (`versions.names`).
        phase = piece.phase or ("commentary" if response.calls_to_come else None)
        answer.write(replace(piece, phase=phase))

    def _begin_call(self, call: steps.Call) -> None:
        """Begin a call, of which `send_piece_of_call` sends one piece at a time."""
        response, choice = self._course.response, call.choice or 0
        # The shapes of the story count calls within their choice: it is the `index` of a fragment in `tool_calls`.
        self._call = call, call_shapes.in_shapes(call, response.calls[choice])
        response.calls[choice] += 1
        if is_structured_call(call):
            response.calls_to_come -= 1
            # A native call goes into the history when the client is asked to run it (`CallRunner.ask`); the other
            # shapes have only this place.
            if "native" not in call.shapes:
                self._thread.remember([self._calls.raw(call)])

    def drop_call(self) -> None:
        """Send no more of the call that was begun."""
        self._call = None

    def send_piece_of_call(self) -> bool:
        """Send the next piece of the call; False if there is none."""
        call, pieces = self._call or (None, iter(()))
        piece, notifier = next(pieces, None), self._course.notifier
        if call is None or piece is None:
            self._call = None
            return False
        self._course.said = True
        match piece:
            case call_shapes.ShapeText(text, own_line):
                # A block counts only at the start of a line (responses.sentinel.own-line).
                breaks = own_line and self._course.response.last_character != "\n"
                self._write(TextDelta(f"\n{text}" if breaks else text, call.choice))
            case call_shapes.ShapeFragment(delta):
                notifier.answer.before_call()
                send_delta(notifier.sender, delta, call.choice)
            case call_shapes.Whole(message):
                notifier.answer.before_call()
                send_message(notifier.sender, message, call.choice)
            case call_shapes.Native():
                self._request_call(call)
        return True

    def _request_call(self, call: steps.Call) -> None:
        """Ask the client to run the tool; a summary runs none, the call is one of its raw items."""
        if self._course.compaction is not None:
            # No tools are offered for a summary, so the client cannot be asked.
            self._course.notifier.sender.raw(self._calls.raw(call))
            return
        self._course.response.asked = True
        # Calls after `finish` come all the same: a proxy must survive late events.
        self._calls.ask(call, late=self._course.response.complete or self._course.over)

    def _run(
        self, action: steps.Command | steps.Patch | steps.Code | steps.Plan | steps.McpCall | steps.Question
    ) -> None:
        """Do what the model wants done here; a summary does nothing."""
        if self._course.compaction is not None:
            return
        self._course.response.asked = True
        match action:
            case steps.Code():
                self._calls.run(action)
            case steps.Plan():
                self._own_tools.plan(action)
            case steps.McpCall():
                self._own_tools.serve(action)
            case steps.Question():
                self._own_tools.question(action)
            case _:
                self._own_tools.act(action)
