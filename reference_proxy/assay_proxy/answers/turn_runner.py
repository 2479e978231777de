"""From a plan through a turn of the backend to a response: what every endpoint shares.

    slot → a backend that is ready → the turn's events → tool assembly → the surface's bytes → the slot again

The turn ends and its slot is free when the answer is complete, when it fails, or when its client leaves, whichever
comes first.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from flask import Response

from assay_proxy.answers.demand import hold_for_call
from assay_proxy.answers.timing import TICK, ClientGoneError, hold_status_line, keep_alive, read_events
from assay_proxy.assembly.assembly import assemble
from assay_proxy.errors import failure
from assay_proxy.events import CallOpened, Cause, Failed, TurnEvent
from assay_proxy.http.json_response import json_bytes
from assay_proxy.surfaces import sse
from assay_proxy.surfaces.writer import pieces, whole
from assay_proxy.tools.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from assay_proxy.answers.plan import AnswerPlan
    from assay_proxy.answers.timing import Clock
    from assay_proxy.backends.backend import Backend, Turn
    from assay_proxy.http.capacity import Gate
    from assay_proxy.settings import Settings

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnRunner:
    """Runs turns of `backend`, at most as many at once as `gate` admits."""

    settings: Settings
    backend: Backend
    gate: Gate
    clock: Clock = time.monotonic

    def run(self, plan: AnswerPlan, *, client_gone: Callable[[], bool], keep_open: bool) -> Response:
        """The response; `keep_open`: the connection's protocol knows `Connection: keep-alive`.

        Raises:
            ApiError: whatever goes wrong before the status line is sent.
            ClientGoneError: when the client leaves before that.
        """
        # Capacity (429) before readiness (503): http.precedence.*.
        self.gate.enter()
        try:
            close = _Closing(self._open(plan, client_gone), self.gate)
        except BaseException:
            self.gate.leave()
            raise
        try:
            response = self._respond(plan, close.turn, client_gone)
        # Whatever it is: a slot that is not given back is lost until the proxy is restarted.
        except BaseException:
            close()
            raise
        if plan.stream:
            # The body is still to be read, so the server ends the turn: `close` runs when the response is closed,
            # which WSGI promises also for a body that was not read to its end.
            response.call_on_close(close)
        else:
            close()
        if keep_open and plan.stream:
            # Clients and proxies between wait for this very header; servers of HTTP/1.1 do not send it by themselves.
            response.headers["Connection"] = "keep-alive"
        response.headers.update(plan.headers)
        return response

    def _open(self, plan: AnswerPlan, client_gone: Callable[[], bool]) -> Turn:
        deadline = self.clock() + self.settings.ready_wait_ms / 1000
        # Tick by tick, so that a client that leaves meanwhile frees its slot.
        while not self.backend.await_ready(TICK):
            if client_gone():
                raise ClientGoneError
            if self.clock() >= deadline:
                raise failure(Failed(Cause.UNAVAILABLE))
        return self.backend.open(plan.conversation, plan.choices)

    def _respond(self, plan: AnswerPlan, turn: Turn, client_gone: Callable[[], bool]) -> Response:
        # A Quiet at least twice per keep-alive interval, since a comment can only be sent when an event comes by.
        idle, tick = self.settings.idle_timeout_ms / 1000, min(TICK, self.settings.keepalive_ms / 2000)
        mode, tools = "stream" if plan.stream else "whole", len(plan.conversation.tools)
        # Mode and source of calls are logged, and nothing that was said.
        log.info("%s mode=%s dialect=%s tools=%d n=%d", plan.id, mode, plan.dialect, tools, plan.choices)
        events = assemble(
            read_events(turn, client_gone=client_gone, idle=idle, clock=self.clock, tick=tick),
            plan.rules,
            choices=plan.choices,
            await_usage=plan.await_usage,
            seed=plan.id,
        )
        events = hold_for_call(_logged(events, plan), plan.demand, choices=plan.choices)
        if not plan.stream:
            return json_bytes(whole(events, plan.writer))
        # Called before there is a response: what fails until then is still an HTTP error.
        held = hold_status_line(events, commit=self.settings.commit_ms / 1000, clock=self.clock, param=plan.param)
        return Response(self._body(held, plan), headers=dict(sse.HEADERS))

    def _body(self, events: Iterator[TurnEvent], plan: AnswerPlan) -> Iterator[bytes]:
        every = self.settings.keepalive_ms / 1000
        try:
            yield from keep_alive(pieces(events, plan.writer), comment=sse.KEEP_ALIVE, every=every, clock=self.clock)
        except ClientGoneError:
            # The status line is out and the reader has left: there is no one to report an error to.
            log.info("client of %s left", plan.id)


def _logged(events: Iterator[TurnEvent], plan: AnswerPlan) -> Iterator[TurnEvent]:
    declared = Registry(plan.conversation.tools)
    for event in events:
        if isinstance(event, CallOpened):
            # Quoted: a name that a model writes may hold line breaks, which would forge lines of the log.
            log.info("%s call tool=%s source=%s", plan.id, quote(event.name), event.source)
            # Logged and passed on all the same (S0:178).
            if event.name not in declared:
                log.warning("%s call of a tool that was not declared: %s", plan.id, quote(event.name))
        yield event


@dataclass(eq=False)
class _Closing:
    """Ends a turn and frees its slot, once: servers may close a response twice."""

    turn: Turn
    gate: Gate
    done: bool = False

    def __call__(self) -> None:
        if not self.done:
            self.done = True
            self.turn.close()
            self.gate.leave()
