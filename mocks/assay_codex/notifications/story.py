"""How a turn is told in the dialect of older proxies' backends: text, choices and usage have words of their own.

    agentMessageDelta {"threadId", "delta": "text" [, "choice_index"]}
    agentMessage      {"threadId", "message": {"role": "assistant", "content": "all of it"} [, "choice_index"]}
    tokenCount        {"threadId", "finish_reason", "choice_index"}   a choice is over
    tokenCount        {"threadId", "usage": {…} [, "finish_reason"]}  so is the model's answer

What bears no index is of choice 0. A conversation of the v1 methods is named by `conversationId`. Everything else is
told as the played version tells it: the beginning and the end of the turn, the user's input, native calls, thoughts and
failures.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay_codex.notifications import raw_items
from assay_codex.notifications.joined_text import JoinedText
from assay_codex.notifications.notifier import Telling

if TYPE_CHECKING:
    from assay_codex.context import TurnContext
    from assay_codex.threads.thread import Thread
    from assay_scripts.steps import Usage

Json = dict[str, Any]


class StoryTelling(Telling):
    """Tells a turn in the story's words."""

    tells_reasons = True

    def __init__(self, context: TurnContext, thread: Thread, turn_id: str, *, double: bool = False) -> None:
        super().__init__(context, thread, turn_id, double=double)
        self._texts: dict[int, JoinedText] = {}  # by choice
        self._indexed: set[int] = set()
        self._reason: str | None = None
        self._choices_over = False

    def say(self, text: str, phase: str | None, now: float, choice: int | None = None) -> None:
        """One delta of text."""
        del phase
        self._texts.setdefault(choice or 0, JoinedText()).add(text)
        if choice is not None:
            self._indexed.add(choice)
        self.fragment(text, choice, now)

    def say_whole(self, text: str, phase: str | None, now: float, choice: int | None = None) -> None:
        """Text that is told with the whole message only."""
        del phase, now
        self._texts.setdefault(choice or 0, JoinedText()).add(text)
        if choice is not None:
            self._indexed.add(choice)

    def turn_to_call(self, now: float) -> None:
        """The model goes on to a call; its message is not complete yet."""

    def stop_speaking(self, now: float) -> None:
        """Tell the whole message of every choice that said something."""
        for choice in list(self._texts):
            self._complete(choice, now)

    def break_off(self, now: float) -> None:
        """No message is ever completed."""
        del now
        self._texts.clear()

    def choice_over(self, choice: int, reason: str, now: float) -> None:
        """Tell the whole message of a choice, and why it ends."""
        self._choices_over = True
        self._complete(choice, now)
        self.notify("tokenCount", {**self.address, "finish_reason": reason, "choice_index": choice}, now)

    def response_over(self, usage: Usage, reason: str, now: float) -> None:
        """The model's answer is complete; the reason is told with the usage."""
        self._reason = None if self._choices_over else reason
        if self.asked:
            super().response_over(usage, reason, now)

    def usage(self, used: Usage, now: float, *, kept: bool = False) -> None:
        """Tell the tokens of a response, and why it ended."""
        ended = {"finish_reason": self._reason} if self._reason else {}
        if used.unknown:
            told: Json = {}
        else:
            before = self._thread.last
            self._thread.spend(used)
            told = {"usage": _usage(before if kept and before else used)}
        self.notify("tokenCount", {**self.address, **told, **ended}, now)

    def _complete(self, choice: int, now: float) -> None:
        written = self._texts.pop(choice, None)
        if written is not None:
            text = written.whole
            self._thread.remember([raw_items.message(f"msg_{self._context.ids.number():04}", text)])
            self.whole({"role": "assistant", "content": text}, choice if choice in self._indexed else None, now)


def _usage(counts: Usage) -> Json:
    return {
        "prompt_tokens": counts.input,
        "completion_tokens": counts.output,
        "total_tokens": counts.input + counts.output,
        "prompt_tokens_details": {"cached_tokens": counts.cached},
        "completion_tokens_details": {"reasoning_tokens": counts.reasoning},
    }
