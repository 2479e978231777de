"""One turn, v1: a fresh conversation, a listener, one user message that holds the history too, and the end of it.

    newConversation → addConversationListener → sendUserMessage → notifications
                                              → interruptConversation → removeConversationListener
                                                                      → archiveConversation

v1 has no way to give a conversation its history, so the message holds it (`v1_encode`). sendUserMessage is
answered at once by some backends and at the end of the turn by others, so how long its answer takes says nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof_proxy.backends.codex import v1_encode as encode
from wireproof_proxy.backends.codex.rpc import ErrorReply
from wireproof_proxy.backends.codex.turn import CodexTurn, id_in
from wireproof_surfaces.events import FailureReason

if TYPE_CHECKING:
    from wireproof_proxy.backends.codex.rpc import ResultReply


class CodexV1(CodexTurn):
    """A turn in a conversation of its own."""

    _subscription: str | None = None
    _rollout: str | None = None

    def _begin(self) -> None:
        # sendUserMessage has no place for a schema, and an answer that ignores it would look like one that matches.
        if self._conversation.schema is not None:
            self._fail(FailureReason.SCHEMA_UNKNOWN)
            self._announce()
            return
        self._link.request("newConversation", encode.new_conversation(self._conversation), self._on_conversation)

    def _on_conversation(self, answer: ResultReply | ErrorReply) -> None:
        with self._lock:
            thread_id = id_in(answer, "conversationId")
            if not thread_id:
                self._refused(answer)
                return
            self._rollout = id_in(answer, "rolloutPath")
            self._met(thread_id)
            if self._closed:
                self._wind_up()
            else:
                self._link.request("addConversationListener", {"conversationId": thread_id}, self._on_listening)

    def _on_listening(self, answer: ResultReply | ErrorReply) -> None:
        with self._lock:
            self._subscription = id_in(answer, "subscriptionId")
            if isinstance(answer, ErrorReply):
                self._refused(answer)
            elif self._closed:
                self._wind_up()
            else:
                message = encode.send_user_message(self._thread_id or "", self._conversation)
                self._go("sendUserMessage", message, self._on_sent)

    def _on_sent(self, answer: ResultReply | ErrorReply) -> None:
        with self._lock:
            match answer:
                # Some backends answer at the end of the turn, which may take longer than a request's deadline.
                case ErrorReply(code=None, message="timed out"):
                    return
                case ErrorReply():
                    self._running = False
                    self._refused(answer)
                case _:
                    self._put(self._decoder.answered(answer.result))

    def _wind_up(self) -> None:
        if self._thread_id is None or self._interrupted:
            return
        self._interrupted = True
        # Only a turn that runs: 0.89.0 does not answer an interrupt of an idle conversation.
        if self._running and not self._state.over:
            ids = {"conversationId": self._thread_id}
            self._link.request("interruptConversation", ids, self._release)
        else:
            self._release()

    def _release(self, answer: ResultReply | ErrorReply | None = None) -> None:
        del answer
        if self._thread_id:
            self._link.forget(self._thread_id)
        if self._subscription:
            ids = {"subscriptionId": self._subscription}
            self._link.request("removeConversationListener", ids, lambda _: None)
        # No conversation of v1 is ephemeral, so each leaves a file, which is archived.
        if self._thread_id and self._rollout:
            ids = {"conversationId": self._thread_id, "rolloutPath": self._rollout}
            self._link.request("archiveConversation", ids, lambda _: None)
