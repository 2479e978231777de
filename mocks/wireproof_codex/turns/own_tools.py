"""The backend's own tools in one turn: commands, files that it adds, questions to the user, plans, MCP servers' tools.

Before a command or a file the client is asked for its approval, where the step or the approval policy of the thread
wants that.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from wireproof_codex.legacy import approval_events
from wireproof_codex.notifications import approval_messages, item_messages, raw_items
from wireproof_scripts.calls.blocks import cut
from wireproof_scripts.json_text import parse_json
from wireproof_scripts.steps import Command, Patch, Question

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from wireproof_codex.protocol.json_object import Json
    from wireproof_codex.turns.results import Output, Shared
    from wireproof_codex.versions.traits import ApprovalStep
    from wireproof_scripts.steps import McpCall, Plan

Decision = Literal["accept", "declined", "cancel", "failed", "hang"]

_DECISIONS: Mapping[str, Decision] = {
    "accept": "accept",
    "acceptForSession": "accept",
    "decline": "declined",
    "cancel": "cancel",
}
# v1 threads are asked in v1 words (execCommandApproval), and answer in them.
_V1_DECISIONS: Mapping[str, Decision] = {
    "approved": "accept",
    "approved_for_session": "accept",
    "denied": "declined",
    "abort": "cancel",
}
# These decisions come as an object around the amended policy, not as a word.
_AMENDMENTS = frozenset({"acceptWithExecpolicyAmendment", "approved_execpolicy_amendment"})
_APPROVAL, _INPUT = "waitingOnApproval", "waitingOnUserInput"
# The real server lets its model ask only in this mode, which turn/start sets for all later turns.
_PLAN = "plan"
# With `environments: []` the tools stay in the model's list, but a call of one gets this.
_NOWHERE = "No usable execution environment is available."
_READ_ONLY = "patch rejected: writing is blocked by read-only sandbox; rejected by user approval settings"
_REJECTED: Mapping[type[Command | Patch], str] = {
    Command: "exec command rejected by user",
    Patch: "patch rejected by user",
}
_STATES = {"completed": "completed", "in_progress": "inProgress", "pending": "pending"}
"""The states of a plan's steps, as the model spells them, and as the notification does."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Pending:
    """A request that the client has not answered."""

    step: Command | Patch | Question
    started_ms: int
    item_started: bool
    """Whether item/started_ms was sent before the request."""


class OwnTools:
    """Runs the backend's own tools, with the client's approval where that is needed."""

    def __init__(self, shared: Shared) -> None:
        self.cancelled = False
        """Whether the client's answer was that the turn is to end."""
        self._turn = shared.turn
        self._context = shared.context
        self._thread = shared.thread
        self._notifier = shared.notifier
        self._results = shared.results
        self._pending: dict[int, _Pending] = {}
        # Requests of an interrupted turn; only where turns are numbered, see `cancel`.
        self._late: set[int] = set()
        # An error for an answer leaves 0.89.0 to 0.93.0 waiting without end, up to an interrupt.
        self._hung = False

    @property
    def unanswered(self) -> list[int]:
        """The ids of the requests that the client has not answered."""
        return list(self._pending)

    @property
    def awaited(self) -> bool:
        """Whether the model waits for an answer: up to 0.93 it waits without end if the answer was an error."""
        return self._hung or bool(self._pending)

    def _called(self, identity: str, name: str, arguments: str, namespace: str | None = None) -> None:
        """Send the model's call raw, and keep a place for its result."""
        self._notifier.answer.before_call()
        number = self._context.ids.number()
        self._notifier.sender.raw(raw_items.call(f"fc_{number}", name, arguments, identity, namespace))
        self._results.expect(identity)

    def question(self, step: Question) -> None:
        """Ask the user."""
        params = approval_messages.question(step, self._notifier.sender.place)
        self._called(step.id, "request_user_input", json.dumps({"questions": params["questions"]}))
        # The model is refused in the name of the mode, which 0.89.0 to 0.94.0 call "custom", later ones "default".
        mode = self._thread.settings.mode or self._context.version.messages.default_mode
        if step.asks == "never" or (step.asks == "policy" and mode != _PLAN):
            self._results.add(step.id, f"request_user_input is unavailable in {mode.capitalize()} mode")
            return
        self._thread.active_flags.append(_INPUT)
        self._notifier.status()
        self._notifier.sender.legacy(approval_events.question(params))
        identity = self._context.request(self._turn, "item/tool/requestUserInput", params)
        self._pending[identity] = _Pending(step=step, started_ms=self._context.now_ms, item_started=False)

    def act(self, step: Command | Patch) -> None:
        """Run the command or add the file, or ask the client whether to."""
        # The recorded model has no apply_patch tool in 0.169.0: a patch is a command that is intercepted.
        command = step.command if isinstance(step, Command) else f"apply_patch {step.path}"
        self._called(step.id, "exec_command", json.dumps({"cmd": command}))
        # Before any question of approval: the client is not asked for what cannot run.
        if not self._thread.environments:
            self._results.add(step.id, _NOWHERE)
            return
        asked = self._thread.settings.approval_policy != "never" if step.asks == "policy" else step.asks == "always"
        # Nobody is asked, so nothing is written: the model alone learns why.
        if not asked and step.asks == "policy" and isinstance(step, Patch) and self._reads_only:
            self._results.add(step.id, _READ_ONLY)
            return
        started_ms = self._context.now_ms
        if asked:
            self._request(step, started_ms)
        else:
            self._start(step, started_ms, running=True)
            self._done(step, started_ms)

    @property
    def _reads_only(self) -> bool:
        return self._thread.settings.sandbox.get("type") == "readOnly"

    def _request(self, step: Command | Patch, started_ms: int) -> None:
        """Ask the client, after what the version sends before the request."""
        self._thread.active_flags.append(_APPROVAL)
        # Nothing is known of the process before the client agrees, so the item has no processId.
        item, place = self._item(step, {}), self._notifier.sender.place
        if isinstance(step, Command):
            params = approval_messages.command_request(step, item, place, started_ms, self._context.version)
            method = "item/commandExecution/requestApproval"
            older = approval_events.command_approval(item, place, params)
            order = self._context.version.commands.approval_order
        else:
            params = approval_messages.patch_request(step, place, started_ms)
            method, older = "item/fileChange/requestApproval", approval_events.patch_approval(item, place)
            order = ("start", "older", "status")  # as recorded of 0.89.0 and 0.169.0
        before: Mapping[ApprovalStep, Callable[[], object]] = {
            "start": lambda: self._start(step, started_ms),
            "older": lambda: self._notifier.sender.legacy(older),
            "status": self._notifier.status,
        }
        # Before 0.99.0 and from 0.125.0 on item/started comes before the request, in between after the acceptance.
        for part in order:
            before[part]()
        # Threads that a v1 method began are asked in the form of v1, whichever method began the turn.
        if self._thread.conversation:
            reason = step.reason if isinstance(step, Command) else ""
            method, params = approval_events.v1_request(item, self._thread.id, reason)
        identity = self._context.request(self._turn, method, params)
        self._pending[identity] = _Pending(step=step, started_ms=started_ms, item_started="start" in order)

    def _start(self, step: Command | Patch, started_ms: int, *, running: bool = False) -> None:
        item = self._item(step, self._process() if running else {})
        self._notifier.sender.item_started(item, started_ms)

    def _item(self, step: Command | Patch, known: Mapping[str, Any]) -> Json:
        if isinstance(step, Command):
            return approval_messages.command_item(step, self._thread.folder, self._context.version, known)
        return approval_messages.patch_item(step, self._thread.folder, known.get("status", "inProgress"))

    def _process(self) -> Json:
        # Before 0.99.0 a command was no process of its own, so there is no id to send.
        if not self._context.version.commands.unified_exec:
            return {}
        return {"processId": str(self._context.ids.number()), "source": "unifiedExecStartup"}

    def plan(self, step: Plan) -> None:
        """Make or change the plan; versions without plans refuse the call."""
        planned = [{"step": text, "status": _state(at, step.done)} for at, text in enumerate(step.steps)]
        explanation = step.explanation or None
        arguments: Json = {**({"explanation": explanation} if explanation else {}), "plan": planned}
        self._called(step.id, "update_plan", json.dumps(arguments, ensure_ascii=False))
        if not self._context.version.tools.plans:
            self._results.add(step.id, "unsupported call: update_plan")
            return
        sent = [{**one, "status": _STATES[one["status"]]} for one in planned]
        self._notifier.sender.notify(
            "turn/plan/updated", {**self._notifier.sender.place, "explanation": explanation, "plan": sent}
        )
        self._results.add(step.id, "Plan updated")

    def serve(self, step: McpCall) -> None:
        """Call the tool of an MCP server, which brings its text at once."""
        traits = self._context.version.tools
        space = traits.mcp_namespace.format(server=step.server)
        name = step.tool if space else f"mcp__{step.server}__{step.tool}"
        self._called(step.id, name, step.arguments, space)
        started_ms, arguments = self._context.now_ms, parse_json(step.arguments)
        self._notifier.sender.item_started(item_messages.mcp_call(step, arguments), started_ms)
        content = {"type": "text", "text": step.output}
        if traits.mcp_output == "sorted":
            content = dict(sorted(content.items()))
        took = self._context.now_ms - started_ms
        self._notifier.sender.item_completed(item_messages.mcp_call(step, arguments, [content], took), started_ms)
        self._results.add(step.id, self._output(content, took / 1000))

    def _output(self, content: dict[str, Any], seconds: float) -> Output:
        """What the model gets of the result."""
        head, listed = (
            f"Wall time: {seconds:.4f} seconds\nOutput:",
            json.dumps([content], ensure_ascii=False, separators=(",", ":")),
        )
        match self._context.version.tools.mcp_output:
            case "sorted" | "json":
                return listed
            case "timed":
                return f"{head}\n{listed}"
        return [{"type": "input_text", "text": head}, {"type": "input_text", "text": content["text"]}]

    # Answers

    def answered(self, request: int, result: object, error: object) -> None:
        """Take the client's answer; one that comes too late changes nothing."""
        # It was counted as an operation (`Server`), which is all that it does.
        if request in self._late:
            self._late.remove(request)
            return
        pending = self._pending.pop(request)
        self._thread.active_flags.remove(_INPUT if isinstance(pending.step, Question) else _APPROVAL)
        if isinstance(pending.step, Question):
            self._resolved(request)
            self._notifier.status()
            output = json.dumps(result, separators=(",", ":"), ensure_ascii=False)
            self._results.add(pending.step.id, output)
            return
        # From 0.107.0 on (`fields`); it precedes whatever the answer leads to.
        self._resolved(request)
        decision = self._decision(result, error)
        match decision:
            case "hang":
                self._hung = True
            case "accept":
                self._notifier.status()
                # From 0.99.0 to before 0.125.0 the request comes without item/started: the item starts only now.
                if not pending.item_started:
                    self._start(pending.step, pending.started_ms, running=True)
                self._try_in_sandbox(pending.step)
                self._done(pending.step, pending.started_ms)
            case _:
                self._refused(pending.step, pending.started_ms, decision)
                self.cancelled = decision == "cancel"

    def _resolved(self, request: int) -> None:
        if self._thread.conversation:
            return
        params = {"threadId": self._thread.id, "requestId": request}
        self._notifier.sender.notify("serverRequest/resolved", params)

    def _decision(self, result: object, error: object) -> Decision:
        version = self._context.version
        if error is not None:
            # A proxy should send a decline, never an error: that stalls the turn up to 0.93.0.
            return "hang" if version.commands.hangs_on_error else "failed"
        # A result of any shape must be survived: the client is not under the mock's control.
        named = result.get("decision") if isinstance(result, dict) else None
        if isinstance(named, dict) and _AMENDMENTS & named.keys():
            return "accept"
        decisions = _V1_DECISIONS if self._thread.conversation else _DECISIONS
        return decisions.get(str(named), version.commands.on_wrong_answer)

    def _refused(self, step: Command | Patch, started_ms: int, decision: Decision) -> None:
        """Send that nothing is done; up to 0.98 the item is completed twice, as declined and as failed."""
        output = _REJECTED[type(step)]
        if isinstance(step, Patch):
            self._notifier.status()
        status = "failed" if decision == "failed" else "declined"
        if not self._thread.conversation:
            self._notifier.sender.item_completed(self._item(step, {"status": status}), started_ms)
        # One id ends twice up to 0.98.0: a client must not count the ends.
        if self._context.version.commands.ends_declined_twice:
            failed = {"status": "failed", "aggregatedOutput": output, "exitCode": -1, "durationMs": 0}
            self._notifier.sender.item_completed(self._item(step, failed), started_ms)
        if isinstance(step, Command):
            self._notifier.status()
        self._results.add(step.id, output)

    def _done(self, step: Command | Patch, started_ms: int) -> None:
        """Send the output and the end of what is done."""
        if isinstance(step, Command):
            output, legacy_extra = step.output, {"stream": "stderr" if step.stderr else "stdout"}
            for piece in cut(output, step.pieces) if output else ():
                self._print(step, piece, legacy_extra)
            ended = {"status": "completed" if step.status == 0 else "failed", "exitCode": step.status}
            known = {
                **self._process(),
                **ended,
                "aggregatedOutput": output,
                "durationMs": self._context.now_ms - started_ms,
            }
            self._notifier.sender.item_completed(self._item(step, known), started_ms, legacy_extra=legacy_extra)
        else:
            output = f"Success. Updated the following files:\nA {step.path}\n"
            self._print(step, output, {})
            self._notifier.sender.item_completed(self._item(step, {"status": "completed"}), started_ms)
            self._notifier.diff_changed(approval_messages.diff(step, self._thread.folder, self._context.version))
        self._results.add(step.id, output)

    def _try_in_sandbox(self, step: Command | Patch) -> None:
        """Older versions try an approved patch in the sandbox first, where a read-only one writes no file."""
        # Seen of 0.89.0: the attempt fails there, and the write that was approved of follows.
        if isinstance(step, Patch) and self._thread.settings.sandbox["type"] == "readOnly":
            self._print(step, f"Failed to write file {step.path}\n", {"stream": "stderr"})

    def _print(self, step: Command | Patch, text: str, legacy_extra: Json) -> None:
        """Send a piece of output, in versions that do so before the end (up to 0.98)."""
        if not self._context.version.commands.unified_exec:
            kind = "commandExecution" if isinstance(step, Command) else "fileChange"
            delta = {**self._notifier.sender.place, "itemId": step.id, "delta": text}
            self._notifier.sender.notify(f"item/{kind}/outputDelta", delta, legacy_extra=legacy_extra)

    def cancel(self) -> list[int]:
        """Stop waiting for answers, because the turn ends; the ids of the open requests."""
        opened = self.unanswered
        self._thread.active_flags.clear()  # else the next turn would seem to wait
        # These versions count a late answer as an operation of the thread, so the server must still find the turn.
        if self._context.version.turns.numbered_ids:
            self._late |= self._pending.keys()
            self._pending.clear()
        return opened

    def sent(self, request: int) -> bool:
        """Whether it has sent the request."""
        return request in self._pending or request in self._late

    def resolve(self, requests: list[int]) -> None:
        """Send that these requests need no answer any more."""
        for request in requests:
            self._resolved(request)


def _state(at: int, done: int) -> str:
    return "completed" if at < done else "in_progress" if at == done else "pending"
