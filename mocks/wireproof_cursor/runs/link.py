"""What a run has with its client: the requests to it by number, its answers, what it did wrong, and waiting for it."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from wireproof_cursor.runs import conversation, updates, wanted
from wireproof_cursor.runs.blobs import Blobs
from wireproof_cursor.runs.execs import Execs
from wireproof_cursor.runs.outputs import ClosedConnection, CutStream, Edge, RefusedRun, StreamEnd
from wireproof_cursor.runs.queries import Queries
from wireproof_cursor.wire.errors import ServiceProblem
from wireproof_cursor_protos import agent_pb2 as pb
from wireproof_scripts.player import Until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from wireproof_cursor.runs.context import Context
    from wireproof_cursor.runs.conversation import DeclaredTool
    from wireproof_cursor.runs.outputs import Output
    from wireproof_cursor.runs.wanted import Wanted

Json = dict[str, Any]


class RunLink:
    """One client of one run."""

    def __init__(self, context: Context, request_id: str, rpc: str) -> None:
        self.context = context
        self.request_id = request_id
        self.rpc = rpc
        """The procedure that carries the stream; of a run that has only appends so far, `RunSSE`."""
        self.faults: list[str] = []
        """What the client did wrong, in order."""
        self.ring: Callable[[], None] = lambda: None
        """Called when something changes that the run may wait for."""
        self.now = 0.0
        """The time, as the run was resumed with it."""
        self.gone = False
        """Whether the client has disconnected."""
        self.stop: ServiceProblem | None = None
        """Why the run ends at once: the client has cancelled it, or cannot be understood; None if it goes on."""
        self.dropping = 0
        """How many of its next messages are ignored."""
        self.roots: list[bytes] = []
        """The names of the blobs that hold the conversation."""
        self.blobs = Blobs()
        self.execs = Execs()
        self.queries = Queries()

    # What the client sends

    def receive(self, message: pb.AgentClientMessage) -> None:
        """Take a message that comes after the run request."""
        if self.dropping:
            self.dropping -= 1
            self.journal({"remark": f"the script drops {message.WhichOneof('message')}"})
            return
        match message.WhichOneof("message"):
            case "kv_client_message":
                self._blame(self.blobs.answered(message.kv_client_message))
            case "exec_client_message":
                for fault in self.execs.answered(message.exec_client_message):
                    self.fault(fault)
            case "exec_client_control_message":
                self._blame(self.execs.controlled(message.exec_client_control_message))
            case "interaction_response":
                self._blame(self.queries.answered(message.interaction_response))
            case "conversation_action":
                self._act(message.conversation_action)
            case "run_request":
                self.fault("run_request comes a second time")
            case None:
                self.fault("a message holds nothing")

    def _act(self, action: pb.ConversationAction) -> None:
        if action.HasField("cancel_action"):
            self.stop = ServiceProblem(code="canceled", message="the client has cancelled the turn")
        # Some clients send it after a result; the run goes on without it, and with it.
        elif not action.HasField("resume_action"):
            self.fault(f"conversation_action {action.WhichOneof('action')} comes within a run")

    def _blame(self, fault: str) -> None:
        if fault:
            self.fault(fault)

    # What is sent, and waited for

    def wait(self, over: Callable[[], bool], deadline: float = math.inf) -> Iterator[Output]:
        """Wait for the client, with a sign of life from time to time."""
        beat = self.now + self.context.conditions.beat
        while not over() and self.now < deadline:
            if self.now >= beat:
                beat = self.now + self.context.conditions.beat
                yield updates.heartbeat()
            else:
                yield Until(min(deadline, beat))

    def silence(self, seconds: float = math.inf) -> Iterator[Output]:
        """Send nothing for some time."""
        deadline = self.now + seconds
        while self.now < deadline:
            yield Until(deadline)

    def keep(self, message: Json) -> Iterator[Output]:
        """Have the client keep a message of the conversation, and wait until it has done so."""
        yield self.keeping(message)
        yield from self.until_kept()

    def keeping(self, message: Json) -> pb.AgentServerMessage:
        """The request to keep a message of the conversation."""
        kept = self.blobs.set(json.dumps(message, ensure_ascii=False).encode())
        self.roots.append(kept.kv_server_message.set_blob_args.blob_id)
        return kept

    def until_kept(self) -> Iterator[Output]:
        """Wait until all about blobs is answered."""
        # Without a limit: a lost answer stalls the turn, as it does in the service.
        yield from self.wait(lambda: not self.blobs.unanswered)

    def ask_patiently(self, asked: Wanted) -> Iterator[Output]:
        """Ask for something that not every client answers; the run goes on without it."""
        one = self.execs.ask(asked)
        yield pb.AgentServerMessage(exec_server_message=asked.message)
        yield from self.wait(lambda: one.answered, self.now + self.context.conditions.patience)
        if not one.answered:
            self.fault(f"exec_server_message {one.number} ({one.wanted.name}) was not answered")
            one.thrown = "the client did not answer"

    def ask_context(self, tools: list[DeclaredTool], developer: list[str]) -> Iterator[Output]:
        """Ask for the client's context, and add its tools and its rule."""
        asked = wanted.context()
        yield from self.ask_patiently(asked)
        result = self.execs.number(asked.message.id).result
        if result is not None:
            found = result.request_context_result.success.request_context
            tools += [tool for tool in conversation.tools_of(found.tools) if tool.name not in {it.name for it in tools}]
            developer += [found.cloud_rule] if found.cloud_rule else []

    # The journal

    def fault(self, text: str) -> None:
        """Note what the client did wrong."""
        self.faults.append(text)
        self.journal({"fault": text})

    def opened(self, http: str, headers: Mapping[str, str]) -> None:
        """Note the request for the stream, without what is secret."""
        shown = {name: value for name, value in headers.items() if name != "authorization"}
        self.journal({"direction": "received", "http": http, "headers": shown})

    def unreadable(self, why: str) -> None:
        """End the run, as what the client sends cannot be read."""
        self.fault(why)
        self.stop = ServiceProblem(code="invalid_argument", message=why)
        self.ring()

    def received(self, message: pb.AgentClientMessage, number: int | None = None) -> None:
        """Note a message of the client, with its number if it is an append."""
        numbered = {} if number is None else {"append_seqno": number}
        self.journal({"direction": "received", **numbered, "message": message})

    def sent(self, output: pb.AgentServerMessage | Edge) -> None:
        """Note what is sent."""
        match output:
            case pb.AgentServerMessage():
                self.journal({"direction": "sent", "message": output})
            case StreamEnd(problem) | RefusedRun(problem):
                self.journal({"direction": "sent", "end": problem.as_json() if problem else {}})
            case CutStream():
                self.journal({"direction": "sent", "end": "cut"})
            case ClosedConnection():
                self.journal({"direction": "sent", "end": "crash"})

    def left_open(self) -> None:
        """Note what the client has not answered or closed, which is no fault by itself."""
        for number in self.blobs.unanswered:
            self.journal({"remark": f"kv_server_message {number} was not answered"})
        for one in self.execs.open:
            self.journal({"remark": f"exec_server_message {one.number} was not answered"})
        for number in self.execs.unclosed:
            self.journal({"remark": f"exec_server_message {number} was not closed with stream_close"})
        for number in self.queries.unanswered:
            self.journal({"remark": f"interaction_query {number} was not answered"})

    def journal(self, entry: Json) -> None:
        """Write an entry."""
        self.context.journal(self.request_id, self.rpc, entry)
