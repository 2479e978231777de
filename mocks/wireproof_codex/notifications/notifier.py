"""Sends what a turn does, message by message: its start, the user's input, items, thoughts, errors, its end.

A `Notifier` is made of three parts, each of which sends its own share: `sender` puts one notification on its way,
`counts` the tokens, `answer` the model's text in the dialect of the script.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wireproof_codex.legacy import codex_events
from wireproof_codex.notifications import item_messages, messages, raw_items
from wireproof_codex.notifications.answer import ItemAnswer
from wireproof_codex.notifications.counts import CountSender
from wireproof_codex.notifications.story import StoryAnswer
from wireproof_codex.threads.turn_history import turn_object
from wireproof_scripts.calls.blocks import cut
from wireproof_scripts.conversation import as_message, message_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from wireproof_codex.notifications.sender import NotificationSender
    from wireproof_codex.protocol.json_object import Json
    from wireproof_codex.versions.failures import FailureCause
    from wireproof_codex.versions.traits import StartStep
    from wireproof_scripts.nonces import State
    from wireproof_scripts.steps import Think, WebSearch


class Notifier:
    """Sends the notifications of the turn of `sender`; `story`: the model's answers in the story's dialect."""

    def __init__(self, sender: NotificationSender, *, story: bool = False) -> None:
        self.sender = sender
        self.counts = CountSender(sender)
        self.answer: ItemAnswer | StoryAnswer = StoryAnswer(sender) if story else ItemAnswer(sender, self.counts)
        self._context = sender.context
        self._thread = sender.thread
        self._diff: str | None = None

    # The beginning

    def turn_started(self, *, requested: bool) -> None:
        """Send that the turn has begun.

        `requested`: by turn/start. Versions that send turn/started first, with the answer to turn/start, do not send
        it for a turn that thread/compact/start began.
        """
        begins = self._context.version.turns.start_order
        for part in begins if requested or begins[0] != "turn" else begins[1:]:
            _BEGINNINGS[part](self)

    def _turn_started(self) -> None:
        # Recorded v1 conversations have turn/completed, but no turn/started.
        if not self._thread.conversation:
            # The start time is that of the notification; the answer of turn/start has null there (0.169.0).
            started = turn_object(self.sender.turn_id, "inProgress", started=self._context.now)
            self.sender.notify("turn/started", {"threadId": self._thread.id, "turn": started})

    def _task_started(self) -> None:
        version = self._context.version
        self.sender.legacy(
            codex_events.task_started(self.sender.turn_id, version.counts.context_window, version.messages.default_mode)
        )

    def user_input(self, given: Sequence[Mapping[str, Any]], client_id: str | None, *, as_item: bool = True) -> None:
        """Put the user's input into the history and send it; without `as_item` as a raw item alone."""
        message = as_message(given)
        if not self._thread.ephemeral:
            self._thread.preview = self._thread.preview or message_text(message)
        self._thread.remember([message])
        raw = {"type": "message", "id": f"msg_{self._context.uuid()}", **message}
        # It is in the history already, without the id that only the raw item has.
        self.sender.raw(raw, {"create_time": self._context.now, **raw_items.USER_KINDS}, kept=False)
        if as_item:
            detail_first = self._context.version.messages.detail_before_url
            content = [item_messages.user_content(item, detail_first=detail_first) for item in given]
            self.item(item_messages.user_message(self._context.uuid(), client_id, content))

    # Items

    def item(self, item: Json) -> None:
        """Send an item that begins and ends at once."""
        started_ms = self._context.now_ms
        self.sender.item_started(item, started_ms)
        self.sender.item_completed(item, started_ms)

    def thought(self, thought: Think) -> None:
        """Send the model's thoughts: their one summary, then the thoughts themselves."""
        identity, started_ms = f"rs_{self._context.ids.number()}", self._context.now_ms
        part = {**self.sender.place, "itemId": identity}
        self.sender.item_started(item_messages.reasoning(identity, []), started_ms)
        # Index 0 throughout: a script's thoughts have one summary.
        self.sender.notify("item/reasoning/summaryPartAdded", {**part, "summaryIndex": 0})
        for piece in cut(thought.text, thought.pieces):
            self.sender.notify("item/reasoning/summaryTextDelta", {**part, "delta": piece, "summaryIndex": 0})
        for piece in thought.raw:
            self.sender.notify("item/reasoning/textDelta", {**part, "delta": piece, "contentIndex": 0})
        content = ["".join(thought.raw)] if thought.raw else []
        self.sender.item_completed(item_messages.reasoning(identity, [thought.text], content), started_ms)
        self.sender.raw(raw_items.reasoning(identity, thought), kept=False)

    def searched(self, search: WebSearch) -> None:
        """Send a search that the model's service did."""
        self.item(item_messages.web_search(search))
        self.sender.raw(raw_items.web_search(search))

    def diff_changed(self, diff: str) -> None:
        """Send what the turn has changed in files; it is sent again after each answer of the model."""
        self._diff = diff
        self.diff()

    def diff(self) -> None:
        """Send what the turn has changed so far, if anything."""
        if self._diff is not None:
            self.sender.notify("turn/diff/updated", {**self.sender.place, "diff": self._diff})

    # The thread

    def status(self) -> None:
        """Send the thread's status."""
        params = {"threadId": self._thread.id, "status": messages.status(self._thread)}
        self.sender.notify("thread/status/changed", params)

    def unread(self) -> None:
        """Send that the turn has not been read; ephemeral threads have no read state."""
        if not self._thread.ephemeral:
            self._thread.first_unread = self._thread.first_unread or self.sender.turn_id
            state = messages.read_state(self._thread, self._context.uuid())
            self.sender.notify("thread/readState/changed", state)

    def compacted(self, warning: str) -> None:
        """Send that the conversation was summarised, in versions that do not leave it at the item."""
        self.sender.notify("thread/compacted", dict(self.sender.place))
        if self._context.version.compaction.warns:
            self.sender.notify("warning", {"threadId": self._thread.id, "message": warning})

    # Errors and the end

    def retrying(self, error: Json) -> None:
        """Send that the model is asked again."""
        # The answer restarts under a new item id, so the item of this try never completes.
        self.answer.break_off()
        self.sender.legacy(codex_events.retrying(error))
        self.sender.notify("error", {"error": error, "willRetry": True, **self.sender.place})

    def failed(self, cause: FailureCause, *, ended: bool = True) -> None:
        """Send why the turn fails; `ended`: with the status in which that leaves the thread."""
        error = messages.turn_error(cause)
        self.sender.legacy(codex_events.error(error))
        # First the status, then `error`, then turn/completed; before 0.105.0 there is no status to send.
        if ended:
            self.status()
        self.sender.notify("error", {"error": error, "willRetry": False, **self.sender.place})

    def aborted(self, reason: str) -> None:
        """Send that the turn is interrupted or replaced, in the older family alone."""
        # The typed family has no such notification: turn/completed says it by its status.
        self.sender.legacy(codex_events.turn_aborted(self.sender.turn_id, reason))

    def task_complete(self, *, failed: bool = False) -> None:
        """Send that the turn is over, in the older family alone."""
        self.sender.legacy(codex_events.task_complete(self.sender.turn_id, None if failed else self.last_text))

    def turn_completed(self, state: State, started: float, cause: FailureCause | None = None) -> None:
        """Send turn/completed; `started`: epoch seconds."""
        last = (
            self.answer.last_item if self._context.version.turns.ends_with_last_text and state == "completed" else None
        )
        turn = turn_object(
            self.sender.turn_id,
            state,
            items=[last] if last and last["text"] else [],
            error=messages.turn_error(cause) if cause else None,
            started=started,
            completed=self._context.now,
        )
        self.sender.notify("turn/completed", {"threadId": self._thread.id, "turn": turn})

    @property
    def last_text(self) -> str | None:
        """The text of the last completed agentMessage item."""
        return self.answer.last_item["text"] if self.answer.last_item else None


_BEGINNINGS: Mapping[StartStep, Callable[[Notifier], None]] = {
    "turn": Notifier._turn_started,  # noqa: SLF001 - a table of its own methods
    "task": Notifier._task_started,  # noqa: SLF001 - same
    "status": Notifier.status,
}
