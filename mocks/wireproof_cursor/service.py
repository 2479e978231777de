"""The service without its sockets: the runs by request id."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from wireproof_cursor.runs.appends import OutOfOrderError
from wireproof_cursor.runs.context import Context
from wireproof_cursor.runs.run import Run
from wireproof_cursor.wire.errors import ServiceProblem

if TYPE_CHECKING:
    from collections.abc import Callable

    from wireproof_cursor.runs.context import Note, RunConditions
    from wireproof_cursor_protos import agent_pb2 as pb
    from wireproof_scripts.files.errors import ScriptError
    from wireproof_scripts.steps import Library

KEPT_RUNS = 4096
"""How many request ids of runs that are over are remembered, so that a late append does not begin a run."""
MOST_UNATTACHED = 256
"""How many runs may have appends and no stream."""


class AgentService:
    """Plays the scripts of a library. One thread at a time may use it and its sessions."""

    def __init__(
        self,
        library: Library | Callable[[], Library | ScriptError],
        *,
        conditions: RunConditions,
        journal: Note | None,
    ) -> None:
        self._context = Context(library=library, conditions=conditions, note=journal, wake=self._wake)
        self._runs: OrderedDict[str, Run] = OrderedDict()
        self._over: OrderedDict[str, None] = OrderedDict()

    # Runs

    @property
    def runs(self) -> list[Run]:
        """The runs that are not over."""
        return list(self._runs.values())

    def attach(self, request_id: str, rpc: str) -> Run | ServiceProblem:
        """The run whose stream begins now, or why there is none."""
        run = self._run(request_id)
        if run is None:
            return ServiceProblem(code="failed_precondition", message=f"the run {request_id} is over")
        if run.attached:
            run.link.fault(f"{rpc} is called a second time with the request id {request_id}")
            return ServiceProblem(code="already_exists", message=f"the run {request_id} has a stream already")
        run.attached, run.link.rpc = True, rpc
        return run

    def append(self, request_id: str, number: int, message: pb.AgentClientMessage) -> ServiceProblem | None:
        """Take an append; how it is refused, None if it is not."""
        run = self._run(request_id)
        if run is None:
            return None  # acknowledged and ignored: a client may answer what the end of a run has overtaken
        if run.appends.used(number):
            run.link.fault(f"append_seqno {number} comes a second time")
        try:
            for taken, ready in run.appends.take(number, message):
                run.receive(ready, taken)
        except OutOfOrderError as error:
            run.link.fault(str(error))
            return ServiceProblem(code="invalid_argument", message=str(error))
        return run.refusing

    def leave(self, run: Run) -> None:
        """Forget a run that is over."""
        self._runs.pop(run.request_id, None)
        self._over[run.request_id] = None
        if len(self._over) > KEPT_RUNS:
            self._over.popitem(last=False)

    def run(self, request_id: str) -> Run | None:
        """The run under a request id; None if there is none."""
        return self._runs.get(request_id)

    def request_id(self) -> str:
        """An id for a run whose client gave none."""
        return f"run-{next(self._context.numbers):04}"

    def _run(self, request_id: str) -> Run | None:
        if request_id in self._over:
            return None
        run = self._runs.get(request_id)
        if run is None:
            run = self._runs[request_id] = Run(self._context, request_id, "RunSSE")
            self._drop_unattached()
        return run

    def _drop_unattached(self) -> None:
        waiting = [run for run in self._runs.values() if not run.attached]
        for run in waiting[:-MOST_UNATTACHED]:
            self.leave(run)

    def _wake(self) -> None:
        for run in self.runs:
            run.link.ring()
