"""One turn of `codex app-server`, whatever version of the protocol starts it: its messages, and its end.

Each step is sent when the one before is answered, on the thread that reads the process; the client's own thread only
takes events out of the mailbox. `close` may come at any step: no further step is begun, a turn that runs is interrupted
as soon as its id is known, and the thread that the backend keeps for it is released last.

A call is for the client, who answers it in another request, so the backend's own request to run it is left unanswered.
But the backend may be waiting for that answer before it reports that no more calls follow, or that its model's answer
was cut short. After some seconds of silence it gets an answer; what the model makes of that is not waited for.
"""

from __future__ import annotations

import threading
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING

from wireproof_proxy.backends.codex.decode import Decoder
from wireproof_proxy.backends.codex.failures import refusal_cause
from wireproof_proxy.backends.codex.link import CLOSED
from wireproof_proxy.backends.codex.rpc import ErrorReply, Garbled, Id, Notice, ResultReply, ServerRequest
from wireproof_proxy.backends.codex.turn_decoder import CodexTurnDecoder
from wireproof_proxy.backends.untrusted_json import as_mapping, as_text
from wireproof_surfaces.events import Event, FailureReason

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from wireproof_proxy.backends.backend import Choices
    from wireproof_proxy.backends.codex.link import CodexLink
    from wireproof_proxy.backends.mailbox import Mailbox
    from wireproof_surfaces.conversation import Conversation
    from wireproof_surfaces.surfaces.json_text import Json


SILENCE = 2.0
"""Seconds; long enough for a model to write several calls, one after the other."""

_TEXT = "The client runs this tool."
UNANSWERED: Mapping[str, object] = {
    "contentItems": [{"type": "inputText", "text": _TEXT}],
    "output": _TEXT,
    "success": False,
}
"""The answer to a call in the fields of all versions: `output` up to 0.97, `contentItems` from 0.98.0 on."""


@dataclass(eq=False)
class CodexTurn:
    """A turn under way, for one choice of `choices`; its events go to `mailbox`.

    A backend with unanswered calls that is silent for `silence` seconds is taken to wait for their answers.
    """

    _link: CodexLink
    _conversation: Conversation
    _mailbox: Mailbox
    _progress: Choices
    _: KW_ONLY
    choice: int
    choices: int
    silence: float = SILENCE
    # Re-entrant: on a closed link the reply comes before `request` returns.
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _thread_id: str | None = None
    _running: bool = False
    _closed: bool = False
    _interrupted: bool = False
    _calls: list[Id] = field(default_factory=list)

    def __post_init__(self) -> None:
        tools = frozenset(tool.name for tool in self._conversation.tools)
        self._state = CodexTurnDecoder(tools=tools, choice=self.choice, choices=self.choices)
        self._decoder = Decoder(self._state)
        self._last_message = self._link.clock()
        self._begin()

    def close(self) -> None:
        """Interrupt the turn if it runs, and release its thread."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._wind_up()

    def on_silence(self) -> bool:
        """Answer the calls that wait, once the backend has been silent for long enough to be waiting for that."""
        with self._lock:
            waits = bool(self._calls) and not self._closed
            if not waits or self._link.clock() - self._last_message < self.silence:
                return False
            self._answer()
            return True

    def _begin(self) -> None:
        """Send the first request."""
        raise NotImplementedError

    def _interruption(self, thread_id: str) -> tuple[str, Json] | None:
        """The request that interrupts a turn that runs; None while it cannot be made."""
        raise NotImplementedError

    def _endings(self, thread_id: str) -> Iterator[tuple[str, Json]]:
        """The requests that release the thread, whatever is answered to them."""
        raise NotImplementedError

    def _wind_up(self) -> None:
        """Interrupt and release at the backend what is known of the turn so far; called again when more is known."""
        if self._thread_id is None or self._interrupted:
            return
        # Only a turn that runs: 0.89.0 does not answer an interrupt of an idle conversation.
        if not self._running or self._state.over:
            self._interrupted = True
            self._release(self._thread_id)
        elif asked := self._interruption(thread_id := self._thread_id):
            self._interrupted = True
            self._link.request(*asked, lambda _: self._release(thread_id))

    def _release(self, thread_id: str) -> None:
        self._link.forget(thread_id)
        for method, params in self._endings(thread_id):
            self._link.request(method, params, lambda _: None)

    def _met(self, thread_id: str) -> None:
        """The backend has begun a thread for the turn: listen to its messages from now on."""
        self._thread_id = thread_id
        # Ids that are made up differ from turn to turn, since each turn has a thread of its own.
        self._state.calls.seed = thread_id
        # A thread is enough of an answer: a process that begins threads is no broken installation.
        self._progress.served()
        self._link.listen(thread_id, self._on_message)

    def _go(self, method: str, params: dict[str, object], reply: Callable[[ResultReply | ErrorReply], None]) -> None:
        """Start the turn itself."""
        self._running = True
        self._link.request(method, params, reply)
        self._progress.started(self.choice)

    def _on_message(self, message: Notice | ServerRequest | Garbled) -> None:
        with self._lock:
            self._last_message = self._link.clock()
            match message:
                case Garbled():
                    self._fail(FailureReason.GARBLED)
                case Notice(method=method) if method == CLOSED:
                    self._fail(FailureReason.UNAVAILABLE)
                case _:
                    self._put(self._decoder.feed(message))
            if isinstance(message, ServerRequest):
                self._calls.append(message.id)
                # Between 0.131 and 0.144 nothing shows the end of a response with calls but what follows their answers.
                if self._link.abilities.silent_ends and not self._closed:
                    self._answer()

    def _answer(self) -> None:
        for id_ in self._calls:
            self._link.answer(id_, UNANSWERED)
        self._calls.clear()

    def _put(self, events: list[Event]) -> None:
        taken = [self._mailbox.put(event) for event in events]
        # No one reads any more: the client has left, or fell too far behind.
        if self._closed or not all(taken):
            self._wind_up()

    def _refused(self, answer: ResultReply | ErrorReply) -> None:
        match answer:
            # The process lives on: real Codex loses answers when very many requests come at once (`CodexLink`).
            case ErrorReply(code=None, message="timed out"):
                self._fail(FailureReason.TIMEOUT)
            case ErrorReply(code=None):
                self._fail(FailureReason.UNAVAILABLE)
            case ErrorReply():
                self._fail(refusal_cause(answer))
            case ResultReply():
                self._fail(FailureReason.GARBLED)
        self._progress.started(self.choice)

    def _fail(self, cause: FailureReason) -> None:
        self._mailbox.put(self._state.failure(cause))


HARMLESS: Json = {"approvalPolicy": "never", "sandbox": "read-only"}
"""What a thread may do on this machine, whatever version begins it."""


def what_is_set(conversation: Conversation) -> Json:
    """The developer text and the model of a thread, those that a conversation has."""
    # Not "if there is any": Codex honours an empty text.
    members = {"developerInstructions": conversation.developer, "model": conversation.model}
    return {name: value for name, value in members.items() if value is not None}


def id_in(answer: ResultReply | ErrorReply, *path: str) -> str:
    """The text at this path of an answer's result; empty for a refusal."""
    if isinstance(answer, ErrorReply):
        return ""
    value: object = answer.result
    for name in path:
        value = as_mapping(value).get(name)
    return as_text(value)
