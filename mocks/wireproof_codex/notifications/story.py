"""Sends the model's answer in the dialect of older proxies' backends: it has messages of its own for text and counts.

    agentMessageDelta {"threadId", "delta": "text" [, "choice_index"]}
    agentMessage      {"threadId", "message": {"role": "assistant", "content": "all of it"} [, "choice_index"]}
    tokenCount        {"threadId", "finish_reason", "choice_index"}   a choice is over
    tokenCount        {"threadId", "usage": {…} [, "finish_reason"]}  so is the model's answer

What stands beside the thread may be inside `msg` instead. A message without an index belongs to choice 0. A
conversation of the v1 methods is named by `conversationId`.

Everything else is sent as the played version sends it: the beginning and the end of the turn, the user's input, native
calls, thoughts and failures.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof_codex.notifications import raw_items
from wireproof_codex.notifications.answer import JoinedText

if TYPE_CHECKING:
    from wireproof_codex.notifications.sender import NotificationSender
    from wireproof_codex.protocol.json_object import Json
    from wireproof_scripts.steps import TextDelta, Usage


def send_delta(sender: NotificationSender, delta: Json | str, choice: int | None) -> None:
    """Send agentMessageDelta: text, or a fragment of a call."""
    _send(sender, "agentMessageDelta", {"delta": delta, **_index(choice)})


def send_message(sender: NotificationSender, message: Json, choice: int | None) -> None:
    """Send agentMessage: a whole message, of text or of calls."""
    _send(sender, "agentMessage", {"message": message, **_index(choice)})


def _send(sender: NotificationSender, method: str, said: Json) -> None:
    address = {"conversationId" if sender.thread.conversation else "threadId": sender.thread.id}
    sender.notify(method, {**address, **({"msg": said} if sender.nested else said)})


def _index(choice: int | None) -> Json:
    return {} if choice is None else {"choice_index": choice}


class StoryAnswer:
    """Sends answers in the story's dialect."""

    reports_reasons = True

    def __init__(self, sender: NotificationSender) -> None:
        self.last_item: Json | None = None  # the dialect has no items
        self._sender = sender
        self._texts: dict[int, JoinedText] = {}  # by choice
        # Choices that were named: a message bears an index only if its deltas did.
        self._indexed: set[int] = set()
        self._reason: str | None = None
        self._choices_over = False

    def write(self, piece: TextDelta) -> None:
        """Send a delta of text; a whole text comes with its message alone."""
        self._texts.setdefault(piece.choice or 0, JoinedText()).add(piece.text)
        if piece.choice is not None:
            self._indexed.add(piece.choice)
        if not piece.whole:
            send_delta(self._sender, piece.text, piece.choice)

    def before_call(self) -> None:
        """Nothing: calls are part of the message, which is not complete yet."""

    def complete(self) -> None:
        """Send the whole message of every choice with text."""
        for choice in list(self._texts):  # a copy, since completing one removes it
            self._complete(choice)

    def break_off(self) -> None:
        """Send no message of the text so far."""
        self._texts.clear()

    def end_choice(self, choice: int, reason: str) -> None:
        """Send the whole message of a choice, and why it ends."""
        self._choices_over = True
        self._complete(choice)
        over = {"finish_reason": reason, "choice_index": choice}
        _send(self._sender, "tokenCount", over)

    def end(self, usage: Usage, reason: str, *, called: bool) -> None:
        """Keep the reason for the count; where choices have reported theirs, there is none for the whole.

        rawResponse/completed is sent after a native call only: without one it would count the tokens a second time.
        """
        self._reason = None if self._choices_over else reason
        if called:
            self._sender.raw_response(usage)

    def count(self, used: Usage, *, failed: bool = False) -> None:
        """Send the tokens of an answer, and why it ended."""
        thread = self._sender.thread
        ended = {"finish_reason": self._reason} if self._reason else {}
        counted: Json = {}
        if not used.unknown:
            before = thread.last
            thread.spend(used)
            counted = {"usage": _usage(before if failed and before else used)}
        # Sent without counts as well: it is what ends the answer.
        _send(self._sender, "tokenCount", {**counted, **ended})

    def _complete(self, choice: int) -> None:
        written = self._texts.pop(choice, None)
        if written is not None:
            text = written.whole
            identity = f"msg_{self._sender.context.ids.number():04}"
            # The app-server's own dialect does this with the raw item, which this one does not have.
            self._sender.thread.remember([raw_items.message(identity, text)])
            message = {"role": "assistant", "content": text}
            send_message(self._sender, message, choice if choice in self._indexed else None)


def _usage(counts: Usage) -> Json:
    return {
        "prompt_tokens": counts.input,  # spelled as in chat completions, unlike all other counts
        "completion_tokens": counts.output,
        "total_tokens": counts.input + counts.output,
        "prompt_tokens_details": {"cached_tokens": counts.cached},
        "completion_tokens_details": {"reasoning_tokens": counts.reasoning},
    }
