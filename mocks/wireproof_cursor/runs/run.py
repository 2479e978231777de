"""One run: its request, what precedes the first answer, and how it ends.

A run begins with `run_request`. First the service asks for the blobs of the history, and for the context that holds the
tools if the request has none; then a turn plays the script. A run ends with `turn_ended`, a checkpoint and the end of
the stream; or with a problem; or when the client disconnects or cancels.

`outputs` is a generator without I/O. It is resumed with the time; after `Until` it may be resumed early.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from wireproof_cursor.runs import conversation, updates
from wireproof_cursor.runs.appends import Appends
from wireproof_cursor.runs.link import RunLink
from wireproof_cursor.runs.outputs import Begin, RefusedRun, StreamEnd
from wireproof_cursor.runs.turn import RunTurn, early_refusal
from wireproof_cursor.wire.errors import ServiceProblem
from wireproof_scripts.player import Until

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from wireproof_cursor.runs.context import Context
    from wireproof_cursor.runs.outputs import Output
    from wireproof_cursor.runs.turn import EarlyRefusal
    from wireproof_cursor_protos import agent_pb2 as pb


class Run:
    """A run. Times are seconds of any clock that goes forward."""

    def __init__(self, context: Context, request_id: str, rpc: str) -> None:
        self._context = context
        self.link = RunLink(context, request_id, rpc)
        self.appends = Appends(lenient=context.conditions.lenient)
        self.attached = False
        """Whether the stream of the run is there."""
        self._request: pb.AgentRunRequest | None = None
        self._turn: RunTurn | None = None
        self._early: EarlyRefusal | None = None

    @property
    def request_id(self) -> str:
        """The id that ties its stream and its appends."""
        return self.link.request_id

    @property
    def refusing(self) -> ServiceProblem | None:
        """How appends are refused now; None if they are taken."""
        if self._early is not None:
            return self._early.problem if self._early.of_append else None
        return self._turn.refusing_appends if self._turn is not None else None

    # What the client sends

    def receive(self, message: pb.AgentClientMessage, number: int | None = None) -> None:
        """Take a message of the client; `number` is that of its append."""
        self.link.received(message, number)
        kind = message.WhichOneof("message")
        if self._request is not None:
            self.link.receive(message)
        elif kind == "run_request":
            self._begin(message.run_request)
        elif kind != "prewarm_request":  # it may come before: the service does what it likes with it
            self.link.fault(f"{kind or 'an empty message'} comes before run_request")
        self.link.ring()

    def _begin(self, request: pb.AgentRunRequest) -> None:
        self._request = request
        # Looked at before any blob is there: an append is refused when it comes, and an HTTP error precedes a stream.
        self._early = early_refusal(self._context, conversation.read(request, {}), numbered=self.link.rpc == "RunSSE")

    def disconnected(self) -> None:
        """The client has disconnected; without effect after the end."""
        self.link.gone = True
        self.link.ring()

    # What is sent

    def outputs(self, now: float) -> Generator[Output, float, None]:
        """All that is sent, in order."""
        link = self.link
        link.now = now
        try:
            for output in self._story():
                link.now = yield output
                if link.gone or link.stop is not None:
                    break
            if link.stop is not None and not link.gone:
                for number in link.execs.abort():
                    yield updates.aborted(number)
                yield StreamEnd(link.stop)
        finally:
            if self._turn is not None:
                self._turn.end("interrupted")
            if self.appends.missing is not None:
                link.fault(f"append_seqno {self.appends.missing} never came, and later ones waited for it")
            link.left_open()

    def _story(self) -> Iterator[Output]:
        while self._request is None:
            yield Until(math.inf)
        if self._early is not None:
            self._turn = RunTurn(self.link, self._early.talk)
            self._turn.end("failed")
            yield RefusedRun(self._early.problem)
            return
        yield Begin()
        talk = yield from self._handshake(self._request)
        if isinstance(talk, ServiceProblem):
            yield StreamEnd(talk)
            return
        self._turn = RunTurn(self.link, talk)
        yield from self._turn.outputs()

    def _handshake(
        self, request: pb.AgentRunRequest
    ) -> Generator[Output, None, conversation.RunConversation | ServiceProblem]:
        """Get what the request refers to: the conversation, or what is wrong with the request."""
        link = self.link
        if not request.HasField("conversation_state"):
            return ServiceProblem(code="invalid_argument", message="conversation_state is missing from run_request")
        if request.action.WhichOneof("action") not in {"user_message_action", "resume_action"}:
            return ServiceProblem(code="invalid_argument", message="run_request has no action that begins a turn")
        link.roots = list(request.conversation_state.root_prompt_messages_json)
        for name in dict.fromkeys(link.roots):
            yield link.blobs.get(name)
        tools: list[conversation.DeclaredTool] = []
        developer: list[str] = []
        if conversation.context_of(request) is None and not request.mcp_tools.mcp_tools:
            yield from link.ask_context(tools, developer)
        yield from link.until_kept()
        # As for clients that put the messages themselves in the place of their names.
        if any(link.blobs.found[name] is None for name in link.roots):
            return ServiceProblem(code="internal", message="Blob not found")
        talk = conversation.read(request, link.blobs.found)
        talk.tools += tools
        talk.developer += developer
        if talk.given:
            yield from link.keep({"role": "user", "content": talk.text})
        return talk
