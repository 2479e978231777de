"""The state of one turn, for one choice: the service's messages as events, and what is answered to them. Pure.

Text comes as deltas. A call comes twice: announced by `tool_call_started`, which runs nothing, and as the exec that
asks for it. Where the request declares tools, every exec that a client's tool can run is a call of the client, who
answers it in another request; the service is never answered, so nothing says that no more calls follow. It sends its
calls one after the other and then waits, so they are complete when it is silent for a while: a short one, or a longer
one while a call is announced whose exec has not come.

Heartbeats, blobs and checkpoints are no progress: a service that sends nothing else has stopped answering.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from wireproof_proxy.backends.cursor import replies
from wireproof_proxy.backends.cursor.execs import call_of
from wireproof_surfaces.events import (
    ArgumentsAdded,
    CallBegan,
    CallClosed,
    CallsEnded,
    ChoiceFailed,
    ChoiceFinished,
    Event,
    FailureReason,
    TextAdded,
    TurnOver,
    UsageReported,
    Working,
)
from wireproof_surfaces.tools.call_ids import call_id

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wireproof_cursor_protos import agent_pb2
    from wireproof_surfaces.conversation import Tool

_NOT_OFFERED = "this client runs no such tool"
# The service's may hold a line break, which some clients refuse.
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_IDLE = frozenset({"heartbeat"})
"""Updates that are no progress."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reaction:
    """What follows from a message of the service."""

    events: tuple[Event, ...] = ()
    replies: tuple[agent_pb2.AgentClientMessage, ...] = ()
    run: agent_pb2.ExecServerMessage | None = None
    """The exec that is to be run here and answered."""


_NOTHING = Reaction()
_PROGRESS = Reaction(events=(Working(),))


@dataclass(eq=False, kw_only=True)
class CursorTurnDecoder:
    """Decodes the messages of one turn; `seed` differs from that of every other."""

    tools: Mapping[str, Tool]
    """The declared ones, by name; without any, execs are run here."""
    context: agent_pb2.RequestContext
    blobs: dict[bytes, bytes]
    choice: int = 0
    choices: int = 1
    seed: str = ""
    over: bool = False
    """Whether the turn has ended: nothing more is emitted."""
    _called: set[str] = field(default_factory=set)
    _announced: set[str] = field(default_factory=set)

    @property
    def calls_wait(self) -> bool:
        """Whether a call has come that only the client can answer, and the turn is not over."""
        return bool(self._called) and not self.over

    @property
    def calls_due(self) -> bool:
        """Whether a call is announced whose exec has not come."""
        return bool(self._announced - self._called)

    def feed(self, message: agent_pb2.AgentServerMessage) -> Reaction:
        """What follows from a message."""
        match message.WhichOneof("message"):
            # Also after the end: the service publishes its last checkpoint when all its blobs were taken.
            case "kv_server_message":
                return Reaction(replies=(replies.blob(message.kv_server_message, self.blobs),))
            case _ if self.over:
                return _NOTHING
            case "interaction_update":
                return self._update(message.interaction_update)
            case "exec_server_message":
                return self._exec(message.exec_server_message)
            case "interaction_query":
                answer = replies.no_answer(message.interaction_query)
                return Reaction(replies=(answer,) if answer else ())
            case _:
                return _NOTHING

    def calls_ended(self) -> list[Event]:
        """No more calls come, and nothing else: the service waits for answers that it never gets."""
        self.over = True
        return [CallsEnded(choice=self.choice), TurnOver(choice=self.choice)]

    def failure(self, cause: FailureReason) -> ChoiceFailed:
        """The failure of this choice, which is of all of them if there is but one."""
        self.over = True
        # None closes the mailbox at once; with several choices the others may still have answers.
        return ChoiceFailed(cause, self.choice if self.choices > 1 else None)

    def _update(self, update: agent_pb2.InteractionUpdate) -> Reaction:
        kind = update.WhichOneof("message")
        match kind:
            case "text_delta" if update.text_delta.text:
                return Reaction(events=(TextAdded(choice=self.choice, text=update.text_delta.text),))
            case "turn_ended":
                return Reaction(events=(*self._usage(update.turn_ended), *self._end()))
            case "tool_call_started":
                self._announced.add(update.tool_call_started.call_id)
            case "tool_call_completed":
                self._announced.discard(update.tool_call_completed.call_id)
        return _NOTHING if kind is None or kind in _IDLE else _PROGRESS

    def _end(self) -> tuple[Event, ...]:
        self.over = True
        return ChoiceFinished(choice=self.choice, reason="stop"), TurnOver(choice=self.choice)

    def _usage(self, ended: agent_pb2.TurnEndedUpdate) -> tuple[Event, ...]:
        """The tokens of the turn; older services count none."""
        # Half a count would look exact; the surface estimates instead.
        if not (ended.HasField("input_tokens") and ended.HasField("output_tokens")):
            return ()
        prompt, completion = max(ended.input_tokens, 0), max(ended.output_tokens, 0)
        cached = min(max(ended.cache_read_tokens, 0), prompt)
        reasoning = min(max(ended.reasoning_tokens, 0), completion)
        usage = UsageReported(
            choice=self.choice, prompt=prompt, completion=completion, cached=cached, reasoning=reasoning
        )
        return (usage,)

    def _exec(self, exec_: agent_pb2.ExecServerMessage) -> Reaction:
        if exec_.WhichOneof("message") == "request_context_args":
            return Reaction(replies=tuple(replies.context(exec_, self.context)))
        if not self.tools:
            return Reaction(events=(Working(),), run=exec_)
        call = call_of(exec_, self.tools)
        if call is None:
            return Reaction(events=(Working(),), replies=tuple(replies.refusal(exec_, _NOT_OFFERED)))
        # Each exec is a call of its own: an id that was used before would make one of two.
        usable = _ID.fullmatch(call.id) and call.id not in self._called
        id_ = call.id if usable else call_id(self.seed, self.choice, len(self._called))
        self._called |= {id_, call.id}
        return Reaction(
            events=(
                CallBegan(choice=self.choice, id=id_, name=call.name),
                ArgumentsAdded(choice=self.choice, id=id_, text=call.arguments),
                CallClosed(choice=self.choice, id=id_),
            )
        )
