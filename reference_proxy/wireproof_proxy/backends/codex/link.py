"""JSON-RPC with one run of the app-server: requests and their answers, and which messages go to which listener.

A thread, or conversation, is named by `threadId`, `conversationId` or `conversation_id`. A message that names none is
dropped, with two exceptions: a fatal error goes to every listener, and a line that cannot be read to the listener of
the last message, which it most likely continues.

Nothing here blocks. Requests beyond `CAP` wait their turn: the real server loses answers when hundreds come in one
burst. Every request has a deadline for the same reason. Callbacks run on the thread that reads the process; a
request that is overdue, or cut off by the end of the process, is answered with an `ErrorReply` that has no code. One
lost answer is no sign of death, but a process that has sent nothing at all since it was asked for a thread hangs.
"""

from __future__ import annotations

import itertools
import logging
import re
import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from wireproof_proxy.backends.codex.abilities import Abilities
from wireproof_proxy.backends.codex.rpc import (
    ErrorReply,
    Garbled,
    Id,
    LineReader,
    Message,
    Notice,
    ResultReply,
    ServerRequest,
    encode,
)

log = logging.getLogger(__name__)

# Of 1000 requests at once 0.169.0 never answered 115, and refused as many; of 300 it answered all.
CAP = 64
REQUEST_SECONDS = 30.0

PROMPT = frozenset({"initialize", "thread/start", "thread/resume", "newConversation"})
"""Requests that every backend answers at once; some answer those that start a turn only when it ends."""

Reply = Callable[[ResultReply | ErrorReply], None]
Listener = Callable[[Notice | ServerRequest | Garbled], None]

THREAD_NAMES = ("threadId", "conversationId", "conversation_id")
_THREAD_ID = re.compile(rf'"(?:{"|".join(THREAD_NAMES)})"\s*:\s*"([^"\\]{{1,128}})"')

# A decision and never an error: 0.89.0 waits for good after an error in answer to an approval. v1 asks in words of
# its own ("denied").
# Requests for an approval or an input, each declined in its own format: there is no user to ask. Every other request of
# the server's is refused with an error, so that it does not wait for an answer that never comes.
DECLINED: Mapping[str, Mapping[str, Any]] = {
    "item/commandExecution/requestApproval": {"decision": "decline"},
    "item/fileChange/requestApproval": {"decision": "decline"},
    "execCommandApproval": {"decision": "denied"},
    "applyPatchApproval": {"decision": "denied"},
    "item/tool/requestUserInput": {"answers": {}},
}


@dataclass(frozen=True, slots=True)
class _Waiting:
    method: str
    reply: Reply
    sent: float
    deadline: float


@dataclass(eq=False)
class CodexLink:
    """One connection; `send` takes lines for the process, `clock` gives seconds.

    `abilities` are those of the other end, once the handshake has named its version; all of them until then.
    """

    send: Callable[[bytes], None]
    clock: Callable[[], float]
    abilities: Abilities = field(default_factory=Abilities)
    _reader: LineReader = field(default_factory=LineReader)
    _ids: itertools.count[int] = field(default_factory=lambda: itertools.count(1))
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _waiting: dict[int, _Waiting] = field(default_factory=dict)
    _queued: deque[tuple[str, Mapping[str, Any], Reply]] = field(default_factory=deque)
    _listeners: dict[str, Listener] = field(default_factory=dict)
    _last: str = ""
    _last_bytes: float = float("-inf")
    _closed: bool = False

    def request(self, method: str, params: Mapping[str, Any], reply: Reply) -> None:
        """Ask; `reply` is called once, whatever happens."""
        with self._lock:
            closed = self._closed
            if not closed:
                self._queued.append((method, params, reply))
                self._flush()
        # Without the lock, as every callback: they send requests of their own.
        if closed:
            reply(ErrorReply(0, None, "closed"))

    def notify(self, method: str) -> None:
        """Send a notification without params."""
        self.send(encode({"method": method}))

    def answer(self, id_: Id, result: Mapping[str, Any]) -> None:
        """Answer a request of the process."""
        self.send(encode({"id": id_, "result": result}))

    def listen(self, thread_id: str, listener: Listener) -> None:
        """Hand everything that names this thread to `listener`, until `forget`."""
        with self._lock:
            self._listeners[thread_id] = listener

    def forget(self, thread_id: str) -> None:
        """Stop handing on what names this thread."""
        with self._lock:
            self._listeners.pop(thread_id, None)

    def feed(self, data: bytes) -> None:
        """Take what the process wrote."""
        self._last_bytes = self.clock()
        for message in self._reader.feed(data):
            self._dispatch(message)

    def expire(self) -> bool:
        """Refuse the requests whose deadline has passed. False when the process hangs."""
        now = self.clock()
        with self._lock:
            late = {id_: waiting for id_, waiting in self._waiting.items() if waiting.deadline <= now}
        for id_ in late:
            self._settle(ErrorReply(id_, None, "timed out"))
        return not any(waiting.method in PROMPT and self._last_bytes < waiting.sent for waiting in late.values())

    def close(self) -> None:
        """The process has ended: refuse every request, and send every listener CLOSED."""
        with self._lock:
            self._closed = True
            replies = [waiting.reply for waiting in self._waiting.values()] + [reply for *_, reply in self._queued]
            listeners = list(self._listeners.values())
            self._waiting.clear()
            self._queued.clear()
            self._listeners.clear()
        for reply in replies:
            reply(ErrorReply(0, None, "closed"))
        for listener in listeners:
            listener(Notice(CLOSED, {}))

    def _flush(self) -> None:
        while self._queued and len(self._waiting) < CAP:
            method, params, reply = self._queued.popleft()
            id_, now = next(self._ids), self.clock()
            self._waiting[id_] = _Waiting(method, reply, now, now + REQUEST_SECONDS)
            self.send(encode({"id": id_, "method": method, "params": params}))

    def _settle(self, answer: ResultReply | ErrorReply) -> None:
        with self._lock:
            # Late answers find nothing here and are dropped. All our ids are numbers.
            waiting = self._waiting.pop(answer.id, None) if isinstance(answer.id, int) else None
            self._flush()
        if waiting:
            waiting.reply(answer)

    def _dispatch(self, message: Message) -> None:
        match message:
            case ResultReply() | ErrorReply():
                self._settle(message)
            case ServerRequest():
                self._asked(message)
            case Notice(method="error") if not _thread_of(message) and not message.params.get("willRetry"):
                for thread_id in list(self._listeners):
                    self._hand_on(thread_id, message)
            case Notice():
                self._hand_on(_thread_of(message), message)
            case Garbled():
                named = _THREAD_ID.search(message.head)
                log.warning("backend sent a line that is %s", message.reason)
                self._hand_on(named[1] if named else self._last, message)

    def _asked(self, message: ServerRequest) -> None:
        # A call of a tool is for the client, and stays unanswered here (`CodexTurn`).
        if message.method == "item/tool/call" and self._hand_on(_thread_of(message), message):
            return
        if message.method in DECLINED:
            self.answer(message.id, DECLINED[message.method])
        else:
            error = {"code": -32601, "message": "not available through this proxy"}  # JSON-RPC's "method not found"
            self.send(encode({"error": error, "id": message.id}))

    def _hand_on(self, thread_id: str, message: Notice | ServerRequest | Garbled) -> bool:
        with self._lock:
            listener = self._listeners.get(thread_id)
        if listener:
            self._last = thread_id
            listener(message)
        return listener is not None


def _thread_of(message: Notice | ServerRequest) -> str:
    named = message.params.get(THREAD_NAMES[0])
    if isinstance(named, str):  # as in every message of a current Codex
        return named
    return next((str(message.params[name]) for name in THREAD_NAMES if name in message.params), "")


CLOSED = "wireproof-proxy/closed"
"""The method of the notification that this module makes up for the end of the process."""
