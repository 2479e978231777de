"""The native calls of one turn: how the client is asked to run a tool, and what becomes of its answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay_mocks.codex import item_messages, messages, raw_items
from assay_mocks.codex.tools import CANCELLED, Outcome, outcome, parse_arguments

if TYPE_CHECKING:
    from assay_mocks.codex.desk import Desk
    from assay_mocks.codex.results import Results
    from assay_mocks.codex.telling import Telling
    from assay_mocks.codex.threads import Running, Thread
    from assay_mocks.script import Call

Json = dict[str, Any]


@dataclass(kw_only=True, slots=True)
class _Pending:
    """A call that the client has not answered; nobody waits for one that came late."""

    call: Call
    arguments: object
    started_ms: int
    late: bool


class Calling:
    """Asks the client of `turn`."""

    def __init__(self, turn: Running, desk: Desk, thread: Thread, telling: Telling, results: Results) -> None:
        self._turn = turn
        self._desk = desk
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
        return raw_items.call(f"fc_{self._desk.ids.number()}", call.name, call.arguments, call.id)

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
        started = messages.ms(now)
        self._telling.item_started(item_messages.tool_call(call.id, call.name, arguments), started, now)
        asked = {"callId": call.id, "namespace": None, "tool": call.name, "arguments": arguments}
        request = self._desk.ask(self._turn, "item/tool/call", {**self._telling.place, **asked})
        self._pending[request] = _Pending(call=call, arguments=arguments, started_ms=started, late=late)

    def answered(self, request: int, result: object, error: object, now: float) -> None:
        """The client answered a call."""
        version = self._desk.version
        came = outcome(result, error, answers=version.tool_answers, single_text=version.single_text)
        self._over(self._pending.pop(request), came, now)

    def cancel(self, now: float) -> None:
        """The calls that are not answered need not be any more."""
        for pending in self._pending.values():
            if self._desk.version.tells_cancelled:
                self._over(pending, CANCELLED, now)
            else:
                seconds = (messages.ms(now) - pending.started_ms) / 1000
                self._results.came(pending.call.id, f"aborted by user after {seconds:.1f}s", now)

    def _over(self, pending: _Pending, came: Outcome, now: float) -> None:
        call = pending.call
        told = {
            "status": "completed" if came.success else "failed",
            "contentItems": came.content,
            "success": came.success,
            "durationMs": messages.ms(now) - pending.started_ms,
        }
        item = item_messages.tool_call(call.id, call.name, pending.arguments, told)
        self._telling.item_completed(item, pending.started_ms, now)
        self._results.came(call.id, came.output, now)
