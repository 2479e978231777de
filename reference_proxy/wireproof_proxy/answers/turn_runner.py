"""From a plan through a turn of the backend to a response: what every endpoint shares.

    slot → a backend that is ready → the turn's events → tool assembly → the surface's bytes → the slot again

The turn ends and its slot is free when the answer is complete, when it fails, or when its client leaves, whichever
comes first.
"""

from __future__ import annotations

import logging
import threading
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import quote

from flask import Response

from wireproof_proxy.answers.timing import (
    ATTENTIVE,
    TICK,
    ClientGoneError,
    LookSchedule,
    hold_status_line,
    keep_alive,
    read_events,
)
from wireproof_surfaces.answers.plan import hold_for_call
from wireproof_surfaces.assembly.assembly import Assembly
from wireproof_surfaces.errors import BUSY, STOPPING, ApiError, failure
from wireproof_surfaces.events import CallBegan, ChoiceFailed, FailureReason, Ready
from wireproof_surfaces.surfaces import sse
from wireproof_surfaces.surfaces.writer import pieces

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wireproof_proxy.answers.timing import ClientState, Clock
    from wireproof_proxy.backends.backend import AgentBackend, BackendTurn
    from wireproof_proxy.settings import ProxySettings
    from wireproof_surfaces.answers.plan import AnswerPlan


log = logging.getLogger(__name__)


@dataclass(eq=False)
class TurnGate:
    """Lets `limit` turns in at a time and turns the rest away, and all of them once it is shut."""

    limit: int
    _taken: int = 0
    _shut: bool = False
    _emptied: threading.Condition = field(default_factory=lambda: threading.Condition(threading.Lock()))

    @property
    def taken(self) -> int:
        """Turns inside."""
        with self._emptied:
            return self._taken

    @property
    def shut_down(self) -> bool:
        """Whether no more turns are let in."""
        with self._emptied:
            return self._shut

    def enter(self) -> None:
        """Take a slot.

        Raises:
            ApiError: 429 when none is free, 503 when the proxy is stopping.
        """
        with self._emptied:
            if self._shut:
                raise ApiError(STOPPING)
            # At once, without a queue: a client knows how to wait for a 429, and a silent wait looks like a hang.
            if self._taken >= self.limit:
                raise ApiError(BUSY)
            self._taken += 1

    def leave(self) -> None:
        """Give the slot back."""
        with self._emptied:
            self._taken -= 1
            if not self._taken:
                self._emptied.notify_all()

    def shut(self) -> None:
        """Let no more turns in."""
        with self._emptied:
            self._shut = True

    def await_empty(self, timeout: float) -> bool:
        """Whether all slots are free, waiting for it up to `timeout` seconds."""
        with self._emptied:
            return self._emptied.wait_for(lambda: self._taken == 0, timeout)


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnRunner:
    """Runs turns of `backend`, at most as many at once as `gate` admits."""

    settings: ProxySettings
    backend: AgentBackend
    gate: TurnGate
    clock: Clock = time.monotonic

    def run(self, plan: AnswerPlan, client: ClientState) -> Response:
        """The response.

        Raises:
            ApiError: whatever goes wrong before the status line is sent.
            ClientGoneError: when the client leaves before that.
        """
        # Capacity (429) before readiness (503): http.precedence.*.
        self.gate.enter()
        # A slot that is not given back, whatever goes wrong, is lost until the proxy is restarted.
        with ExitStack() as ends:
            ends.callback(self.gate.leave)
            turn = self._open(plan, client)
            ends.callback(turn.close)
            # A turn that is closed ends its reader's wait, so that a departure is noticed at once.
            client.when_gone(turn.close)
            response = self._respond(plan, turn, client)
            if plan.stream:
                # The body is still to be read, so the server ends the turn: that runs when the response is closed,
                # which WSGI promises also for a body that was not read to its end. A second time it does nothing.
                response.call_on_close(ends.pop_all().close)
        if client.keep_open and plan.stream:
            # Clients and proxies between wait for this very header; servers of HTTP/1.1 do not send it by themselves.
            response.headers["Connection"] = "keep-alive"
        for name, value in plan.headers.items():
            response.headers.add(name, value)
        return response

    def _open(self, plan: AnswerPlan, client: ClientState) -> BackendTurn:
        deadline = self.clock() + self.settings.ready_wait_ms / 1000
        # Tick by tick, so that a client that leaves meanwhile frees its slot.
        while not self.backend.await_ready(TICK):
            if client.gone():
                raise ClientGoneError
            if self.clock() >= deadline:
                raise failure(ChoiceFailed(FailureReason.UNAVAILABLE))
        return self.backend.open(plan.conversation, plan.choices)

    def _respond(self, plan: AnswerPlan, turn: BackendTurn, client: ClientState) -> Response:
        idle = self.settings.idle_timeout_ms / 1000
        assembly = Assembly(plan.rules, choices=plan.choices, await_usage=plan.await_usage, seed=plan.id)
        # Longer than a backend waits for the results of calls.
        attentive = ATTENTIVE + self.settings.call_wait_ms / 1000
        pace = LookSchedule(clock=self.clock, attentive=attentive, calm=lambda: assembly.calm)
        mode, tools = "stream" if plan.stream else "whole", len(plan.conversation.tools)
        # Mode and source of calls are logged, and nothing that was said.
        log.info("%s mode=%s dialect=%s tools=%d n=%d", plan.id, mode, plan.dialect, tools, plan.choices)
        events = assembly.pull(read_events(turn, client=client, idle=idle, pace=pace))
        events = hold_for_call(events, plan.demand, choices=plan.choices)
        if not plan.stream:
            return Response(b"".join(pieces(_logged(events, plan), plan.writer)), content_type="application/json")
        # Called before there is a response: what fails until then is still an HTTP error.
        commit = self.settings.commit_ms / 1000
        held = hold_status_line(events, commit=commit, fields=plan.fields, pace=pace)
        return Response(self._body(held, plan, pace), headers=dict(sse.HEADERS))

    def _body(self, events: Iterator[Ready], plan: AnswerPlan, pace: LookSchedule) -> Iterator[bytes]:
        every = self.settings.keepalive_ms / 1000
        written = pieces(_logged(events, plan), plan.writer)
        try:
            yield from keep_alive(written, comment=plan.keep_alive, every=every, pace=pace)
        except ClientGoneError:
            # The status line is out and the reader has left: there is no one to report an error to.
            log.info("client of %s left", plan.id)


def _logged(events: Iterator[Ready], plan: AnswerPlan) -> Iterator[Ready]:
    """The events; each call is logged on its way."""
    for event in events:
        if isinstance(event, CallBegan):
            # Quoted: a name that a model writes may hold line breaks, which would forge lines of the log.
            log.info("%s call tool=%s source=%s", plan.id, quote(event.name), event.source)
            # Logged and passed on all the same ("Obsidian tool calling", line 178).
            if all(event.name != tool.name for tool in plan.conversation.tools):
                log.warning("%s call of a tool that was not declared: %s", plan.id, quote(event.name))
        yield event
