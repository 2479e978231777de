"""From a request through a turn of the backend to a response: what every surface shares.

    model → slot → a backend that is ready → the turn's events → tool assembly → the surface's bytes → the slot again

A surface says in an `Order` what it asks of the turn and how it writes what comes of it, whole or as a stream. The turn
ends and its slot is free when the answer is complete, when it fails, or when its client leaves, whichever comes first.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from flask import Response

from assay_proxy.answers.listening import TICK, ClientGoneError, hold, keep_alive, listen
from assay_proxy.assembly.assembly import assemble
from assay_proxy.assembly.choice import Rules
from assay_proxy.errors import UNKNOWN_MODEL, ApiError, failure
from assay_proxy.events import CallOpened, Cause, Failed, Heard
from assay_proxy.http.json_response import json_response
from assay_proxy.surfaces import sse
from assay_proxy.tools.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from assay_proxy.backends.backend import Backend, Turn
    from assay_proxy.conversation import Conversation
    from assay_proxy.http.capacity import Gate
    from assay_proxy.settings import Settings, StopPolicy

log = logging.getLogger(__name__)

DEFAULT_MODEL = "codex"


@dataclass(frozen=True, kw_only=True, slots=True)
class Order:
    """What a surface asks of one turn.

    `whole` gives the body of a whole answer, `pieces` those of a stream; which of them is used, `stream` says.
    `param` is the request's field that holds the conversation.
    """

    id: str
    conversation: Conversation
    rules: Rules
    stream: bool
    whole: Callable[[Iterator[Heard]], Mapping[str, Any]]
    pieces: Callable[[Iterator[Heard]], Iterator[bytes]]
    dialect: str
    choices: int = 1
    await_usage: bool = True
    param: str = "messages"
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Answering:
    """Answers orders with turns of `backend`; `clock` gives seconds that never go back."""

    settings: Settings
    backend: Backend
    gate: Gate
    clock: Callable[[], float] = time.monotonic

    def answer(self, order: Order, *, gone: Callable[[], bool], keep_open: bool) -> Response:
        """The response; `keep_open` says that the connection's protocol knows `Connection: keep-alive`.

        Raises:
            ApiError: whatever goes wrong before the status line is sent.
            ClientGoneError: when there is nobody to answer any more.
        """
        self.gate.enter()
        try:
            closing = _Closing(self._open(order, gone), self.gate)
        except BaseException:
            self.gate.leave()
            raise
        try:
            response = self._respond(order, closing.turn, gone)
        except BaseException:
            closing()
            raise
        if order.stream:
            response.call_on_close(closing)
        else:
            closing()
        if keep_open and order.stream:
            # Clients and proxies between wait for this very header; servers of HTTP/1.1 do not send it by themselves.
            response.headers["Connection"] = "keep-alive"
        response.headers.update(order.headers)
        return response

    def _open(self, order: Order, gone: Callable[[], bool]) -> Turn:
        deadline = self.clock() + self.settings.ready_wait_ms / 1000
        while not self.backend.await_ready(TICK):
            if gone():
                raise ClientGoneError
            if self.clock() >= deadline:
                raise failure(Failed(Cause.UNAVAILABLE))
        return self.backend.open(order.conversation, order.choices)

    def _respond(self, order: Order, turn: Turn, gone: Callable[[], bool]) -> Response:
        idle, tick = self.settings.idle_timeout_ms / 1000, min(TICK, self.settings.keepalive_ms / 2000)
        mode, tools = "stream" if order.stream else "whole", len(order.conversation.tools)
        log.info("%s mode=%s dialect=%s tools=%d n=%d", order.id, mode, order.dialect, tools, order.choices)
        said = assemble(
            listen(turn, gone=gone, idle=idle, clock=self.clock, tick=tick),
            order.rules,
            choices=order.choices,
            await_usage=order.await_usage,
            seed=order.id,
        )
        said = _logged(said, order)
        if not order.stream:
            return json_response(order.whole(said))
        held = hold(said, commit=self.settings.commit_ms / 1000, clock=self.clock, param=order.param)
        return Response(self._body(held, order), headers=dict(sse.HEADERS))

    def _body(self, said: Iterator[Heard], order: Order) -> Iterator[bytes]:
        pieces = order.pieces(said)
        every = self.settings.keepalive_ms / 1000
        try:
            yield from keep_alive(pieces, comment=sse.KEEP_ALIVE, every=every, clock=self.clock)
        except ClientGoneError:
            log.info("client of %s left", order.id)


def backend_model(name: str, settings: Settings) -> str | None:
    """The model to ask the backend for; None is its own default.

    Raises:
        ApiError: when it is not served here.
    """
    if name not in settings.models:
        raise ApiError(UNKNOWN_MODEL, message=f"The model `{name}` is not served here.", param="model")
    return None if name == DEFAULT_MODEL else name


def choice_rules(settings: Settings, *, stream: bool, policy: StopPolicy, calls: bool, single: bool = False) -> Rules:
    """What a choice may say: a whole answer holds all calls and hears the backend out; `single`: one call at most."""
    first = stream and policy == "first"
    tails = not settings.suppress_tail_after_tools
    return Rules(
        limit=1 if first or single else settings.tool_block_max or None,
        ends_early=stream and (first or not tails),
        calls=calls,
        tails=tails,
        errors_win=not stream,
    )


def _logged(said: Iterator[Heard], order: Order) -> Iterator[Heard]:
    declared = Registry(order.conversation.tools)
    for event in said:
        if isinstance(event, CallOpened):
            log.info("%s call tool=%s source=%s", order.id, quote(event.name), event.source)
            if event.name not in declared:
                log.warning("%s call of a tool that was not declared: %s", order.id, quote(event.name))
        yield event


@dataclass(eq=False)
class _Closing:
    """Ends a turn and frees its slot, once."""

    turn: Turn
    gate: Gate
    done: bool = False

    def __call__(self) -> None:
        if not self.done:
            self.done = True
            self.turn.close()
            self.gate.leave()
