"""Compaction: the model summarises the conversation when that fills its context, or when the client wants it.

The model is asked for a summary as for any answer. Only the start and the end of the compaction are sent as an item,
and the counts; raw items of the summary come when it is complete. If the service says that even this is too long the
oldest item is left out and it is asked again. In the end the history is what the user has said, and the summary; the
server estimates how many tokens that is.

A compaction comes before a turn if the last answer left too little room, and in the middle of one after calls were
answered; thread/compact/start begins a turn that is nothing else.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from wireproof_codex.notifications import item_messages
from wireproof_codex.notifications.notifier import Notifier
from wireproof_codex.notifications.sender import NotificationSender
from wireproof_scripts.conversation import is_user, message_text
from wireproof_scripts.files.errors import ScriptError
from wireproof_scripts.selection import Selection, for_app_server, rejected, select

if TYPE_CHECKING:
    from collections.abc import Callable

    from wireproof_codex.context import ServerContext
    from wireproof_codex.protocol.json_object import Json
    from wireproof_codex.threads.thread import Thread
    from wireproof_codex.turns.response import BrokenOff, Response
    from wireproof_codex.turns.results import Shared
    from wireproof_codex.turns.script_position import ScriptPosition
    from wireproof_scripts.nonces import State, TurnRecord

PROMPT = "You are performing a CONTEXT CHECKPOINT COMPACTION."
"""What the model is asked; a script may have it as its `when`."""

_LEAD = "What another model made of this task so far:\n"
_CONTEXT_ITEMS = 2
"""Items that codex itself puts before a history, skills and the environment: they are the first to be left out."""

# How 0.169.0 estimates the length of a summarised conversation, fitted to its recordings.
_INSTRUCTIONS = 5949
"""Tokens besides what was said."""
_LEAD_LENGTH = 401
"""Characters that codex puts before the summary."""
_PER_TOKEN = 4
"""Characters in a token."""

_WARNING = (
    "Heads up: Long threads and multiple compactions can cause the model to be less accurate. "
    "Start a new thread when possible to keep threads small and targeted."
)


def choose_summary(context: ServerContext, thread: Thread, dropped: int = 0) -> Selection:
    """What the model answers when it is asked for a summary; `dropped`: how many of the oldest items are left out."""
    if isinstance(context.library, ScriptError):
        return rejected(str(context.library))
    return for_app_server(
        select(
            context.library,
            context.nonces,
            # The first drops take the context items, which the history here does not hold.
            history=thread.history[max(0, dropped - _CONTEXT_ITEMS) :],
            given=[{"type": "text", "text": PROMPT}],
            tools=[],  # 0.169.0 asks for a summary without any
            call_id="",  # not used: without tools the default answer has no call
        )
    )


class Compaction:
    """A compaction under way in a turn."""

    def __init__(
        self, shared: Shared, script: ScriptPosition, casting: Selection, record: TurnRecord, then: Callable[[], None]
    ) -> None:
        self.casting = casting
        self.then = then
        """What the turn does after it."""
        self._shared = shared
        self._context = shared.context
        self._thread = shared.thread
        self._script = script
        self._record = record
        self._dropped = 0
        self._raw: list[tuple[str, Json]] = []
        self._item = item_messages.context_compaction(self._context.uuid())
        self._started_ms = self._context.now_ms
        shared.notifier.sender.item_started(self._item, self._started_ms)
        # By the version alone: what a script says of families and dialects concerns the turn's own answers.
        both = self._context.version.messages.legacy_events
        self.notifier = Notifier(
            NotificationSender(self._context, self._thread, shared.turn.id, both_families=both, admits=self._admits)
        )
        """Sends the summary: no items but raw ones, and these when it is complete."""
        self.response = self._ask()

    def _admits(self, method: str, params: Json) -> bool:
        # Held back until `finish`, so that a summary that fails sends none.
        if method == "rawResponseItem/completed":
            self._raw.append((method, params))
            return False
        # The deltas and the text of a summary are no part of the conversation.
        return not method.startswith("item/")

    def _ask(self) -> Response:
        return self._script.play(self.casting, self.casting.first)

    def finish(self, reason: str) -> None:
        """Take the complete answer as the summary, and send what comes of it."""
        answer = self.notifier.answer
        answer.complete()
        for method, params in self._raw if self._context.version.compaction.raw else ():
            self.notifier.sender.notify_always(method, params)
        answer.end(self.response.usage, reason, called=False)
        # The counts of the summary itself; `_summarise` sends the estimate of what is left afterwards.
        answer.count(self.response.usage)
        self._summarise(self.notifier.last_text or "")
        self.end("completed")
        self._shared.notifier.sender.item_completed(self._item, self._started_ms)
        self._shared.notifier.compacted(_WARNING)

    def _summarise(self, summary: str) -> None:
        """Put the summary in the place of the history, of which what the user said is kept."""
        said = [item for item in self._thread.history if is_user(item)]
        lengths = [*(len(message_text(item)) for item in said), _LEAD_LENGTH + len(summary)]
        # Rounded up for each message by itself. No response says how long the new history is, so it is an estimate.
        self._thread.estimated = _INSTRUCTIONS + sum(-(-length // _PER_TOKEN) for length in lengths)
        content = [{"type": "input_text", "text": f"{_LEAD}{summary}"}]
        self._thread.history = [*said, {"type": "message", "role": "user", "content": content}]
        self.notifier.counts.so_far()

    def end(self, state: State) -> None:
        """Note how it ended, for scripts that reflect it."""
        self._record.state = state

    def fail(self, failure: BrokenOff) -> bool:
        """Take the failure of the answer; False if the summary was asked for again, of less."""
        cause = failure.cause
        # Bounded, since a script may fail like this endlessly: with nothing left to drop the turn fails.
        if cause.fills_context and self._dropped < _CONTEXT_ITEMS + len(self._thread.history):
            self.notifier.answer.break_off()
            self._ask_for_less()
            return False
        if failure.counted:
            self.notifier.answer.count(self.response.usage, failed=True)
        elif cause.fills_context:
            self.notifier.counts.full_context(began=cause.began)
        self.end("failed")
        return True

    def _ask_for_less(self) -> None:
        """Ask again, without the oldest item."""
        before = self.casting
        # Each attempt is a turn of its own for scripts that reflect, and this one has failed.
        self.end("failed")
        self._dropped += 1
        casting = choose_summary(self._context, self._thread, self._dropped)
        if casting.script == before.script:
            # The turns under a nonce say which part is next; this is the same turn, so it goes on by itself.
            casting = replace(casting, first=max(casting.first, min(before.first + 1, len(casting.parts) - 1)))
        self.casting, self._record = casting, casting.begin()
        self.response = self._ask()
