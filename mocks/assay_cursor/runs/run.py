"""One run: what the client sent under a request id, and what is sent to it, as far as it was played.

A run begins with `run_request`. First the service asks for the blobs of the history and for the context that holds the
tools, if the request has none; then the script's parts are played, each as one answer of the model. After an answer
with calls the run waits for their results, and the next part follows on the same stream. A run ends with `turn_ended`,
a checkpoint and the end of the stream; or with a problem; or when the client disconnects.

`outputs` is a generator without I/O. It is resumed with the time; after `Until` it may be resumed early.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from assay_cursor.playable import why_not
from assay_cursor.runs import conversation, execs, updates
from assay_cursor.runs.appends import Appends
from assay_cursor.runs.blobs import Blobs
from assay_cursor.wire.causes import CAUSES
from assay_cursor.wire.errors import Problem
from assay_cursor_protos import agent_pb2 as pb
from assay_scripts import steps as language
from assay_scripts.blocks import cut
from assay_scripts.call_shapes import Text, in_shapes
from assay_scripts.default_answer import default_answer
from assay_scripts.player import Until, perform
from assay_scripts.steps import Piece, Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping

    from assay_cursor.runs.context import Context
    from assay_scripts.nonces import Record, State
    from assay_scripts.player import Action
    from assay_scripts.selection import Selection

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Begin:
    """The response begins: what comes now is a stream."""


@dataclass(frozen=True, slots=True)
class Refused:
    """An HTTP error instead of a stream."""

    problem: Problem


@dataclass(frozen=True, slots=True)
class End:
    """The end of the stream."""

    problem: Problem | None = None


@dataclass(frozen=True, slots=True)
class Cut:
    """The response ends without the envelope that ends a stream."""


@dataclass(frozen=True, slots=True)
class Crash:
    """The connection closes."""


Output = pb.AgentServerMessage | Begin | Refused | End | Cut | Crash | Until


class Run:
    """A run. Times are seconds of any clock that goes forward."""

    def __init__(self, context: Context, request_id: str, rpc: str) -> None:
        self._context = context
        self.request_id = request_id
        self.rpc = rpc
        """The procedure that carries the stream; of a run that has only appends so far, `RunSSE`."""
        self.appends = Appends(lenient=context.conditions.lenient)
        self.faults: list[str] = []
        """What the client did wrong, in order."""
        self.ring: Callable[[], None] = lambda: None
        """Called when something changes that `outputs` may wait for."""
        self.attached = False
        """Whether the stream of the run is there."""
        self.over = False
        """Whether nothing more is sent."""
        self.refusing: Problem | None = None
        """How appends are refused; None if they are taken."""
        self.request: pb.AgentRunRequest | None = None
        self._gone = False
        self._cancelled = False
        self._now = 0.0
        self._blobs = Blobs()
        self._execs = execs.Execs()
        self._context_execs: set[int] = set()
        self._record: Record | None = None
        self._talk = conversation.Conversation(model="")
        self._usage = Usage()
        self._said: list[str] = []
        self._last = "\n"  # so a block that comes first needs no line break before it
        self._calls = 0
        self._asked = False
        self._turn_ended = False
        self._problem: Problem | None = None
        self._roots: list[bytes] = []
        self._completed: set[int] = set()

    # What the client sends

    def receive(self, message: pb.AgentClientMessage) -> None:
        """Take a message of the client."""
        self.note("received", message)
        kind = message.WhichOneof("message")
        match kind:
            case "run_request":
                self._begin(message.run_request)
            case _ if self.request is None:
                self.fault(f"{kind or 'an empty message'} comes before run_request")
            case "kv_client_message":
                self._blame(self._blobs.answered(message.kv_client_message))
            case "exec_client_message":
                for fault in self._execs.answered(message.exec_client_message):
                    self.fault(fault)
            case "exec_client_control_message":
                self._blame(self._execs.controlled(message.exec_client_control_message))
            case "conversation_action":
                self._act(message.conversation_action)
            case "interaction_response" | "client_heartbeat" | "prewarm_request":
                pass
            case None:
                self.fault("a message holds nothing")
        self.ring()

    def _begin(self, request: pb.AgentRunRequest) -> None:
        if self.request is not None:
            self.fault("run_request comes a second time")
            return
        self.request = request
        self._talk = conversation.read(request, {})

    def _act(self, action: pb.ConversationAction) -> None:
        if action.HasField("cancel_action"):
            self._cancelled = True
        elif not action.HasField("resume_action"):
            self.fault(f"conversation_action {action.WhichOneof('action')} comes within a run")

    def disconnected(self) -> None:
        """The client has disconnected; without effect after the end."""
        self._gone = True
        self.ring()

    def fault(self, text: str) -> None:
        """Note what the client did wrong."""
        self.faults.append(text)
        self._journal({"fault": text})

    def note(
        self, direction: Literal["received", "sent"], message: pb.AgentClientMessage | pb.AgentServerMessage
    ) -> None:
        """Note a message in the journal."""
        self._journal({"direction": direction, "message": message})

    def opened(self, http: str, headers: Mapping[str, str]) -> None:
        """Note the request for the stream in the journal, without what is secret."""
        shown = {name: value for name, value in headers.items() if name != "authorization"}
        self._journal({"direction": "received", "http": http, "headers": shown})

    def ended(self, output: Begin | Refused | End | Cut | Crash) -> None:
        """Note in the journal how the response ends."""
        match output:
            case End(problem) | Refused(problem):
                self._journal({"direction": "sent", "end": problem.as_json() if problem else {}})
            case Cut() | Crash():
                self._journal({"direction": "sent", "end": type(output).__name__.lower()})

    def _journal(self, entry: Json) -> None:
        self._context.journal(self.request_id, self.rpc, entry)

    def _blame(self, fault: str) -> None:
        if fault:
            self.fault(fault)

    # What is sent

    def outputs(self, now: float) -> Generator[Output, float, None]:
        """All that is sent, in order."""
        self._now = now
        try:
            for output in self._story():
                self._now = yield output
                if self._gone or self._cancelled:
                    break
            if self._cancelled and not self._gone:
                yield from self._cancel()
        finally:
            self._leave("interrupted")

    def _story(self) -> Iterator[Output]:
        while self.request is None:
            yield Until(math.inf)
        yield Begin()
        yield from self._handshake(self.request)
        if self._problem is None:
            yield from self._play(self._select())
        if self._problem is not None:
            self._leave("failed")
            yield End(self._problem)

    def _cancel(self) -> Iterator[Output]:
        for one in self._execs.open:
            yield updates.aborted(one.number)
        yield End(Problem(code="canceled", message="the client has cancelled the turn"))

    # Before the first answer

    def _handshake(self, request: pb.AgentRunRequest) -> Iterator[Output]:
        if not request.HasField("conversation_state"):
            self._fail(Problem(code="invalid_argument", message="conversation_state is missing"))
            return
        self._roots = list(request.conversation_state.root_prompt_messages_json)
        for name in dict.fromkeys(self._roots):
            yield self._blobs.get(name)
        found: list[pb.McpToolDefinition] = []
        if conversation.context_of(request) is None and not request.mcp_tools.mcp_tools:
            yield from self._ask_context(found)
        yield from self._until_kept()
        if any(self._blobs.found[name] is None for name in self._roots):
            self._fail(Problem(code="internal", message="Blob not found"))
            return
        self._talk = conversation.read(request, self._blobs.found)
        self._talk.tools += conversation.tools_of(found)
        if self._talk.given:
            yield from self._keep({"role": "user", "content": self._talk.text})

    def _ask_context(self, found: list[pb.McpToolDefinition]) -> Iterator[Output]:
        one = self._execs.ask(execs.context())
        yield pb.AgentServerMessage(exec_server_message=one.wanted.message)
        yield from self._wait(lambda: one.answered, self._now + self._context.conditions.patience)
        if one.result is None:
            # Some clients never answer it; the turn goes on without the tools that they may have.
            self.fault("exec_server_message 1 (request_context_args) was not answered")
            one.thrown = one.thrown or "no answer"
            return
        result = one.result.request_context_result
        found += result.success.request_context.tools
        if result.success.request_context.cloud_rule:
            self._talk.developer.append(result.success.request_context.cloud_rule)

    def _keep(self, message: Json) -> Iterator[Output]:
        """Have the client keep a message, and wait until it has done so."""
        data = json.dumps(message, ensure_ascii=False).encode()
        kept = self._blobs.set(data)
        self._roots.append(kept.kv_server_message.set_blob_args.blob_id)
        yield kept
        yield from self._until_kept()

    def _until_kept(self) -> Iterator[Output]:
        # Without a limit: a lost answer stalls the turn, as it does in the service.
        yield from self._wait(lambda: not self._blobs.unanswered)

    def _wait(self, over: Callable[[], bool], deadline: float = math.inf) -> Iterator[Output]:
        """Wait for the client, with a sign of life from time to time."""
        beat = self._now + self._context.conditions.beat
        while not over() and self._now < deadline:
            if self._now >= beat:
                beat = self._now + self._context.conditions.beat
                yield updates.heartbeat()
            else:
                yield Until(min(deadline, beat))

    # The script

    def _select(self) -> Selection:
        return self._context.select(self._talk)

    def _part(self, casting: Selection, index: int) -> tuple[language.Step, ...]:
        if index < len(casting.parts):
            return casting.parts[index]
        # A script of one call ends a client's loop by this: after the result comes text.
        talk = self._talk
        tools = [tool.declared() for tool in talk.tools]
        return default_answer(talk.items(), tools, self._context.call_id(), developer="\n\n".join(talk.developer))

    def _play(self, casting: Selection) -> Iterator[Output]:
        self._casting = casting
        self._record = self._context.begin(casting, self.faults)
        if casting.problem is not None:
            self._fail(Problem(code="invalid_argument", message=casting.problem))
            return
        why = why_not(casting.parts, casting.notifications)
        if why:
            self._fail(Problem(code="unimplemented", message=f"the script {casting.script} cannot be played: {why}"))
            return
        index = casting.first
        while not self._turn_ended and self._problem is None and not self.over:
            self._record.part = index
            yield from self._answer(self._part(casting, index))
            index += 1
        if self._problem is None and not self.over:
            yield updates.checkpoint(self._usage, roots=self._roots, pending=[])
            yield End()

    def _answer(self, part: tuple[language.Step, ...]) -> Iterator[Output]:
        """One answer of the model, and the results of the calls in it."""
        self._asked = False
        performance = perform(part, self, self._now)
        action = next(performance, None)
        while action is not None and self._problem is None and not self.over:
            yield from self._send(action)
            try:
                action = performance.send(self._now)
            except StopIteration:
                action = None
        if self._problem is None and not self.over and not self._turn_ended:
            yield from self._take_results()

    def _take_results(self) -> Iterator[Output]:
        while self._execs.awaited:
            yield from self._wait(lambda: bool(self._new_results()) or not self._execs.awaited)
            yield from self._complete()
        yield from self._complete()

    def _new_results(self) -> list[execs.Exec]:
        return [one for one in self._execs.done if one.number not in self._completed and one.wanted.call_id]

    def _complete(self) -> Iterator[Output]:
        for one in self._new_results():
            self._completed.add(one.number)
            wanted = one.wanted
            self._talk.history += [
                *self._talk.input_items(),
                conversation.call_item(wanted.call_id, wanted.name, wanted.arguments),
            ]
            self._talk.given.clear()
            self._talk.history.append(conversation.result_item(wanted.call_id, one.output))
            if wanted.call is not None:
                yield updates.call_completed(wanted.call_id, wanted.call, self._model_call_id(one.number))

    def _send(self, action: Action | Until) -> Iterator[Output]:
        match action:
            case Until():
                yield action
            case Piece(text):
                yield from self._text(text)
            case language.Think():
                yield from map(updates.thought, action.pieces or (action.text,))
                yield updates.thought_over(0)
            case language.Call():
                yield from self._call(action)
            case language.Reflect():
                yield from self._text(json.dumps(self._reflection(action), ensure_ascii=False))
            case language.Finish():
                yield from self._finish()
            case language.Fail(cause):
                yield from self._fail_for(cause)
            case language.Crash():
                self._leave("failed")
                yield Crash()
            case _:
                self._note(action)

    def _note(self, action: Action) -> None:
        """Do what sends nothing."""
        match action:
            case language.Usage():
                self._usage = action
            case language.Open(name):
                self._casting.nonce.gates.add(name)
                self._context.wake()

    def _text(self, text: str) -> Iterator[Output]:
        if text:
            self._said.append(text)
            self._last = text[-1]
            yield updates.text(text)
            yield updates.tokens(1)

    def _call(self, call: language.Call) -> Iterator[Output]:
        for output in in_shapes(call, self._calls):
            match output:
                case Text(text, own_line):
                    # A sentinel counts only at the start of a line.
                    yield from self._text(f"\n{text}" if own_line and self._last != "\n" else text)
                case _:
                    tool = next((tool for tool in self._talk.tools if tool.name == call.name), None)
                    yield from self._ask(execs.mcp(call, tool), cut(call.arguments, call.pieces))

    def _ask(self, wanted: execs.Wanted, pieces: tuple[str, ...] = ()) -> Iterator[Output]:
        """Announce a tool call and have the client run it."""
        self._asked = self._asked or not self._turn_ended
        one = self._execs.ask(wanted, late=self._turn_ended)
        if wanted.call is not None:
            model_call_id = self._model_call_id(one.number)
            so_far = ""
            for piece in pieces or ("",):
                # In captures the text of the arguments is empty: it is sent where the script has pieces.
                so_far += piece if len(pieces) > 1 else ""
                yield updates.partial_call(wanted.call_id, wanted.call, model_call_id, so_far)
            yield updates.call_started(wanted.call_id, wanted.call, model_call_id)
        yield pb.AgentServerMessage(exec_server_message=wanted.message)

    def _model_call_id(self, number: int) -> str:
        return f"{self.request_id}-{number}-mock"

    # Ends

    def _finish(self) -> Iterator[Output]:
        if self._asked:
            return
        if not self._turn_ended:
            yield from self._keep({"role": "assistant", "content": [{"type": "text", "text": "".join(self._said)}]})
            yield updates.checkpoint(self._usage, roots=self._roots, pending=[])
            self._turn_ended = True
            self._state("completed")
        yield updates.turn_ended(self._usage)

    def _fail(self, problem: Problem) -> None:
        self._problem = problem

    def _fail_for(self, cause: str) -> Iterator[Output]:
        match CAUSES[cause]:
            case Problem() as problem:
                self._problem = problem
            case "cut":
                self._leave("failed")
                yield Cut()
            case _:
                while True:
                    yield Until(math.inf)

    def _leave(self, state: State) -> None:
        self.over = True
        for number in self._blobs.unanswered:
            self._journal({"remark": f"kv_server_message {number} was not answered"})
        for number in self._execs.unclosed:
            self._journal({"remark": f"exec_server_message {number} was not closed with stream_close"})
        self._state(state)

    def _state(self, state: State) -> None:
        """Note how the turn ended. Only the first end counts: a client also disconnects after a complete one."""
        if self._record is not None and self._record.state == "running":
            self._record.state = state
            self._context.wake()

    # What the script can see

    def is_open(self, gate: str) -> bool:
        """Whether the gate was opened under the nonce."""
        return gate in self._casting.nonce.gates

    def others_running(self) -> bool:
        """Whether another turn under the nonce still runs."""
        return any(other.state == "running" for other in self._others())

    def _others(self) -> list[Record]:
        return self._casting.nonce.others(self._record) if self._record is not None else []

    def _reflection(self, step: language.Reflect) -> Json:
        if step.what == "turns":
            turns = [
                {"script": it.script, "part": it.part, "state": it.state, "faults": it.faults} for it in self._others()
            ]
            return {"turns": turns}
        if step.what == "backend":
            return {"cursor": pb.DESCRIPTOR.package, "protocol": self.rpc}
        talk = self._talk
        return {
            "developer": "\n\n".join(talk.developer),
            "base": None,
            "model": talk.model,
            "history": talk.history,
            "input": talk.given,
            "tools": [tool.declared() for tool in talk.tools],
            "schema": None,
            "faults": self.faults,
        }
