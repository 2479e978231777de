"""The turn of a run: its script, played part by part, each part as one answer of the model.

After an answer with calls the turn waits for their results, and the next part follows on the same stream.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wireproof_cursor.playable import LIMITS
from wireproof_cursor.runs import updates, wanted
from wireproof_cursor.runs.blobs import blob_id
from wireproof_cursor.runs.outputs import ClosedConnection, CutStream, StreamEnd
from wireproof_cursor.wire.causes import CAUSES, OVER_HTTP
from wireproof_cursor.wire.errors import ServiceProblem
from wireproof_cursor_protos import agent_pb2 as pb
from wireproof_scripts import steps as language
from wireproof_scripts.asked.templates import filled
from wireproof_scripts.calls.blocks import cut
from wireproof_scripts.calls.call_shapes import ShapeText, in_shapes
from wireproof_scripts.default.answer import default_answer
from wireproof_scripts.player import Until, perform
from wireproof_scripts.steps import TextDelta, Usage, cursor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wireproof_cursor.runs.context import Context
    from wireproof_cursor.runs.conversation import RunConversation
    from wireproof_cursor.runs.link import RunLink
    from wireproof_cursor.runs.outputs import Output
    from wireproof_scripts.nonces import State, TurnRecord
    from wireproof_scripts.player import Action
    from wireproof_scripts.selection import Selection

Json = dict[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class EarlyRefusal:
    """A run that is refused before anything is sent."""

    talk: RunConversation
    problem: ServiceProblem
    of_append: bool
    """The append with the run request is refused; else the request for the stream is, as a whole."""


def early_refusal(context: Context, talk: RunConversation, *, numbered: bool) -> EarlyRefusal | None:
    """How a run is refused as a whole, None if it is not; `numbered`: its client sends appends."""
    casting = context.select(talk)
    if casting.problem is not None or casting.first >= len(casting.parts):
        return None
    match next(iter(casting.parts[casting.first]), None):
        case cursor.Refuse(form="http") as step:
            return EarlyRefusal(talk=talk, problem=problem_of(step), of_append=False)
        case cursor.Refuse(form="append") as step if numbered:
            return EarlyRefusal(talk=talk, problem=problem_of(step), of_append=True)
        case language.Fail(cause) if cause in OVER_HTTP:
            return EarlyRefusal(talk=talk, problem=OVER_HTTP[cause], of_append=False)
    return None


def problem_of(step: cursor.Refuse) -> ServiceProblem:
    """The problem that a step describes."""
    return ServiceProblem(
        code=step.code,
        message=step.message,
        debug=step.debug,
        title=step.title,
        detail=step.detail,
        retryable=step.retryable,
        http_status=step.status,
    )


class RunTurn:
    """A turn on a conversation."""

    def __init__(self, link: RunLink, talk: RunConversation) -> None:
        self._link = link
        self._talk = talk
        self._casting: Selection = link.context.select(talk)
        self._record: TurnRecord = self._casting.begin()
        self._record.faults = link.faults
        self.refusing_appends: ServiceProblem | None = None
        """How appends are refused; None if they are taken."""
        self._usage = Usage()
        self._said: list[str] = []
        self._last = "\n"  # so a block that comes first needs no line break before it
        self._asked = False
        """Whether the client was asked to run a tool in this answer."""
        self._continued = False
        """Whether the turn went on from results."""
        self._ended = False
        """Whether `turn_ended` was sent."""
        self._over = False
        """Whether the stream is at its end."""
        self._completed: set[int] = set()

    def outputs(self) -> Iterator[Output]:
        """All that is sent, in order."""
        casting = self._casting
        if casting.problem is not None:
            yield from self._fail(ServiceProblem(code="invalid_argument", message=casting.problem))
            return
        why = LIMITS.why_not(casting.parts, casting.notifications)
        if why:
            message = f"the script {casting.script} cannot be played by this service: {why}"
            yield from self._fail(ServiceProblem(code="unimplemented", message=message))
            return
        index = casting.first
        while not self._ended and not self._over:
            self._record.part = index
            yield from self._answer(self._part(index))
            index += 1
        if not self._over:
            yield updates.checkpoint(self._usage, roots=self._link.roots)
            yield StreamEnd()

    def end(self, state: State) -> None:
        """Note how the turn ended. Only the first end counts: a client also disconnects after a complete one."""
        if self._record.state == "running":
            self._record.state = state
            self._link.context.wake()

    def _part(self, index: int) -> tuple[language.Step, ...]:
        if index < len(self._casting.parts):
            return filled(self._casting.parts[index], self._talk.items())
        # A script of one call ends a client's loop by this: after the result comes text.
        talk, call_id = self._talk, self._link.context.call_id()
        return default_answer(talk.items(), talk.declared(), call_id, developer=talk.instructions)

    # One answer

    def _answer(self, part: tuple[language.Step, ...]) -> Iterator[Output]:
        self._asked = False
        performance = perform(part, self._casting.nonce, self._record, self._link.now)
        action = next(performance, None)
        while action is not None and not self._over:
            yield from self._send(action)
            try:
                action = performance.send(self._link.now)
            except StopIteration:
                action = None
        if not self._over and not self._ended:
            yield from self._take_results()

    def _send(self, action: Action | Until) -> Iterator[Output]:
        match action:
            case Until():
                yield action
            case TextDelta(text):
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
            case language.Fail() | language.Crash() | cursor.Refuse() | cursor.EndStream():
                yield from self._break_off(action)
            case _:
                yield from self._do(action)

    def _do(self, action: Action) -> Iterator[Output]:
        """Do what is no part of the answer's text."""
        match action:
            case language.Usage():
                self._usage = action
            case language.Open(name):
                # By nonce, so that runs of other conversations do not open each other's gates.
                self._casting.nonce.gates.add(name)
                self._link.context.wake()
            case cursor.Drop(messages):
                self._link.dropping += messages
            case cursor.RequestContext():
                yield from self._link.ask_context(self._talk.tools, self._talk.developer)
            case cursor.UnknownExec():
                yield from self._link.ask_patiently(wanted.unknown(action))
            case cursor.Abort():
                yield from map(updates.aborted, self._link.execs.abort())
            case cursor.Trap():
                yield from self._trap(action)
            case _ if isinstance(action, cursor.Exec):
                yield from self._ask(wanted.own_tool(action))
            case _:
                yield from self._do_aside(action)

    def _do_aside(self, action: Action) -> Iterator[Output]:
        """Send what is beside the answer."""
        link = self._link
        match action:
            case cursor.SetBlob(text):
                yield link.blobs.set(text.encode())
                yield from link.until_kept()
            case cursor.GetBlob(text):
                yield link.blobs.get(blob_id(text.encode()))
                yield from link.until_kept()
            case cursor.Checkpoint(used=used, most=most, pending=pending):
                yield updates.state(used, most, roots=link.roots, pending=pending)
            case cursor.Heartbeat(times, every):
                for _ in range(times):
                    yield from link.silence(every)
                    yield updates.heartbeat()
            case cursor.Query():
                yield link.queries.ask(action)
                yield from link.wait(lambda: not link.queries.unanswered, link.now + action.wait)

    # Text and calls

    def _text(self, text: str) -> Iterator[Output]:
        if not text:
            # Nothing is sent, however often: the client is heard meanwhile.
            yield Until(self._link.now)
            return
        self._said.append(text)
        self._last = text[-1]
        yield updates.text(text)
        yield updates.tokens(1)

    def _call(self, call: language.Call) -> Iterator[Output]:
        for output in in_shapes(call, 0):
            match output:
                case ShapeText(text, own_line):
                    # A sentinel counts only at the start of a line.
                    yield from self._text(f"\n{text}" if own_line and self._last != "\n" else text)
                case _:
                    tool = next((tool for tool in self._talk.tools if tool.name == call.name), None)
                    yield from self._ask(wanted.mcp(call, tool), cut(call.arguments, call.pieces))

    def _ask(self, asked: wanted.Wanted, pieces: tuple[str, ...] = ()) -> Iterator[Output]:
        """Announce a tool call and have the client run it."""
        # Calls after `finish` come all the same: a client must survive late events.
        self._asked = self._asked or not self._ended
        one = self._link.execs.ask(asked, late=self._ended)
        if asked.call is not None:
            model_call_id = self._model_call_id(one.number)
            yield from _partial(asked, pieces, model_call_id)
            yield updates.call_started(asked.call_id, asked.call, model_call_id)
        yield pb.AgentServerMessage(exec_server_message=asked.message)

    def _take_results(self) -> Iterator[Output]:
        """Wait for the results of the calls; each is announced as it comes."""
        execs = self._link.execs
        while execs.awaited:
            yield from self._link.wait(lambda: bool(self._new_results()) or not execs.awaited)
            yield from self._complete()
        yield from self._complete()
        self._continued = True

    def _new_results(self) -> list[int]:
        return [one.number for one in self._link.execs.done if one.number not in self._completed]

    def _complete(self) -> Iterator[Output]:
        for number in self._new_results():
            self._completed.add(number)
            one = self._link.execs.number(number)
            asked = one.wanted
            if asked.call_id:
                self._talk.called(asked.call_id, asked.name, asked.arguments, one.output)
            if asked.call is not None:
                call = wanted.with_result(asked.call, one.result)
                yield updates.call_completed(asked.call_id, call, self._model_call_id(number))

    def _model_call_id(self, number: int) -> str:
        return f"{self._link.request_id}-{number}-mock"

    def _trap(self, trap: cursor.Trap) -> Iterator[Output]:
        """Never go on, if the turn went on from results on this stream."""
        if not self._continued and not trap.always:
            return
        content: list[Json] = [{"type": "text", "text": trap.text}] if trap.text else []
        if trap.repeats:
            content += self._talk.last_call()
        yield self._link.keeping({"id": "1", "role": "assistant", "content": content})
        yield updates.checkpoint(Usage(unknown=True), roots=[])
        while True:
            yield updates.heartbeat()
            yield from self._link.silence(trap.every)

    # Ends

    def _finish(self) -> Iterator[Output]:
        """The answer is complete: with it the turn, unless there are calls."""
        if self._asked:
            return
        if not self._ended:
            content = [{"type": "text", "text": "".join(self._said)}]
            yield from self._link.keep({"role": "assistant", "content": content})
            yield updates.checkpoint(self._usage, roots=self._link.roots)
            self._ended = True
            self.end("completed")
        # A second `finish` is scripted on purpose: the end of the turn comes twice.
        yield updates.turn_ended(self._usage)

    def _break_off(self, step: language.Fail | language.Crash | cursor.Refuse | cursor.EndStream) -> Iterator[Output]:
        match step:
            case cursor.EndStream():
                yield from self._leave(StreamEnd())
            case language.Crash():
                yield from self._leave(ClosedConnection())
            case cursor.Refuse(form="append") if self._link.rpc == "RunSSE":
                self.refusing_appends = problem_of(step)
            case cursor.Refuse():
                yield from self._fail(problem_of(step))
            case language.Fail(cause):
                match CAUSES[cause]:
                    case ServiceProblem() as problem:
                        yield from self._fail(problem)
                    case "cut":
                        yield from self._leave(CutStream())
                    case "silence":
                        yield from self._link.silence()

    def _fail(self, problem: ServiceProblem) -> Iterator[Output]:
        yield from self._leave(StreamEnd(problem))

    def _leave(self, last: StreamEnd | CutStream | ClosedConnection) -> Iterator[Output]:
        self._over = True
        self.end("failed")
        yield last

    # What the script can see

    def _reflection(self, step: language.Reflect) -> Json:
        if step.what == "turns":
            others = self._casting.nonce.others(self._record)
            turns = [{"script": it.script, "part": it.part, "state": it.state, "faults": it.faults} for it in others]
            return {"turns": turns}
        if step.what == "backend":
            nonce = self._casting.nonce.name
            return {"cursor": pb.DESCRIPTOR.package, "protocol": self._link.rpc, "nonce": nonce}
        return {**self._talk.received(), "faults": self._link.faults}


def _partial(asked: wanted.Wanted, pieces: tuple[str, ...], model_call_id: str) -> Iterator[Output]:
    """The announcement of a call whose arguments are not complete."""
    assert asked.call is not None  # noqa: S101 - for the type checker; what is not announced does not come here
    empty = pb.ToolCall()
    getattr(empty, str(asked.call.WhichOneof("tool"))).SetInParent()
    # In captures the text of the arguments is empty: it is sent only where the script has pieces, aggregated.
    texts = ["".join(pieces[:count]) for count in range(1, len(pieces) + 1)] if len(pieces) > 1 else [""]
    for text in texts:
        yield updates.partial_call(asked.call_id, empty, model_call_id, text)
