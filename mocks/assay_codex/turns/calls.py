"""The native calls of one turn: how the client is asked to run a tool, and what becomes of its answer."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay_codex.clock import milliseconds
from assay_codex.notifications import item_messages, raw_items
from assay_codex.turns.tools import CANCELLED, Outcome, outcome, parse_arguments
from assay_scripts.steps import Call, Code

if TYPE_CHECKING:
    from assay_codex.context import TurnContext
    from assay_codex.notifications.notifier import Telling
    from assay_codex.threads.thread import Running, Thread
    from assay_codex.turns.results import Output, Results

Json = dict[str, Any]


@dataclass(kw_only=True, slots=True)
class _Pending:
    """A call that the client has not answered, the model's or its program's; nobody waits for one that came late."""

    call: Call
    arguments: object
    started_ms: int
    late: bool
    code: Code | None


class Calling:
    """Asks the client of `turn`."""

    def __init__(self, turn: Running, context: TurnContext, thread: Thread, telling: Telling, results: Results) -> None:
        self._turn = turn
        self._context = context
        self._thread = thread
        self._telling = telling
        self._results = results
        self._pending: dict[int, _Pending] = {}

    @property
    def unanswered(self) -> list[int]:
        """The ids of the requests that the client has not answered."""
        return list(self._pending)

    @property
    def awaited(self) -> bool:
        """Whether the model waits for an answer."""
        return any(not pending.late for pending in self._pending.values())

    def raw(self, call: Call) -> Json:
        """The call as the model's own item."""
        return raw_items.call(f"fc_{self._context.ids.number()}", call.name, call.arguments, call.id)

    def ask(self, call: Call, now: float, *, late: bool) -> None:
        """Ask the client to run the tool; `late`: the model no longer waits for it."""
        self._telling.turn_to_call(now)
        self._telling.asked = True
        self._telling.raw(self.raw(call), now)
        self._results.expect(call.id)
        try:
            arguments = parse_arguments(call.arguments)
        except ValueError as error:
            self._results.came(call.id, str(error), now)
            return
        if not self._thread.declares(call.name):
            self._results.came(call.id, f"unsupported call: {call.name}", now)
            return
        self._request(call, arguments, now, late=late)

    def run(self, code: Code, now: float) -> None:
        """Run a program, which asks the client to run the tool that it calls."""
        self._telling.turn_to_call(now)
        self._telling.asked = True
        self._telling.raw(raw_items.program(f"ctc_{self._context.ids.number()}", code.source, code.id), now)
        self._results.expect(code.id, program=True)
        if not code.tool:
            self._results.came(code.id, _printed(0.0, code.output), now)
        elif self._thread.declares(code.tool):
            call = Call(id=f"exec-{self._context.ids.uuid(now)}", name=code.tool, arguments=code.arguments)
            self._request(call, json.loads(code.arguments), now, late=False, code=code)
        else:
            error = f"Script error:\nTypeError: tools.{code.tool} is not a function"
            self._results.came(code.id, _printed(0.0, error, how="failed"), now)

    def _request(self, call: Call, arguments: object, now: float, *, late: bool, code: Code | None = None) -> None:
        started = milliseconds(now)
        self._telling.item_started(item_messages.tool_call(call.id, call.name, arguments), started, now)
        asked = {"callId": call.id, "namespace": None, "tool": call.name, "arguments": arguments}
        request = self._context.request(self._turn, "item/tool/call", {**self._telling.place, **asked})
        self._pending[request] = _Pending(call=call, arguments=arguments, started_ms=started, late=late, code=code)

    def answered(self, request: int, result: object, error: object, now: float) -> None:
        """The client answered a call."""
        version = self._context.version
        came = outcome(result, error, answers=version.calls.answer_field, single_text=version.calls.single_text)
        self._over(self._pending.pop(request), came, now)

    def cancel(self, now: float) -> None:
        """The calls that are not answered need not be any more."""
        for pending in self._pending.values():
            aborted = f"aborted by user after {_seconds(pending, now):.1f}s"
            if self._context.version.calls.reports_cancelled:
                self._end(pending, CANCELLED, now)
                self._give_back(pending, aborted if pending.code else CANCELLED.output, now)
            else:
                self._give_back(pending, aborted, now)

    def _over(self, pending: _Pending, came: Outcome, now: float) -> None:
        self._end(pending, came, now)
        printed = _printed(_seconds(pending, now), came.output) if pending.code else came.output
        self._give_back(pending, printed, now)

    def _give_back(self, pending: _Pending, output: Output, now: float) -> None:
        self._results.came((pending.code or pending.call).id, output, now)

    def _end(self, pending: _Pending, came: Outcome, now: float) -> None:
        call = pending.call
        told = {
            "status": "completed" if came.success else "failed",
            "contentItems": came.content,
            "success": came.success,
            "durationMs": milliseconds(now) - pending.started_ms,
        }
        item = item_messages.tool_call(call.id, call.name, pending.arguments, told)
        self._telling.item_completed(item, pending.started_ms, now)


def _seconds(pending: _Pending, now: float) -> float:
    return (milliseconds(now) - pending.started_ms) / 1000


def _printed(seconds: float, output: Output, how: str = "completed") -> Output:
    """What the model is told of a program."""
    lead = {"type": "input_text", "text": f"Script {how}\nWall time {seconds:.1f} seconds\nOutput:\n"}
    return [lead, *([{"type": "input_text", "text": output}] if isinstance(output, str) else output)]
