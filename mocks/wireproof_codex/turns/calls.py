"""The calls of a turn that the client runs: how it is asked to run a tool, and what becomes of its answer."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wireproof_codex.notifications import item_messages, raw_items
from wireproof_codex.turns.tools import CANCELLED, CallOutcome, outcome, parse_arguments
from wireproof_scripts.json_text import parse_json
from wireproof_scripts.steps import Call, Code

if TYPE_CHECKING:
    from wireproof_codex.protocol.json_object import Json
    from wireproof_codex.turns.results import Output, Shared


@dataclass(kw_only=True, slots=True)
class _Pending:
    """A call that the client has not answered."""

    call: Call
    arguments: object
    started_ms: int
    late: bool
    """Whether it came after the end of the model's answer, which then does not wait for it."""
    code: Code | None
    """The program that calls the tool, None if the model itself does."""
    namespace: str | None
    """The namespace of the tool, None if it has none."""


class CallRunner:
    """Asks the client to run tools."""

    def __init__(self, shared: Shared) -> None:
        self.any = False
        """Whether the turn had a call that the client could run."""
        self._turn = shared.turn
        self._context = shared.context
        self._thread = shared.thread
        self._notifier = shared.notifier
        self._results = shared.results
        self._pending: dict[int, _Pending] = {}
        self._waiting: deque[_Pending] = deque()
        """Calls of which the client is not asked yet, where it is asked one by one."""

    @property
    def unanswered(self) -> list[int]:
        """The ids of the requests that the client has not answered."""
        return list(self._pending)

    @property
    def awaited(self) -> bool:
        """Whether the model waits for an answer."""
        # A call after the end of the answer is a late event: the turn is over and has nothing to wait for.
        return any(not pending.late for pending in (*self._pending.values(), *self._waiting))

    def raw(self, call: Call) -> Json:
        """The call as the model's own item."""
        identity, tool = f"fc_{self._context.ids.number()}", self._thread.function(call.name) or {}
        return raw_items.call(identity, call.name, call.arguments, call.id, tool.get("namespace"))

    def ask(self, call: Call, *, late: bool) -> None:
        """Ask the client to run the tool; `late`: the model does not wait for the result."""
        self._notifier.answer.before_call()
        self.any = True
        # Before the arguments are read: the raw item carries the model's own spelling, whatever it is worth.
        self._notifier.sender.raw(self.raw(call))
        self._results.expect(call.id)
        try:
            arguments = parse_arguments(call.arguments)
        except ValueError as error:
            # No item and no request: only the model learns that it has called wrongly (0.89.0, 0.169.0).
            self._results.add(call.id, str(error))
            return
        # The real server checks the name alone; arguments against the schema of the tool are the client's affair.
        if self._thread.function(call.name) is None:
            self._results.add(call.id, f"unsupported call: {call.name}")
            return
        self._request(call, arguments, late=late)

    def run(self, code: Code) -> None:
        """Run a program; the client is asked to run the tool that it calls."""
        self._notifier.answer.before_call()
        self.any = True
        self._notifier.sender.raw(raw_items.program(f"ctc_{self._context.ids.number()}", code.source, code.id))
        self._results.expect(code.id, program=True)
        if not code.tool:
            self._results.add(code.id, _printed(0.0, code.output))
        elif self._thread.function(code.tool) is not None:
            # A known model in "code mode" (gpt-6.1-sol on 0.169.0): the program's calls have ids of their own.
            call = Call(id=f"exec-{self._context.uuid()}", name=code.tool, arguments=code.arguments)
            self._request(call, parse_json(code.arguments), late=False, code=code)
        else:
            error = f"Script error:\nTypeError: tools.{code.tool} is not a function"
            self._results.add(code.id, _printed(0.0, error, how="failed"))

    def _request(self, call: Call, arguments: object, *, late: bool, code: Code | None = None) -> None:
        namespace = (self._thread.function(call.name) or {}).get("namespace")
        pending = _Pending(
            call=call,
            arguments=arguments,
            started_ms=self._context.now_ms,
            late=late,
            code=code,
            namespace=namespace,
        )
        if self._pending and self._context.version.calls.one_by_one:
            self._waiting.append(pending)
        else:
            # As soon as the call is complete, not at the end of the answer.
            self._send(pending)

    def _send(self, pending: _Pending) -> None:
        call, namespace = pending.call, pending.namespace
        pending.started_ms = self._context.now_ms
        item = item_messages.tool_call(call.id, call.name, pending.arguments, namespace=namespace)
        self._notifier.sender.item_started(item, pending.started_ms)
        params = {"callId": call.id, "namespace": namespace, "tool": call.name, "arguments": pending.arguments}
        request = self._context.request(self._turn, "item/tool/call", {**self._notifier.sender.place, **params})
        self._pending[request] = pending

    def answered(self, request: int, result: object, error: object) -> None:
        """Take the client's answer."""
        version = self._context.version
        # `output` before 0.98.0, `contentItems` since; one text is a list for the model from 0.98.0 to 0.113.0.
        came = outcome(result, error, answers=version.calls.answer_field, single_text=version.calls.single_text)
        pending = self._pending.pop(request)
        self._end(pending, came)
        self._give_back(pending, _printed(self._seconds(pending), came.output) if pending.code else came.output)
        if self._waiting and not self._pending:
            self._send(self._waiting.popleft())

    def cancel(self) -> None:
        """End the calls that are not answered, because the turn is interrupted.

        From 0.113 to 0.162 they end for the model alone, with the seconds that they took.
        """
        for pending in self._pending.values():
            aborted = f"aborted by user after {self._seconds(pending):.1f}s"
            if self._context.version.calls.reports_cancelled:
                self._end(pending, CANCELLED)
                self._give_back(pending, aborted if pending.code else CANCELLED.output)
            else:
                self._give_back(pending, aborted)
        for pending in self._waiting:  # of these the client knows nothing
            self._give_back(pending, f"aborted by user after {self._seconds(pending):.1f}s")
        self._waiting.clear()

    def _give_back(self, pending: _Pending, output: Output) -> None:
        self._results.add((pending.code or pending.call).id, output)

    def _end(self, pending: _Pending, came: CallOutcome) -> None:
        call = pending.call
        ended = {
            "status": "completed" if came.success else "failed",
            "contentItems": came.content,
            "success": came.success,
            "durationMs": self._context.now_ms - pending.started_ms,
        }
        item = item_messages.tool_call(call.id, call.name, pending.arguments, ended, namespace=pending.namespace)
        self._notifier.sender.item_completed(item, pending.started_ms)

    def _seconds(self, pending: _Pending) -> float:
        return (self._context.now_ms - pending.started_ms) / 1000


def _printed(seconds: float, output: Output, how: str = "completed") -> Output:
    """The output of a program as the model gets it."""
    # As measured on 0.169.0 with gpt-6.1-sol (recording dyn_code_mode).
    lead = {"type": "input_text", "text": f"Script {how}\nWall time {seconds:.1f} seconds\nOutput:\n"}
    return [lead, *([{"type": "input_text", "text": output}] if isinstance(output, str) else output)]
