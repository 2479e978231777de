"""The backend's own tools in one turn: commands that it runs and files that it adds, as far as the client approves."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from assay_codex.clock import milliseconds
from assay_codex.notifications import approval_messages, legacy_approvals, raw_items
from assay_scripts.blocks import cut
from assay_scripts.steps import Command, Patch, Question

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from assay_codex.context import TurnContext
    from assay_codex.notifications.notifier import Telling
    from assay_codex.threads.thread import Running, Thread
    from assay_codex.turns.results import Results
    from assay_codex.versions.traits import ApprovalStep

Json = dict[str, Any]
Decision = Literal["accept", "declined", "cancel", "failed", "hang"]

_DECISIONS: Mapping[str, Decision] = {
    "accept": "accept",
    "acceptForSession": "accept",
    "decline": "declined",
    "cancel": "cancel",
}
_V1_DECISIONS: Mapping[str, Decision] = {
    "approved": "accept",
    "approved_for_session": "accept",
    "denied": "declined",
    "abort": "cancel",
}
_AMENDMENTS = frozenset({"acceptWithExecpolicyAmendment", "approved_execpolicy_amendment"})
_APPROVAL, _INPUT = "waitingOnApproval", "waitingOnUserInput"
_PLAN = "plan"
_NOWHERE = "No usable execution environment is available."
_REJECTED: Mapping[type[Command | Patch], str] = {
    Command: "exec command rejected by user",
    Patch: "patch rejected by user",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class _Pending:
    """What the client was asked to approve of; `begun`: its item was told."""

    step: Command | Patch | Question
    started_ms: int
    begun: bool


class Acting:
    """Acts for `turn`; `cancelled`: the client wants the turn to end."""

    def __init__(self, turn: Running, context: TurnContext, thread: Thread, telling: Telling, results: Results) -> None:
        self.cancelled = False
        self._turn = turn
        self._context = context
        self._thread = thread
        self._telling = telling
        self._results = results
        self._pending: dict[int, _Pending] = {}
        self._late: set[int] = set()
        self._hung = False

    @property
    def unanswered(self) -> list[int]:
        """The ids of the requests that the client has not answered."""
        return list(self._pending)

    @property
    def awaited(self) -> bool:
        """Whether the model waits for an answer; for one that is an error some versions wait for ever."""
        return self._hung or bool(self._pending)

    def question(self, step: Question, now: float) -> None:
        """Ask the user."""
        self._telling.turn_to_call(now)
        params = approval_messages.question(step, self._telling.place)
        arguments = json.dumps({"questions": params["questions"]})
        raw = raw_items.call(f"fc_{self._context.ids.number()}", "request_user_input", arguments, step.id)
        self._telling.raw(raw, now)
        self._results.expect(step.id)
        mode = self._thread.settings.mode or self._context.version.messages.default_mode
        if step.asks == "never" or (step.asks == "policy" and mode != _PLAN):
            self._results.came(step.id, f"request_user_input is unavailable in {mode.capitalize()} mode", now)
            return
        self._thread.waiting.append(_INPUT)
        self._telling.status(now)
        self._telling.older(legacy_approvals.question(params), now)
        identity = self._context.request(self._turn, "item/tool/requestUserInput", params)
        self._pending[identity] = _Pending(step=step, started_ms=milliseconds(now), begun=False)

    def act(self, step: Command | Patch, now: float) -> None:
        """Run the command or add the file, or ask the client whether to."""
        self._telling.turn_to_call(now)
        arguments = step.command if isinstance(step, Command) else f"apply_patch {step.path}"
        number = self._context.ids.number()
        raw = raw_items.call(f"fc_{number}", "exec_command", json.dumps({"cmd": arguments}), step.id)
        self._telling.raw(raw, now)
        self._results.expect(step.id)
        if not self._thread.environments:
            self._results.came(step.id, _NOWHERE, now)
            return
        asked = self._thread.settings.approval_policy != "never" if step.asks == "policy" else step.asks == "always"
        started = milliseconds(now)
        if asked:
            self._ask(step, started, now)
        else:
            self._start(step, started, now, running=True)
            self._done(step, started, now)

    def _ask(self, step: Command | Patch, started: int, now: float) -> None:
        """Ask the client, and tell what the version tells before."""
        self._thread.waiting.append(_APPROVAL)
        item, place = self._item(step, {}), self._telling.place
        if isinstance(step, Command):
            params = approval_messages.command_request(step, item, place, started, self._context.version)
            method, older = (
                "item/commandExecution/requestApproval",
                legacy_approvals.command_approval(item, place, params),
            )
            order = self._context.version.commands.approval_order
        else:
            params = approval_messages.patch_request(step, place, started)
            method, older = "item/fileChange/requestApproval", legacy_approvals.patch_approval(item, place)
            order = ("start", "older", "status")
        told: Mapping[ApprovalStep, Callable[[], object]] = {
            "start": lambda: self._start(step, started, now),
            "older": lambda: self._telling.older(older, now),
            "status": lambda: self._telling.status(now),
        }
        for what in order:
            told[what]()
        if self._thread.conversation:
            reason = step.reason if isinstance(step, Command) else ""
            method, params = legacy_approvals.v1_request(item, self._thread.id, reason)
        identity = self._context.request(self._turn, method, params)
        self._pending[identity] = _Pending(step=step, started_ms=started, begun="start" in order)

    def _start(self, step: Command | Patch, started: int, now: float, *, running: bool = False) -> None:
        item = self._item(step, self._process() if running else {})
        self._telling.item_started(item, started, now)

    def _item(self, step: Command | Patch, told: Mapping[str, Any]) -> Json:
        if isinstance(step, Command):
            return approval_messages.command_item(step, self._thread.cwd, self._context.version, told)
        return approval_messages.patch_item(step, self._thread.cwd, told.get("status", "inProgress"))

    def _process(self) -> Json:
        if not self._context.version.commands.unified_exec:
            return {}
        return {"processId": str(self._context.ids.number()), "source": "unifiedExecStartup"}

    # Answers

    def answered(self, request: int, result: object, error: object, now: float) -> None:
        """The client approved or not; an answer that comes too late changes nothing."""
        if request in self._late:
            self._late.remove(request)
            return
        pending = self._pending.pop(request)
        self._thread.waiting.remove(_INPUT if isinstance(pending.step, Question) else _APPROVAL)
        if isinstance(pending.step, Question):
            self._resolved(request, now)
            self._telling.status(now)
            told = json.dumps(result, separators=(",", ":"), ensure_ascii=False)
            self._results.came(pending.step.id, told, now)
            return
        self._resolved(request, now)
        decision = self._decision(result, error)
        match decision:
            case "hang":
                self._hung = True
            case "accept":
                self._telling.status(now)
                if not pending.begun:
                    self._start(pending.step, pending.started_ms, now, running=True)
                self._try_in_sandbox(pending.step, now)
                self._done(pending.step, pending.started_ms, now)
            case _:
                self._refused(pending.step, pending.started_ms, decision, now)
                self.cancelled = decision == "cancel"

    def _resolved(self, request: int, now: float) -> None:
        if self._thread.conversation:
            return
        told: Json = {"threadId": self._thread.id, "requestId": request}
        self._telling.notify("serverRequest/resolved", told, now)

    def _decision(self, result: object, error: object) -> Decision:
        version = self._context.version
        if error is not None:
            return "hang" if version.commands.hangs_on_error else "failed"
        told = result.get("decision") if isinstance(result, dict) else None
        if isinstance(told, dict) and _AMENDMENTS & told.keys():
            return "accept"
        decisions = _V1_DECISIONS if self._thread.conversation else _DECISIONS
        return decisions.get(str(told), version.commands.on_wrong_answer)

    def _refused(self, step: Command | Patch, started: int, decision: Decision, now: float) -> None:
        """Nothing is done; older versions tell that twice."""
        words = _REJECTED[type(step)]
        if isinstance(step, Patch):
            self._telling.status(now)
        status = "failed" if decision == "failed" else "declined"
        if not self._thread.conversation:
            self._telling.item_completed(self._item(step, {"status": status}), started, now)
        if self._context.version.commands.ends_declined_twice:
            told = {"status": "failed", "aggregatedOutput": words, "exitCode": -1, "durationMs": 0}
            self._telling.item_completed(self._item(step, told), started, now)
        if isinstance(step, Command):
            self._telling.status(now)
        self._results.came(step.id, words, now)

    def _done(self, step: Command | Patch, started: int, now: float) -> None:
        """It is done."""
        if isinstance(step, Command):
            output, older = step.output, {"stream": "stderr" if step.stderr else "stdout"}
            for piece in cut(output, step.pieces) if output else ():
                self._print(step, piece, older, now)
            ended = {"status": "completed" if step.status == 0 else "failed", "exitCode": step.status}
            told = {**ended, "aggregatedOutput": output, "durationMs": milliseconds(now) - started}
            self._telling.item_completed(self._item(step, {**self._process(), **told}), started, now, older=older)
        else:
            output = f"Success. Updated the following files:\nA {step.path}\n"
            self._print(step, output, {}, now)
            self._telling.item_completed(self._item(step, {"status": "completed"}), started, now)
            self._telling.changed(approval_messages.diff(step, self._thread.cwd, self._context.version), now)
        self._results.came(step.id, output, now)

    def _try_in_sandbox(self, step: Command | Patch, now: float) -> None:
        """Older versions try what the client approved of in the sandbox first, where no file can be written."""
        if isinstance(step, Patch) and self._thread.settings.sandbox["type"] == "readOnly":
            self._print(step, f"Failed to write file {step.path}\n", {"stream": "stderr"}, now)

    def _print(self, step: Command | Patch, text: str, older: Json, now: float) -> None:
        """A piece of output, in versions that tell it before the end."""
        if not self._context.version.commands.unified_exec:
            kind = "commandExecution" if isinstance(step, Command) else "fileChange"
            told = {**self._telling.place, "itemId": step.id, "delta": text}
            self._telling.notify(f"item/{kind}/outputDelta", told, now, older=older)

    def cancel(self) -> list[int]:
        """The turn ends: nothing is waited for; the requests that were open."""
        opened = self.unanswered
        self._thread.waiting.clear()
        if self._context.version.turns.numbered_ids:
            self._late |= self._pending.keys()
            self._pending.clear()
        return opened

    def asked(self, request: int) -> bool:
        """Whether it has sent the request."""
        return request in self._pending or request in self._late

    def resolve(self, requests: list[int], now: float) -> None:
        """Tell that these requests need no answer any more."""
        for request in requests:
            self._resolved(request, now)
