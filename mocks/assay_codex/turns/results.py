"""The results of a turn's calls, as the model gets them: in the order of its calls, once its answer is over."""

from __future__ import annotations

import itertools
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay_codex.notifications import raw_items

if TYPE_CHECKING:
    from assay_codex.context import TurnContext
    from assay_codex.notifications.notifier import Telling

Output = str | list[dict[str, Any]]


@dataclass(kw_only=True, slots=True)
class _Result:
    """The result of the call of this id, or of the program; None before there is one."""

    call_id: str
    program: bool
    output: Output | None = None


class Results:
    """Puts results into the thread's history and tells them raw."""

    def __init__(self, context: TurnContext, telling: Telling) -> None:
        self._context = context
        self._telling = telling
        self._expected: deque[_Result] = deque()
        self._held = True

    def expect(self, call_id: str, *, program: bool = False) -> None:
        """The model calls, or has a program run; the result is to come."""
        self._expected.append(_Result(call_id=call_id, program=program))

    def came(self, call_id: str, output: Output, now: float) -> None:
        """There is a result; nobody wants one that was dropped."""
        waiting = (result for result in self._expected if result.call_id == call_id and result.output is None)
        for result in itertools.islice(waiting, 1):
            result.output = output
        self._tell(now)

    def hold(self) -> None:
        """The model answers anew: what comes is held back."""
        self._held = True

    def release(self, now: float) -> None:
        """The model's answer is over: the results are told as they come."""
        self._held = False
        self._tell(now)

    def drop(self) -> None:
        """The turn fails at once; the model never gets them."""
        self._expected.clear()

    def _tell(self, now: float) -> None:
        while not self._held and self._expected and (output := self._expected[0].output) is not None:
            result, identity = self._expected.popleft(), self._context.ids.uuid(now)
            if result.program:
                raw = raw_items.printed(f"ctco_{identity}", result.call_id, output)
            else:
                raw = raw_items.output_of(f"fco_{identity}", result.call_id, output)
            self._telling.raw(raw, now, {"create_time": now})
