"""One turn, v1: a fresh conversation, a listener, one user message that holds the history too, and the end of it.

    newConversation → addConversationListener → sendUserMessage → notifications
                                              → interruptConversation → removeConversationListener
                                                                      → archiveConversation

The developer text belongs to the conversation. v1 has no way to give one its history, so the message holds the earlier
messages as text (`flat`), and then the user's input. sendUserMessage is answered at once by some backends and at the
end of the turn by others, so how long its answer takes says nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof_proxy.backends.codex.abilities import flat
from wireproof_proxy.backends.codex.rpc import ErrorReply
from wireproof_proxy.backends.codex.turn import HARMLESS, CodexTurn, id_in, what_is_set
from wireproof_surfaces.conversation import FilePart, ImagePart, Part, TextPart
from wireproof_surfaces.events import FailureReason

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wireproof_proxy.backends.codex.rpc import ResultReply
    from wireproof_surfaces.conversation import Conversation
    from wireproof_surfaces.surfaces.json_text import Json


def new_conversation(conversation: Conversation) -> Json:
    """Params of newConversation."""
    return {**HARMLESS, **what_is_set(conversation)}


def send_user_message(conversation_id: str, conversation: Conversation) -> Json:
    """Params of sendUserMessage."""
    return {"conversationId": conversation_id, "items": [_part(part) for part in flat(conversation).input]}


def _part(part: Part) -> Json:
    match part:
        case TextPart():
            return {"type": "text", "data": {"text": part.text}}
        case ImagePart():
            return {"type": "image", "data": {"image_url": part.url}}
        case FilePart():
            raise AssertionError("files are refused where requests are read")


class CodexV1(CodexTurn):
    """A turn in a conversation of its own."""

    _subscription: str | None = None
    _rollout: str | None = None

    def _begin(self) -> None:
        # sendUserMessage has no place for a schema, and an answer that ignores it would look like one that matches.
        if self._conversation.schema is not None:
            self._fail(FailureReason.SCHEMA_UNKNOWN)
            self._progress.started(self.choice)
            return
        self._link.request("newConversation", new_conversation(self._conversation), self._on_conversation)

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
                message = send_user_message(self._thread_id or "", self._conversation)
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

    def _interruption(self, thread_id: str) -> tuple[str, Json]:
        return "interruptConversation", {"conversationId": thread_id}

    def _endings(self, thread_id: str) -> Iterator[tuple[str, Json]]:
        if self._subscription:
            yield "removeConversationListener", {"subscriptionId": self._subscription}
        # No conversation of v1 is ephemeral, so each leaves a file, which is archived.
        if self._rollout:
            yield "archiveConversation", {"conversationId": thread_id, "rolloutPath": self._rollout}
